/* Every reason that explain gives is falsifiable: lift exactly that, and the verdict changes; or it
 * was said not to be the only one, and then lifting it alone changes nothing. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <string.h>

#include "tests/unit/property.h"
#include "world.h"

/* --- random worlds as documents, so that anything can be lifted by editing ----------------- */

static json_t *random_node(struct draw *d)
{
	static const char *const archs[] = {"amd64", "arm64"}, *const disks[] = {"ssd", "hdd"};
	int64_t cpu = 2 + draw_below(d, 4), memory = 2 + draw_below(d, 4), gpu = draw_below(d, 3);
	json_t *n = json_pack("{s:I, s:{s:s, s:s}, s:{s:I, s:I, s:I}, s:{s:I, s:I, s:I}}", "count",
			      (json_int_t)(1 + draw_below(d, 3)), "labels", "kubernetes.io/arch",
			      archs[draw_below(d, 2)], "disk", disks[draw_below(d, 2)],
			      "allocatable", "cpu", (json_int_t)cpu, "memory", (json_int_t)memory,
			      "x.io/gpu", (json_int_t)gpu, "free", "cpu",
			      (json_int_t)draw_below(d, (unsigned)cpu + 1), "memory",
			      (json_int_t)draw_below(d, (unsigned)memory + 1), "x.io/gpu",
			      (json_int_t)draw_below(d, (unsigned)gpu + 1));

	if (draw_one_in(d, 5))
		json_object_set_new(n, "taints",
				    json_pack("[{s:s, s:s}]", "key", "t", "effect", "NoSchedule"));
	return n;
}

static json_t *random_cluster(struct draw *d, int number)
{
	auto_xfree char *name = xasprintf("c%d", number);
	json_t *nodes = json_array();

	for (unsigned i = 1 + draw_below(d, 4); i > 0; i--)
		json_array_append_new(nodes, random_node(d));
	return json_pack("{s:s, s:b, s:b, s:[{s:s, s:s}], s:{s:s}, s:[s], s:o}", "name", name,
			 "ready", !draw_one_in(d, 6), "cordoned", draw_one_in(d, 6), "taints",
			 "key", draw_one_in(d, 6) ? "not-borne" : "borne", "effect", "NoSchedule",
			 "labels", "region", draw_one_in(d, 6) ? "us" : "eu", "namespaces",
			 draw_one_in(d, 6) ? "other" : "default", "nodes", nodes);
}

static json_t *random_task(struct draw *d, const char *name)
{
	json_t *t = json_pack("{s:s, s:I, s:{s:I, s:I}, s:{}}", "name", name, "replicas",
			      (json_int_t)(1 + draw_below(d, 3)), "requests", "cpu",
			      (json_int_t)(1 + draw_below(d, 3)), "memory",
			      (json_int_t)(1 + draw_below(d, 3)), "nodeSelector");

	if (draw_one_in(d, 5))
		json_set_int(json_object_get(t, "requests"), "x.io/gpu", 1);
	if (draw_one_in(d, 5))
		json_set_str(json_object_get(t, "nodeSelector"), "kubernetes.io/arch", "arm64");
	if (draw_one_in(d, 5))
		json_set_str(json_object_get(t, "nodeSelector"), "disk", "ssd");
	return t;
}

static json_t *random_job(struct draw *d, bool two_tasks)
{
	json_t *tasks = json_pack("[o]", random_task(d, "a"));

	if (two_tasks)
		json_array_append_new(tasks, random_task(d, "b"));
	return json_pack("{s:s, s:s, s:o, s:{s:{s:{s:s}}, s:[{s:s, s:s}]}}", "name", "j", "queue",
			 "q", "tasks", tasks, "placement", "clusterSelector", "matchLabels",
			 "region", "eu", "tolerations", "key", "borne", "operator", "Exists");
}

static json_t *random_world(struct draw *d)
{
	json_t *clusters = json_array(), *queue = json_pack("{s:s}", "name", "q");

	for (int i = (int)draw_below(d, 3); i >= 0; i--)
		json_array_append_new(clusters, random_cluster(d, i));
	if (draw_one_in(d, 4))
		json_object_set_new(queue, "capability",
				    json_pack("{s:I}", "cpu", (json_int_t)draw_below(d, 20)));
	json_object_set_new(queue, "closed", json_boolean(draw_one_in(d, 8)));
	return json_pack("{s:o, s:o, s:o}", "clusters", clusters, "queue", queue, "job",
			 random_job(d, draw_one_in(d, 3)));
}

