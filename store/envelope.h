/*
 * How a value lies in etcd: one byte of format, two bytes of index (big-endian, the place of the
 * write among all writes of its revision), then the value, raw or deflated. Values are deflated
 * against a dictionary, without which a document of 1 KB is more than twice as large.
 */
#ifndef STORE_ENVELOPE_H
#define STORE_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

#define ENVELOPE_SIZE            3
#define ENVELOPE_DEFLATE_FROM    256 /* bytes; below it the saving does not pay for the work */
#define ENVELOPE_DICTIONARY_SIZE 1581

enum envelope_format {
	ENVELOPE_RAW,
	ENVELOPE_DEFLATED, /* without the dictionary: is read, and written no more */
	ENVELOPE_PRIMED,   /* deflated against envelope_dictionary */
};

extern const char envelope_dictionary[];

struct envelope_packer;

struct envelope_packer *envelope_packer_create(void);
void envelope_packer_destroy(struct envelope_packer *p);

/* Appends the value as it is to be stored, without the three bytes in front. */
enum envelope_format envelope_pack(struct envelope_packer *p, const void *value, size_t size,
				   struct strbuf *out);
void envelope_head(enum envelope_format format, int64_t index, unsigned char head[ENVELOPE_SIZE]);

/* Appends the value that was packed. INTERNAL: not an envelope, or more than limit bytes. */
int envelope_open(struct envelope_packer *p, const void *bytes, size_t size, size_t limit,
		  int64_t *ret_index, struct strbuf *out, struct error *err);

#endif
