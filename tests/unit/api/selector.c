#include "api/selector.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/unit/property.h"

static void destroy_selector(struct selector **s)
{
	selector_destroy(*s);
}
static void destroy_fields(struct field_selector **s)
{
	field_selector_destroy(*s);
}
#define auto_selector __attribute__((cleanup(destroy_selector))) struct selector
#define auto_fields   __attribute__((cleanup(destroy_fields))) struct field_selector

static json_t *parse(const char *text)
{
	json_t *j = json_loads(text, JSON_DECODE_ANY, NULL);

	cr_assert(j, "%s", text);
	return j;
}

/* name, env and tier are there; missing is not. */
static const char labels_text[] =
	"{\"app\":\"web\",\"env\":\"prod\",\"tier\":\"\",\"cores\":\"16\",\"x.io/gpu\":\"h100\"}";

Test(selector, matches_text_as_kubernetes_does)
{
	static const struct {
		const char *text;
		bool matches;
	} cases[] = {
		{"", true},
		{"  ", true},
		{"app=web", true},
		{"app==web", true},
		{"app = web", true},
		{"app=db", false},
		{"app!=db", true},
		{"app!=web", false},
		{"missing!=x", true},
		{"missing=x", false},
		{"tier=", true},
		{"app=", false},
		{"app", true},
		{"missing", false},
		{"!missing", true},
		{"! missing", true},
		{"!app", false},
		{"env in (prod, test)", true},
		{"env in (test)", false},
		{"env in(prod)", true},
		{"env notin (prod,test)", false},
		{"env notin (test)", true},
		{"missing notin (test)", true},
		{"tier in (,a)", true},
		{"tier in ()", true},
		{"app notin ( )", true},
		{"missing in (,a)", false},
		{"cores>15", true},
		{"cores>16", false},
		{"cores<17", true},
		{"env>1", false},
		{"missing<1", false},
		{"app=web,env=prod", true},
		{"app=web,env=test", false},
		{"app=web,!missing,env in (prod),cores>1,x.io/gpu=h100", true},
		{"in in (a)", false},
		{"notin=x", false},
	};
	auto_json *labels = parse(labels_text);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_selector *s = NULL;
		struct error err = {0};

		cr_assert_eq(selector_parse(cases[i].text, &s, &err), 0, "%s: %s", cases[i].text,
			     err.text);
		cr_expect_eq(selector_match(s, labels), cases[i].matches, "%s", cases[i].text);
	}
}

Test(selector, refuses_malformed_text)
{
	static const char *const bad[] = {
		",",
		"a,",
		"a,,b",
		"=a",
		"a=b=c",
		"a b",
		"a in",
		"a in (",
		"a in (b",
		"a in b",
		"a notin",
		"!",
		"!a=b",
		"a=(b)",
		"a!b",
		"a>b",
		"a>1,a<",
		"a in (b) c",
		"a=b c",
		"/a=b",
		"a/=b",
		"A.b/c=d",
		"-a=b",
		"a=-b",
		"a=b-",
		"a=b/c",
		"a&b",
		"a===b",
		"a in (b/c)",
		"(a)",
		"\xff=a",
		"a=\xff",
		"k23456789012345678901234567890123456789012345678901234567890abcd=b",
		"a=v23456789012345678901234567890123456789012345678901234567890abcd",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct selector *s = NULL;
		struct error err = {0};

		cr_expect_eq(selector_parse(bad[i], &s, &err), -1, "\"%s\" was taken", bad[i]);
		cr_expect_eq(err.code, ERR_BAD_REQUEST, "%s", bad[i]);
		cr_expect_neq(err.text[0], '\0');
		cr_expect_null(s);
	}
}

Test(selector, matches_objects_of_labels)
{
	static const struct {
		const char *object;
		bool matches;
	} cases[] = {
		{"{}", true},
		{"null", true},
		{"{\"matchLabels\":{\"app\":\"web\",\"env\":\"prod\"}}", true},
		{"{\"matchLabels\":{\"app\":\"web\",\"env\":\"test\"}}", false},
		{"{\"matchLabels\":{\"missing\":\"\"}}", false},
		{"{\"matchExpressions\":[]}", true},
		{"{\"matchExpressions\":[{\"key\":\"env\",\"operator\":\"In\","
		 "\"values\":[\"a\",\"prod\"]}]}",
		 true},
		{"{\"matchExpressions\":[{\"key\":\"env\",\"operator\":\"NotIn\","
		 "\"values\":[\"prod\"]}]}",
		 false},
		{"{\"matchExpressions\":[{\"key\":\"none\",\"operator\":\"NotIn\","
		 "\"values\":[\"prod\"]}]}",
		 true},
		{"{\"matchExpressions\":[{\"key\":\"env\",\"operator\":\"Exists\"}]}", true},
		{"{\"matchExpressions\":[{\"key\":\"env\",\"operator\":\"DoesNotExist\","
		 "\"values\":[]}]}",
		 false},
		{"{\"matchExpressions\":[{\"key\":\"cores\",\"operator\":\"Gt\","
		 "\"values\":[\"15\"]}]}",
		 true},
		{"{\"matchExpressions\":[{\"key\":\"cores\",\"operator\":\"Lt\","
		 "\"values\":[\"-15\"]}]}",
		 false},
		{"{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"env\","
		 "\"operator\":\"DoesNotExist\"}]}",
		 false},
	};
	auto_json *labels = parse(labels_text);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *object = parse(cases[i].object);
		auto_selector *s = NULL;
		struct error err = {0};

		cr_assert_eq(selector_from_object(object, &s, &err), 0, "%s: %s", cases[i].object,
			     err.text);
		cr_expect_eq(selector_match(s, labels), cases[i].matches, "%s", cases[i].object);
	}
}

