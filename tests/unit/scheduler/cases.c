/* Runs cases/ *.yaml, which an operator can read: what there is, and what is decided. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/yaml.h"
#include "world.h"

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	struct strbuf b = {0};
	char piece[4096];
	size_t n;

	cr_assert_not_null(f, "%s", path);
	while ((n = fread(piece, 1, sizeof(piece), f)))
		strbuf_add(&b, piece, n);
	fclose(f);
	return strbuf_take(&b);
}

/* What is asked for must be there; texts must be equal, and objects contain. */
static void expect_within(const char *at, const json_t *wanted, const json_t *got)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)wanted, key, value) {
		const json_t *g = json_object_get(got, key);
		auto_xfree char *where = xasprintf("%s: %s", at, key);
		auto_xfree char *x = json_dumps(value, JSON_ENCODE_ANY);
		auto_xfree char *y = g ? json_dumps(g, JSON_ENCODE_ANY) : xstrdup("nothing");

		if (json_is_object(value))
			expect_within(where, value, g);
		else
			cr_expect(json_equal(value, g), "%s: expected %s, got %s", where, x, y);
	}
}

/* --- level 1 ------------------------------------------------------------------------------ */

static void submit(struct fleet *f, const char *at, const json_t *j, json_t *results)
{
	auto_free(job_destroy) struct job *job = world_job(j);
	auto_strbuf text = {0};
	enum fleet_fit fit;
	struct error err;
	json_t *r = json_object();

	if (fleet_fits(f, job, &fit, &text, &err) < 0) {
		json_set_str(r, "refused", err.text);
	} else if (fit != FLEET_MAY_FIT) {
		json_set_str(r, fit == FLEET_NEVER_FITS ? "neverFits" : "warning",
			     strbuf_str(&text));
	}
	if (!json_object_get(r, "refused") && !json_object_get(r, "neverFits"))
		cr_assert_eq(
			fleet_submit(f, job, (int32_t)json_int_at(j, 0, "priority", NULL), 1, &err),
			0, "%s: %s", at, err.text);
	json_object_set_new(results, job->meta.name, r);
}

static void add_all(struct fleet *f, const json_t *world)
{
	json_t *j;
	size_t i;

	json_array_foreach (json_object_get(world, "clusters"), i, j)
		world_add_cluster(f, j);
	json_array_foreach (json_object_get(world, "datasets"), i, j)
		world_add_dataset(f, j);
	json_array_foreach (json_object_get(world, "queues"), i, j) {
		auto_free(queue_destroy) struct queue *q = world_queue(j);

		fleet_queue_set(f, q);
	}
}

static void explain_into(struct fleet *f, const char *name, int64_t now_ns, json_t *result)
{
	auto_free(explain_destroy) struct explain *e = fleet_explain(f, name, now_ns);
	auto_strbuf text = {0};

	if (!e || e->placed)
		return;
	explain_text(e, now_ns, 0, &text);
	json_set_str(result, "explain", strbuf_str(&text));
	json_set_str(result, "detail", e->detail);
	json_set_str(result, "remedy", e->remedy);
	json_object_set_new(result, "sole", json_boolean(e->sole));
	json_set_str(result, "waits", wait_code_name(e->code));
}

static void events(struct fleet *f, const json_t *step)
{
	json_t *j;
	size_t i;

	json_array_foreach (json_object_get(step, "refuse"), i, j) {
		struct fleet_refusal r = {json_str_at(j, "reason", NULL),
					  json_int_at(j, 0, "until", NULL) * SECOND};

		fleet_requeue(f, json_str_at(j, "job", NULL), 2, json_int_at(j, 0, "seq", NULL),
			      &r);
	}
	json_array_foreach (json_object_get(step, "claim"), i, j)
		fleet_claimed(f, json_str_at(j, "job", NULL), json_int_at(j, 1, "generation", NULL),
			      json_int_at(j, 0, "seq", NULL));
	json_array_foreach (json_object_get(step, "end"), i, j)
		fleet_forget(f, json_str_at(j, "job", NULL), json_int_at(j, 0, "seq", NULL));
}

