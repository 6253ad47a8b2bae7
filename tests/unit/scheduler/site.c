/* Level 2: events in any order, bookings, and what the hub is told. */
#include "scheduler/site.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/property.h"
#include "world.h"

static void set_node(struct site *s, const char *yaml)
{
	auto_json *j = world_yaml(yaml);
	auto_free(node_destroy) struct node *n = world_node(j, -1);

	site_node_set(s, n);
}

static void set_pod(struct site *s, const char *yaml, const struct site_key *key)
{
	auto_json *j = world_yaml(yaml);
	auto_free(pod_destroy) struct pod *p = world_pod(j);

	site_pod_set(s, p, key);
}

static struct gang *make_gang(struct site *s, const char *yaml)
{
	auto_free(job_destroy) struct job *job = world_job_yaml(yaml);
	struct gang *g;
	struct error err;

	cr_assert_eq(site_gang_create(s, job, 0, NULL, &g, &err), 0, "%s", err.text);
	return g;
}

/* How many pods of one CPU go in; leaves nothing behind. */
static int room(struct site *s)
{
	int n = 0;

	for (;; n++) {
		auto_xfree char *yaml = xasprintf(
			"{name: probe, tasks: [{name: p, replicas: %d, requests: {cpu: 1}}]}",
			n + 1);
		struct gang *g = make_gang(s, yaml);
		struct site_placement *p = site_place(s, g);

		site_release_gang(s, "probe");
		site_placement_destroy(p);
		site_gang_destroy(s, g);
		if (!p)
			return n;
	}
}

/* --- bookings ----------------------------------------------------------------------------- */

static const struct site_key key0 = {"j", "m", 0}, key1 = {"j", "m", 1};

Test(site, a_booking_holds_until_its_pod_is_seen)
{
	struct site *s = site_create("here");
	struct gang *g =
		make_gang(s, "{name: j, tasks: [{name: m, replicas: 2, requests: {cpu: 1}}]}");
	struct site_placement *p;

	set_node(s, "{name: n, allocatable: {cpu: 4}}");
	p = site_place(s, g);
	cr_assert_not_null(p);
	cr_expect_eq(room(s), 2);
	/* the pod as the server made it asks for more; it replaces the booking, once */
	set_pod(s, "{uid: p0, node: n, requests: {cpu: 2}}", &key0);
	cr_expect_eq(room(s), 1);
	set_pod(s, "{uid: p0, node: n, requests: {cpu: 2}}", &key0);
	cr_expect_eq(room(s), 1);
	/* another pod of the same name that is ending or over does not replace one */
	set_pod(s, "{uid: old, node: n, ending: true, requests: {cpu: 1}}", &key1);
	cr_expect_eq(room(s), 0);
	set_pod(s, "{uid: old, node: n, ended: true, requests: {cpu: 1}}", &key1);
	cr_expect_eq(room(s), 1);
	/* the answer of the server corrects a booking */
	site_book(s, &key1, "n",
		  &(struct resource_list){(struct resource[]){{"cpu", 2000}, {"pods", 1}}, 2}, NULL,
		  0);
	cr_expect_eq(room(s), 0);
	cr_expect(site_release(s, &key1));
	cr_expect(!site_release(s, &key1));
	cr_expect_eq(room(s), 2);
	site_pod_remove(s, "p0");
	cr_expect_eq(room(s), 4);
	cr_expect_null(site_fault(s));
	site_placement_destroy(p);
	site_gang_destroy(s, g);
	site_destroy(s);
}

