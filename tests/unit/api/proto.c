#include "api/proto.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "proto_bodies.h"

/* Appends bytes written in hex; blanks are for the reader. */
static void add_hex(struct strbuf *out, const char *hex)
{
	for (const char *p = hex; *p; p += 2) {
		char digits[3] = {0};

		while (*p == ' ')
			p++;
		memcpy(digits, p, 2);
		strbuf_addc(out, (char)strtol(digits, NULL, 16));
	}
}

/* The envelope of "v1" and a kind around an object written in hex. */
static void add_body(struct strbuf *out, const char *kind, const char *hex)
{
	auto_strbuf object = {0};
	size_t n = strlen(kind);

	add_hex(&object, hex);
	cr_assert(object.size < 128 && n < 100);
	strbuf_add(out, "k8s\0\n", 5);
	strbuf_addc(out, (char)(n + 6));
	add_hex(out, "0a 02 76 31 12");
	strbuf_addc(out, (char)n);
	strbuf_adds(out, kind);
	strbuf_addc(out, 0x12);
	strbuf_addc(out, (char)object.size);
	strbuf_add(out, object.bytes, object.size);
}

static void check_object(const char *what, const struct strbuf *body, const char *want)
{
	auto_json *w = json_parse(want, strlen(want), NULL, NULL);
	auto_xfree char *text = NULL;
	auto_json *got = NULL;
	struct error err = {0};

	cr_assert(w, "%s: %s", what, want);
	cr_assert_eq(proto_decode(body->bytes, body->size, &got, &err), 0, "%s: %s", what,
		     err.text);
	text = json_print(got);
	cr_expect(json_equal(got, w), "%s: %s", what, text);
	cr_expect(!strncmp(text, "{\"apiVersion\":", 14), "%s: %s", what, text);
}

Test(proto, reads_what_clients_send)
{
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		auto_strbuf body = {0};

		add_hex(&body, bodies[i].hex);
		check_object(bodies[i].what, &body, bodies[i].json);
	}
}

/* A body that is cut anywhere is an error, unless only the envelope's empty end is missing. */
Test(proto, takes_no_part_for_the_whole)
{
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		auto_json *whole = json_parse(bodies[i].json, strlen(bodies[i].json), NULL, NULL);
		auto_strbuf body = {0};
		size_t taken = 0;

		add_hex(&body, bodies[i].hex);
		for (size_t n = 0; n < body.size; n++) {
			auto_xfree char *copy = xmalloc(n); /* its end is where reading must end */
			auto_json *got = NULL;

			memcpy(copy, body.bytes, n);
			if (proto_decode(copy, n, &got, NULL) < 0)
				continue;
			taken++;
			if (n < body.size - 4) /* the type alone: an object without fields */
				cr_expect_eq(json_object_size(got), 2, "%s", bodies[i].what);
			else
				cr_expect(json_equal(got, whole), "%s", bodies[i].what);
		}
		cr_expect_leq(taken, 4, "%s: %zu", bodies[i].what, taken);
	}
}

static void check_survives(const struct strbuf *body, const char *what, size_t at)
{
	auto_json *got = NULL, *again = NULL;
	auto_xfree char *text = NULL;
	struct error err = {0};

	if (proto_decode(body->bytes, body->size, &got, &err))
		return;
	text = json_print(got);
	again = json_parse(text, strlen(text), NULL, &err);
	cr_assert(again, "%s, byte %zu: %s", what, at, err.text);
}

Test(proto, survives_every_changed_bit)
{
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		auto_strbuf body = {0};

		add_hex(&body, bodies[i].hex);
		for (size_t bit = 4 * 8; bit < body.size * 8; bit++) {
			body.bytes[bit / 8] ^= (char)(1u << bit % 8);
			check_survives(&body, bodies[i].what, bit / 8);
			body.bytes[bit / 8] ^= (char)(1u << bit % 8);
		}
	}
}