static struct explain *ask(const json_t *world, const char *only, bool *ret_placed)
{
	struct fleet *f = fleet_create();
	auto_free(queue_destroy) struct queue *q = world_queue(json_object_get(world, "queue"));
	auto_free(job_destroy) struct job *job = world_job(json_object_get(world, "job"));
	auto_json *decided = NULL;
	struct explain *e;
	struct error err;
	json_t *c;
	size_t i;

	fleet_queue_set(f, q);
	json_array_foreach (json_object_get(world, "clusters"), i, c)
		if (!only || !strcmp(only, json_str_at(c, "name", NULL)))
			world_add_cluster(f, c);
	cr_assert_eq(fleet_submit(f, job, 0, 1, &err), 0, "%s", err.text);
	e = fleet_explain(f, "j", 0);
	decided = world_decide(f, 0);
	if (ret_placed)
		*ret_placed = json_str_at(decided, "j", "cluster", NULL) != NULL;
	cr_assert_null(fleet_fault(f), "%s", fleet_fault(f));
	fleet_destroy(f);
	return e;
}

/* --- lifting ------------------------------------------------------------------------------ */

static void lift_cluster(json_t *cluster, enum filter f)
{
	if (f == FILTER_READY)
		json_object_set_new(cluster, "ready", json_true());
	if (f == FILTER_CORDON)
		json_object_set_new(cluster, "cordoned", json_false());
	if (f == FILTER_CLUSTER_TAINTS)
		json_object_del(cluster, "taints");
	if (f == FILTER_NAMESPACE)
		json_object_del(cluster, "namespaces");
	if (f == FILTER_SELECTOR)
		json_set_str(json_object_get(cluster, "labels"), "region", "eu");
}

static void lift_task(json_t *task, enum filter f)
{
	json_t *selector = json_object_get(task, "nodeSelector");

	if (f == FILTER_ARCHITECTURE)
		json_object_del(selector, "kubernetes.io/arch");
	if (f == FILTER_LABELS)
		json_object_del(selector, "disk");
	if (f == FILTER_DEVICE)
		json_object_del(json_object_get(task, "requests"), "x.io/gpu");
	if (f == FILTER_TAINTS)
		json_object_set_new(task, "tolerations",
				    json_pack("[{s:s}]", "operator", "Exists"));
}

static json_t *find_cluster(json_t *world, const char *name)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(world, "clusters"), i, c)
		if (!strcmp(name, json_str_at(c, "name", NULL)))
			return c;
	return NULL;
}

static json_t *tasks_of(json_t *world)
{
	return json_object_get(json_object_get(world, "job"), "tasks");
}

/* The verdict on the cluster once the filter is lifted. */
static enum verdict verdict_without(const json_t *world, const char *cluster, enum filter f)
{
	auto_json *lifted = json_deep_copy(world);
	auto_free(explain_destroy) struct explain *e = NULL;
	json_t *t;
	size_t i;

	lift_cluster(find_cluster(lifted, cluster), f);
	json_array_foreach (tasks_of(lifted), i, t)
		lift_task(t, f);
	e = ask(lifted, cluster, NULL);
	return e->places[0].verdict;
}

static enum verdict verdict_with_more(const json_t *world, const char *cluster,
				      const char *resource)
{
	auto_json *lifted = json_deep_copy(world);
	auto_free(explain_destroy) struct explain *e = NULL;
	json_t *t, *n;
	size_t i;

	if (json_array_size(tasks_of(lifted)) > 1) {
		json_array_foreach (tasks_of(lifted), i, t)
			json_object_del(json_object_get(t, "requests"), resource);
	} else {
		json_array_foreach (json_object_get(find_cluster(lifted, cluster), "nodes"), i, n) {
			json_set_int(json_object_get(n, "allocatable"), resource, 1000);
			json_set_int(json_object_get(n, "free"), resource, 1000);
		}
	}
	e = ask(lifted, cluster, NULL);
	return e->places[0].verdict;
}

/* --- checking ----------------------------------------------------------------------------- */

/* What is checked is a world, as an answer explains it. */
struct question {
	struct draw *draw;
	const json_t *world;
	const struct explain *answer;
};

static struct {
	size_t sole, shared, shorts, gates; /* reasons of each sort that were lifted */
} tally;

/* The world that refutes the answer is the case that a person wants to see. */
static bool __attribute__((format(printf, 2, 3)))
refute(const struct question *q, const char *fmt, ...)
{
	auto_xfree char *world = json_dumps(q->world, JSON_COMPACT);
	auto_strbuf text = {0};
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	return draw_fail(q->draw, "%s in %s", text.bytes, world);
}

