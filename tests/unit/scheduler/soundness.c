/* Every reason that explain gives is falsifiable: lift exactly that, and the verdict changes; or it
 * was said not to be the only one, and then lifting it alone changes nothing. */
#include <criterion/criterion.h>
#include <string.h>

#include "random.h"
#include "world.h"

/* --- random worlds as documents, so that anything can be lifted by editing ----------------- */

static json_t *random_node(struct dice *d)
{
	static const char *const archs[] = {"amd64", "arm64"}, *const disks[] = {"ssd", "hdd"};
	int64_t cpu = 2 + dice_roll(d, 4), memory = 2 + dice_roll(d, 4), gpu = dice_roll(d, 3);
	json_t *n = json_pack("{s:I, s:{s:s, s:s}, s:{s:I, s:I, s:I}, s:{s:I, s:I, s:I}}", "count",
			      (json_int_t)(1 + dice_roll(d, 3)), "labels", "kubernetes.io/arch",
			      archs[dice_roll(d, 2)], "disk", disks[dice_roll(d, 2)], "allocatable",
			      "cpu", (json_int_t)cpu, "memory", (json_int_t)memory, "x.io/gpu",
			      (json_int_t)gpu, "free", "cpu",
			      (json_int_t)dice_roll(d, (uint32_t)cpu + 1), "memory",
			      (json_int_t)dice_roll(d, (uint32_t)memory + 1), "x.io/gpu",
			      (json_int_t)dice_roll(d, (uint32_t)gpu + 1));

	if (!dice_roll(d, 5))
		json_object_set_new(n, "taints",
				    json_pack("[{s:s, s:s}]", "key", "t", "effect", "NoSchedule"));
	return n;
}

static json_t *random_cluster(struct dice *d, int number)
{
	auto_xfree char *name = xasprintf("c%d", number);
	json_t *nodes = json_array();

	for (uint32_t i = 1 + dice_roll(d, 4); i > 0; i--)
		json_array_append_new(nodes, random_node(d));
	return json_pack("{s:s, s:b, s:b, s:[{s:s, s:s}], s:{s:s}, s:[s], s:o}", "name", name,
			 "ready", dice_roll(d, 6) != 0, "cordoned", dice_roll(d, 6) == 0, "taints",
			 "key", dice_roll(d, 6) ? "borne" : "not-borne", "effect", "NoSchedule",
			 "labels", "region", dice_roll(d, 6) ? "eu" : "us", "namespaces",
			 dice_roll(d, 6) ? "default" : "other", "nodes", nodes);
}

static json_t *random_task(struct dice *d, const char *name)
{
	json_t *t = json_pack("{s:s, s:I, s:{s:I, s:I}, s:{}}", "name", name, "replicas",
			      (json_int_t)(1 + dice_roll(d, 3)), "requests", "cpu",
			      (json_int_t)(1 + dice_roll(d, 3)), "memory",
			      (json_int_t)(1 + dice_roll(d, 3)), "nodeSelector");

	if (!dice_roll(d, 5))
		json_set_int(json_object_get(t, "requests"), "x.io/gpu", 1);
	if (!dice_roll(d, 5))
		json_set_str(json_object_get(t, "nodeSelector"), "kubernetes.io/arch", "arm64");
	if (!dice_roll(d, 5))
		json_set_str(json_object_get(t, "nodeSelector"), "disk", "ssd");
	return t;
}

static json_t *random_job(struct dice *d, bool two_tasks)
{
	json_t *tasks = json_pack("[o]", random_task(d, "a"));

	if (two_tasks)
		json_array_append_new(tasks, random_task(d, "b"));
	return json_pack("{s:s, s:s, s:o, s:{s:{s:{s:s}}, s:[{s:s, s:s}]}}", "name", "j", "queue",
			 "q", "tasks", tasks, "placement", "clusterSelector", "matchLabels",
			 "region", "eu", "tolerations", "key", "borne", "operator", "Exists");
}