Test(selector, names_what_is_wrong_in_an_object)
{
	static const struct {
		const char *object, *text;
	} cases[] = {
		{"[]", "must be an object"},
		{"{\"matchLabels\":[]}", "matchLabels: "},
		{"{\"matchLabels\":{\"a\":1}}", "matchLabels: a: "},
		{"{\"matchLabels\":{\"a b\":\"c\"}}", "matchLabels: \"a b\""},
		{"{\"matchLabels\":{\"a\":\"b c\"}}", "matchLabels: a: \"b c\""},
		{"{\"matchExpressions\":{}}", "matchExpressions: "},
		{"{\"matchExpressions\":[1]}", "matchExpressions[0]: key"},
		{"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"},"
		 "{\"key\":\"a\",\"operator\":\"in\"}]}",
		 "matchExpressions[1]: operator: \"in\""},
		{"{\"matchExpressions\":[{\"key\":\"a\"}]}", "matchExpressions[0]: operator"},
		{"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
		 "matchExpressions[0]: a: needs"},
		{"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":\"b\"}]}",
		 "matchExpressions[0]: values"},
		{"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[2]}]}",
		 "matchExpressions[0]: values[0]"},
		{"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\","
		 "\"values\":[\"b\"]}]}",
		 "matchExpressions[0]: a: takes no"},
		{"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"b\"]}]}",
		 "matchExpressions[0]: a: \"b\""},
		{"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\","
		 "\"values\":[\"1\",\"2\"]}]}",
		 "matchExpressions[0]: a: needs exactly one"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *object = parse(cases[i].object);
		struct selector *s = NULL;
		struct error err = {0};

		cr_expect_eq(selector_from_object(object, &s, &err), -1, "%s", cases[i].object);
		cr_expect_eq(err.code, ERR_INVALID);
		cr_expect(strstr(err.text, cases[i].text), "%s: %s", cases[i].object, err.text);
		cr_expect_null(s);
	}
}

static const char *get_one(const char *key, void *arg)
{
	return !strcmp(key, "app") ? arg : NULL;
}

Test(selector, tells_its_keys_and_takes_any_source_of_labels)
{
	auto_selector *s = NULL, *all = NULL;
	char web[] = "web", db[] = "db";

	cr_assert_eq(selector_parse("app=web,!old", &s, NULL), 0);
	cr_assert_eq(selector_parse(NULL, &all, NULL), 0);
	cr_expect_str_eq(selector_key(s, 0), "app");
	cr_expect_str_eq(selector_key(s, 1), "old");
	cr_expect_null(selector_key(s, 2));
	cr_expect(!selector_is_empty(s));
	cr_expect(selector_is_empty(all));
	cr_expect(selector_match_fn(s, get_one, web));
	cr_expect(!selector_match_fn(s, get_one, db));
	cr_expect(selector_match(all, NULL));
	cr_expect(!selector_match(s, NULL));
	selector_destroy(NULL);
}

Test(selector, takes_long_sets)
{
	auto_strbuf text = {0};
	auto_selector *s = NULL;
	auto_json *labels = parse("{\"a\":\"v29999\"}");

	strbuf_adds(&text, "a in (v");
	for (int i = 0; i < 30000; i++)
		strbuf_addf(&text, ",v%d", i);
	strbuf_addc(&text, ')');
	cr_assert_eq(selector_parse(strbuf_str(&text), &s, NULL), 0);
	cr_expect(selector_match(s, labels));
}

/* A requirement written as text and as an object means the same, and what it means is counted here
 * by hand over a world of three keys and three values. */
static const char *const keys[] = {"a", "b", "c.io/d"};
static const char *const values[] = {"", "x", "y"};

struct expression {
	int key, op; /* 0 in, 1 notin, 2 exists, 3 not exists */
	bool has[3];
};

static void make_expression(struct draw *d, struct expression *e)
{
	e->key = (int)draw_below(d, 3);
	e->op = (int)draw_below(d, 4);
	for (int i = 0; i < 3; i++)
		e->has[i] = draw_below(d, 2);
	e->has[draw_below(d, 3)] = true;
}

