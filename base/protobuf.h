/*
 * Protobuf's wire format (protobuf.dev/programming-guides/encoding): fields read one after another,
 * messages written from the outside in. Knows no schema.
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scan.h"
#include "base/strbuf.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

/* --- reading --- */

struct pb_field {
	unsigned number;
	enum pb_wire wire;
	uint64_t varint; /* PB_VARINT */
	struct sv bytes; /* PB_BYTES: a view of what is read */
};

/* Takes the next field off the front of *in; false at the end, and when what is there cannot be
 * read: then *in is not empty. Fixed fields are passed over with their value unread. */
bool pb_next(struct sv *in, struct pb_field *ret);
/* Likewise one number, of a packed field. */
bool pb_next_varint(struct sv *in, uint64_t *ret);

/* --- writing, appended to out --- */

void pb_put_varint(struct strbuf *out, unsigned field, uint64_t v);
void pb_put_bytes(struct strbuf *out, unsigned field, const void *bytes, size_t n);
/* A message inside: what is appended between the two calls. Returns what the end needs. */
size_t pb_begin(struct strbuf *out, unsigned field);
void pb_end(struct strbuf *out, size_t begun);

#endif