Test(site, lost_pods_are_placed_again_alone)
{
	struct site *s = site_create("here");
	struct gang *g = make_gang(s, "{name: j, tasks: [{name: a, requests: {cpu: 1}}, "
				      "{name: m, replicas: 3, requests: {cpu: 2}}]}");
	const struct site_pod lost[] = {{1, 2, NULL}, {1, 0, NULL}};
	struct site_placement *p;

	set_node(s, "{name: n, allocatable: {cpu: 3}}");
	cr_expect_null(site_place_some(s, g, lost, 2));
	cr_expect_eq(room(s), 3);
	set_node(s, "{name: o, allocatable: {cpu: 2}}");
	p = site_place_some(s, g, lost, 2);
	cr_assert_not_null(p);
	cr_expect_eq(p->n_pods, 2);
	cr_expect_eq(p->pods[0].index, 0);
	cr_expect_str_eq(p->pods[0].node, "n");
	cr_expect_eq(p->pods[1].index, 2);
	cr_expect_str_eq(p->pods[1].node, "o");
	cr_expect_eq(site_release_gang(s, "j"), 2);
	site_placement_destroy(p);
	site_gang_destroy(s, g);
	site_destroy(s);
}

Test(site, nodes_come_change_and_go_with_pods_on_them)
{
	struct site *s = site_create("here");

	set_pod(s, "{uid: early, node: n, requests: {cpu: 1}}", NULL);
	cr_expect_eq(room(s), 0);
	set_node(s, "{name: n, allocatable: {cpu: 4}}");
	cr_expect_eq(room(s), 3);
	set_node(s, "{name: n, allocatable: {cpu: 2}}");
	cr_expect_eq(room(s), 1);
	set_pod(s, "{uid: more, node: n, requests: {cpu: 8}}", NULL);
	cr_expect_eq(room(s), 0, "more than there is leaves nothing");
	site_node_remove(s, "n");
	site_node_remove(s, "n");
	site_pod_remove(s, "more");
	set_node(s, "{name: n, allocatable: {cpu: 4}}");
	cr_expect_eq(room(s), 3, "a node that returns still has its pods");
	set_pod(s, "{uid: early, node: other, requests: {cpu: 1}}", NULL);
	cr_expect_eq(room(s), 4);
	cr_expect_null(site_fault(s));
	site_destroy(s);
}

/* --- alone -------------------------------------------------------------------------------- */

Test(site, alone_it_goes_by_priority_queue_and_room)
{
	struct site *s = site_create("here");
	auto_json *small = world_yaml("{name: q, capability: {cpu: 3}}");
	auto_free(queue_destroy) struct queue *q = world_queue(small);
	struct gang *g[3] = {
		make_gang(
			s,
			"{name: a, queue: q, submitted: 1, tasks: [{name: m, requests: {cpu: 2}}]}"),
		make_gang(
			s,
			"{name: b, queue: q, submitted: 2, tasks: [{name: m, requests: {cpu: 2}}]}"),
		make_gang(
			s,
			"{name: c, queue: q, submitted: 3, tasks: [{name: m, requests: {cpu: 1}}]}"),
	};
	auto_free(site_placement_destroy) struct site_placement *p1 = NULL, *p2 = NULL, *p3 = NULL;
	auto_free(explain_destroy) struct explain *e = NULL;

	set_node(s, "{name: n, allocatable: {cpu: 8}}");
	for (int i = 2; i >= 0; i--)
		site_submit(s, g[i]);
	cr_expect_null(site_next(s), "no queue, no start");
	site_queue_set(s, q);
	p1 = site_next(s);
	cr_assert_not_null(p1);
	cr_expect_eq(p1->gang, g[0]);
	p2 = site_next(s);
	cr_assert_not_null(p2);
	cr_expect_eq(p2->gang, g[2], "b is over the ceiling, c is not");
	cr_expect_null(site_next(s));
	e = site_explain(s, g[1]);
	cr_expect_eq(e->code, WAIT_QUOTA);
	cr_expect(e->sole);
	site_release_gang(s, "a");
	site_gang_destroy(s, g[0]);
	p3 = site_next(s);
	cr_assert_not_null(p3);
	cr_expect_eq(p3->gang, g[1]);
	site_gang_destroy(s, g[1]);
	site_gang_destroy(s, g[2]);
	site_destroy(s);
}

/* --- many events, any order --------------------------------------------------------------- */

#define NODES 12
#define PODS  40

