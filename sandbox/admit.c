/*
 * What a kubelet refuses although somebody bound the pod: too little room, another architecture or
 * label than the pod asks for, a NoExecute taint (facts on kubelet admission: reasons OutOf<name>,
 * NodeAffinity, TaintToleration). Cordons and NoSchedule taints are not looked at, as on a real
 * node.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "sandbox/kubelet_internal.h"

static int64_t used_on(const struct pod_entry *e, const char *resource)
{
	const struct pod_entry *other, *tmp;
	int64_t sum = 0;

	for (other = e->kubelet->pods; other; other = tmp) {
		tmp = other->hh.next;
		if (other != e && other->node && !strcmp(other->node, e->node) &&
		    (other->state == POD_IS_RUNNING || other->state == POD_IS_STOPPING))
			sum += resource_list_get(&other->request, resource);
	}
	return sum;
}

static bool has_room(struct pod_entry *e, const struct node *node)
{
	for (size_t i = 0; i < e->request.n; i++) {
		const struct resource *r = &e->request.items[i];
		int64_t all = resource_list_get(&node->allocatable, r->name);

		/* A device that the node does not have at all is ignored, as kubelets do. */
		if (!all && strchr(r->name, '/'))
			continue;
		if (used_on(e, r->name) + r->amount <= all)
			continue;
		snprintf(e->reason, sizeof(e->reason), "OutOf%.50s", r->name);
		snprintf(e->message, sizeof(e->message),
			 "Pod was rejected: node %s has not enough %s", e->node, r->name);
		return false;
	}
	return true;
}

static bool selector_matches(const struct pod_entry *e, const struct node *node)
{
	const json_t *selector = json_at(e->tree, "spec", "nodeSelector", NULL);
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)selector, key, value) {
		const char *has = meta_label(&node->meta, key);

		if (!has || strcmp(has, json_string_value(value)))
			return false;
	}
	return true;
}

static bool tolerates(const json_t *tolerations, const json_t *taint)
{
	const char *key = json_str_at(taint, "key", NULL);
	const char *value = json_str_at(taint, "value", NULL);
	json_t *t;
	size_t i;

	json_array_foreach (tolerations, i, t) {
		const char *t_key = json_str_at(t, "key", NULL);
		const char *t_value = json_str_at(t, "value", NULL);
		const char *effect = json_str_at(t, "effect", NULL);
		const char *op = json_str_at(t, "operator", NULL);

		if (effect && *effect && strcmp(effect, "NoExecute"))
			continue;
		if (t_key && *t_key && strcmp(t_key, key))
			continue;
		if (op && !strcmp(op, "Exists"))
			return true;
		if (t_key && !strcmp(t_value ? t_value : "", value ? value : ""))
			return true;
	}
	return false;
}

static bool taints_allow(const struct pod_entry *e, const struct node *node)
{
	const json_t *tolerations = json_at(e->tree, "spec", "tolerations", NULL);
	json_t *taint;
	size_t i;

	json_array_foreach (node->taints, i, taint)
		if (!strcmp(json_str_at(taint, "effect", NULL), "NoExecute") &&
		    !tolerates(tolerations, taint))
			return false;
	return true;
}

bool kubelet_admits(struct pod_entry *e, const struct node *node)
{
	if (!has_room(e, node))
		return false;
	if (!selector_matches(e, node)) {
		snprintf(e->reason, sizeof(e->reason), "NodeAffinity");
		snprintf(e->message, sizeof(e->message),
			 "Pod was rejected: node %s does not match the pod's node selector",
			 e->node);
		return false;
	}
	if (!taints_allow(e, node)) {
		snprintf(e->reason, sizeof(e->reason), "TaintToleration");
		snprintf(e->message, sizeof(e->message),
			 "Pod was rejected: node %s has a NoExecute taint", e->node);
		return false;
	}
	return true;
}
