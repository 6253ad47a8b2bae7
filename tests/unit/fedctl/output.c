#include "fedctl/output.h"

#include <criterion/criterion.h>
#include <locale.h>

#include "base/json.h"

static void set_up(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
}

TestSuite(output, .init = set_up);

static json_t *tree(const char *text)
{
	json_t *j = json_loads(text, 0, NULL);

	cr_assert_not_null(j);
	return j;
}

static const char object[] =
	"{\"kind\":\"Job\",\"metadata\":{\"name\":\"x\",\"managedFields\":[1]},"
	"\"spec\":{\"a\":[],\"b\":{},\"c\":[1,\"two, {3}\\\"\"],\"d\":0.1}}";

Test(output, writes_an_object_as_json_that_people_can_read)
{
	auto_json *j = tree(object);
	auto_strbuf out = {0};

	object_write(j, OUTPUT_JSON, kind_find_typed("jobs"), &out);
	cr_expect_str_eq(out.bytes,
			 "{\n"
			 "    \"kind\": \"Job\",\n"
			 "    \"metadata\": {\n"
			 "        \"name\": \"x\"\n"
			 "    },\n"
			 "    \"spec\": {\n"
			 "        \"a\": [],\n"
			 "        \"b\": {},\n"
			 "        \"c\": [\n"
			 "            1,\n"
			 "            \"two, {3}\\\"\"\n"
			 "        ],\n"
			 "        \"d\": 0.1\n"
			 "    }\n"
			 "}\n",
			 "got %s", out.bytes);
	cr_expect_not_null(json_at(j, "metadata", "managedFields", NULL), "the object was changed");
}

Test(output, writes_names_that_can_be_typed_again)
{
	auto_json *j = tree(object);
	auto_strbuf out = {0};

	object_write(j, OUTPUT_NAME, kind_find_typed("jobs"), &out);
	object_write(j, OUTPUT_NAME, kind_find_typed("secrets"), &out);
	cr_expect_str_eq(out.bytes, "job.batch.volcano.sh/x\nsecret/x\n");
}

Test(output, writes_several_as_a_list)
{
	auto_json *items = json_pack("[o,o]", tree(object), tree(object)), *back = NULL;
	auto_strbuf out = {0};

	objects_write(items, OUTPUT_JSON, kind_find_typed("jobs"), &out);
	back = json_parse(out.bytes, out.size, NULL, NULL);
	cr_expect_str_eq(json_str_at(back, "kind", NULL), "List");
	cr_expect_eq(json_array_size(json_at(back, "items", NULL)), 2);
	strbuf_clear(&out);
	objects_write(items, OUTPUT_NAME, kind_find_typed("jobs"), &out);
	cr_expect_str_eq(out.bytes, "job.batch.volcano.sh/x\njob.batch.volcano.sh/x\n");
}

Test(output, cuts_texts_at_columns)
{
	static const struct {
		const char *text;
		size_t width;
		const char *cut;
	} cases[] = {
		{"abc", 3, "abc"},
		{"abcd", 3, "ab\xe2\x80\xa6"},
		{"\xe6\xa8\xa1\xe5\x9e\x8b\xe6\xa8\xa1", 4, "\xe6\xa8\xa1\xe2\x80\xa6"},
		{"abcd", 1, "\xe2\x80\xa6"},
		{"", 0, ""},
		{"a", 0, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_strbuf out = {0};

		cut_text(cases[i].text, cases[i].width, &out);
		cr_expect_str_eq(strbuf_str(&out), cases[i].cut, "%zu: %s", i, strbuf_str(&out));
	}
}
