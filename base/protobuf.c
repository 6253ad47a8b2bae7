#include "base/protobuf.h"

#include <string.h>

/* --- reading --- */

bool pb_next_varint(struct sv *in, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	for (unsigned shift = 0; shift < 64 && i < in->n; shift += 7) {
		uint8_t byte = (uint8_t)in->p[i++];

		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*in = (struct sv){in->p + i, in->n - i};
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool take(struct sv *in, uint64_t n, struct sv *ret)
{
	if (in->n < n)
		return false;
	*ret = (struct sv){in->p, (size_t)n};
	*in = (struct sv){in->p + n, in->n - (size_t)n};
	return true;
}

static bool take_payload(struct sv *in, struct pb_field *f)
{
	struct sv unread;
	uint64_t n;

	switch (f->wire) {
	case PB_VARINT:
		return pb_next_varint(in, &f->varint);
	case PB_BYTES:
		return pb_next_varint(in, &n) && take(in, n, &f->bytes);
	case PB_FIXED64:
		return take(in, 8, &unread);
	case PB_FIXED32:
		return take(in, 4, &unread);
	}
	return false; /* groups: proto3 has none */
}

bool pb_next(struct sv *in, struct pb_field *ret)
{
	struct sv rest = *in;
	struct pb_field f = {0};
	uint64_t tag;

	if (!pb_next_varint(&rest, &tag) || tag >> 3 == 0 || tag >> 32)
		return false;
	f.number = (unsigned)(tag >> 3);
	f.wire = (enum pb_wire)(tag & 7);
	if (!take_payload(&rest, &f))
		return false;
	*in = rest;
	*ret = f;
	return true;
}

/* --- writing --- */

#define VARINT_MAX 10

static size_t write_varint(char *at, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		at[n++] = (char)(v | 0x80);
	at[n++] = (char)v;
	return n;
}

static void add_varint(struct strbuf *out, uint64_t v)
{
	char bytes[VARINT_MAX];

	strbuf_add(out, bytes, write_varint(bytes, v));
}

static void add_tag(struct strbuf *out, unsigned field, enum pb_wire wire)
{
	add_varint(out, (uint64_t)field << 3 | wire);
}

void pb_put_varint(struct strbuf *out, unsigned field, uint64_t v)
{
	add_tag(out, field, PB_VARINT);
	add_varint(out, v);
}

void pb_put_bytes(struct strbuf *out, unsigned field, const void *bytes, size_t n)
{
	add_tag(out, field, PB_BYTES);
	add_varint(out, n);
	strbuf_add(out, bytes, n);
}

/* One byte is kept for the length; what is too long for it moves when the message ends. */
size_t pb_begin(struct strbuf *out, unsigned field)
{
	add_tag(out, field, PB_BYTES);
	strbuf_addc(out, '\0');
	return out->size;
}

void pb_end(struct strbuf *out, size_t begun)
{
	size_t n = out->size - begun, size;
	char length[VARINT_MAX];

	size = write_varint(length, n);
	if (size > 1) {
		strbuf_extend(out, size - 1);
		memmove(out->bytes + begun + size - 1, out->bytes + begun, n);
	}
	memcpy(out->bytes + begun - 1, length, size);
}
