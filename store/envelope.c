#include "store/envelope.h"

#include <assert.h>
#include <zlib.h>

#include "base/mem.h"

/* Documents are small: a window of 8 KiB and few hash heads, which are cleared for each of them. */
#define DEFLATE_LEVEL  1
#define DEFLATE_WINDOW (-13)
#define DEFLATE_MEMORY 5
#define INFLATE_WINDOW (-15)
/* Less than an eighth saved does not pay for inflating it in every reader. */
#define WORTHWHILE(packed, size) ((packed) < (size) - (size) / 8)

struct envelope_packer {
	z_stream deflate, inflate;
};

struct envelope_packer *envelope_packer_create(void)
{
	struct envelope_packer *p = xnew0(struct envelope_packer);

	if (deflateInit2(&p->deflate, DEFLATE_LEVEL, Z_DEFLATED, DEFLATE_WINDOW, DEFLATE_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK ||
	    inflateInit2(&p->inflate, INFLATE_WINDOW) != Z_OK)
		abort();
	return p;
}

void envelope_packer_destroy(struct envelope_packer *p)
{
	if (!p)
		return;
	deflateEnd(&p->deflate);
	inflateEnd(&p->inflate);
	free(p);
}

/* zlib takes its input by a pointer to non-const, and does not write there. */
static unsigned char *bytes_of(const void *bytes)
{
	return (unsigned char *)(uintptr_t)bytes;
}

static bool deflate_value(struct envelope_packer *p, const void *value, size_t size,
			  struct strbuf *out)
{
	size_t room = size - size / 8;
	auto_xfree unsigned char *packed = xmalloc(room);

	deflateReset(&p->deflate);
	deflateSetDictionary(&p->deflate, bytes_of(envelope_dictionary), ENVELOPE_DICTIONARY_SIZE);
	p->deflate.next_in = bytes_of(value);
	p->deflate.avail_in = (uInt)size;
	p->deflate.next_out = packed;
	p->deflate.avail_out = (uInt)room;
	if (deflate(&p->deflate, Z_FINISH) != Z_STREAM_END)
		return false;
	room -= p->deflate.avail_out;
	if (!WORTHWHILE(room, size))
		return false;
	strbuf_add(out, packed, room);
	return true;
}

enum envelope_format envelope_pack(struct envelope_packer *p, const void *value, size_t size,
				   struct strbuf *out)
{
	if (size >= ENVELOPE_DEFLATE_FROM && deflate_value(p, value, size, out))
		return ENVELOPE_PRIMED;
	strbuf_add(out, value, size);
	return ENVELOPE_RAW;
}

void envelope_head(enum envelope_format format, int64_t index, unsigned char head[ENVELOPE_SIZE])
{
	assert(index >= 0 && index <= UINT16_MAX);
	head[0] = (unsigned char)format;
	head[1] = (unsigned char)(index >> 8);
	head[2] = (unsigned char)index;
}

static int inflate_value(struct envelope_packer *p, enum envelope_format format, const void *bytes,
			 size_t size, size_t limit, struct strbuf *out, struct error *err)
{
	size_t before = out->size;
	unsigned char piece[8192];
	int r = Z_OK;

	inflateReset(&p->inflate);
	if (format == ENVELOPE_PRIMED)
		inflateSetDictionary(&p->inflate, bytes_of(envelope_dictionary),
				     ENVELOPE_DICTIONARY_SIZE);
	p->inflate.next_in = bytes_of(bytes);
	p->inflate.avail_in = (uInt)size;
	while (r == Z_OK && out->size - before <= limit) {
		p->inflate.next_out = piece;
		p->inflate.avail_out = sizeof(piece);
		r = inflate(&p->inflate, Z_NO_FLUSH);
		strbuf_add(out, piece, sizeof(piece) - p->inflate.avail_out);
	}
	if (r == Z_STREAM_END && !p->inflate.avail_in && out->size - before <= limit)
		return 0;
	if (out->bytes)
		out->bytes[out->size = before] = '\0';
	return error_set(err, ERR_INTERNAL,
			 "a stored value cannot be inflated to at most %zu bytes", limit);
}

int envelope_open(struct envelope_packer *p, const void *bytes, size_t size, size_t limit,
		  int64_t *ret_index, struct strbuf *out, struct error *err)
{
	const unsigned char *head = bytes;

	if (size < ENVELOPE_SIZE || head[0] > ENVELOPE_PRIMED)
		return error_set(err, ERR_INTERNAL, "a stored value is not one of this program's");
	bytes = head + ENVELOPE_SIZE;
	size -= ENVELOPE_SIZE;
	if (head[0] != ENVELOPE_RAW) {
		if (inflate_value(p, head[0], bytes, size, limit, out, err))
			return -1;
	} else if (size > limit) {
		return error_set(err, ERR_INTERNAL, "a stored value has %zu bytes, over %zu", size,
				 limit);
	} else {
		strbuf_add(out, bytes, size);
	}
	*ret_index = head[1] << 8 | head[2];
	return 0;
}