static bool check_filter(const struct question *q, const struct explain_place *p)
{
	bool fits = verdict_without(q->world, p->name, p->filter) == VERDICT_FITS;

	draw_count(q->draw, p->sole ? &tally.sole : &tally.shared);
	return fits == p->sole || refute(q, "%s: %s alone was said to be %senough", p->name,
					 filter_name(p->filter), p->sole ? "" : "not ");
}

static bool is_sole_short(const struct explain_place *p, const char *resource)
{
	for (size_t i = 0; i < p->n_shorts; i++)
		if (p->shorts[i].sole && !strcmp(p->shorts[i].resource, resource))
			return true;
	return false;
}

static bool check_amounts(const struct question *q, const struct explain_place *p)
{
	static const char *const resources[] = {"cpu", "memory", "x.io/gpu"};
	bool any = false;

	if (!p->n_shorts || p->fits >= p->pods)
		return refute(q, "%s: short of %zu resources, %d of %d fit", p->name, p->n_shorts,
			      (int)p->fits, (int)p->pods);
	for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
		enum verdict v = verdict_with_more(q->world, p->name, resources[i]);
		bool helps = p->verdict == VERDICT_NEVER ? v != VERDICT_NEVER : v == VERDICT_FITS;

		if (helps != is_sole_short(p, resources[i]))
			return refute(q, "%s: more %s %s", p->name, resources[i],
				      helps ? "helps" : "does not help");
		any |= v == VERDICT_FITS;
		if (helps)
			draw_count(q->draw, &tally.shorts);
	}
	return p->sole == any || refute(q, "%s: sole is %d", p->name, p->sole);
}

static bool check_place(const struct question *q, const struct explain_place *p)
{
	if (p->verdict == VERDICT_FITS)
		return true;
	if (p->filter == FILTER_CAPACITY || p->filter == FILTER_ROOM)
		return check_amounts(q, p);
	return check_filter(q, p);
}

static bool check_gate(const struct question *q)
{
	auto_json *lifted = json_deep_copy(q->world);
	bool placed;

	if (q->answer->code == WAIT_QUOTA)
		json_object_del(json_object_get(lifted, "queue"), "capability");
	else
		json_object_set_new(json_object_get(lifted, "queue"), "closed", json_false());
	explain_destroy(ask(lifted, NULL, &placed));
	draw_count(q->draw, &tally.gates);
	return placed == q->answer->sole ||
	       refute(q, "%s alone: placed %d", wait_code_name(q->answer->code), placed);
}

static bool check_funnel(const struct question *q)
{
	const struct explain *e = q->answer;
	int64_t fits = 0, sole = 0, alone = 0, left = (int64_t)e->n_places;

	for (size_t i = 0; i < e->n_places; i++) {
		fits += e->places[i].verdict == VERDICT_FITS;
		sole += e->places[i].sole;
	}
	for (size_t i = 0; i < e->n_steps; i++) {
		if (e->steps[i].left > left)
			return refute(q, "the funnel widens");
		left = e->steps[i].left;
		alone += e->steps[i].alone;
	}
	return (left == fits && alone == sole) ||
	       refute(q, "the funnel ends with %d, %d fit; lifted alone it gains %d, %d are sole",
		      (int)left, (int)fits, (int)alone, (int)sole);
}

static bool check_answer(const struct question *q, bool placed)
{
	enum wait_code code = q->answer->code;

	if (placed != (code == WAIT_NONE))
		return refute(q, "placed %d, and the code is %s", placed, wait_code_name(code));
	for (size_t i = 0; i < q->answer->n_places; i++)
		if (!check_place(q, &q->answer->places[i]))
			return false;
	if ((code == WAIT_QUOTA || code == WAIT_QUEUE_CLOSED) && !check_gate(q))
		return false;
	return check_funnel(q);
}

static bool reasons_are_sound(struct draw *d)
{
	auto_json *world = random_world(d);
	bool placed;
	auto_free(explain_destroy) struct explain *e = ask(world, NULL, &placed);

	return check_answer(&(struct question){d, world, e}, placed);
}

Test(soundness, every_reason_can_be_lifted)
{
	property_check(reasons_are_sound, 300);
	cr_expect(tally.sole > 20 && tally.shared > 20 && tally.shorts > 20 && tally.gates > 20,
		  "the worlds try too little: %zu sole, %zu shared, %zu shorts, %zu gates",
		  tally.sole, tally.shared, tally.shorts, tally.gates);
}
