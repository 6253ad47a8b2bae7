/*
 * Kubernetes quantities, exact: "1500m", "2Gi", "1e3", "0.5", never through floating point.
 */
#ifndef API_QUANTITY_H
#define API_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct quantity {
	__int128 nano; /* 10^-9; finer input rounds away from zero, as Kubernetes does */
};

int quantity_parse(const char *text, struct quantity *ret, struct error *err);
/* Rounded up; saturates at INT64_MAX. */
int64_t quantity_milli(struct quantity q);
int64_t quantity_value(struct quantity q);

#define QUANTITY_SIZE 48
/* The shortest exact form; binary: prefers Ki, Mi, ... ("40Gi"), else decimal ("1500m", "3k"). */
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
