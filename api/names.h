/* How names and texts must look: each check is the hand-written twin of the pattern beside it. */
#ifndef API_NAMES_H
#define API_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_DNS_LABEL     "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
#define PATTERN_DNS_SUBDOMAIN "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
#define PATTERN_LABEL_VALUE   "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
#define PATTERN_LABEL_KEY                                                                          \
	"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"                    \
	"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
/* Kubernetes' quantities without a minus: nothing that we count goes below zero. */
#define PATTERN_QUANTITY                                                                           \
	"^[+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$"
#define PATTERN_DECIMAL "^[0-9]+(\\.[0-9]{1,6})?$"

/* Patterns only: lengths are limited where they apply. */
bool dns_label_ok(const char *text);
bool dns_subdomain_ok(const char *text);
bool label_value_ok(const char *text);
bool label_key_ok(const char *text);
bool quantity_text_ok(const char *text);
bool decimal_text_ok(const char *text);

/* With Kubernetes' lengths: prefix 253, name 63. */
bool qualified_name_ok(const char *text);
/* A label that begins with a letter (RFC 1035). */
bool dns_label_1035_ok(const char *text);

#endif
