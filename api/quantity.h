/*
 * Kubernetes quantities, exact: "1500m", "2Gi", "1e3", "0.5", never through floating point.
 */
#ifndef API_QUANTITY_H
#define API_QUANTITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define QUANTITY_TEXT_MAX 128

/* At most 2^63 - 1 in magnitude; what is larger saturates. */
struct quantity {
	__int128 nano; /* 10^-9; finer input rounds away from zero, as Kubernetes does */
};

/* INVALID for a malformed text; it is quoted. */
int quantity_parse(const char *text, struct quantity *ret, struct error *err);
/* A string, or a number as people write it in YAML ("cpu: 0.5"). */
int quantity_parse_json(const json_t *value, struct quantity *ret, struct error *err);
/* Rounded away from zero; saturates at +-INT64_MAX. */
int64_t quantity_milli(struct quantity q);
int64_t quantity_value(struct quantity q);

#define QUANTITY_SIZE 48
/* The canonical form, exact: no fraction, the largest suffix; binary: Ki, Mi, ... from 1024 on
 * ("40Gi"), else decimal ("1500m", "3k"). */
void quantity_format(struct quantity q, bool binary, char out[QUANTITY_SIZE]);
static inline struct quantity quantity_from_value(int64_t v)
{
	return (struct quantity){(__int128)v * 1000000000};
}
static inline struct quantity quantity_from_milli(int64_t v)
{
	return (struct quantity){(__int128)v * 1000000};
}

#endif
