#include "api/patch.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "patch_check.h"

#define POD(spec)                                                                                  \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":" spec "}"

Test(strategic_patch, merges_objects_and_deletes_by_null)
{
	patch_check(
		PATCH_STRATEGIC, "{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"1\",\"b\":\"2\"}}",
		"{\"data\":{\"a\":null,\"c\":\"3\",\"d\":null},\"immutable\":true}",
		"{\"kind\":\"ConfigMap\",\"data\":{\"b\":\"2\",\"c\":\"3\"},\"immutable\":true}");
	patch_check(PATCH_STRATEGIC, "{\"kind\":\"ConfigMap\"}",
		    "{\"data\":{\"a\":null,\"b\":{\"c\":null,\"d\":1}}}",
		    "{\"kind\":\"ConfigMap\",\"data\":{\"b\":{\"d\":1}}}");
	patch_check(PATCH_STRATEGIC, "{\"a\":\"text\"}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}");
	patch_check(PATCH_STRATEGIC, "{\"a\":{\"b\":1}}", "{\"a\":[1]}", "{\"a\":[1]}");
}

Test(strategic_patch, merges_lists_by_their_keys)
{
	/* a container by name, its ports by containerPort, its env by name */
	patch_check(
		PATCH_STRATEGIC,
		POD("{\"containers\":[{\"name\":\"a\",\"image\":\"x:1\",\"env\":[{\"name\":\"E\","
		    "\"value\":\"1\"}],\"ports\":[{\"containerPort\":80}]},{\"name\":\"b\"}]}"),
		"{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x:2\",\"env\":[{\"name\":\"F\","
		"\"value\":\"2\"}],\"ports\":[{\"containerPort\":80,\"name\":\"http\"}]}]}}",
		POD("{\"containers\":[{\"name\":\"a\",\"image\":\"x:2\",\"env\":[{\"name\":\"F\","
		    "\"value\":\"2\"},{\"name\":\"E\",\"value\":\"1\"}],\"ports\":[{\"containerPort\":"
		    "80,\"name\":\"http\"}]},{\"name\":\"b\"}]}"));
	/* a Service's ports go by port, not by containerPort */
	patch_check(PATCH_STRATEGIC,
		    "{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80,\"name\":\"a\"},"
		    "{\"port\":81}]}}",
		    "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"}]}}",
		    "{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"},"
		    "{\"port\":81}]}}");
	/* owners by uid, of every kind */
	patch_check(
		PATCH_STRATEGIC,
		"{\"kind\":\"Secret\",\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"a\"}]}}",
		"{\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"},{\"uid\":\"1\",\"kind\":\"K\"}]}}",
		"{\"kind\":\"Secret\",\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"},"
		"{\"uid\":\"1\",\"name\":\"a\",\"kind\":\"K\"}]}}");
	/* conditions of a Node by type; those of a CertificateSigningRequest have no key */
	patch_check(
		PATCH_STRATEGIC,
		"{\"kind\":\"Node\",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"
		"{\"type\":\"X\"}]}}",
		"{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}",
		"{\"kind\":\"Node\",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},"
		"{\"type\":\"X\"}]}}");
	patch_check(
		PATCH_STRATEGIC,
		"{\"kind\":\"CertificateSigningRequest\",\"status\":{\"conditions\":[{\"type\":\"A\"}]}}",
		"{\"status\":{\"conditions\":[{\"type\":\"B\"}]}}",
		"{\"kind\":\"CertificateSigningRequest\",\"status\":{\"conditions\":[{\"type\":\"B\"}]}}");
}

