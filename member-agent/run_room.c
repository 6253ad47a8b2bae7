/* Room of a run: for pods that are missing after a restart, a loss, or a start of the agent. */
#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/json.h"
#include "base/scan.h"
#include "member-agent/plan.h"
#include "member-agent/runner_internal.h"

static struct site_key key_of(const struct place *p)
{
	return (struct site_key){
		.uid = p->run->uid,
		.task = p->run->tasks[p->task].name,
		.index = p->index,
	};
}

void run_release_room(struct run *run)
{
	struct runner *r = run->runner;

	run_cancel_plan(run);
	if (site_release_gang(r->site, run->uid))
		runner_room_changed(r);
}

void run_cancel_plan(struct run *run)
{
	dry_run_cancel(take_ptr(run->dry));
}

/* Where it was, with what it was seen to take. */
void run_book_again(struct place *p)
{
	struct runner *r = p->run->runner;
	struct site_key key = key_of(p);

	if (p->node && runner_known(r, KIND_NODES, NULL, p->node))
		site_book(r->site, &key, p->node, &p->request, p->ports, p->n_ports);
}

/* Ports are booked by the plan; what is taken is needed to judge a node again. */
void place_note_spec(struct place *p, const json_t *spec)
{
	struct arena scratch = {0};
	struct resource_list request = {0};
	struct error err;

	if (!pod_request(&scratch, spec, &request, &err))
		place_note(p, &request, NULL, 0);
	arena_finish(&scratch);
}

/* --- what a node has left --- */

struct node_sum {
	const char *node;
	struct arena arena;
	struct resource_list used;
};

static void add_if_there(struct doc *doc, void *arg)
{
	auto_free(pod_destroy) struct pod *pod = NULL;
	struct node_sum *sum = arg;
	struct error err;
	struct sv node;

	if (!scan_find_str((struct sv){doc->bytes, doc->size}, &node, "spec", "nodeName", NULL) ||
	    !sv_eq(node, sum->node) || pod_view(doc, &pod, &err))
		return;
	resource_list_add(&sum->arena, &sum->used, &pod->request, 1);
}

static bool takes_more(const struct place *p, const struct pod *made)
{
	for (size_t i = 0; i < made->request.n; i++)
		if (made->request.items[i].amount >
		    resource_list_get(&p->request, made->request.items[i].name))
			return true;
	return false;
}

bool place_is_overbooked(const struct place *p, const struct pod *made)
{
	struct runner *r = p->run->runner;
	struct doc *doc = made->node ? runner_known(r, KIND_NODES, NULL, made->node) : NULL;
	auto_free(node_destroy) struct node *node = NULL;
	struct node_sum sum = {.node = made->node};
	struct error err;
	bool over = false;

	if (!takes_more(p, made) || !doc || node_view(doc, &node, &err))
		return false;
	informer_each(r->informers[KIND_PODS], add_if_there, &sum);
	if (!runner_known(r, KIND_PODS, made->meta.ns, made->meta.name))
		resource_list_add(&sum.arena, &sum.used, &made->request, 1);
	for (size_t i = 0; i < sum.used.n; i++)
		over = over || sum.used.items[i].amount > resource_list_get(&node->allocatable,
									    sum.used.items[i].name);
	arena_finish(&sum.arena);
	return over;
}

/* --- what is missing --- */

static bool wants_node(const struct place *p)
{
	return !p->pod && !p->latched && !p->vanished && !p->create && !p->node;
}

/* A node that has gone since, or lost a device that the pod needs: another one. */
static bool node_will_do(const struct place *p)
{
	struct doc *doc = runner_known(p->run->runner, KIND_NODES, NULL, p->node);
	auto_free(node_destroy) struct node *node = NULL;
	struct error err;

	if (!doc || node_view(doc, &node, &err))
		return false;
	for (size_t i = 0; i < p->request.n; i++) {
		const struct resource *r = &p->request.items[i];

		if (strchr(r->name, '/') &&
		    resource_list_get(&node->allocatable, r->name) < r->amount)
			return false;
	}
	return true;
}

static void drop_bad_nodes(struct run *run)
{
	for (size_t i = 0; i < run->n_places; i++) {
		struct place *p = run->places[i];
		struct site_key key = key_of(p);

		if (p->pod || p->create || !p->node || node_will_do(p))
			continue;
		site_release(run->runner->site, &key);
		free(take_ptr(p->node));
	}
}

static size_t list_missing(const struct run *run, struct site_pod *pods)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_places; i++)
		if (wants_node(run->places[i]))
			pods[n++] = (struct site_pod){.task = (int32_t)run->places[i]->task,
						      .index = run->places[i]->index};
	return n;
}

/* A shortage passes when others end, and a taint may; a node that there is not does not come. */
static bool has_waited(struct run *run, const struct refusal *why)
{
	int64_t now = env_mono_ms(run->runner->env);

	if (!run->room_wait_ms)
		run->room_wait_ms = now;
	if (!why->lasting)
		run->never_fits_ms = 0;
	else if (!run->never_fits_ms)
		run->never_fits_ms = now;
	return now - run->room_wait_ms >= NO_ROOM_WAIT_MS ||
	       (run->never_fits_ms && now - run->never_fits_ms >= NEVER_WAIT_MS);
}

static void no_room(struct run *run, const struct refusal *why)
{
	bool ending, waited = has_waited(run, why);

	/* Nothing of it runs, so that nothing is lost by starting elsewhere. */
	if (run->half_made || (!run_pods_live(run, &ending) && !ending && waited)) {
		run->room_wait_ms = run->never_fits_ms = 0;
		run_give_up(run, why->reason, why->message);
		return;
	}
	run_hold(run, why->reason, why->message);
	run_poke_in(run, NEVER_WAIT_MS);
}

static void take_plan(struct run *run, const struct site_placement *plan, json_t *const *specs)
{
	run->room_wait_ms = run->never_fits_ms = 0;
	run->hold_reason[0] = '\0';
	for (size_t i = 0; i < plan->n_pods; i++) {
		struct place *p = place_at(run, (size_t)plan->pods[i].task, plan->pods[i].index);

		free(p->node);
		p->node = xstrdup(plan->pods[i].node);
		place_note_spec(p, specs[p->task]);
	}
	run_poke(run);
}

static void plan_missing(struct run *run, json_t *const *specs)
{
	auto_xfree struct site_pod *pods = xcalloc(run->n_places + 1, sizeof(*pods));
	auto_free(site_placement_destroy) struct site_placement *plan = NULL;
	size_t n = list_missing(run, pods);
	struct refusal why = {0};

	if (!n) {
		run_poke(run);
		return;
	}
	plan = plan_make(run->runner, run->twin, specs, pods, n, &why);
	if (plan)
		take_plan(run, plan, specs);
	else
		no_room(run, &why);
	refusal_finish(&why);
	runner_room_changed(run->runner);
}

static void on_dry(json_t **take_specs, const struct error *err, void *arg)
{
	struct run *run = arg;

	run->dry = NULL;
	if (!take_specs) {
		run_refused(run, err);
		return;
	}
	plan_missing(run, take_specs);
	for (size_t i = 0; i < run->twin->n_tasks; i++)
		json_decref(take_specs[i]);
	free(take_specs);
}

bool run_plan_missing(struct run *run)
{
	auto_xfree struct site_pod *pods = NULL;

	drop_bad_nodes(run);
	pods = xcalloc(run->n_places + 1, sizeof(*pods));
	if (!list_missing(run, pods))
		return true;
	if (!run->dry)
		run->dry = dry_run_start(run->runner, run->twin, on_dry, run);
	return false;
}
