/* Expected bytes are those of protobuf.dev/programming-guides/encoding, or made by its rules. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "base/protobuf.h"

#define SV(literal) ((struct sv){literal, sizeof(literal) - 1})

static void assert_written(struct strbuf *out, struct sv expected)
{
	cr_assert_eq(out->size, expected.n, "%zu bytes", out->size);
	cr_assert_arr_eq(out->bytes, expected.p, expected.n);
	strbuf_finish(out);
}

static const struct {
	uint64_t number;
	struct sv bytes;
} varints[] = {
	{0, {"\x00", 1}},
	{1, {"\x01", 1}},
	{127, {"\x7f", 1}},
	{128, {"\x80\x01", 2}},
	{150, {"\x96\x01", 2}},
	{16383, {"\xff\x7f", 2}},
	{16384, {"\x80\x80\x01", 3}},
	{INT64_MAX, {"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9}},
	{(uint64_t)INT64_MIN, {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10}},
	{(uint64_t)-2, {"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}},
	{UINT64_MAX, {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}},
};

Test(protobuf, numbers_are_read_and_written)
{
	for (size_t i = 0; i < ARRAY_LEN(varints); i++) {
		struct strbuf out = {0};
		struct sv in;
		uint64_t v;

		pb_put_varint(&out, 1, varints[i].number);
		in = (struct sv){out.bytes + 1, out.size - 1};
		cr_assert(pb_next_varint(&in, &v) && v == varints[i].number && !in.n);
		cr_assert_eq(out.bytes[0], 0x08);
		strbuf_consume(&out, 1);
		assert_written(&out, varints[i].bytes);
	}
}

Test(protobuf, numbers_may_be_longer_than_needed)
{
	struct sv in = SV("\x81\x80\x00\x05");
	uint64_t v;

	cr_assert(pb_next_varint(&in, &v) && v == 1 && in.n == 1);
	cr_assert(pb_next_varint(&in, &v) && v == 5 && in.n == 0);
	cr_assert(!pb_next_varint(&in, &v) && in.n == 0, "the end");
}

Test(protobuf, numbers_that_are_none_are_left)
{
	static const struct sv bad[] = {
		{"\x80", 1},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10}, /* 65 bits */
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct sv in = bad[i];
		uint64_t v = 7;

		cr_assert(!pb_next_varint(&in, &v), "%zu", i);
		cr_assert(in.n == bad[i].n && in.p == bad[i].p && v == 7);
	}
}

Test(protobuf, fields_come_in_order_and_the_fixed_are_passed_over)
{
	struct sv in = SV("\x08\x96\x01"
			  "\x12\x07testing"
			  "\x19"
			  "12345678"
			  "\x25"
			  "1234"
			  "\x1a\x00"
			  "\xf8\xff\xff\xff\x0f\x05");
	struct pb_field f;

	cr_assert(pb_next(&in, &f) && f.number == 1 && f.wire == PB_VARINT && f.varint == 150);
	cr_assert(pb_next(&in, &f) && f.number == 2 && f.wire == PB_BYTES);
	cr_assert(sv_eq(f.bytes, "testing"));
	cr_assert(pb_next(&in, &f) && f.number == 3 && f.wire == PB_FIXED64);
	cr_assert(pb_next(&in, &f) && f.number == 4 && f.wire == PB_FIXED32);
	cr_assert(pb_next(&in, &f) && f.number == 3 && f.wire == PB_BYTES && f.bytes.n == 0);
	cr_assert(pb_next(&in, &f) && f.number == 536870911 && f.varint == 5, "the last number");
	cr_assert(!pb_next(&in, &f) && in.n == 0);
}

Test(protobuf, fields_that_are_none_are_left)
{
	static const struct sv bad[] = {
		{"\x08", 1},      /* no number behind the tag */
		{"\x12\x02x", 3}, /* fewer bytes than were said */
		{"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 12},
		{"\x19"
		 "1234567",
		 8},
		{"\x25"
		 "123",
		 4},
		{"\x00\x01", 2},                 /* field 0 */
		{"\x80\x80\x80\x80\x10\x05", 6}, /* a tag of more than 32 bits */
		{"\x0b\x0c", 2},                 /* a group */
		{"\x0e\x05", 2},                 /* there is no such wire type */
		{"\x0f\x05", 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct pb_field f = {.number = 7};
		struct sv in = bad[i];

		cr_assert(!pb_next(&in, &f), "%zu", i);
		cr_assert(in.n == bad[i].n && in.p == bad[i].p && f.number == 7, "%zu", i);
	}
}

Test(protobuf, bytes_and_messages_are_written)
{
	struct strbuf out = {0};
	size_t outer, inner;

	pb_put_bytes(&out, 2, "testing", 7);
	assert_written(&out, SV("\x12\x07testing"));
	pb_put_bytes(&out, 16, "\0", 1);
	pb_put_bytes(&out, 1, NULL, 0);
	assert_written(&out, SV("\x82\x01\x01\x00\x0a\x00"));
	outer = pb_begin(&out, 3);
	pb_put_varint(&out, 1, 150);
	inner = pb_begin(&out, 4);
	pb_end(&out, inner);
	pb_put_varint(&out, 2, 0);
	pb_end(&out, outer);
	assert_written(&out, SV("\x1a\x07\x08\x96\x01\x22\x00\x10\x00"));
}

/* Lengths around those where one more byte is needed to tell them, at both levels. */
Test(protobuf, messages_of_any_length)
{
	static const size_t sizes[] = {0,     1,     120,   123,     124,     125,    126,
				       127,   128,   16376, 16379,   16380,   16383,  16384,
				       20000, 65536, 99999, 2097147, 2097151, 2097152};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		auto_xfree char *text = xmalloc(sizes[i] + 1);
		auto_strbuf out = {0};
		size_t outer, inner;
		struct pb_field f;
		struct sv in;

		memset(text, 'x', sizes[i]);
		pb_put_varint(&out, 9, 1);
		outer = pb_begin(&out, 1);
		inner = pb_begin(&out, 2);
		strbuf_add(&out, text, sizes[i]);
		pb_end(&out, inner);
		pb_end(&out, outer);
		pb_put_varint(&out, 9, 2);

		in = (struct sv){out.bytes, out.size};
		cr_assert(pb_next(&in, &f) && f.number == 9 && f.varint == 1);
		cr_assert(pb_next(&in, &f) && f.number == 1 && f.wire == PB_BYTES);
		cr_assert(pb_next(&f.bytes, &f) && f.number == 2 && f.bytes.n == sizes[i]);
		cr_assert(!memcmp(f.bytes.p, text, sizes[i]));
		cr_assert(pb_next(&in, &f) && f.number == 9 && f.varint == 2 && !in.n);
	}
}