Test(strategic_patch, knows_the_key_of_every_merged_list_of_a_pod)
{
	static const char *const lists[][2] = {
		{"containers", "name"},
		{"initContainers", "name"},
		{"ephemeralContainers", "name"},
		{"volumes", "name"},
		{"imagePullSecrets", "name"},
		{"hostAliases", "ip"},
		{"topologySpreadConstraints", "topologyKey"},
		{"schedulingGates", "name"},
		{"resourceClaims", "name"},
	};
	static const char *const inner[][2] = {
		{"ports", "containerPort"},
		{"env", "name"},
		{"volumeMounts", "mountPath"},
		{"volumeDevices", "devicePath"},
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *l = lists[i][0], *k = lists[i][1];
		auto_xfree char *old = xasprintf(POD("{\"%s\":[{\"%s\":\"1\",\"o\":1}]}"), l, k);
		auto_xfree char *patch =
			xasprintf("{\"spec\":{\"%s\":[{\"%s\":\"1\",\"n\":2}]}}", l, k);
		auto_xfree char *want =
			xasprintf(POD("{\"%s\":[{\"%s\":\"1\",\"o\":1,\"n\":2}]}"), l, k);

		patch_check(PATCH_STRATEGIC, old, patch, want);
	}
	for (size_t i = 0; i < 3 * ARRAY_LEN(inner); i++) {
		const char *c = lists[i / ARRAY_LEN(inner)][0];
		const char *l = inner[i % ARRAY_LEN(inner)][0], *k = inner[i % ARRAY_LEN(inner)][1];
		auto_xfree char *old = xasprintf(
			POD("{\"%s\":[{\"name\":\"c\",\"%s\":[{\"%s\":1,\"o\":1}]}]}"), c, l, k);
		auto_xfree char *patch = xasprintf(
			"{\"spec\":{\"%s\":[{\"name\":\"c\",\"%s\":[{\"%s\":1,\"n\":2}]}]}}", c, l,
			k);
		auto_xfree char *want = xasprintf(
			POD("{\"%s\":[{\"name\":\"c\",\"%s\":[{\"%s\":1,\"o\":1,\"n\":2}]}]}"), c,
			l, k);

		patch_check(PATCH_STRATEGIC, old, patch, want);
	}
	/* tolerations have no key: the list is one value */
	patch_check(PATCH_STRATEGIC, POD("{\"tolerations\":[{\"key\":\"a\"},{\"key\":\"b\"}]}"),
		    "{\"spec\":{\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}}",
		    POD("{\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}"));
}

Test(strategic_patch, deletes_and_replaces_elements)
{
	static const char pod[] =
		POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}");

	patch_check(PATCH_STRATEGIC, pod,
		    "{\"spec\":{\"containers\":[{\"$patch\":\"delete\",\"name\":\"b\"}]}}",
		    POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"c\"}]}"));
	patch_check(PATCH_STRATEGIC, pod,
		    "{\"spec\":{\"containers\":[{\"$patch\":\"delete\",\"name\":\"none\"}]}}", pod);
	patch_check(PATCH_STRATEGIC, pod,
		    "{\"spec\":{\"containers\":[{\"name\":\"d\"},{\"$patch\":\"replace\"}]}}",
		    POD("{\"containers\":[{\"name\":\"d\"}]}"));
	patch_check(PATCH_STRATEGIC, pod, "{\"spec\":{\"containers\":[{\"$patch\":\"replace\"}]}}",
		    POD("{\"containers\":[]}"));
	patch_check(PATCH_STRATEGIC, pod, "{\"spec\":{\"containers\":null}}", POD("{}"));
	/* a port of a Service, as kubectl writes it */
	patch_check(
		PATCH_STRATEGIC,
		"{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80},{\"port\":81}]}}",
		"{\"spec\":{\"$setElementOrder/ports\":[{\"port\":80}],\"ports\":[{\"$patch\":\"delete\","
		"\"port\":81}]}}",
		"{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80}]}}");
	/* new in the target: nothing is left of the directives */
	patch_check(
		PATCH_STRATEGIC, POD("{}"),
		"{\"spec\":{\"containers\":[{\"$patch\":\"delete\",\"name\":\"b\"},{\"name\":\"a\","
		"\"x\":null,\"env\":[{\"$patch\":\"delete\",\"name\":\"E\"}]}]}}",
		POD("{\"containers\":[{\"name\":\"a\",\"env\":[]}]}"));
}

Test(strategic_patch, deletes_and_replaces_objects)
{
	patch_check(PATCH_STRATEGIC, "{\"a\":{\"b\":1,\"c\":2}}",
		    "{\"a\":{\"$patch\":\"replace\",\"d\":3,\"e\":null}}", "{\"a\":{\"d\":3}}");
	patch_check(PATCH_STRATEGIC, "{\"a\":{\"b\":1}}", "{\"a\":{\"$patch\":\"delete\"}}",
		    "{\"a\":{}}");
	patch_check(PATCH_STRATEGIC, "{\"b\":1}", "{\"a\":{\"$patch\":\"delete\"}}", "{\"b\":1}");
}

