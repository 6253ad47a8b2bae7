/*
 * Kubernetes' protobuf request bodies of core kinds, decoded to JSON by a field table. Answers are
 * never protobuf.
 */
#ifndef API_PROTO_H
#define API_PROTO_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* bytes: "k8s\0" and the envelope. *ret begins with apiVersion and kind; the caller owns it. Values
 * that Go would not write are absent, managedFields are dropped. UNSUPPORTED_MEDIA for a kind that
 * has no table, BAD_REQUEST, with the field's path, for malformed bytes. */
int proto_decode(const void *bytes, size_t n, json_t **ret, struct error *err);

#endif
