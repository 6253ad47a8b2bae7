/* Values as they lie in etcd. */
#include "store/envelope.h"

#include <criterion/criterion.h>
#include <string.h>
#include <zlib.h>

#include "base/encode.h"
#include "base/mem.h"

static void pack(struct envelope_packer *p, const char *value, size_t size, int64_t index,
		 struct strbuf *out)
{
	auto_strbuf payload = {0};
	unsigned char head[ENVELOPE_SIZE];

	envelope_head(envelope_pack(p, value, size, &payload), index, head);
	strbuf_add(out, head, sizeof(head));
	strbuf_add(out, strbuf_str(&payload), payload.size);
}

static void check(struct envelope_packer *p, const char *value, size_t size, int64_t index,
		  enum envelope_format format)
{
	auto_strbuf packed = {0}, opened = {0};
	int64_t got_index = -1;
	struct error err;

	pack(p, value, size, index, &packed);
	cr_assert_eq(packed.bytes[0], (char)format, "%zu bytes", size);
	cr_assert(format == ENVELOPE_RAW ? packed.size == size + 3 : packed.size < size);
	strbuf_adds(&opened, "kept");
	cr_assert_eq(envelope_open(p, packed.bytes, packed.size, size, &got_index, &opened, &err),
		     0, "%s", err.text);
	cr_assert_eq(got_index, index);
	cr_assert_eq(opened.size, size + 4);
	cr_assert_arr_eq(opened.bytes, "kept", 4);
	cr_assert_arr_eq(opened.bytes + 4, value, size);
	if (size)
		cr_assert_eq(envelope_open(p, packed.bytes, packed.size, size - 1, &got_index,
					   &opened, &err),
			     -1, "over its limit");
	cr_assert_eq(opened.size, size + 4);
}

Test(envelope, deflates_what_is_long_and_pays)
{
	struct envelope_packer *p = envelope_packer_create();
	auto_xfree char *text = xcalloc(1, 1000000), *noise = xcalloc(1, 1000000);
	uint32_t r = 1;

	for (size_t i = 0; i < 1000000; i++) {
		text[i] = "{\"kind\":\"Job\"}"[i % 14];
		r = r * 1664525 + 1013904223;
		noise[i] = (char)(r >> 24);
	}
	for (int again = 0; again < 2; again++) {
		check(p, "", 0, 0, ENVELOPE_RAW);
		check(p, text, ENVELOPE_DEFLATE_FROM - 1, 1, ENVELOPE_RAW);
		check(p, text, ENVELOPE_DEFLATE_FROM, 255, ENVELOPE_PRIMED);
		check(p, text, 1000000, 256, ENVELOPE_PRIMED);
		check(p, noise, 1000, 1023, ENVELOPE_RAW);
		check(p, noise, 1000000, 65535, ENVELOPE_RAW);
	}
	envelope_packer_destroy(p);
}

Test(envelope, layout_is_format_then_big_endian_index)
{
	unsigned char head[ENVELOPE_SIZE];

	envelope_head(ENVELOPE_DEFLATED, 0x1234, head);
	cr_assert_arr_eq(head, "\x01\x12\x34", 3);
	envelope_head(ENVELOPE_RAW, 5, head);
	cr_assert_arr_eq(head, "\x00\x00\x05", 3);
}

