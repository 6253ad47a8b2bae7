#include "generate.h"

#include <math.h>
#include <string.h>

#include "base/encode.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* What readers and writers get wrong: words of other types, indicators, breaks, spaces at edges. */
static const char *const pieces[] = {
	"a",
	"b",
	"true",
	"null",
	"~",
	"1",
	"0x1f",
	"1e3",
	"-",
	"- ",
	": ",
	":",
	" #",
	"#",
	"\n",
	"\n\n",
	" ",
	"  ",
	"\t",
	"'",
	"\"",
	"\\",
	"{",
	"}",
	"[",
	"]",
	",",
	"&",
	"*",
	"!",
	"|",
	">",
	"%",
	"@",
	"`",
	"?",
	"---",
	"...",
	"<<",
	"\r",
	"\x01",
	"\x7f",
	"\xc3\xa9",
	"\xe2\x80\xa8",
	"\xef\xbb\xbf",
	"\xf0\x9f\x98\x80",
	"\xc2\x85",
	"\xef\xbf\xbf",
	"yes",
	"no",
	"0",
	".5",
	"2026-11-29",
	"=",
	"\xc2\xa0",
};
static const double reals[] = {
	0.0,  -0.0, 0.1,  1.0,  1e300,         -1e-300, 5e-324, 3.25,
	1e15, 1e16, 1e17, 1e22, 123456789.125, 1.0 / 3, 1e-7,   9007199254740993.0};
static const json_int_t integers[] = {0, 1, -1, 7, 420, INT64_MAX, INT64_MIN, 1LL << 53, 1000000};

static void add_text(struct draw *d, struct strbuf *out)
{
	for (unsigned n = draw_below(d, 5); n; n--) {
		char utf8[4];
		uint32_t c;

		if (draw_below(d, 8)) {
			strbuf_adds(out, pieces[draw_below(d, ARRAY_LEN(pieces))]);
			continue;
		}
		c = 1 + draw_below(d, 0x10fffe);
		if (c < 0xd800 || c > 0xdfff)
			strbuf_add(out, utf8, utf8_encode(utf8, c));
	}
}

static json_t *generate_text(struct draw *d)
{
	auto_strbuf text = {0};

	add_text(d, &text);
	return json_stringn(strbuf_str(&text), text.size);
}

static json_t *generate_object(struct draw *d, unsigned depth)
{
	json_t *object = json_object();

	for (unsigned n = draw_below(d, 5); n; n--) {
		auto_strbuf key = {0};

		add_text(d, &key);
		json_object_set_new(object, strbuf_str(&key), generate_json(d, depth - 1));
	}
	return object;
}

static json_t *generate_array(struct draw *d, unsigned depth)
{
	json_t *array = json_array();

	for (unsigned n = draw_below(d, 5); n; n--)
		json_array_append_new(array, generate_json(d, depth - 1));
	return array;
}

json_t *generate_json(struct draw *d, unsigned depth)
{
	switch (draw_below(d, depth ? 10 : 6)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(draw_below(d, 2));
	case 2:
		return json_integer(integers[draw_below(d, ARRAY_LEN(integers))]);
	case 3:
		return json_real(reals[draw_below(d, ARRAY_LEN(reals))]);
	case 4:
	case 5:
		return generate_text(d);
	case 6:
	case 7:
		return generate_array(d, depth);
	default:
		return generate_object(d, depth);
	}
}
