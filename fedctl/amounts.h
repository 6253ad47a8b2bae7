/* Amounts as people write them on a command line. */
#ifndef FEDCTL_AMOUNTS_H
#define FEDCTL_AMOUNTS_H

#include <jansson.h>

#include "base/error.h"
#include "base/strbuf.h"

/* "cpu=4,nvidia.com/gpu=8" to an object of quantities that the caller owns; BAD_REQUEST or INVALID
 * with the part that is wrong. */
int amounts_parse(const char *text, json_t **ret, struct error *err);

/* A quantity as people compare it: cpu in cores, memory in the largest binary unit, both with at
 * most one decimal, never more than there is; all else, and what is no quantity, as it is. */
void amount_write(const char *resource, const char *quantity, struct strbuf *out);

#endif
