/* The places of a run, where its pods should stand, and what stands there. */
#include <stdlib.h>
#include <string.h>

#include "member-agent/runner_internal.h"

bool run_has_pods(const struct run *run)
{
	for (size_t i = 0; i < run->n_places; i++)
		if (run->places[i]->pod || run->places[i]->create)
			return true;
	return run->n_strays > 0;
}

struct place *place_at(const struct run *run, size_t task, int32_t index)
{
	return run->places[run->tasks[task].first + (size_t)index];
}

static void place_destroy(struct place *p)
{
	create_cancel(p->create);
	if (p->create)
		p->run->runner->pods_in_flight--;
	podinfo_destroy(p->pod);
	arena_finish(&p->arena);
	free(p->name);
	free(p->node);
	free(p);
}

void places_destroy(struct run *run)
{
	for (size_t i = 0; i < run->n_places; i++)
		place_destroy(run->places[i]);
	for (size_t i = 0; i < run->n_strays; i++)
		podinfo_destroy(run->strays[i]);
	for (size_t t = 0; t < run->n_tasks; t++)
		free(run->tasks[t].name);
	free(run->tasks);
	free(run->places);
	free(run->strays);
}

void place_note(struct place *p, const struct resource_list *request, const int32_t *ports,
		size_t n_ports)
{
	arena_finish(&p->arena);
	p->request = (struct resource_list){0};
	resource_list_add(&p->arena, &p->request, request, 1);
	p->ports = arena_array(&p->arena, int32_t, n_ports + 1);
	if (n_ports)
		memcpy(p->ports, ports, n_ports * sizeof(*ports));
	p->n_ports = n_ports;
}

static struct place *place_create(struct run *run, size_t task, int32_t index)
{
	struct place *p = xnew0(struct place);
	const char *node = claim_node(run->claim, run->n_places);

	p->run = run;
	p->task = task;
	p->index = index;
	p->name = pod_name_make(run->twin->job_name, run->twin->tasks[task].name, index);
	p->node = node ? xstrdup(node) : NULL;
	if (claim_spec(run->claim, task))
		place_note_spec(p, claim_spec(run->claim, task));
	return p;
}

/* A copy of a pod has its labels, and its owner perhaps, but never its name. */
static struct place *place_if_named(struct place *p, const struct podinfo *pod)
{
	return !strcmp(p->name, pod->name) ? p : NULL;
}

static struct place *place_of(const struct run *run, const struct podinfo *pod)
{
	for (size_t t = 0; t < run->n_tasks; t++)
		if (!strcmp(run->tasks[t].name, pod->task) && pod->index >= 0 &&
		    pod->index < run->tasks[t].replicas)
			return place_if_named(place_at(run, t, pod->index), pod);
	return NULL;
}

static void set_node(struct place *p, const char *node)
{
	free(p->node);
	p->node = node ? xstrdup(node) : NULL;
}

static bool node_is_gone(const struct run *run, const struct podinfo *pod)
{
	return pod->node && !runner_known(run->runner, KIND_NODES, NULL, pod->node);
}

/* What ended stays ended, whatever its object says later. */
static void latch(struct place *p)
{
	struct slot s = podinfo_slot(p->pod, node_is_gone(p->run, p->pod));

	if (p->latched || (s.state != SLOT_SUCCEEDED && s.state != SLOT_FAILED))
		return;
	p->latched = true;
	p->end = s.state;
	p->end_restart = p->pod->restart;
	/* The room of a failed pod is kept for when the gang starts again. */
	if (s.state == SLOT_FAILED && p->run->memory.outcome.phase == OUTCOME_NONE &&
	    !p->run->memory.release)
		run_book_again(p);
}

static void place_take(struct place *p, struct podinfo *take)
{
	if (p->pod && strcmp(p->pod->uid, take->uid))
		p->latched = p->deleting = false;
	podinfo_destroy(p->pod);
	p->pod = take;
	p->vanished = p->unseen = false;
	set_node(p, take->node);
	latch(p);
}

static void stray_drop(struct run *run, const char *uid)
{
	for (size_t i = 0; i < run->n_strays; i++) {
		if (strcmp(run->strays[i]->uid, uid))
			continue;
		podinfo_destroy(run->strays[i]);
		run->strays[i] = run->strays[--run->n_strays];
		return;
	}
}

static void stray_add(struct run *run, struct podinfo *take)
{
	stray_drop(run, take->uid);
	GROW(run->strays, run->n_strays, run->cap_strays);
	run->strays[run->n_strays++] = take;
}

static void make_tasks(struct run *run)
{
	size_t n = 0;

	run->n_tasks = run->twin->n_tasks;
	run->tasks = xcalloc(run->n_tasks + 1, sizeof(*run->tasks));
	for (size_t t = 0; t < run->n_tasks; t++) {
		run->tasks[t] = (struct run_task){
			.name = xstrdup(run->twin->tasks[t].name),
			.first = n,
			.replicas = run->twin->tasks[t].replicas,
		};
		n += (size_t)run->tasks[t].replicas;
	}
	run->places = xcalloc(n + 1, sizeof(*run->places));
}

static void seat_strays(struct run *run)
{
	for (size_t i = 0; i < run->n_strays;) {
		struct podinfo *pod = run->strays[i];
		struct place *p = place_of(run, pod);

		if (!p || p->pod) {
			i++;
			continue;
		}
		run->strays[i] = run->strays[--run->n_strays];
		place_take(p, pod);
	}
}