struct history {
	char nodes[NODES][160], pods[PODS][160];
};

static void invent(struct history *h, struct draw *d)
{
	for (int i = 0; i < NODES; i++)
		snprintf(h->nodes[i], sizeof(h->nodes[i]),
			 "{name: n%02d, labels: {pool: p%u, kubernetes.io/hostname: n%02d}, "
			 "allocatable: {cpu: %u, memory: %uGi%s}}",
			 i, draw_below(d, 2), i, 2 + draw_below(d, 4), 4 + draw_below(d, 4),
			 draw_one_in(d, 3) ? ", x.io/gpu: 2" : "");
	for (int i = 0; i < PODS; i++)
		snprintf(h->pods[i], sizeof(h->pods[i]),
			 "{uid: p%02d, node: n%02u, requests: {cpu: %u00m, memory: %uGi}}", i,
			 draw_below(d, NODES + 2), 1 + draw_below(d, 9), draw_below(d, 2));
}

static struct site *replay(const struct history *h, struct draw *d)
{
	struct site *s = site_create("here");
	int order[NODES + PODS];

	draw_order(d, order, ARRAY_LEN(order));
	for (int i = 0; i < NODES + PODS; i++) {
		if (order[i] < NODES)
			set_node(s, h->nodes[order[i]]);
		else
			set_pod(s, h->pods[order[i] - NODES], NULL);
		if (draw_one_in(d, 10))
			site_checksum(s); /* settles in between */
	}
	return s;
}

static char *decide(struct site *s)
{
	struct strbuf b = {0};

	for (int i = 0; i < 6; i++) {
		auto_xfree char *yaml = xasprintf(
			"{name: j%d, tasks: [{name: m, replicas: %d, requests: {cpu: %d00m%s}}]}",
			i, i + 1, i + 3, i % 3 ? "" : ", x.io/gpu: 1");
		struct gang *g = make_gang(s, yaml);
		struct site_placement *p = site_place(s, g);

		for (size_t k = 0; p && k < p->n_pods; k++)
			strbuf_addf(&b, "%s ", p->pods[k].node);
		strbuf_adds(&b, p ? "\n" : "-\n");
		site_placement_destroy(p);
		site_gang_destroy(s, g);
	}
	return strbuf_take(&b);
}

/* What the site decides after the events in some order; the caller's. */
static char *replay_and_decide(const struct history *h, struct draw *d, uint64_t *ret_sum)
{
	struct site *s = replay(h, d);
	char *decided;

	*ret_sum = site_checksum(s);
	decided = decide(s);
	cr_assert_null(site_fault(s), "%s", site_fault(s));
	site_destroy(s);
	return decided;
}

static bool order_changes_nothing(struct draw *d)
{
	auto_xfree char *first = NULL, *again = NULL;
	struct history h;
	uint64_t sum, other;

	invent(&h, d);
	first = replay_and_decide(&h, d, &sum);
	again = replay_and_decide(&h, d, &other);
	if (sum != other)
		return draw_fail(d, "another order leads to other content");
	return !strcmp(first, again) || draw_fail(d, "%s and in another order %s", first, again);
}

Test(site, the_order_of_events_changes_nothing)
{
	property_check(order_changes_nothing, 24);
}

/* --- what the hub is told ----------------------------------------------------------------- */

/* Applies a report to what was told before, as the hub does. */
static void apply(json_t *told, const struct site_shapes *r)
{
	if (r->full)
		json_object_clear(told);
	for (size_t i = 0; i < r->n; i++) {
		auto_json *one = shapes_json(&r->items[i], 1);
		json_t *shape = json_array_get(one, 0);
		auto_xfree char *key = NULL;

		json_object_del(shape, "count");
		key = json_dumps(shape, JSON_COMPACT | JSON_SORT_KEYS);
		if (r->items[i].count)
			json_set_int(told, key, r->items[i].count);
		else
			cr_expect(!json_object_del(told, key), "%s was not there", key);
	}
}