Test(strategic_patch, retains_only_the_keys_it_names)
{
	patch_check(
		PATCH_STRATEGIC,
		POD("{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"medium\":\"Memory\"}}]}"),
		"{\"spec\":{\"volumes\":[{\"$retainKeys\":[\"name\",\"configMap\"],\"name\":\"v\","
		"\"configMap\":{\"name\":\"c\"},\"emptyDir\":null}]}}",
		POD("{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"c\"}}]}"));
	patch_check(PATCH_STRATEGIC, "{\"a\":{\"x\":1,\"y\":2}}",
		    "{\"a\":{\"$retainKeys\":[\"y\",\"z\"],\"z\":3}}", "{\"a\":{\"y\":2,\"z\":3}}");
	patch_check_refused(PATCH_STRATEGIC, "{\"a\":{\"x\":1}}",
			    "{\"a\":{\"$retainKeys\":[\"x\"],\"z\":3}}", ERR_BAD_REQUEST, "\"z\"");
	patch_check_refused(PATCH_STRATEGIC, "{\"a\":{\"x\":1}}", "{\"a\":{\"$retainKeys\":\"x\"}}",
			    ERR_BAD_REQUEST, "$retainKeys");
}

#define FINALIZERS(list) "{\"kind\":\"Secret\",\"metadata\":{\"finalizers\":" list "}}"

Test(strategic_patch, merges_and_deletes_plain_values)
{
	patch_check(PATCH_STRATEGIC, FINALIZERS("[\"a\",\"b\"]"),
		    "{\"metadata\":{\"finalizers\":[\"c\",\"a\"]}}",
		    FINALIZERS("[\"c\",\"a\",\"b\"]"));
	patch_check(PATCH_STRATEGIC, FINALIZERS("[\"a\",\"b\",\"c\"]"),
		    "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\"]}}",
		    FINALIZERS("[\"a\",\"c\"]"));
	patch_check(PATCH_STRATEGIC, FINALIZERS("[\"a\",\"b\"]"),
		    "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\"],"
		    "\"$setElementOrder/finalizers\":[\"c\",\"a\"],\"finalizers\":[\"c\"]}}",
		    FINALIZERS("[\"c\",\"a\"]"));
	patch_check(PATCH_STRATEGIC, "{\"kind\":\"Secret\",\"metadata\":{}}",
		    "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\"],"
		    "\"$setElementOrder/finalizers\":[\"a\"]}}",
		    "{\"kind\":\"Secret\",\"metadata\":{}}");
	patch_check(PATCH_STRATEGIC, FINALIZERS("[\"a\"]"), "{\"metadata\":{\"finalizers\":null}}",
		    "{\"kind\":\"Secret\",\"metadata\":{}}");
	/* of a list that is replaced, values can be deleted too */
	patch_check(PATCH_STRATEGIC, "{\"kind\":\"X\",\"list\":[\"a\",\"b\"]}",
		    "{\"$deleteFromPrimitiveList/list\":[\"a\"],\"$setElementOrder/list\":[\"b\"]}",
		    "{\"kind\":\"X\",\"list\":[\"b\"]}");
}

Test(strategic_patch, puts_elements_in_the_order_it_names)
{
	static const char pod[] =
		POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}");

	patch_check(PATCH_STRATEGIC, pod,
		    "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"c\"},{\"name\":\"b\"},"
		    "{\"name\":\"a\"}]}}",
		    POD("{\"containers\":[{\"name\":\"c\"},{\"name\":\"b\"},{\"name\":\"a\"}]}"));
	/* what only the server has stays before what it stood before */
	patch_check(PATCH_STRATEGIC, pod,
		    "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"d\"},{\"name\":\"b\"},"
		    "{\"name\":\"a\"}],\"containers\":[{\"name\":\"d\"}]}}",
		    POD("{\"containers\":[{\"name\":\"d\"},{\"name\":\"b\"},{\"name\":\"a\"},"
			"{\"name\":\"c\"}]}"));
	patch_check(
		PATCH_STRATEGIC, pod,
		"{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"c\"},{\"name\":\"d\"}],"
		"\"containers\":[{\"name\":\"d\"}]}}",
		POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},"
		    "{\"name\":\"d\"}]}"));
}

