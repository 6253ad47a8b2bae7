#include "api/schema.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "objects.h"

static const char crd[] =
	"spec:\n"
	"  versions:\n"
	"  - name: v1\n"
	"    schema:\n"
	"      openAPIV3Schema:\n"
	"        type: object\n"
	"        description: For tests.\n"
	"        required: [spec]\n"
	"        properties:\n"
	"          apiVersion: {type: string}\n"
	"          kind: {type: string}\n"
	"          metadata: {type: object}\n"
	"          spec:\n"
	"            type: object\n"
	"            required: [name]\n"
	"            properties:\n"
	"              name: {type: string, minLength: 1, maxLength: 5, default: x}\n"
	"              label: {type: string, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'}\n"
	"              small: {type: integer, format: int32}\n"
	"              count: {type: integer, minimum: 0, maximum: 9, default: 3}\n"
	"              on: {type: boolean}\n"
	"              when: {type: string, format: date-time}\n"
	"              bytes: {type: string, format: byte}\n"
	"              mode: {type: string, enum: [Go, Release]}\n"
	"              size: {x-kubernetes-int-or-string: true, minimum: 0}\n"
	"              amount: {type: string, format: quantity}\n"
	"              maybe: {type: string, nullable: true, default: y}\n"
	"              any: {x-kubernetes-preserve-unknown-fields: true}\n"
	"              open:\n"
	"                type: object\n"
	"                x-kubernetes-preserve-unknown-fields: true\n"
	"                properties:\n"
	"                  known: {type: object, properties: {a: {type: string}}}\n"
	"              map: {type: object, additionalProperties: {type: object, properties: {v: {type: integer, default: 7}}}}\n"
	"              list:\n"
	"                type: array\n"
	"                minItems: 1\n"
	"                maxItems: 3\n"
	"                items: {type: object, required: [k], properties: {k: {type: string}, d: {type: integer, default: 1}}}\n";

static struct schema *compiled(void)
{
	return schema_compile(crd, strlen(crd));
}
DEFINE_CLEANUP(struct schema, schema_destroy)

static void note_path(const char *path, void *arg)
{
	strbuf_addf(arg, "%s\n", path);
}

Test(schema, drops_what_it_does_not_know_and_names_it)
{
	auto_free(schema_destroy) struct schema *s = compiled();
	auto_strbuf dropped = {0};
	auto_json *o = object_from_yaml("apiVersion: v1\n"
					"bogus: 1\n"
					"metadata: {name: a, labels: {x: y}, color: red}\n"
					"spec:\n"
					"  extra: {deep: 1}\n"
					"  list: [{k: a}, {k: b, z: 1}]\n"
					"  map: {one: {v: 1, w: 2}}\n"
					"  open: {anything: [1], known: {a: b, c: d}}\n"
					"  any: {x: 1}\n");
	auto_json *left = object_from_yaml("apiVersion: v1\n"
					   "metadata: {name: a, labels: {x: y}}\n"
					   "spec:\n"
					   "  list: [{k: a}, {k: b}]\n"
					   "  map: {one: {v: 1}}\n"
					   "  open: {anything: [1], known: {a: b}}\n"
					   "  any: {x: 1}\n");

	schema_prune(s, o, note_path, &dropped);
	cr_expect(json_equal(o, left), "%s", json_dumps(o, 0));
	cr_expect_str_eq(strbuf_str(&dropped), "bogus\n"
					       "metadata.color\n"
					       "spec.extra\n"
					       "spec.list[1].z\n"
					       "spec.map[one].w\n"
					       "spec.open.known.c\n");
	schema_prune(s, o, NULL, NULL);
	cr_expect(json_equal(o, left), "a second time changes nothing");
}