static void random_event(struct site *s, struct draw *d)
{
	auto_xfree char *node = xasprintf("n%02u", draw_below(d, NODES));
	auto_xfree char *pod = xasprintf("p%02u", draw_below(d, PODS));
	auto_xfree char *yaml = NULL;

	switch (draw_below(d, 5)) {
	case 0:
		yaml = xasprintf("{name: %s, labels: {pool: p%u}, allocatable: {cpu: %u}}", node,
				 draw_below(d, 3), 2 + draw_below(d, 4));
		set_node(s, yaml);
		break;
	case 1:
		if (draw_one_in(d, 4))
			site_node_remove(s, node);
		break;
	case 2:
		site_pod_remove(s, pod);
		break;
	default:
		yaml = xasprintf("{uid: %s, node: %s, hostPorts: [%u], requests: {cpu: 500m}}", pod,
				 node, 80 + draw_below(d, 3));
		set_pod(s, yaml, NULL);
	}
}

/* Changes, then the whole, then nothing more to tell. */
static bool report_step(struct site *s, struct draw *d, json_t *told)
{
	auto_json *whole = json_object();
	struct arena a = {0};
	struct site_shapes r;
	bool same;

	random_event(s, d);
	site_report(s, draw_one_in(d, 20), &a, &r);
	cr_assert(!r.rounded);
	apply(told, &r);
	site_report(s, true, &a, &r);
	apply(whole, &r);
	same = json_equal(told, whole) || draw_fail(d, "the changes do not add up");
	site_report(s, false, &a, &r);
	arena_finish(&a);
	return same && (!r.n || draw_fail(d, "a change is told when there was none"));
}

static bool changes_add_up(struct draw *d)
{
	struct site *s = site_create("here");
	auto_json *told = json_object();
	bool good = true;

	for (unsigned n = draw_below(d, 120); good && n; n--)
		good = report_step(s, d, told);
	if (good && site_fault(s))
		good = draw_fail(d, "%s", site_fault(s));
	site_destroy(s);
	return good;
}

Test(site, changes_add_up_to_the_whole)
{
	property_check(changes_add_up, 10);
}

Test(site, capacity_is_of_empty_nodes_grouped)
{
	struct site *s = site_create("here");
	struct arena a = {0};
	struct site_shapes r;

	for (int i = 0; i < 20; i++) {
		auto_xfree char *yaml =
			xasprintf("{name: n%02d, labels: {kubernetes.io/hostname: n%02d, "
				  "serial: s%d, pool: x}, allocatable: {cpu: 4}}",
				  i, i, i);

		set_node(s, yaml);
	}
	set_pod(s, "{uid: p, node: n03, requests: {cpu: 1}}", NULL);
	site_capacity(s, &a, &r);
	cr_assert_eq(r.n, 1);
	cr_expect_eq(r.items[0].count, 20);
	cr_expect_eq(resource_list_get(&r.items[0].amounts, "cpu"), 4000);
	cr_expect_eq(r.items[0].n_labels, 3);
	cr_expect_str_eq(r.items[0].labels[0].value, "*", "the hostname is not told");
	cr_expect_str_eq(r.items[0].labels[1].value, "x");
	cr_expect_str_eq(r.items[0].labels[2].value, "*", "nor what differs by node");
	site_report(s, true, &a, &r);
	cr_expect_eq(r.n, 2);
	arena_finish(&a);
	site_destroy(s);
}

