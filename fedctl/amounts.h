/* Amounts as people write them on a command line. */
#ifndef FEDCTL_AMOUNTS_H
#define FEDCTL_AMOUNTS_H

#include <jansson.h>

#include "base/error.h"

/* "cpu=4,nvidia.com/gpu=8" to an object of quantities that the caller owns; BAD_REQUEST or INVALID
 * with the part that is wrong. */
int amounts_parse(const char *text, json_t **ret, struct error *err);

#endif
