#include "api/views.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "views_check.h"

static struct cluster *cluster_of(const char *bytes)
{
	auto_doc *d = make_doc(bytes);
	struct error err = {0};
	struct cluster *c = NULL;

	cr_assert_eq(cluster_view(d, &c, &err), 0, "%s", err.text);
	return c;
}

Test(views, read_clusters)
{
	auto_free(cluster_destroy) struct cluster *c = cluster_of(
		"{\"metadata\":{\"name\":\"gpu\"},\"spec\":{\"accepted\":true,\"taints\":["
		"{\"key\":\"federator.dev/cordoned\",\"effect\":\"NoSchedule\"}]},\"status\":{"
		"\"conditions\":[{\"type\":"
		"\"Joined\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"True\"}],"
		"\"capacityShapes\":[{\"labels\":{\"zone\":\"b\",\"arch\":\"a\"},\"taints\":["
		"{\"key\":\"t\",\"effect\":\"NoExecute\"}],\"amounts\":{\"cpu\":\"32\","
		"\"memory\":\"128Gi\"},\"count\":4},{\"count\":1}]}}");

	cr_expect(c->accepted && c->cordoned && c->ready && c->reported);
	cr_expect_eq(json_array_size(c->taints), 1);
	cr_expect_eq(c->n_capacity, 2);
	cr_expect_eq(c->capacity[0].count, 4);
	cr_expect_str_eq(c->capacity[0].labels[0].key, "arch");
	cr_expect_str_eq(c->capacity[0].labels[1].value, "b");
	cr_expect_eq(json_array_size(c->capacity[0].taints), 1);
	cr_expect_eq(resource_list_get(&c->capacity[0].amounts, "memory"), 137438953472);
	cr_expect_null(c->capacity[1].taints);
	cluster_destroy(NULL);
}

Test(views, read_new_and_cordoned_clusters)
{
	static const struct {
		const char *spec;
		bool cordoned;
	} cases[] = {
		{"{}", false},
		{"{\"taints\":[]}", false},
		{"{\"taints\":[{\"key\":\"federator.dev/cordoned\",\"effect\":\"NoExecute\"}]}",
		 false},
		{"{\"taints\":[{\"key\":\"other\",\"effect\":\"NoSchedule\"}]}", false},
		{"{\"taints\":[{\"key\":\"other\",\"effect\":\"NoSchedule\"},{\"key\":"
		 "\"federator.dev/cordoned\",\"value\":\"x\",\"effect\":\"NoSchedule\"}]}",
		 true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *bytes =
			xasprintf("{\"metadata\":{},\"spec\":%s,\"status\":{\"conditions\":["
				  "{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}",
				  cases[i].spec);
		auto_free(cluster_destroy) struct cluster *c = cluster_of(bytes);

		cr_expect_eq(c->cordoned, cases[i].cordoned, "%s", cases[i].spec);
		cr_expect(!c->accepted && !c->ready && !c->reported);
	}
}

Test(views, tell_an_empty_report_from_none)
{
	auto_free(cluster_destroy) struct cluster *c =
		cluster_of("{\"metadata\":{},\"status\":{\"capacityShapes\":[]}}");

	cr_expect(c->reported);
	cr_expect_eq(c->n_capacity, 0);
}

static const char some_shapes[] =
	"[{\"labels\":{\"arch\":\"arm64\"},\"taints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}],"
	"\"amounts\":{\"cpu\":\"31500m\",\"memory\":\"128Gi\"},\"count\":4},"
	"{\"labels\":{},\"amounts\":{},\"count\":0}]";

Test(views, write_shapes_as_they_read_them)
{
	auto_json *array = json_loads(some_shapes, 0, NULL);
	auto_json *again = NULL;
	auto_xfree char *text = NULL;
	struct arena a = {0};
	struct shape *shapes = NULL;
	struct error err = {0};
	size_t n = 0;

	cr_assert_eq(shapes_parse(&a, array, &shapes, &n, &err), 0, "%s", err.text);
	cr_expect_eq(n, 2);
	again = shapes_json(shapes, n);
	text = json_print(again);
	cr_expect_str_eq(text, some_shapes);
	arena_finish(&a);
}

Test(views, refuse_bad_shapes)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
		{"{}", "must be an array"},
		{"[1]", "[0]: must be an object"},
		{"[{\"count\":1},{\"amounts\":{}}]", "[1].count: is missing"},
		{"[{\"count\":-1}]", "[0].count: "},
		{"[{\"count\":1,\"taints\":{}}]", "[0].taints: "},
		{"[{\"count\":1,\"labels\":{\"a\":1}}]", "[0].labels[a]: "},
		{"[{\"count\":1,\"amounts\":{\"cpu\":\"x\"}}]", "[0].amounts: cpu: "},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *array = json_loads(cases[i].json, 0, NULL);
		struct arena a = {0};
		struct shape *shapes = NULL;
		struct error err = {0};
		size_t n = 9;

		cr_expect_eq(shapes_parse(&a, array, &shapes, &n, &err), -1, "%s", cases[i].json);
		cr_expect(!strncmp(err.text, cases[i].text, strlen(cases[i].text)), "%s", err.text);
		cr_expect_eq(n, 9);
		cr_expect_null(shapes);
		arena_finish(&a);
	}
}

Test(views, read_nodes)
{
	auto_doc *d = make_doc("{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"}},\"spec\":{"
			       "\"unschedulable\":true,\"taints\":[{\"key\":\"t\",\"effect\":"
			       "\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"31850m\","
			       "\"pods\":\"110\"},\"capacity\":{\"cpu\":\"32\"},\"conditions\":["
			       "{\"type\":\"Ready\",\"status\":\"True\"}]}}");
	auto_doc *bare = make_doc("{\"metadata\":{\"name\":\"n2\"}}");
	auto_free(node_destroy) struct node *n = NULL;
	auto_free(node_destroy) struct node *m = NULL;

	cr_assert_eq(node_view(d, &n, NULL), 0);
	cr_expect(n->unschedulable && n->ready);
	cr_expect_eq(json_array_size(n->taints), 1);
	cr_expect_eq(resource_list_get(&n->allocatable, "cpu"), 31850);
	cr_expect_eq(resource_list_get(&n->allocatable, "pods"), 110);
	cr_assert_eq(node_view(bare, &m, NULL), 0);
	cr_expect(!m->unschedulable && !m->ready);
	cr_expect_null(m->taints);
	node_destroy(NULL);
}