static void run_step(struct fleet *f, const char *at, const json_t *step, json_t *results)
{
	int64_t now = json_int_at(step, 1000, "now", NULL) * SECOND;
	auto_json *decisions = NULL;
	const char *name;
	json_t *j;
	size_t i;

	json_object_foreach (results, name, j)
		json_object_clear(j);
	events(f, step);
	add_all(f, step);
	json_array_foreach (json_object_get(step, "jobs"), i, j)
		submit(f, at, j, results);
	decisions = world_decide(f, now);
	json_object_foreach (decisions, name, j)
		json_object_update(json_object_get(results, name), j);
	json_object_foreach (results, name, j)
		explain_into(f, name, now, j);
	cr_expect_null(fleet_fault(f), "%s: %s", at, fleet_fault(f));
	expect_within(at, json_object_get(step, "expect"), results);
}

static void run_fleet(const char *at, const json_t *c)
{
	struct fleet *f = fleet_create();
	auto_json *standard = world_yaml("{name: default}");
	auto_free(queue_destroy) struct queue *q = world_queue(standard);
	auto_json *results = json_object();
	json_t *step;
	size_t i;

	fleet_queue_set(f, q);
	run_step(f, at, c, results);
	json_array_foreach (json_object_get(c, "then"), i, step) {
		auto_xfree char *where = xasprintf("%s, then %zu", at, i + 1);

		run_step(f, where, step, results);
	}
	fleet_destroy(f);
}

/* --- level 2 ------------------------------------------------------------------------------ */

static void add_nodes(struct site *s, const json_t *nodes)
{
	json_t *j;
	size_t i;

	json_array_foreach (nodes, i, j) {
		int64_t count = json_int_at(j, 0, "count", NULL);

		for (int64_t k = count ? 0 : -1; k < count; k++) {
			auto_free(node_destroy) struct node *n = world_node(j, k);

			site_node_set(s, n);
			if (k < 0)
				break;
		}
	}
}

static json_t *pods_by_node(const struct site_placement *p)
{
	json_t *names = json_array();

	for (size_t i = 0; i < p->n_pods; i++)
		json_array_append_new(names, json_string(p->pods[i].node));
	return names;
}

static void place_job(struct site *s, const json_t *j, json_t *results, struct gang **ret)
{
	auto_free(job_destroy) struct job *job = world_job(j);
	auto_free(site_placement_destroy) struct site_placement *p = NULL;
	json_t *r = json_object();
	struct error err;

	*ret = NULL;
	json_object_set_new(results, job->meta.name, r);
	if (site_gang_create(s, job, 0, NULL, ret, &err) < 0) {
		json_set_str(r, "refused", err.text);
		return;
	}
	p = site_place(s, *ret);
	if (p) {
		json_object_set_new(r, "nodes", pods_by_node(p));
	} else {
		auto_free(explain_destroy) struct explain *e = site_explain(s, *ret);
		auto_strbuf text = {0};

		explain_text(e, SECOND, 0, &text);
		json_set_str(r, "waits", wait_code_name(e->code));
		json_set_str(r, "detail", e->detail);
		json_set_str(r, "explain", strbuf_str(&text));
	}
}

static void run_site(const char *at, const json_t *c)
{
	struct site *s = site_create("here");
	auto_json *results = json_object();
	struct gang *gangs[64];
	size_t n = 0, i;
	json_t *j;

	add_nodes(s, json_object_get(c, "nodes"));
	json_array_foreach (json_object_get(c, "pods"), i, j) {
		auto_free(pod_destroy) struct pod *p = world_pod(j);

		site_pod_set(s, p, NULL);
	}
	json_array_foreach (json_object_get(c, "jobs"), i, j)
		place_job(s, j, results, &gangs[n++]);
	cr_expect_null(site_fault(s), "%s: %s", at, site_fault(s));
	expect_within(at, json_object_get(c, "expect"), results);
	while (n)
		site_gang_destroy(s, gangs[--n]);
	site_destroy(s);
}

/* --- all ---------------------------------------------------------------------------------- */

static void run_file(const char *path)
{
	auto_xfree char *text = read_file(path);
	auto_json *cases = world_yaml(text);
	json_t *c;
	size_t i;

	cr_assert(json_array_size(cases) > 0, "%s: no cases", path);
	json_array_foreach (cases, i, c) {
		const char *name = json_str_at(c, "case", NULL);

		cr_assert_not_null(name, "%s: case %zu has no name", path, i);
		if (json_object_get(c, "clusters"))
			run_fleet(name, c);
		else
			run_site(name, c);
	}
}

Test(cases, all)
{
	glob_t g;

	cr_assert_eq(glob(SCHEDULER_CASES "/*.yaml", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		run_file(g.gl_pathv[i]);
	globfree(&g);
}
