#include "base/encode.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "base/virtual.h"

TestSuite(encode);

/* RFC 4648 section 10. */
Test(encode, base64_by_the_rfc)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{"\xfb\xff\xbe", "+/++"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_strbuf text = {0}, bytes = {0};

		base64_encode(&text, cases[i][0], strlen(cases[i][0]));
		cr_expect_str_eq(strbuf_str(&text), cases[i][1]);
		cr_expect_eq(base64_decode(&bytes, cases[i][1], strlen(cases[i][1])), 0);
		cr_expect_str_eq(strbuf_str(&bytes), cases[i][0]);
	}
}

Test(encode, base64_round_trip_of_every_length)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	unsigned char bytes[257];

	for (size_t n = 0; n <= sizeof(bytes); n++) {
		auto_strbuf text = {0}, back = {0};

		for (size_t i = 0; i < n; i++)
			bytes[i] = (unsigned char)env_random(virtual_env_seam(v));
		base64_encode(&text, bytes, n);
		cr_assert_eq(text.size, (n + 2) / 3 * 4);
		cr_assert_eq(base64_decode(&back, strbuf_str(&text), text.size), 0);
		cr_assert_eq(back.size, n);
		if (n)
			cr_assert_arr_eq(back.bytes, bytes, n);
	}
}

Test(encode, base64_decode_refuses_and_leaves_the_buffer)
{
	static const char *const bad[] = {
		"Zg",   "Zg=",  "Zg===", "Z",    "====", "Z===", "Zg==Zg==", "Zm9v\n",
		"Zm 9", "Zm-_", "Zh==",  "Zm9=", "=Zg=", "Zg=v", "Zm9vZ*==",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		auto_strbuf out = {0};

		strbuf_adds(&out, "kept");
		cr_expect_eq(base64_decode(&out, bad[i], strlen(bad[i])), -1, "%s", bad[i]);
		cr_expect_str_eq(strbuf_str(&out), "kept");
	}
}

Test(encode, hex_and_sha256)
{
	char hex[9], digest[65];

	hex_encode(hex, "\x00\xff\x1a\xB0", 4);
	cr_assert_str_eq(hex, "00ff1ab0");
	/* FIPS 180-2, appendix B.1 */
	sha256_hex("abc", 3, digest);
	cr_assert_str_eq(digest,
			 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_hex("", 0, digest);
	cr_assert_str_eq(digest,
			 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

Test(encode, uuids_are_of_version_four)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	char a[UUID_SIZE], last[UUID_SIZE] = "";

	for (int i = 0; i < 200; i++) {
		uuid_make(virtual_env_seam(v), a);
		cr_assert_eq(strlen(a), 36);
		cr_assert_eq(strspn(a, "0123456789abcdef-"), 36);
		cr_assert(a[8] == '-' && a[13] == '-' && a[18] == '-' && a[23] == '-');
		cr_assert_eq(a[14], '4');
		cr_assert(strchr("89ab", a[19]));
		cr_assert_str_neq(a, last);
		memcpy(last, a, sizeof(a));
	}
}

Test(encode, percent_by_the_rfc)
{
	auto_strbuf text = {0}, back = {0};

	percent_encode(&text, "a-._~Z9 /?&=%+\xc3\xa9:,");
	cr_assert_str_eq(strbuf_str(&text), "a-._~Z9%20%2F%3F%26%3D%25%2B%C3%A9%3A%2C");
	cr_assert_eq(percent_decode(&back, text.bytes, text.size, true), 0);
	cr_assert_str_eq(strbuf_str(&back), "a-._~Z9 /?&=%+\xc3\xa9:,");
}

Test(encode, percent_decode_of_plus_depends_on_the_place)
{
	auto_strbuf path = {0}, query = {0};

	percent_decode(&path, "a+b%2b", 6, false);
	percent_decode(&query, "a+b%2b", 6, true);
	cr_assert_str_eq(strbuf_str(&path), "a+b+");
	cr_assert_str_eq(strbuf_str(&query), "a b+");
}

Test(encode, percent_decode_refuses_and_leaves_the_buffer)
{
	static const char *const bad[] = {"%", "%1", "a%", "%zz", "%1g", "%g1", "%%41", "x%00y"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		auto_strbuf out = {0};

		strbuf_adds(&out, "kept");
		cr_expect_eq(percent_decode(&out, bad[i], strlen(bad[i]), false), -1, "%s", bad[i]);
		cr_expect_str_eq(strbuf_str(&out), "kept");
	}
	{
		auto_strbuf out = {0};

		cr_expect_eq(percent_decode(&out, "a\0b", 3, false), -1);
	}
}

Test(encode, utf8_good_and_bad)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{"", true},
		{"plain ascii, longer than eight bytes", true},
		{"\xc2\x80 \xdf\xbf", true},
		{"\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf", true},
		{"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", true},
		{"\x80", false},             /* continuation alone */
		{"\xc0\x80", false},         /* overlong */
		{"\xc1\xbf", false},         /* overlong */
		{"\xe0\x9f\xbf", false},     /* overlong */
		{"\xf0\x8f\xbf\xbf", false}, /* overlong */
		{"\xed\xa0\x80", false},     /* surrogate */
		{"\xed\xbf\xbf", false},     /* surrogate */
		{"\xf4\x90\x80\x80", false}, /* above U+10FFFF */
		{"\xf5\x80\x80\x80", false},
		{"\xff", false},
		{"\xc2", false}, /* cut */
		{"\xe2\x82", false},
		{"\xf0\x9f\x98", false},
		{"abcdefgh\xe2\x82", false},
		{"\xe2\x28\xa1", false}, /* continuation missing */
		{"eight by\xc3(", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		cr_expect_eq(utf8_valid(cases[i].text, strlen(cases[i].text)), cases[i].good,
			     "case %zu", i);
	cr_expect(utf8_valid("a\0b", 3));
}

Test(encode, utf8_is_cut_between_characters)
{
	static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};

	for (size_t n = 0; n < ARRAY_LEN(ends); n++)
		cr_expect_eq(utf8_cut(text, n), ends[n], "%zu bytes", n);
	/* what is no character at all is not ours to mend */
	cr_expect_eq(utf8_cut("\x80\x80\x80\x80", 4), 4);
}

Test(encode, utf8_of_every_code_point_reads_back)
{
	for (uint32_t c = 0; c < 0x110000; c++) {
		char bytes[4];
		size_t n = utf8_encode(bytes, c);
		bool surrogate = c >= 0xd800 && c < 0xe000;

		cr_assert_eq(utf8_length(bytes, n), surrogate ? 0 : n, "U+%04X", (unsigned)c);
		if (n > 1)
			cr_assert_eq(utf8_length(bytes, n - 1), 0, "U+%04X", (unsigned)c);
	}
}