Test(site, too_many_shapes_are_rounded)
{
	struct site *s = site_create("here");
	struct arena a = {0};
	struct site_shapes r;
	int64_t nodes = 0, cpu = 0, real = 0;

	for (int i = 0; i < 2500; i++) {
		auto_xfree char *name = xasprintf("n%04d", i);
		struct resource amounts[] = {{"cpu", 10000 + i}, {"pods", 10}};
		struct node n = {
			.meta = {.name = name}, .ready = true, .allocatable = {amounts, 2}};

		site_node_set(s, &n);
		real += amounts[0].amount;
	}
	site_report(s, false, &a, &r);
	cr_expect(r.rounded && r.full);
	cr_expect(r.n <= SITE_SHAPES_MAX && r.n > 1);
	for (size_t i = 0; i < r.n; i++) {
		nodes += r.items[i].count;
		cpu += r.items[i].count * resource_list_get(&r.items[i].amounts, "cpu");
	}
	cr_expect_eq(nodes, 2500);
	cr_expect(cpu <= real && cpu > real * 9 / 10, "%ld of %ld", (long)cpu, (long)real);
	site_capacity(s, &a, &r);
	cr_expect(r.rounded && r.n <= SITE_SHAPES_MAX && r.n > 1);
	cpu = 0;
	for (size_t i = 0; i < r.n; i++)
		cpu += r.items[i].count * resource_list_get(&r.items[i].amounts, "cpu");
	cr_expect(cpu >= real && cpu < real * 11 / 10, "%ld of %ld", (long)cpu, (long)real);
	arena_finish(&a);
	site_destroy(s);
}

/* --- both levels agree -------------------------------------------------------------------- */

static bool fleet_says(struct site *s, const struct job *job)
{
	struct fleet *f = fleet_create();
	auto_json *standard = world_yaml("{name: default}");
	auto_free(queue_destroy) struct queue *q = world_queue(standard);
	struct cluster c = {
		.meta = {.name = "here"}, .accepted = true, .ready = true, .reported = true};
	auto_json *decided = NULL;
	struct site_shapes r;
	struct error err;

	site_capacity(s, &c.arena, &r);
	c.capacity = r.items;
	c.n_capacity = r.n;
	fleet_queue_set(f, q);
	fleet_cluster_set(f, &c);
	site_report(s, true, &c.arena, &r);
	cr_assert(fleet_report(f, "here", 1, true, r.items, r.n));
	cr_assert_eq(fleet_submit(f, job, 0, 1, &err), 0, "%s", err.text);
	decided = world_decide(f, 0);
	fleet_destroy(f);
	arena_finish(&c.arena);
	return json_str_at(decided, job->meta.name, "cluster", NULL) != NULL;
}

static size_t said_yes, said_no;

static bool both_say_the_same(struct site *s, struct draw *d)
{
	auto_xfree char *yaml = xasprintf(
		"{name: j, tasks: [{name: m, replicas: %u, nodeSelector: {%s}, "
		"requests: {cpu: %u00m}}, {name: o, requests: {memory: %uGi%s}}]}",
		1 + draw_below(d, 14), draw_below(d, 2) ? "pool: p1" : "", 1 + draw_below(d, 20),
		draw_below(d, 6), draw_one_in(d, 3) ? ", x.io/gpu: 2" : "");
	auto_free(job_destroy) struct job *job = world_job_yaml(yaml);
	bool said = fleet_says(s, job);
	struct gang *g = make_gang(s, yaml);
	struct site_placement *p = site_place(s, g);
	bool placed = p != NULL;

	draw_count(d, said ? &said_yes : &said_no);
	site_placement_destroy(p);
	site_gang_destroy(s, g);
	return placed == said || draw_fail(d, "level 1 says %s of %s", said ? "yes" : "no", yaml);
}

static bool levels_agree(struct draw *d)
{
	struct history h;
	struct site *s;
	bool good = true;

	invent(&h, d);
	s = replay(&h, d);
	for (int i = 0; good && i < 4; i++)
		good = both_say_the_same(s, d);
	site_destroy(s);
	return good;
}

/* Without names of nodes and host ports, level 1 says from the shapes what level 2 does. */
Test(site, level_one_says_what_level_two_does)
{
	property_check(levels_agree, 30);
	cr_expect(said_yes > 10 && said_no > 10, "the worlds decide nothing: %zu fit, %zu do not",
		  said_yes, said_no);
}

/* --- labels that make classes -------------------------------------------------------------- */

