#include "api/quantity.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <openssl/bn.h>
#include <string.h>

#include "base/json.h"
#include "tests/unit/property.h"

static __int128 nano_of(const char *text)
{
	struct error err = {0};
	struct quantity q = {0};

	cr_assert_eq(quantity_parse(text, &q, &err), 0, "\"%s\": %s", text, err.text);
	return q.nano;
}

static void check_nano(const char *text, int64_t units, int64_t nano)
{
	__int128 want = (__int128)units * 1000000000 + nano;

	cr_expect(nano_of(text) == want, "\"%s\" is not %" PRId64 " + %" PRId64 "n", text, units,
		  nano);
}

Test(quantity, reads_every_suffix)
{
	check_nano("1n", 0, 1);
	check_nano("1u", 0, 1000);
	check_nano("1m", 0, 1000000);
	check_nano("1", 1, 0);
	check_nano("1k", 1000, 0);
	check_nano("1M", 1000000, 0);
	check_nano("1G", 1000000000, 0);
	check_nano("1T", 1000000000000, 0);
	check_nano("1P", 1000000000000000, 0);
	check_nano("1E", 1000000000000000000, 0);
	check_nano("1Ki", 1024, 0);
	check_nano("1Mi", 1048576, 0);
	check_nano("1Gi", 1073741824, 0);
	check_nano("1Ti", 1099511627776, 0);
	check_nano("1Pi", 1125899906842624, 0);
	check_nano("1Ei", 1152921504606846976, 0);
	check_nano("1e3", 1000, 0);
	check_nano("1E3", 1000, 0);
	check_nano("1e+3", 1000, 0);
	check_nano("1e-3", 0, 1000000);
	check_nano("15e-1", 1, 500000000);
	check_nano("1e0", 1, 0);
}

Test(quantity, reads_signs_points_and_zeros)
{
	check_nano("0", 0, 0);
	check_nano("-0", 0, 0);
	check_nano("0.0Ei", 0, 0);
	check_nano("+5", 5, 0);
	check_nano("-5", -5, 0);
	check_nano("-1.5Ki", -1536, 0);
	check_nano("00012", 12, 0);
	check_nano(".5", 0, 500000000);
	check_nano("5.", 5, 0);
	check_nano("1.25Gi", 1342177280, 0);
	check_nano("0.1", 0, 100000000);
	check_nano("1.000000000000000000000000000000", 1, 0);
	check_nano("0.5m", 0, 500000);
	/* 123456789.5 * 2^20 is whole */
	check_nano("123456789.5Mi", 129453826506752, 0);
}

Test(quantity, rounds_what_is_finer_than_nano_away_from_zero)
{
	check_nano("0.1n", 0, 1);
	check_nano("1.0000000001", 1, 1);
	check_nano("-0.1n", 0, -1);
	check_nano("1e-100", 0, 1);
	check_nano("-1e-999999999999", 0, -1);
	check_nano("0e-999999999999", 0, 0);
	check_nano("0.0000000000000000000000000000000000001Ki", 0, 1);
	/* 2^30 / 10^10, exactly 0.1073741824 */
	check_nano("0.0000000001Gi", 0, 107374183);
}

Test(quantity, saturates_at_the_largest_int64)
{
	static const char *const large[] = {
		"9223372036854775807",
		"9223372036854775808",
		"9223372036854775807.5",
		"8Ei",
		"10E",
		"1e19",
		"1e999999999999",
		"99999999999999999999999999999999999999Ei",
	};

	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		char negative[64];

		check_nano(large[i], INT64_MAX, 0);
		snprintf(negative, sizeof(negative), "-%s", large[i]);
		check_nano(negative, -INT64_MAX, 0);
	}
	check_nano("9223372036854775806.999999999", INT64_MAX - 1, 999999999);
}

Test(quantity, refuses_what_is_none)
{
	static const char *const bad[] = {
		"",    " ",     "1 ",   " 1",    "-",     "+",     ".",     "m",        "Ki",
		"e3",  "1e",    "1e+",  "1e3.5", "1e3Ki", "1K",    "1ki",   "1KI",      "1mi",
		"1i",  "1.2.3", "1..2", "--1",   "+-1",   "1-",    "0x10",  "1,5",      "1 Gi",
		"Gi1", "1GiB",  "1MB",  "inf",   "nan",   "1_000", "1e3e3", "\xc2\xb5", "1\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct quantity q = {.nano = 77};
		struct error err = {0};

		cr_expect_eq(quantity_parse(bad[i], &q, &err), -1, "\"%s\" was taken", bad[i]);
		cr_expect_eq(err.code, ERR_INVALID);
		cr_expect(strstr(err.text, bad[i]), "\"%s\" is not named: %s", bad[i], err.text);
		cr_expect(q.nano == 77, "\"%s\" changed the output", bad[i]);
	}
}