static void write_expression(const struct expression *e, struct strbuf *text, json_t *array)
{
	static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist"};
	json_t *list = json_array();

	strbuf_addf(text, "%s%s%s", text->size ? "," : "", e->op == 3 ? "!" : "", keys[e->key]);
	if (e->op < 2)
		strbuf_addf(text, " %s (", e->op ? "notin" : "in");
	for (int i = 0, n = 0; e->op < 2 && i < 3; i++) {
		if (!e->has[i])
			continue;
		strbuf_addf(text, "%s%s", n++ ? "," : "", values[i]);
		json_array_append_new(list, json_string(values[i]));
	}
	if (e->op < 2)
		strbuf_addc(text, ')');
	json_array_append_new(array, json_pack("{s:s,s:s,s:o}", "key", keys[e->key], "operator",
					       names[e->op], "values", list));
}

/* labels[k]: 0 absent, else 1 + index of the value */
static bool expression_holds(const struct expression *e, const int labels[3])
{
	int label = labels[e->key];
	bool in = label && e->has[label - 1];

	return e->op == 0 ? in : e->op == 1 ? !in : e->op == 2 ? label != 0 : label == 0;
}

static json_t *make_labels(struct draw *d, int labels[3])
{
	json_t *tree = json_object();

	for (int i = 0; i < 3; i++) {
		labels[i] = (int)draw_below(d, 4);
		if (labels[i])
			json_object_set_new(tree, keys[i], json_string(values[labels[i] - 1]));
	}
	return tree;
}

static bool both_forms_mean_it(struct draw *d)
{
	int labels[3], n = 1 + (int)draw_below(d, 3);
	auto_json *tree = make_labels(d, labels);
	auto_json *object = json_pack("{s:[]}", "matchExpressions");
	auto_selector *by_text = NULL, *by_object = NULL;
	auto_strbuf text = {0};
	struct error err = {0};
	bool want = true;

	for (int i = 0; i < n; i++) {
		struct expression e;

		make_expression(d, &e);
		write_expression(&e, &text, json_object_get(object, "matchExpressions"));
		want = want && expression_holds(&e, labels);
	}
	if (selector_parse(strbuf_str(&text), &by_text, &err) ||
	    selector_from_object(object, &by_object, &err))
		return draw_fail(d, "%s: %s", strbuf_str(&text), err.text);
	return (selector_match(by_text, tree) == want && selector_match(by_object, tree) == want) ||
	       draw_fail(d, "%s on labels %d %d %d", strbuf_str(&text), labels[0], labels[1],
			 labels[2]);
}

Test(selector, means_what_its_expressions_mean)
{
	property_check(both_forms_mean_it, 1500);
}

Test(field_selector, matches_terms)
{
	static const struct {
		const char *text;
		bool matches;
	} cases[] = {
		{"", true},
		{"metadata.name=x", true},
		{"metadata.name==x", true},
		{"metadata.name!=x", false},
		{"metadata.name!=y", true},
		{"metadata.name=x,spec.nodeName=n1", true},
		{"metadata.name=x,spec.nodeName=n2", false},
		{"spec.missing=", true},
		{"spec.missing!=", false},
		{"spec.missing=a", false},
		{"spec.hostNetwork=true", true},
		{"spec.count=3", true},
		{"spec.odd=a\\,b\\=c\\\\", true},
		{"spec.nodeName=", false},
		{"metadata.name=x,", true},
	};
	auto_json *object = parse("{\"metadata\":{\"name\":\"x\"},\"spec\":{\"nodeName\":\"n1\","
				  "\"hostNetwork\":true,\"count\":3,\"odd\":\"a,b=c\\\\\"}}");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_fields *s = NULL;
		struct error err = {0};

		cr_assert_eq(field_selector_parse(cases[i].text, &s, &err), 0, "%s: %s",
			     cases[i].text, err.text);
		cr_expect_eq(field_selector_match(s, object), cases[i].matches, "%s",
			     cases[i].text);
	}
}

Test(field_selector, refuses_malformed_text)
{
	static const char *const bad[] = {
		"a", "=a", "!=a", "a=b=c", "a=\\", "a=\\n", "a=b,c", "a!b", "a===b",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct field_selector *s = NULL;
		struct error err = {0};

		cr_expect_eq(field_selector_parse(bad[i], &s, &err), -1, "\"%s\" was taken",
			     bad[i]);
		cr_expect_eq(err.code, ERR_BAD_REQUEST);
		cr_expect_null(s);
	}
}

Test(field_selector, tells_paths_and_the_name_it_wants)
{
	auto_fields *s = NULL, *none = NULL;

	cr_assert_eq(field_selector_parse("status.phase!=Failed,metadata.name=x", &s, NULL), 0);
	cr_expect_str_eq(field_selector_path(s, 0), "status.phase");
	cr_expect_str_eq(field_selector_path(s, 1), "metadata.name");
	cr_expect_null(field_selector_path(s, 2));
	cr_expect_str_eq(field_selector_name(s), "x");
	cr_assert_eq(field_selector_parse("metadata.name!=x", &none, NULL), 0);
	cr_expect_null(field_selector_name(none));
	field_selector_destroy(NULL);
}
