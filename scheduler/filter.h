/*
 * The hard filters, in the order in which they are asked and reported.
 */
#ifndef SCHEDULER_FILTER_H
#define SCHEDULER_FILTER_H

/* name, as it stands in explain. Cluster filters first, then those of node classes, then amounts.
 */
#define FILTERS(X)                                                                                 \
	X(READY, "ready")                                                                          \
	X(CORDON, "cordon")                                                                        \
	X(REPORT, "report")                                                                        \
	X(NAMESPACE, "namespace")                                                                  \
	X(CLUSTER_TAINTS, "cluster taints")                                                        \
	X(SELECTOR, "selector")                                                                    \
	X(BACKOFF, "backoff")                                                                      \
	X(ARCHITECTURE, "architecture")                                                            \
	X(DEVICE, "device")                                                                        \
	X(LABELS, "labels")                                                                        \
	X(TAINTS, "taints")                                                                        \
	X(CAPACITY, "capacity")                                                                    \
	X(PORTS, "ports")                                                                          \
	X(ROOM, "room")

enum filter {
#define X(name, text) FILTER_##name,
	FILTERS(X)
#undef X
		FILTERS_N,
	FILTER_NONE = FILTERS_N /* passes all */
};

#define FILTER_BIT(f)        (1u << (f))
#define FILTER_FIRST_OF_NODE FILTER_ARCHITECTURE

const char *filter_name(enum filter f); /* "architecture"; "" for none */

#endif