/* What earlier builds have put into somebody's etcd. */
Test(envelope, values_of_each_format_can_be_opened_for_ever)
{
	static const char value[] = "{\"kind\":\"Job\",\"metadata\":{\"name\":\"a\",\"namespace\":"
				    "\"default\"},\"spec\":{\"queue\":\"default\"}}";
	static const char *const stored[] = {
		"AQAFq1bKzsxLUbJS8spPUtJRyk0tSUxJLElUsqpWykvMTQVKJAKFQczigsRkED8lNS2xNKdEqVZHqbgg"
		"NRmksrA0tRRFqhYA",
		"AgAFA5bqBGI5EegXbNGMFPiYxgIA",
	};
	struct envelope_packer *p = envelope_packer_create();

	for (size_t i = 0; i < ARRAY_LEN(stored); i++) {
		auto_strbuf packed = {0}, out = {0};
		int64_t index = 0;
		struct error err;

		cr_assert_eq(base64_decode(&packed, stored[i], strlen(stored[i])), 0);
		cr_assert_eq(envelope_open(p, packed.bytes, packed.size, 1000, &index, &out, &err),
			     0, "%s", err.text);
		cr_assert_str_eq(strbuf_str(&out), value);
		cr_assert_eq(index, 5);
	}
	cr_assert_eq(crc32(0, (const unsigned char *)envelope_dictionary, ENVELOPE_DICTIONARY_SIZE),
		     1748045948, "values that were stored with it cannot be read any more");
	envelope_packer_destroy(p);
}

Test(envelope, a_job_takes_less_than_a_third_of_its_size)
{
	static const char job[] =
		"{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":"
		"\"j0\",\"namespace\":\"default\",\"uid\":\"57263877-ef5a-47a2-ac52-c292bc95ef46\","
		"\"creationTimestamp\":\"2027-03-01T06:15:01Z\",\"generation\":1,\"finalizers\":["
		"\"federator.dev/release\"]},\"spec\":{\"tasks\":[{\"name\":\"w\",\"replicas\":1,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"registry.test/a:1\","
		"\"resources\":{\"requests\":{\"cpu\":\"100m\"},\"limits\":{\"cpu\":1}}}],"
		"\"restartPolicy\":\"Never\"}},\"maxRetry\":3}],\"maxRetry\":3,\"queue\":\"default\","
		"\"schedulerName\":\"volcano\",\"minAvailable\":1}}";
	struct envelope_packer *p = envelope_packer_create();
	auto_strbuf packed = {0};

	cr_assert_neq(envelope_pack(p, job, strlen(job), &packed), ENVELOPE_RAW);
	cr_assert_lt(packed.size, strlen(job) / 3, "%zu of %zu bytes", packed.size, strlen(job));
	envelope_packer_destroy(p);
}

Test(envelope, what_is_none_is_refused)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
		{"", 0},
		{"\0\0", 2},
		{"{\"kind\":\"x\"}", 12},
		{"\3\0\0abc", 6},
		{"\1\0\0", 3},
		{"\1\0\0not deflated at all", 22},
		{"\2\0\0", 3},
		{"\2\0\0not deflated at all", 22},
	};
	struct envelope_packer *p = envelope_packer_create();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_strbuf out = {0};
		int64_t index = 77;
		struct error err = {0};

		cr_assert_eq(
			envelope_open(p, cases[i].bytes, cases[i].size, 1000, &index, &out, &err),
			-1, "%zu", i);
		cr_assert(err.code == ERR_INTERNAL && err.text[0] && index == 77 && !out.size);
	}
	envelope_packer_destroy(p);
}

Test(envelope, a_deflated_value_that_is_cut_or_has_a_tail_is_refused)
{
	struct envelope_packer *p = envelope_packer_create();
	auto_xfree char *text = xcalloc(1, 2000);
	auto_strbuf packed = {0}, out = {0};
	int64_t index;
	struct error err;

	for (size_t i = 0; i < 2000; i++)
		text[i] = (char)('a' + i * i % 7);
	pack(p, text, 2000, 0, &packed);
	cr_assert_eq(packed.bytes[0], ENVELOPE_PRIMED);
	for (size_t n = 0; n < packed.size; n++)
		cr_assert_eq(envelope_open(p, packed.bytes, n, 2000, &index, &out, &err), -1);
	strbuf_addc(&packed, 'x');
	cr_assert_eq(envelope_open(p, packed.bytes, packed.size, 2000, &index, &out, &err), -1);
	envelope_packer_destroy(p);
}
