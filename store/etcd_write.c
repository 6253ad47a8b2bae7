/* The one encoder of requests. A field name that is misspelled is ignored by etcd, so none is
 * written anywhere else. */
#include <assert.h>
#include <inttypes.h>

#include "base/encode.h"
#include "store/etcd_codec.h"

static void write_bytes(struct strbuf *out, const char *name, const void *bytes, size_t n)
{
	strbuf_addf(out, "\"%s\":\"", name);
	base64_encode(out, bytes, n);
	strbuf_addc(out, '"');
}

/* The first key behind all with the prefix. */
static void write_range_end(struct strbuf *out, const char *prefix)
{
	auto_xfree char *end = xstrdup(prefix);
	size_t n = strlen(end);

	while (n && (unsigned char)end[n - 1] == 0xff)
		n--;
	assert(n);
	end[n - 1] = (char)(end[n - 1] + 1);
	write_bytes(out, "range_end", end, n);
}

void etcd_write_range(struct strbuf *out, const char *prefix, const char *after, size_t limit,
		      int64_t revision)
{
	strbuf_addc(out, '{');
	if (after && strcmp(after, prefix) >= 0)
		write_bytes(out, "key", after, strlen(after) + 1); /* with its NUL: just behind */
	else
		write_bytes(out, "key", prefix, strlen(prefix));
	strbuf_addc(out, ',');
	write_range_end(out, prefix);
	if (limit)
		strbuf_addf(out, ",\"limit\":\"%zu\"", limit);
	if (revision)
		strbuf_addf(out, ",\"revision\":\"%" PRId64 "\"", revision);
	strbuf_addc(out, '}');
}

void etcd_write_compaction(struct strbuf *out, int64_t revision)
{
	strbuf_addf(out, "{\"revision\":\"%" PRId64 "\"}", revision);
}

void etcd_write_lease_grant(struct strbuf *out, int64_t ttl_s)
{
	strbuf_addf(out, "{\"TTL\":\"%" PRId64 "\"}", ttl_s);
}

void etcd_write_lease_id(struct strbuf *out, int64_t lease)
{
	strbuf_addf(out, "{\"ID\":\"%" PRId64 "\"}", lease);
}

void etcd_write_watch(struct strbuf *out, const char *prefix, int64_t start_revision)
{
	assert(start_revision >= 1);
	strbuf_adds(out, "{\"create_request\":{");
	write_bytes(out, "key", prefix, strlen(prefix));
	strbuf_addc(out, ',');
	write_range_end(out, prefix);
	strbuf_addf(out,
		    ",\"start_revision\":\"%" PRId64 "\",\"progress_notify\":true,"
		    "\"fragment\":true}}",
		    start_revision);
}

void etcd_write_guard(struct strbuf *out, const char *key64, enum store_target target,
		      int64_t revision)
{
	static const struct {
		const char *target, *operand;
	} names[] = {
		[STORE_MOD] = {"MOD", "mod_revision"},
		[STORE_CREATE] = {"CREATE", "create_revision"},
	};

	strbuf_addf(out,
		    "{\"key\":\"%s\",\"target\":\"%s\",\"result\":\"EQUAL\",\"%s\":\"%" PRId64
		    "\"}",
		    key64, names[target].target, names[target].operand, revision);
}

void etcd_write_put(struct strbuf *out, const char *key64, enum envelope_format format,
		    int64_t index, struct sv payload64, int64_t lease)
{
	unsigned char head[ENVELOPE_SIZE];

	envelope_head(format, index, head);
	strbuf_adds(out, "{\"request_put\":{\"key\":\"");
	strbuf_adds(out, key64);
	strbuf_adds(out, "\",\"value\":\"");
	base64_encode(out, head, sizeof(head));
	strbuf_add(out, payload64.p, payload64.n);
	strbuf_addc(out, '"');
	if (lease)
		strbuf_addf(out, ",\"lease\":\"%" PRId64 "\"", lease);
	strbuf_adds(out, "}}");
}

void etcd_write_delete(struct strbuf *out, const char *key64)
{
	strbuf_addf(out, "{\"request_delete_range\":{\"key\":\"%s\"}}", key64);
}

void etcd_write_count(struct strbuf *out, const char *key64)
{
	strbuf_addf(out, "{\"request_range\":{\"key\":\"%s\",\"count_only\":true}}", key64);
}