Test(schema, sets_defaults_where_a_field_is_absent_or_null)
{
	static const struct {
		const char *given, *then;
	} cases[] = {
		{"{}", "{}"}, /* no parent is made */
		{"spec: {}", "spec: {name: x, count: 3, maybe: y}"},
		{"spec: {name: '', count: 0}", "spec: {name: '', count: 0, maybe: y}"},
		{"spec: {name: null, maybe: null}", "spec: {name: x, count: 3, maybe: null}"},
		{"spec: {on: null, list: null}", "spec: {name: x, count: 3, maybe: y}"},
		{"spec: {any: null, open: {x: null}}",
		 "spec: {name: x, count: 3, maybe: y, any: null, open: {x: null}}"},
		{"spec: {list: [{k: a}, {d: 5}, 7]}",
		 "spec: {name: x, count: 3, maybe: y, list: [{k: a, d: 1}, {d: 5}, 7]}"},
		{"spec: {map: {a: {}, b: {v: 1}, c: null}}",
		 "spec: {name: x, count: 3, maybe: y, map: {a: {v: 7}, b: {v: 1}}}"},
		{"metadata: {creationTimestamp: null}", "metadata: {}"},
		{"spec: 5", "spec: 5"},
	};
	auto_free(schema_destroy) struct schema *s = compiled();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *o = object_from_yaml(cases[i].given);
		auto_json *then = object_from_yaml(cases[i].then);

		schema_default(s, o);
		cr_expect(json_equal(o, then), "%s gave %s", cases[i].given, json_dumps(o, 0));
		schema_default(s, o);
		cr_expect(json_equal(o, then), "%s: twice is not once", cases[i].given);
	}
}

Test(schema, words_each_mistake)
{
	static const struct {
		const char *spec, *lines;
	} cases[] = {
		{"{name: a}", ""},
		{"{name: a, size: 5, amount: 0.5, maybe: null, on: null, any: [1]}", ""},
		{"{name: a, size: 5k, amount: 500m, when: '2026-01-02T15:04:05.5Z', bytes: aGk=}",
		 ""},
		{"{}", "spec.name: Required value\n"},
		{"{name: null}", "spec.name: Required value\n"},
		{"7", "spec: Invalid value: 7: must be an object\n"},
		{"{name: 7}", "spec.name: Invalid value: 7: must be a string\n"},
		{"{name: [a]}", "spec.name: Invalid value: \"array\": must be a string\n"},
		{"{name: {a: b}}", "spec.name: Invalid value: \"object\": must be a string\n"},
		{"{name: ''}", "spec.name: Invalid value: \"\": must have at least 1 character\n"},
		{"{name: abcdef}",
		 "spec.name: Too long: has 6 characters, at most 5 are allowed\n"},
		{"{name: äöüßé}", ""},
		{"{name: a, count: -1}", "spec.count: Invalid value: -1: is less than 0\n"},
		{"{name: a, count: 10}", "spec.count: Invalid value: 10: is more than 9\n"},
		{"{name: a, count: 1.5}", "spec.count: Invalid value: 1.5: must be an integer\n"},
		{"{name: a, count: '1'}", "spec.count: Invalid value: \"1\": must be an integer\n"},
		{"{name: a, small: 2147483648}",
		 "spec.small: Invalid value: 2147483648: is more than 2147483647\n"},
		{"{name: a, on: 'yes'}",
		 "spec.on: Invalid value: \"yes\": must be true or false\n"},
		{"{name: a, mode: Stop}",
		 "spec.mode: Unsupported value: \"Stop\": supported values: \"Go\", \"Release\"\n"},
		{"{name: a, size: 1.5}",
		 "spec.size: Invalid value: 1.5: must be an integer or a string\n"},
		{"{name: a, size: -1}", "spec.size: Invalid value: -1: is less than 0\n"},
		{"{name: a, amount: -0.5}", "spec.amount: Invalid value: -0.5: is less than 0\n"},
		{"{name: a, amount: {cpu: 4}}",
		 "spec.amount: Invalid value: \"object\": must be a string or a number\n"},
		{"{name: a, amount: true}",
		 "spec.amount: Invalid value: true: must be a string or a number\n"},
		{"{name: a, amount: 4x}",
		 "spec.amount: Invalid value: \"4x\": must be an amount such as "
		 "500m, 4 or 8Gi, not below 0\n"},
		{"{name: a, when: today}",
		 "spec.when: Invalid value: \"today\": must be a time such as "
		 "2026-01-02T15:04:05Z\n"},
		{"{name: a, bytes: '?'}", "spec.bytes: Invalid value: \"?\": must be base64\n"},
		{"{name: a, label: A}",
		 "spec.label: Invalid value: \"A\": must consist of lower case letters, digits and '-', "
		 "and begin and end with a letter or digit\n"},
		{"{name: a, list: []}", "spec.list: Invalid value: 0: must have at least 1 item\n"},
		{"{name: a, list: [{k: a}, {k: a}, {k: a}, 7]}",
		 "spec.list: Too many: 4: must have at most 3 items\n"},
		{"{name: a, list: [{k: a}, {}, null]}",
		 "spec.list[1].k: Required value\n"
		 "spec.list[2]: Invalid value: null: must be an object\n"},
		{"{name: a, map: {x: {v: a}}}",
		 "spec.map[x].v: Invalid value: \"a\": must be an integer\n"},
		{"{name: a, open: {known: 1, other: 1}}",
		 "spec.open.known: Invalid value: 1: must be an object\n"},
	};
	auto_free(schema_destroy) struct schema *s = compiled();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *o = object_from_yaml("{}");
		auto_xfree char *lines = NULL;
		struct causes c = {0};

		object_set(o, "spec", cases[i].spec);
		schema_validate(s, o, &c);
		lines = causes_lines(&c);
		cr_expect_str_eq(lines, cases[i].lines, "%s", cases[i].spec);
		causes_finish(&c);
	}
}