static void check_refused(const char *what, const struct strbuf *body, enum error_code code,
			  const char *text)
{
	json_t *got = NULL;
	struct error err = {0};

	cr_expect_eq(proto_decode(strbuf_str(body), body->size, &got, &err), -1, "%s", what);
	cr_expect_eq(err.code, code, "%s: %s", what, err.text);
	cr_expect(strstr(err.text, text), "%s: %s", what, err.text);
	cr_expect_null(got);
}

Test(proto, refuses_other_envelopes)
{
	static const struct {
		const char *hex;
		enum error_code code;
		const char *text;
	} cases[] = {
		{"", ERR_BAD_REQUEST, "does not begin"},
		{"6b 38 73", ERR_BAD_REQUEST, "does not begin"},
		{"6b 38 73 01 0a 00", ERR_BAD_REQUEST, "does not begin"},
		{"7b 22 61 22", ERR_BAD_REQUEST, "does not begin"},
		{"6b 38 73 00", ERR_UNSUPPORTED_MEDIA, "send JSON"},
		/* v1 Pig; batch/v1 Job; v1 Lease; a gzipped v1 Pod */
		{"6b 38 73 00 0a 09 0a 02 76 31 12 03 50 69 67", ERR_UNSUPPORTED_MEDIA, "v1 Pig"},
		{"6b 38 73 00 0a 0f 0a 08 62 61 74 63 68 2f 76 31 12 03 4a 6f 62",
		 ERR_UNSUPPORTED_MEDIA, "batch/v1 Job"},
		{"6b 38 73 00 0a 0b 0a 02 76 31 12 05 4c 65 61 73 65", ERR_UNSUPPORTED_MEDIA,
		 "v1 Lease"},
		{"6b 38 73 00 0a 09 0a 02 76 31 12 03 50 6f 64 1a 04 67 7a 69 70",
		 ERR_UNSUPPORTED_MEDIA, "send JSON"},
		{"6b 38 73 00 0a 7f", ERR_BAD_REQUEST, "malformed"},
		{"6b 38 73 00 0a 02 08 01", ERR_BAD_REQUEST, "apiVersion"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_strbuf body = {0};

		add_hex(&body, cases[i].hex);
		check_refused(cases[i].hex, &body, cases[i].code, cases[i].text);
	}
}

Test(proto, takes_delete_options_of_any_group)
{
	auto_strbuf body = {0};

	add_hex(&body, "6b 38 73 00 0a 19 0a 08 62 61 74 63 68 2f 76 31 12 0d"
		       "44 65 6c 65 74 65 4f 70 74 69 6f 6e 73 12 02 08 05");
	check_object("batch/v1", &body,
		     "{\"apiVersion\":\"batch/v1\",\"kind\":\"DeleteOptions\","
		     "\"gracePeriodSeconds\":5}");
}

/* The wire format allows more than what Go's encoder writes. */
Test(proto, reads_every_form_of_a_field)
{
	static const struct {
		const char *what, *kind, *hex, *json;
	} cases[] = {
		{"nothing", "Secret", "", ""},
		{"unknown fields of every wire type", "Secret",
		 "a0 1f 01 a1 1f 00 00 00 00 00 00 00 00 a2 1f 01 ff a5 1f 00 00 00 00", ""},
		{"metadata in two parts, the later name counts", "Secret",
		 "0a 06 0a 01 61 1a 01 6e 0a 03 0a 01 62",
		 ",\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"}"},
		{"a later empty value unsets", "Secret", "1a 01 74 1a 00", ""},
		{"a pointer to false", "Secret", "28 00", ",\"immutable\":false"},
		{"any number but 0 is true", "Secret", "28 07", ",\"immutable\":true"},
		{"a varint longer than it needs", "Secret", "28 81 80 00", ",\"immutable\":true"},
		{"map entries without key or value", "Secret", "12 00 12 03 0a 01 6b",
		 ",\"data\":{\"\":\"\",\"k\":\"\"}"},
		{"map entries in other order, twice", "Secret",
		 "12 06 12 01 61 0a 01 6b 12 06 0a 01 6b 12 01 62", ",\"data\":{\"k\":\"Yg==\"}"},
		{"a packed list of numbers", "Pod", "12 07 72 05 22 03 01 02 03",
		 ",\"spec\":{\"securityContext\":{\"supplementalGroups\":[1,2,3]}}"},
		{"a number of ten bytes, below zero", "Pod",
		 "12 0c c8 01 ff ff ff ff ff ff ff ff ff 01", ",\"spec\":{\"priority\":-1}"},
		/* spec 2, volumes 1: name 1 "v"; volumeSource 2, in it emptyDir 2 without fields */
		{"an empty message behind a pointer", "Pod", "12 09 0a 07 0a 01 76 12 02 12 00",
		 ",\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}"},
		/* overhead 32: key "cpu", a quantity without text */
		{"a quantity without text", "Pod", "12 0a 82 02 07 0a 03 63 70 75 12 00",
		 ",\"spec\":{\"overhead\":{\"cpu\":\"0\"}}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *want = NULL;
		auto_strbuf body = {0};

		want = xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"%s\"%s}", cases[i].kind,
				 cases[i].json);
		add_body(&body, cases[i].kind, cases[i].hex);
		check_object(cases[i].what, &body, want);
	}
}

Test(proto, names_the_field_that_is_malformed)
{
	static const struct {
		const char *what, *kind, *hex, *text;
	} cases[] = {
		{"field number 0", "Secret", "00 01", "malformed"},
		{"a group", "Secret", "0b 0c", "malformed"},
		{"a varint without end", "Secret", "28 80", "malformed"},
		{"a varint of eleven bytes", "Secret", "28 80 80 80 80 80 80 80 80 80 80 01",
		 "malformed"},
		{"a varint over 64 bits", "Secret", "28 80 80 80 80 80 80 80 80 80 02",
		 "malformed"},
		{"a length past the end", "Secret", "1a 05 61", "malformed"},
		{"a length of 64 bits", "Secret", "1a ff ff ff ff ff ff ff ff ff 01", "malformed"},
		{"fixed bytes past the end", "Secret", "a1 1f 00", "malformed"},
		{"a number for a text", "Secret", "18 01", "type: another wire type"},
		{"a text for a bool", "Secret", "2a 01 61", "immutable: another wire type"},
		{"a number for a message", "Secret", "08 01", "metadata: another wire type"},
		{"a number for a map", "Secret", "10 01", "data: malformed map entry"},
		{"a number for a map's key", "Secret", "12 02 08 01", "data: malformed map entry"},
		{"bytes that are no text", "Secret", "0a 04 0a 02 c3 28",
		 "metadata.name: not a text in UTF-8"},
		{"a NUL in a text", "Secret", "0a 05 0a 03 61 00 62",
		 "metadata.name: not a text in UTF-8"},
		{"a label that is no text", "Secret", "0a 08 5a 06 0a 01 6b 12 01 ff",
		 "metadata.labels[k]: not a text"},
		{"a time after 2262", "Secret", "0a 09 42 07 08 80 f4 fe e2 c6 03",
		 "metadata.creationTimestamp: time out of range"},
		{"a second of 10^9 nanoseconds", "Secret", "0a 0a 42 08 08 01 10 80 94 eb dc 03",
		 "metadata.creationTimestamp: time out of range"},
		{"a time of texts", "Secret", "0a 05 42 03 0a 01 61",
		 "metadata.creationTimestamp: malformed time"},
		{"the second container's name", "Pod", "12 09 12 03 0a 01 61 12 02 08 01",
		 "spec.containers[1].name: another wire type"},
		{"a cut packed list", "Pod", "12 06 72 04 22 02 01 80",
		 "spec.securityContext.supplementalGroups: malformed packed"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_strbuf body = {0};

		add_body(&body, cases[i].kind, cases[i].hex);
		check_refused(cases[i].what, &body, ERR_BAD_REQUEST, cases[i].text);
	}
}