Test(quantity, takes_texts_up_to_a_length)
{
	char text[QUANTITY_TEXT_MAX + 2];
	struct error err = {0};
	struct quantity q;

	memset(text, '9', sizeof(text));
	text[QUANTITY_TEXT_MAX + 1] = '\0';
	cr_expect_eq(quantity_parse(text, &q, &err), -1);
	cr_expect(strstr(err.text, "128"), "%s", err.text);
	text[QUANTITY_TEXT_MAX] = '\0';
	check_nano(text, INT64_MAX, 0);
	text[1] = '.';
	check_nano(text, 10, 0);
}

static void check_format(const char *text, const char *decimal, const char *binary)
{
	struct quantity q = {.nano = nano_of(text)};
	char out[QUANTITY_SIZE];

	quantity_format(q, false, out);
	cr_expect_str_eq(out, decimal, "\"%s\"", text);
	quantity_format(q, true, out);
	cr_expect_str_eq(out, binary, "\"%s\"", text);
}

/* As Kubernetes prints: no fraction, the largest suffix that leaves a whole number; powers of 1024
 * only from 1024 on and only for whole numbers. */
Test(quantity, prints_the_canonical_form)
{
	check_format("0", "0", "0");
	check_format("1.5", "1500m", "1500m");
	check_format("0.1", "100m", "100m");
	check_format("12345n", "12345n", "12345n");
	check_format("1000n", "1u", "1u");
	check_format("1000000", "1M", "1000000");
	check_format("1500000", "1500k", "1500000");
	check_format("3000", "3k", "3000");
	check_format("1023", "1023", "1023");
	check_format("1024", "1024", "1Ki");
	check_format("-1024", "-1024", "-1Ki");
	check_format("1025", "1025", "1025");
	check_format("0.5Gi", "536870912", "512Mi");
	check_format("1.5Gi", "1610612736", "1536Mi");
	check_format("40Gi", "42949672960", "40Gi");
	check_format("1024.5", "1024500m", "1024500m");
	check_format("1000Ki", "1024k", "1000Ki");
	check_format("1E", "1E", "976562500000000Ki");
	check_format("1Ei", "1152921504606846976", "1Ei");
	check_format("8Ei", "9223372036854775807", "9223372036854775807");
	check_format("-2500m", "-2500m", "-2500m");
}

Test(quantity, prints_the_extremes_of_its_type)
{
	struct quantity least = {.nano = (__int128)((unsigned __int128)1 << 127)};
	char out[QUANTITY_SIZE];

	quantity_format(least, false, out);
	cr_expect_str_eq(out, "-170141183460469231731687303715884105728n");
	quantity_format(quantity_from_value(INT64_MIN), true, out);
	cr_expect_str_eq(out, "-8Ei");
}

Test(quantity, gives_milli_and_whole_values_rounded_up)
{
	static const struct {
		const char *text;
		int64_t milli, value;
	} cases[] = {
		{"0", 0, 0},
		{"1n", 1, 1},
		{"1m", 1, 1},
		{"1500m", 1500, 2},
		{"2", 2000, 2},
		{"-1500m", -1500, -2},
		{"-1n", -1, -1},
		{"9223372036854775", 9223372036854775000, 9223372036854775},
		{"9223372036854776", INT64_MAX, 9223372036854776},
		{"8Ei", INT64_MAX, INT64_MAX},
		{"-8Ei", -INT64_MAX, -INT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct quantity q = {.nano = nano_of(cases[i].text)};

		cr_expect_eq(quantity_milli(q), cases[i].milli, "%s", cases[i].text);
		cr_expect_eq(quantity_value(q), cases[i].value, "%s", cases[i].text);
	}
	cr_expect_eq(quantity_milli(quantity_from_milli(-7)), -7);
	cr_expect_eq(quantity_value(quantity_from_value(INT64_MAX)), INT64_MAX);
}

Test(quantity, reads_numbers_of_json_as_they_were_written)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
		{"4", "4"},      {"0.1", "100m"},           {"1.5", "1500m"},
		{"-2", "-2"},    {"\"8Gi\"", "8589934592"}, {"1e3", "1k"},
		{"0.3", "300m"}, {"1e-7", "100n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *j = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
		struct quantity q = {0};
		char out[QUANTITY_SIZE];

		cr_assert_eq(quantity_parse_json(j, &q, NULL), 0, "%s", cases[i].json);
		quantity_format(q, false, out);
		cr_expect_str_eq(out, cases[i].text, "%s", cases[i].json);
	}
	for (size_t i = 0; i < 4; i++) {
		static const char *const bad[] = {"true", "null", "[]", "{}"};
		auto_json *j = json_loads(bad[i], JSON_DECODE_ANY, NULL);
		struct quantity q;

		cr_expect_eq(quantity_parse_json(j, &q, NULL), -1, "%s", bad[i]);
	}
	cr_expect_eq(quantity_parse_json(NULL, &(struct quantity){0}, NULL), -1);
}

