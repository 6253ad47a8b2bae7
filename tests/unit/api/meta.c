#include "api/meta.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "objects.h"

Test(meta, has_rules_for_every_kind)
{
	static const struct {
		const char *meta, *lines;
	} cases[] = {
		{"{name: a.b-c, labels: {app: x, example.com/y: ''}, finalizers: [example.com/z]}",
		 ""},
		{"{generateName: run-}", ""},
		{"{}", "metadata.name: Required value: name or generateName is required\n"},
		{"{name: ''}", "metadata.name: Required value: name or generateName is required\n"},
		{"{name: A}",
		 "metadata.name: Invalid value: \"A\": must consist of lower case letters, "
		 "digits, '-' and '.', and begin and end with a letter or digit\n"},
		{"{generateName: A-}",
		 "metadata.generateName: Invalid value: \"A-\": must consist of lower case letters, "
		 "digits, '-' and '.', and begin and end with a letter or digit\n"},
		{"{name: a, labels: {-x: y}}",
		 "metadata.labels[-x]: Invalid value: must be a name such as app or example.com/app\n"},
		{"{name: a, labels: {x: 'a b'}}",
		 "metadata.labels[x]: Invalid value: \"a b\": must consist of letters, digits, '-', '_' "
		 "and '.', and begin and end with a letter or digit\n"},
		{"{name: a, labels: {x: 1}}",
		 "metadata.labels[x]: Invalid value: 1: must be a string\n"},
		{"{name: a, annotations: {'x y': any text}}",
		 "metadata.annotations[x y]: Invalid value: must be a name such as app or "
		 "example.com/app\n"},
		{"{name: a, finalizers: [x/y/z]}",
		 "metadata.finalizers[0]: Invalid value: \"x/y/z\": "
		 "must be a name such as example.com/cleanup\n"},
		{"{name: a, finalizers: [orphan, mine]}",
		 "metadata.finalizers[1]: Invalid value: \"mine\": must be a name such as "
		 "example.com/cleanup\n"},
		{"{name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: p}]}",
		 "metadata.ownerReferences[0].uid: Required value\n"},
		{"{name: a, ownerReferences: ["
		 "{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true},"
		 "{apiVersion: v1, kind: Pod, name: q, uid: v, controller: true}]}",
		 "metadata.ownerReferences: Invalid value: \"array\": at most one owner may be the "
		 "controller\n"},
		{"7", "metadata: Invalid value: 7: must be an object\n"
		      "metadata.name: Required value: name or generateName is required\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *o = object_from_yaml("{apiVersion: v1, kind: ConfigMap}");
		auto_xfree char *lines = NULL;

		object_set(o, "metadata", cases[i].meta);
		lines = object_mistakes(o, NULL);
		cr_expect_str_eq(lines, cases[i].lines, "%s", cases[i].meta);
	}
}

Test(meta, limits_labels_and_annotations)
{
	auto_json *o = object_from_yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
	auto_xfree char *label64 = xasprintf("'%064d'", 0);
	auto_xfree char *text = xasprintf("'%0*d'", 256 * 1024 - 1, 0);
	auto_xfree char *good = NULL, *one_more = NULL, *label = NULL;

	object_set(o, "metadata.annotations", "{}");
	object_set(o, "metadata.annotations.x", text);
	good = object_mistakes(o, NULL);
	cr_expect_str_eq(good, "");
	object_set(o, "metadata.annotations.y", "''");
	one_more = object_mistakes(o, NULL);
	cr_expect_str_eq(one_more,
			 "metadata.annotations: Too long: all annotations have 262145 bytes, "
			 "at most 262144 are allowed\n");
	object_set(o, "metadata.annotations", NULL);
	object_set(o, "metadata.labels", "{}");
	object_set(o, "metadata.labels.x", label64);
	label = object_mistakes(o, NULL);
	cr_expect(strstr(label, "must have at most 63 characters"), "%s", label);
}

Test(meta, knows_the_rule_of_each_kind)
{
	static const struct {
		const char *object;
		bool good;
	} cases[] = {
		{"{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}", false},
		{"{apiVersion: v1, kind: Namespace, metadata: {name: a-b}}", true},
		{"{apiVersion: federator.dev/v1alpha1, kind: Cluster, metadata: {name: "
		 "abcdefghijabcdefghijabcdefghijab}}",
		 true},
		{"{apiVersion: federator.dev/v1alpha1, kind: Cluster, metadata: {name: "
		 "abcdefghijabcdefghijabcdefghijabc}}",
		 false},
		{"{apiVersion: v1, kind: Service, metadata: {name: 1a}, spec: {clusterIP: None}}",
		 false},
		{"{apiVersion: v1, kind: Service, metadata: {name: a1}, spec: {clusterIP: None}}",
		 true},
		{"{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: "
		 "node-csr-A_b}, spec: {request: aGk=, signerName: a/b}}",
		 true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *o = object_from_yaml(cases[i].object);
		auto_xfree char *lines = object_mistakes(o, NULL);

		cr_expect_eq(!*lines, cases[i].good, "%s: %s", cases[i].object, lines);
	}
}
