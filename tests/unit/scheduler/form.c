/* Alternatives of tasks and the variants that they make. */
#include "scheduler/form.h"

#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/gang.h"
#include "world.h"

static struct gang *make(struct model *m, const char *yaml)
{
	auto_free(job_destroy) struct job *job = world_job_yaml(yaml);
	struct gang *g;
	struct error err;

	cr_assert_eq(gang_create(m, job, 0, NULL, &g, &err), 0, "%s", err.text);
	return g;
}

static void expect_variant(const struct gang *g, size_t i, int32_t a, int32_t b)
{
	const struct form_part *p = g->form->variants[i].parts;

	cr_expect(p[0].alternative == a && p[1].alternative == b, "variant %zu: %d, %d", i,
		  (int)p[0].alternative, (int)p[1].alternative);
}

Test(form, variants_come_best_first)
{
	struct model m;
	struct gang *g;
	const int32_t last[] = {2, 3}, none[] = {-1, -1};

	model_init(&m);
	g = make(&m, "{name: j, tasks: [{name: a, requests: {cpu: 1, memory: 1Gi}}, {name: b}], "
		     "placement: {alternatives: ["
		     "{task: a, resources: {cpu: 8}}, {task: b, replicas: 7}, "
		     "{task: a, resources: {x.io/gpu: 1}}, {task: b}, {task: other}]}}");
	cr_assert_eq(g->form->n_variants, 4);
	expect_variant(g, 0, 0, 1);
	expect_variant(g, 1, 0, 3);
	expect_variant(g, 2, 2, 1);
	expect_variant(g, 3, 2, 3);
	cr_expect_eq(g->form->variants[0].pods, 8);
	cr_expect_eq(resource_list_get(&g->form->variants[0].total, "cpu"), 8000);
	cr_expect_eq(resource_list_get(&g->form->variants[0].total, "memory"), INT64_C(1) << 30);
	cr_expect_eq(resource_list_get(&g->form->variants[2].total, "cpu"), 1000,
		     "only cpu differs");
	cr_expect_eq(resource_list_get(&g->form->variants[2].total, "x.io/gpu"), 1);
	cr_expect_eq(gang_variant(g, last), 3);
	cr_expect_eq(gang_variant(g, none), -1);
	gang_destroy(&m, g);
	model_finish(&m);
}

Test(form, equal_jobs_share_one)
{
	struct model m;
	struct gang *a, *b, *c;

	model_init(&m);
	a = make(&m, "{name: a, tasks: [{name: x, replicas: 2, requests: {cpu: 1}}]}");
	b = make(&m, "{name: b, tasks: [{name: y, replicas: 2, requests: {cpu: 1000m}}]}");
	c = make(&m, "{name: c, tasks: [{name: x, replicas: 3, requests: {cpu: 1}}]}");
	cr_expect_eq(a->form, b->form);
	cr_expect_neq(a->form, c->form);
	cr_expect_eq(a->form->variants[0].parts[0].spec, c->form->variants[0].parts[0].spec);
	gang_destroy(&m, a);
	gang_destroy(&m, b);
	gang_destroy(&m, c);
	gang_destroy(&m, NULL);
	model_finish(&m);
}

/* Ten tasks with three alternatives each would make 59,049: the best 64 are kept. */
Test(form, variants_do_not_multiply_without_end)
{
	struct strbuf yaml = {0};
	struct model m;
	struct gang *g;

	model_init(&m);
	strbuf_adds(&yaml, "{name: j, tasks: [");
	for (int i = 0; i < 10; i++)
		strbuf_addf(&yaml, "{name: t%d},", i);
	strbuf_adds(&yaml, "], placement: {alternatives: [");
	for (int i = 0; i < 30; i++)
		strbuf_addf(&yaml, "{task: t%d, resources: {cpu: %d}},", i % 10, i + 1);
	strbuf_adds(&yaml, "]}}");
	g = make(&m, strbuf_str(&yaml));
	cr_expect_eq(g->form->n_variants, FORM_VARIANTS_MAX);
	cr_expect_eq(form_all(g->form), UINT64_MAX);
	cr_expect_eq(g->form->variants[0].rank, 0);
	cr_expect_eq(g->form->variants[1].rank, 1);
	cr_expect_eq(g->form->variants[63].rank, 2);
	gang_destroy(&m, g);
	model_finish(&m);
	strbuf_finish(&yaml);
}

Test(form, a_choice_leaves_one_variant)
{
	auto_free(job_destroy) struct job *job =
		world_job_yaml("{name: j, tasks: [{name: a}, {name: b}], placement: {alternatives: "
			       "[{task: a}, {task: a, replicas: 3}]}}");
	const int32_t choices[] = {1, -1};
	struct model m;
	struct gang *g;
	struct error err;

	model_init(&m);
	cr_assert_eq(gang_create(&m, job, 0, choices, &g, &err), 0);
	cr_assert_eq(g->form->n_variants, 1);
	expect_variant(g, 0, 1, -1);
	cr_expect_eq(g->form->variants[0].pods, 4);
	gang_destroy(&m, g);
	model_finish(&m);
}