/* --- against exact rationals ------------------------------------------------------------- */

static const struct {
	const char *text;
	int power10, power2;
} suffixes[] = {
	{"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"", 0, 0},    {"k", 3, 0},   {"M", 6, 0},
	{"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
	{"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

struct text {
	char bytes[80];
	char digits[64]; /* without the point */
	int scale, power10, power2;
	bool negative;
};

static void make_text(struct draw *d, struct text *t)
{
	int whole = (int)draw_below(d, 25), fraction = (int)draw_below(d, 20);
	char exponent[16] = "";
	const char *suffix;

	if (!whole && !fraction)
		whole = 1;
	for (int i = 0; i < whole + fraction; i++)
		t->digits[i] = (char)('0' + draw_below(d, 10));
	t->digits[whole + fraction] = '\0';
	t->scale = fraction;
	t->negative = draw_one_in(d, 4);
	t->power2 = 0;
	if (draw_one_in(d, 5)) {
		t->power10 = (int)draw_below(d, 80) - 40;
		snprintf(exponent, sizeof(exponent), "%c%d", draw_below(d, 2) ? 'e' : 'E',
			 t->power10);
		suffix = exponent;
	} else {
		size_t i = draw_below(d, ARRAY_LEN(suffixes));

		suffix = suffixes[i].text;
		t->power10 = suffixes[i].power10;
		t->power2 = suffixes[i].power2;
	}
	snprintf(t->bytes, sizeof(t->bytes), "%s%.*s%s%s%s", t->negative ? "-" : "", whole,
		 t->digits, fraction || draw_below(d, 2) ? "." : "", t->digits + whole, suffix);
}

/* nano of the text by big integers: ceil(digits * 10^p * 2^q), capped. */
static __int128 nano_by_rationals(const struct text *t)
{
	int power10 = 9 + t->power10 - t->scale;
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *v = NULL, *ten = NULL, *power = BN_new(), *exponent = BN_new(), *rest = BN_new();
	BIGNUM *cap = NULL;
	unsigned char bytes[16] = {0};
	__int128 out = 0;

	BN_dec2bn(&v, t->digits);
	BN_dec2bn(&ten, "10");
	BN_dec2bn(&cap, "9223372036854775807000000000");
	BN_lshift(v, v, t->power2);
	BN_set_word(exponent, (BN_ULONG)(power10 < 0 ? -power10 : power10));
	BN_exp(power, ten, exponent, ctx);
	if (power10 >= 0) {
		BN_mul(v, v, power, ctx);
	} else {
		BN_div(v, rest, v, power, ctx);
		if (!BN_is_zero(rest))
			BN_add_word(v, 1);
	}
	if (BN_cmp(v, cap) > 0)
		BN_copy(v, cap);
	BN_bn2binpad(v, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		out = out << 8 | bytes[i];
	BN_free(v);
	BN_free(ten);
	BN_free(cap);
	BN_free(power);
	BN_free(exponent);
	BN_free(rest);
	BN_CTX_free(ctx);
	return t->negative ? -out : out;
}

static bool same_as_rational(struct draw *d)
{
	struct text t;

	make_text(d, &t);
	return nano_of(t.bytes) == nano_by_rationals(&t) || draw_fail(d, "\"%s\"", t.bytes);
}

Test(quantity, agrees_with_exact_rationals)
{
	property_check(same_as_rational, 5000);
}

static bool is_canonical(struct draw *d, const char *text, bool binary)
{
	struct quantity q = {nano_of(text)};
	char out[QUANTITY_SIZE], again[QUANTITY_SIZE];

	quantity_format(q, binary, out);
	if (nano_of(out) != q.nano)
		return draw_fail(d, "%s is printed as %s", text, out);
	quantity_format((struct quantity){nano_of(out)}, binary, again);
	return !strcmp(again, out) ||
	       draw_fail(d, "%s is printed as %s, then %s", text, out, again);
}

static bool both_forms_read_back(struct draw *d)
{
	struct text t;

	make_text(d, &t);
	return is_canonical(d, t.bytes, false) && is_canonical(d, t.bytes, true);
}

Test(quantity, reads_back_what_it_prints)
{
	property_check(both_forms_read_back, 5000);
}