static json_t *random_world(struct dice *d)
{
	json_t *clusters = json_array(), *queue = json_pack("{s:s}", "name", "q");

	for (int i = (int)dice_roll(d, 3); i >= 0; i--)
		json_array_append_new(clusters, random_cluster(d, i));
	if (!dice_roll(d, 4))
		json_object_set_new(queue, "capability",
				    json_pack("{s:I}", "cpu", (json_int_t)dice_roll(d, 20)));
	json_object_set_new(queue, "closed", json_boolean(!dice_roll(d, 8)));
	return json_pack("{s:o, s:o, s:o}", "clusters", clusters, "queue", queue, "job",
			 random_job(d, dice_roll(d, 3) == 0));
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

static struct tally {
	int sole, shared, shorts, gates;
} tally;

static void check_filter(const json_t *world, const struct explain_place *p, int seed)
{
	bool fits = verdict_without(world, p->name, p->filter) == VERDICT_FITS;

	cr_expect_eq(fits, p->sole, "seed %d: %s, %s alone: said %d", seed, p->name,
		     filter_name(p->filter), p->sole);
	tally.sole += p->sole;
	tally.shared += !p->sole;
}

static bool is_sole_short(const struct explain_place *p, const char *resource)
{
	for (size_t i = 0; i < p->n_shorts; i++)
		if (p->shorts[i].sole && !strcmp(p->shorts[i].resource, resource))
			return true;
	return false;
}

static void check_amounts(const json_t *world, const struct explain_place *p, int seed)
{
	static const char *const resources[] = {"cpu", "memory", "x.io/gpu"};
	bool any = false;

	cr_expect(p->n_shorts > 0, "seed %d: %s is short of nothing", seed, p->name);
	for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
		enum verdict v = verdict_with_more(world, p->name, resources[i]);
		bool helps = p->verdict == VERDICT_NEVER ? v != VERDICT_NEVER : v == VERDICT_FITS;

		cr_expect_eq(helps, is_sole_short(p, resources[i]), "seed %d: %s, more %s", seed,
			     p->name, resources[i]);
		any |= v == VERDICT_FITS;
		tally.shorts += helps;
	}
	cr_expect_eq(p->sole, any, "seed %d: %s, sole", seed, p->name);
	cr_expect(p->fits < p->pods, "seed %d: all of it fits into %s", seed, p->name);
}

static void check_gate(const json_t *world, const struct explain *e, int seed)
{
	auto_json *lifted = json_deep_copy(world);
	bool placed;

	if (e->code == WAIT_QUOTA)
		json_object_del(json_object_get(lifted, "queue"), "capability");
	else
		json_object_set_new(json_object_get(lifted, "queue"), "closed", json_false());
	explain_destroy(ask(lifted, NULL, &placed));
	cr_expect_eq(placed, e->sole, "seed %d: %s alone", seed, wait_code_name(e->code));
	tally.gates++;
}

static void check_funnel(const struct explain *e, int seed)
{
	int64_t fits = 0, sole = 0, alone = 0, left = (int64_t)e->n_places;

	for (size_t i = 0; i < e->n_places; i++) {
		fits += e->places[i].verdict == VERDICT_FITS;
		sole += e->places[i].sole;
	}
	for (size_t i = 0; i < e->n_steps; i++) {
		cr_expect(e->steps[i].left <= left, "seed %d: the funnel widens", seed);
		left = e->steps[i].left;
		alone += e->steps[i].alone;
	}
	cr_expect_eq(left, fits, "seed %d: %d left, %d fit", seed, (int)left, (int)fits);
	cr_expect_eq(alone, sole, "seed %d: %d alone, %d sole", seed, (int)alone, (int)sole);
}

static void check_place(const json_t *world, const struct explain_place *p, int seed)
{
	if (p->verdict == VERDICT_FITS)
		return;
	if (p->filter == FILTER_CAPACITY || p->filter == FILTER_ROOM)
		check_amounts(world, p, seed);
	else
		check_filter(world, p, seed);
}

Test(soundness, every_reason_can_be_lifted)
{
	for (int seed = 1; seed <= dice_seeds(300); seed++) {
		struct dice d = {(uint64_t)seed};
		auto_json *world = random_world(&d);
		auto_free(explain_destroy) struct explain *e = NULL;
		bool placed;

		e = ask(world, NULL, &placed);
		cr_expect_eq(placed, e->code == WAIT_NONE, "seed %d: code %s", seed,
			     wait_code_name(e->code));
		for (size_t i = 0; i < e->n_places; i++)
			check_place(world, &e->places[i], seed);
		check_funnel(e, seed);
		if (e->code == WAIT_QUOTA || e->code == WAIT_QUEUE_CLOSED)
			check_gate(world, e, seed);
	}
	cr_expect(tally.sole > 20 && tally.shared > 20 && tally.shorts > 20 && tally.gates > 20,
		  "the worlds try too little: %d sole, %d shared, %d shorts, %d gates", tally.sole,
		  tally.shared, tally.shorts, tally.gates);
}