Test(strategic_patch, refuses_what_is_malformed)
{
	static const char pod[] = POD("{\"containers\":[{\"name\":\"a\"}]}");
	static const char *const cases[] = {
		"{\"$patch\":\"merge\"}",
		"{\"$patch\":1}",
		"{\"spec\":{\"$patch\":\"remove\"}}",
		"{\"spec\":{\"containers\":[{\"image\":\"x\"}]}}",
		"{\"spec\":{\"containers\":[\"a\"]}}",
		"{\"spec\":{\"containers\":[null]}}",
		"{\"spec\":{\"containers\":[{\"$patch\":\"delete\"}]}}",
		"{\"spec\":{\"containers\":[{\"$patch\":\"merge\",\"name\":\"a\"}]}}",
		"{\"spec\":{\"$setElementOrder/containers\":{},\"containers\":[]}}",
		"{\"spec\":{\"$setElementOrder/containers\":\"a\"}}",
		"{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":\"a\"}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		patch_check_refused(PATCH_STRATEGIC, pod, cases[i], ERR_BAD_REQUEST, "");
	/* the whole object is deleted: nothing is left to store, but that is not for a patch to say
	 */
	patch_check(PATCH_STRATEGIC, pod, "{\"$patch\":\"delete\"}", "{}");
}

/* v is a plain value in one list and anything in the other: objects would merge. */
static json_t *make_elements(struct draw *d, int depth)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	json_t *list = json_array();
	unsigned used = 0;

	for (int n = (int)draw_below(d, 6); n > 0; n--) {
		size_t i = draw_below(d, 5);

		if (used & 1u << i)
			continue;
		used |= 1u << i;
		json_array_append_new(
			list, json_pack("{s:s,s:o}", "name", names[i], "v", make_value(d, depth)));
	}
	return list;
}

static json_t *element_named(const json_t *list, const char *name)
{
	size_t i;
	json_t *v;

	json_array_foreach (list, i, v)
		if (!strcmp(json_str_at(v, "name", NULL), name))
			return v;
	return NULL;
}

/* What kubectl apply sends to lead list a to list b: an order, what is new or other, deletions. */
static json_t *list_difference(const json_t *a, const json_t *b)
{
	json_t *order = json_array(), *elements = json_array();
	size_t i;
	json_t *v;

	json_array_foreach (b, i, v) {
		const char *name = json_str_at(v, "name", NULL);
		const json_t *old = element_named(a, name);

		json_array_append_new(order, json_pack("{s:s}", "name", name));
		if (!old || !json_equal(old, v))
			json_array_append(elements, v);
	}
	json_array_foreach (a, i, v)
		if (!element_named(b, json_str_at(v, "name", NULL)))
			json_array_append_new(elements,
					      json_pack("{s:s,s:s}", "$patch", "delete", "name",
							json_str_at(v, "name", NULL)));
	return json_pack("{s:{s:o,s:o}}", "spec", "$setElementOrder/containers", order,
			 "containers", elements);
}

static bool merges_to_other_list(struct draw *d)
{
	auto_json *a = make_elements(d, 0);
	auto_json *b = make_elements(d, 1);
	auto_json *target = json_pack("{s:s,s:{s:O}}", "kind", "Pod", "spec", "containers", a);
	auto_json *want = json_pack("{s:s,s:{s:O}}", "kind", "Pod", "spec", "containers", b);
	auto_json *patch = list_difference(a, b);

	return patch_leads_to(d, PATCH_STRATEGIC, target, patch, want);
}

Test(strategic_patch, applied_differences_give_the_other_list)
{
	property_check(merges_to_other_list, 500);
}

/* Lists that are merged are searched: two of 50,000 would take minutes. */
Test(strategic_patch, cannot_search_without_bound)
{
	auto_json *list = json_array();
	auto_json *target = NULL;
	auto_json *patch = NULL;
	json_t *got = NULL;
	struct error err = {0};

	for (int i = 0; i < 20000; i++) {
		char name[24];

		snprintf(name, sizeof(name), "n%d", i);
		json_array_append_new(list, json_pack("{s:s}", "name", name));
	}
	target = json_pack("{s:s,s:{s:O}}", "kind", "Pod", "spec", "containers", list);
	patch = json_pack("{s:{s:O}}", "spec", "containers", list);
	cr_expect_eq(patch_apply(PATCH_STRATEGIC, target, patch, &got, &err), -1);
	cr_expect_eq(err.code, ERR_TOO_LARGE, "%s", err.text);
	cr_expect_null(got);
}