void places_make(struct run *run)
{
	if (run->places)
		return;
	make_tasks(run);
	for (size_t t = 0; t < run->n_tasks; t++)
		for (int32_t i = 0; i < run->tasks[t].replicas; i++) {
			run->places[run->n_places] = place_create(run, t, i);
			run->n_places++;
		}
	seat_strays(run);
}

void run_pod_seen(struct run *run, const struct pod *pod)
{
	struct podinfo *info = podinfo_create(pod);
	struct place *p = info ? place_of(run, info) : NULL;

	if (!info)
		return;
	if (!p)
		stray_add(run, info);
	else if (p->pod && !strcmp(p->pod->uid, info->uid) && p->pod->version > info->version)
		podinfo_destroy(info);
	else
		place_take(p, info);
	if (p && p->pod == info && pod->phase != POD_SUCCEEDED && pod->phase != POD_FAILED)
		place_note(p, &pod->request, pod->host_ports, pod->n_host_ports);
	run_poke(run);
}

/* Went without our doing: lost, unless it had ended before. */
static void place_vacate(struct place *p)
{
	bool ended = p->latched;

	podinfo_destroy(p->pod);
	p->pod = NULL;
	if (p->deleting) {
		p->deleting = p->latched = p->vanished = false;
		if (p->withdrawn)
			set_node(p, NULL);
		else if (p->run->placement && !p->run->settled)
			run_book_again(p);
		p->withdrawn = false;
		return;
	}
	p->vanished = !ended;
	if (!ended)
		set_node(p, NULL);
}

void run_pod_gone(struct run *run, const char *name, const char *uid)
{
	stray_drop(run, uid);
	for (size_t i = 0; i < run->n_places; i++) {
		struct place *p = run->places[i];

		if (p->pod && !strcmp(p->pod->uid, uid))
			place_vacate(p);
	}
	run_poke(run);
}

void run_drop_unseen(struct run *run)
{
	struct runner *r = run->runner;
	int64_t seen = informer_version(r->informers[KIND_PODS]);

	for (size_t i = 0; i < run->n_places; i++) {
		struct place *p = run->places[i];

		if (!p->pod || !p->unseen)
			continue;
		if (seen < p->pod->version)
			run_poke_in(run, UNSEEN_WAIT_MS);
		else if (!runner_known(r, KIND_PODS, p->pod->ns, p->pod->name))
			place_vacate(p);
	}
}

/* --- as lifecycle/ sees them --- */

struct slot place_slot(const struct place *p)
{
	struct slot s = {.state = SLOT_ABSENT, .restart = p->run->memory.retries, .exit_code = -1};

	if (p->pod) {
		s = podinfo_slot(p->pod, node_is_gone(p->run, p->pod));
		if (p->latched)
			s.state = p->end;
	} else if (p->latched) {
		s.state = p->end;
		s.restart = p->end_restart;
	} else if (p->vanished) {
		s.state = SLOT_LOST;
		s.reason = "Deleted";
	}
	return s;
}

struct attempt run_attempt(const struct run *run, struct arena *arena)
{
	const struct twin *t = run->twin;
	struct attempt a = {
		.tasks = arena_array(arena, struct attempt_task, t->n_tasks),
		.n_tasks = t->n_tasks,
		.min_available = t->min_available,
		.min_success = t->min_success,
		.max_retry = t->max_retry,
		.memory = run->memory,
		.release_asked = run->placement && run->placement->desired == DESIRED_RELEASE,
	};

	for (size_t i = 0; i < t->n_tasks; i++) {
		const struct twin_task *from = &t->tasks[i];
		struct attempt_task *to = &a.tasks[i];

		*to = (struct attempt_task){
			.name = from->name,
			.replicas = from->replicas,
			.min_available = from->min_available,
			.max_retry = from->max_retry,
			.on_failure = from->on_failure,
			.slots = arena_array(arena, struct slot, (size_t)from->replicas + 1),
		};
		for (int32_t k = 0; k < from->replicas; k++)
			to->slots[k] = place_slot(place_at(run, i, k));
	}
	return a;
}

bool place_has_ended(const struct place *p)
{
	return p->latched || podinfo_has_ended(p->pod);
}

static void count_live(const struct podinfo *pod, bool *live, bool *ending)
{
	if (pod->deleted_ns)
		*ending = true;
	else
		*live = true;
}

bool run_pods_live(const struct run *run, bool *ret_ending)
{
	bool live = false, ending = false;

	for (size_t i = 0; i < run->n_places; i++)
		if (run->places[i]->pod && !place_has_ended(run->places[i]))
			count_live(run->places[i]->pod, &live, &ending);
	for (size_t i = 0; i < run->n_strays; i++)
		if (!podinfo_has_ended(run->strays[i]))
			count_live(run->strays[i], &live, &ending);
	*ret_ending = ending;
	return live;
}

int64_t run_last_end_ns(const struct run *run)
{
	int64_t last = 0;

	for (size_t i = 0; i < run->n_places; i++)
		if (run->places[i]->pod && run->places[i]->pod->finished_ns > last)
			last = run->places[i]->pod->finished_ns;
	return last;
}