Test(schema, stops_after_enough_mistakes)
{
	auto_free(schema_destroy) struct schema *s = compiled();
	auto_json *o = object_from_yaml("{spec: {name: a, map: {}}}");
	struct causes c = {0};

	for (size_t i = 0; i < 1000; i++) {
		auto_xfree char *path = xasprintf("spec.map.k%zu", i);

		object_set(o, path, "1");
	}
	schema_validate(s, o, &c);
	cr_expect_geq(c.n, 10u);
	cr_expect_leq(c.n, 40u);
	causes_finish(&c);
}

Test(schema, finds_places_and_their_types)
{
	static const struct {
		const char *path, *type; /* NULL: there is none */
	} cases[] = {
		{"spec", "object"},
		{"spec.name", "string"},
		{"spec.count", "integer"},
		{"spec.on", "boolean"},
		{"spec.size", "int-or-string"},
		{"spec.amount", "quantity"},
		{"spec.any", ""},
		{"spec.list", "array"},
		{"spec.list[]", "object"},
		{"spec.list[].k", "string"},
		{"spec.map[].v", "integer"},
		{"metadata.labels", "object"},
		{"metadata.labels[]", "string"},
		{"metadata.ownerReferences[].uid", "string"},
		{"spec.nothing", NULL},
		{"spec.name.x", NULL},
		{"spec.list.k", NULL},
		{"spec.name[]", NULL},
		{"spec.map.v", NULL},
	};
	auto_free(schema_destroy) struct schema *s = compiled();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *type = NULL;
		bool there = schema_lookup(s, cases[i].path, &type);

		cr_expect_eq(there, cases[i].type != NULL, "%s", cases[i].path);
		if (there && cases[i].type)
			cr_expect_str_eq(type, cases[i].type, "%s", cases[i].path);
	}
}

Test(schema, is_published_whole)
{
	auto_free(schema_destroy) struct schema *s = compiled();
	auto_json *o = schema_openapi(s);
	const json_t *spec = json_at(o, "properties", "spec", "properties", NULL);

	cr_expect_str_eq(json_str_at(o, "description", NULL), "For tests.");
	cr_expect_str_eq(json_str_at(spec, "list", "items", "properties", "k", "type", NULL),
			 "string");
	cr_expect_str_eq(json_str_at(spec, "map", "additionalProperties", "type", NULL), "object");
	cr_expect_eq(json_int_at(spec, 0, "count", "maximum", NULL), 9);
	cr_expect(json_at(spec, "open", "x-kubernetes-preserve-unknown-fields", NULL));
	cr_expect_str_eq(json_str_at(o, "properties", "metadata", "properties", "labels",
				     "additionalProperties", "type", NULL),
			 "string");
}
