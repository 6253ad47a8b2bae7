/* What a pod template asks for: read, interned, refused. */
#include "scheduler/spec.h"

#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/model.h"
#include "world.h"

static struct spec *intern(struct model *m, const char *yaml, const struct label *l, size_t n)
{
	auto_json *pod = world_yaml(yaml);
	struct resource one[] = {{"cpu", 1}};
	struct error err;
	struct spec *s;

	if (spec_intern(m, pod, &(struct resource_list){one, 1}, l, n, &s, &err) < 0)
		cr_assert_fail("%s", err.text);
	return s;
}

Test(spec, equal_pods_are_one_spec)
{
	struct label disk = {"disk", "ssd"};
	struct model m;
	struct spec *a, *b, *c;

	model_init(&m);
	a = intern(&m, "{nodeSelector: {disk: ssd}, containers: [{name: x, image: one}]}", NULL, 0);
	b = intern(&m, "{containers: [{name: y, image: two, env: []}]}", &disk, 1);
	c = intern(&m, "{containers: [{name: x, image: one}]}", NULL, 0);
	cr_expect_eq(a, b);
	cr_expect_neq(a, c);
	spec_unref(&m, a);
	spec_unref(&m, b);
	spec_unref(&m, c);
	spec_unref(&m, NULL);
	model_finish(&m);
}

Test(spec, host_ports_of_all_containers)
{
	struct model m;
	struct spec *s, *host;

	model_init(&m);
	s = intern(&m,
		   "{initContainers: [{ports: [{hostPort: 90}]}], "
		   "containers: [{ports: [{containerPort: 1, hostPort: 80}, {containerPort: 2}]}]}",
		   NULL, 0);
	cr_assert_eq(s->ports->n, 2);
	cr_expect_eq(s->ports->ports[0], 80);
	host = intern(&m, "{hostNetwork: true, containers: [{ports: [{containerPort: 2}]}]}", NULL,
		      0);
	cr_assert_eq(host->ports->n, 1);
	cr_expect_eq(host->ports->ports[0], 2);
	spec_unref(&m, s);
	spec_unref(&m, host);
	model_finish(&m);
}

/* Taints and tolerations by the rules of Kubernetes. */
Test(spec, tolerations)
{
	static const struct {
		const char *toleration;
		bool schedule, execute; /* tolerates k=v:NoSchedule, k=v:NoExecute */
	} table[] = {
		{"{key: k, value: v, effect: NoSchedule}", true, false},
		{"{key: k, operator: Equal, value: v, effect: NoExecute}", false, true},
		{"{key: k, value: v}", true, true},
		{"{key: k, value: w}", false, false},
		{"{key: k}", false, false},
		{"{key: k, operator: Exists}", true, true},
		{"{key: other, operator: Exists}", false, false},
		{"{operator: Exists}", true, true},
		{"{operator: Exists, effect: NoExecute}", false, true},
	};
	struct model m;

	model_init(&m);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		auto_xfree char *yaml = xasprintf("{tolerations: [%s]}", table[i].toleration);
		struct spec *s = intern(&m, yaml, NULL, 0);
		struct taint t = {"k", "v", "NoSchedule"}, x = {"k", "v", "NoExecute"};
		struct node_class *a = node_class_intern(&m.classes, NULL, 0, &t, 1);
		struct node_class *b = node_class_intern(&m.classes, NULL, 0, &x, 1);

		cr_expect_eq(!spec_repelled_by(s, a), table[i].schedule, "%s", yaml);
		cr_expect_eq(!spec_repelled_by(s, b), table[i].execute, "%s", yaml);
		spec_unref(&m, s);
		node_class_unref(&m.classes, a);
		node_class_unref(&m.classes, b);
	}
	model_finish(&m);
}

#define TERMS(t)                                                                                   \
	"{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "              \
	"{nodeSelectorTerms: " t "}}}}"

Test(spec, malformed_pods_are_named)
{
	static const struct {
		const char *pod, *text;
	} table[] = {
		{TERMS("[]"), "no term requires anything"},
		{TERMS("[{}]"), "no term requires anything"},
		{TERMS("[{matchExpressions: [{key: a, operator: Near}]}]"), "nodeSelectorTerms[0]"},
		{TERMS("[{matchExpressions: [{key: a, operator: Exists}]}, "
		       "{matchFields: [{key: metadata.uid, operator: In, values: [x]}]}]"),
		 "nodeSelectorTerms[1]: matchFields: key must be \"metadata.name\""},
		{TERMS("[{matchFields: [{key: metadata.name, operator: Exists}]}]"),
		 "operator must be In or NotIn"},
		{TERMS("[{matchFields: [{key: metadata.name, operator: In, values: [1]}]}]"),
		 "values must be texts"},
		{"{nodeSelector: {\"not a key\": x}}", "nodeSelector: "},
		{"{tolerations: [{key: a, operator: Gt, value: \"1\"}]}",
		 "tolerations[0].operator: \"Gt\" is not supported yet"},
		{"{tolerations: [{operator: Equal}]}", "without a key the operator must be Exists"},
		{"{schedulingGates: [{name: g}]}", "schedulingGates: "},
	};
	struct resource_list none = {0};
	struct model m;

	model_init(&m);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		auto_json *pod = world_yaml(table[i].pod);
		struct error err = {0};
		struct spec *s;

		cr_assert_eq(spec_intern(&m, pod, &none, NULL, 0, &s, &err), -1, "%s",
			     table[i].pod);
		cr_expect_eq(err.code, ERR_INVALID);
		cr_expect(strstr(err.text, table[i].text), "%s: %s", table[i].pod, err.text);
	}
	model_finish(&m);
}