static const char *told_value(struct site *s, const char *key, size_t *ret_shapes)
{
	static char value[64];
	struct arena a = {0};
	struct site_shapes r;

	*value = 0;
	site_capacity(s, &a, &r);
	*ret_shapes = r.n;
	for (size_t i = 0; i < r.items[0].n_labels; i++)
		if (!strcmp(r.items[0].labels[i].key, key))
			snprintf(value, sizeof(value), "%s", r.items[0].labels[i].value);
	arena_finish(&a);
	return value;
}

static void add_racks(struct site *s, int from, int to)
{
	for (int i = from; i < to; i++) {
		auto_xfree char *yaml = xasprintf(
			"{name: n%03d, labels: {rack: r%d}, allocatable: {cpu: 4}}", i, i);

		set_node(s, yaml);
	}
}

Test(site, a_label_makes_classes_while_its_values_are_few_or_asked_for)
{
	struct site *s = site_create("here");
	struct gang *g;
	size_t n;

	add_racks(s, 0, 8);
	cr_expect_str_eq(told_value(s, "rack", &n), "r0");
	cr_expect_eq(n, 8);
	add_racks(s, 8, 20);
	cr_expect_str_eq(told_value(s, "rack", &n), "*");
	cr_expect_eq(n, 1);
	g = make_gang(
		s, "{name: j, tasks: [{name: m, nodeSelector: {rack: r7}, requests: {cpu: 1}}]}");
	cr_expect_neq(*told_value(s, "rack", &n), '*', "a job refers to it");
	cr_expect_eq(n, 20);
	add_racks(s, 20, 80);
	cr_expect_str_eq(told_value(s, "rack", &n), "*", "too many even so");
	{
		auto_free(site_placement_destroy) struct site_placement *p = site_place(s, g);

		cr_assert_not_null(p);
		cr_expect_str_eq(p->pods[0].node, "n007",
				 "nodes are asked where the class is silent");
	}
	for (int i = 5; i < 80; i++) {
		auto_xfree char *name = xasprintf("n%03d", i);

		site_node_remove(s, name);
	}
	cr_expect_str_eq(told_value(s, "rack", &n), "r0");
	cr_expect_null(site_fault(s));
	site_gang_destroy(s, g);
	site_destroy(s);
}

Test(site, labels_that_multiply_do_not_make_classes_without_end)
{
	struct site *s = site_create("here");
	size_t n;

	for (int i = 0; i < 400; i++) {
		auto_xfree char *yaml = xasprintf(
			"{name: n%03d, labels: {a: v%d, b: v%d, c: v%d, topology.kubernetes.io/zone: "
			"z%d}, allocatable: {cpu: 4}}",
			i, i % 8, i / 8 % 8, i / 64 % 8, i % 2);

		set_node(s, yaml);
	}
	cr_expect_str_eq(told_value(s, "a", &n), "*");
	cr_expect_eq(n, 2, "%zu shapes: the zone is left", n);
	site_destroy(s);
}

Test(site, resources_that_come_later_count_on_all_nodes)
{
	struct site *s = site_create("here");
	struct gang *g = make_gang(s, "{name: j, tasks: [{name: m, requests: {x.io/gpu: 1}}]}");
	struct site_placement *p;

	set_node(s, "{name: a, allocatable: {cpu: 4}}");
	set_pod(s, "{uid: one, node: a, requests: {cpu: 1, x.io/gpu: 2}}", NULL);
	cr_expect_eq(room(s), 3, "an asking pod on a node without it is no matter");
	set_pod(s, "{uid: two, node: b, requests: {cpu: 1, x.io/gpu: 2}}", NULL);
	set_node(s, "{name: b, allocatable: {cpu: 4, x.io/gpu: 2}}");
	cr_expect_null(site_place(s, g), "pod two has both");
	set_node(s, "{name: b, allocatable: {cpu: 4, x.io/gpu: 3}}");
	p = site_place(s, g);
	cr_assert_not_null(p);
	cr_expect_str_eq(p->pods[0].node, "b");
	site_placement_destroy(p);
	site_gang_destroy(s, g);
	site_destroy(s);
}
