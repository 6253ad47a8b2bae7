/* The runner itself: what the member says, told to the runs, and their turns. */
#include "member-agent/runner_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"

#define TURN_MS     1
#define CAPACITY_MS 50

/* --- runs --- */

struct run *runner_find(struct runner *r, const char *name)
{
	struct run *run;

	HASH_FIND_STR(r->runs, name, run);
	return run;
}

static struct run *need_run(struct runner *r, const char *name, const char *uid, int64_t part,
			    int64_t generation)
{
	struct run *run = runner_find(r, name);

	return run ? run : run_create(r, name, uid, part, generation);
}

static void on_turn(void *arg)
{
	struct runner *r = arg;
	struct list now;
	struct list_node *n;

	if (!r->ready || !r->placements_synced)
		return;
	list_init(&now);
	while ((n = list_first(&r->dirty))) {
		list_remove(n);
		list_push_back(&now, n);
	}
	while ((n = list_first(&now))) {
		list_remove(n);
		run_act(list_entry(n, struct run, dirty));
	}
	if (r->orphans != r->told_orphans && r->on_orphans) {
		r->told_orphans = r->orphans;
		r->on_orphans(r->on_orphans_arg);
	}
}

void runner_poke_all(struct runner *r)
{
	struct run *run, *tmp;

	HASH_ITER (hh, r->runs, run, tmp)
		run_poke(run);
}

bool runner_has_half_made(const struct runner *r)
{
	struct run *run, *tmp;

	HASH_ITER (hh, r->runs, run, tmp)
		if (run->half_made)
			return true;
	return false;
}

bool runner_is_shut_in(const struct runner *r)
{
	return !r->clean && env_mono_ms(r->env) - r->started_ms < r->shutout_wait_ms;
}

static void on_shutout_over(void *arg)
{
	runner_poke_all(arg);
}

/* Acts are idempotent: this costs little, and what was not woken by an oversight goes on. */
static void on_look_again(void *arg)
{
	struct runner *r = arg;

	runner_poke_all(r);
	timer_start(r->look_again, LOOK_AGAIN_MS);
}

/* Below W, so that nothing of ours is carried out after a successor has waited. */
int64_t runner_write_timeout_ms(const struct runner *r)
{
	int64_t ms = r->shutout_wait_ms * 2 / 3;

	return ms < 1000 ? 1000 : ms > 20000 ? 20000 : ms;
}

/* --- room --- */

static void on_capacity_turn(void *arg)
{
	struct runner *r = arg;

	if (r->capacity_changed)
		r->capacity_changed(r->arg);
}

void runner_room_changed(struct runner *r)
{
	if (!timer_active(r->capacity_turn))
		timer_start(r->capacity_turn, CAPACITY_MS);
}

/* Who waits for room, or for a name, looks again. */
void runner_poke_waiting(struct runner *r)
{
	struct run *run, *tmp;

	HASH_ITER (hh, r->runs, run, tmp)
		if (run->room_wait_ms || run->name_wait_ms || run->starved)
			run_poke(run);
}

/* --- what the member says --- */

static void on_node(struct doc *doc, struct doc *prev, void *arg)
{
	auto_free(node_destroy) struct node *node = NULL;
	struct runner *r = arg;
	struct run *run, *tmp;
	struct error err;

	if (!doc) {
		site_node_remove(r->site, prev->key);
		HASH_ITER (hh, r->runs, run, tmp)
			if (run->twin)
				run_poke(run);
	} else if (node_view(doc, &node, &err)) {
		log_warn("runner", "node %s: %s", doc->key, err.text);
		return;
	} else {
		site_node_set(r->site, node);
	}
	runner_room_changed(r);
	runner_poke_waiting(r);
}

static bool was_terminal(const struct pod *p)
{
	return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
}

/* Told to its run first: it knows whether the room is kept. */
void runner_pod_seen(struct runner *r, const struct pod *p)
{
	auto_xfree char *name = attempt_name_of(p);
	const char *task = meta_label(&p->meta, LABEL_TASK);
	const char *index = meta_label(&p->meta, LABEL_TASK_INDEX);
	struct site_key key = {.uid = meta_label(&p->meta, LABEL_UID), .task = task};
	struct run *run;

	if (!name || !task || !index) {
		site_pod_set(r->site, p, NULL);
		return;
	}
	key.index = (int32_t)strtol(index, NULL, 10);
	site_pod_set(r->site, p, was_terminal(p) ? NULL : &key);
	run = need_run(r, name, key.uid, strtoll(meta_label(&p->meta, LABEL_PART), NULL, 10),
		       strtoll(meta_label(&p->meta, LABEL_GENERATION), NULL, 10));
	run_pod_seen(run, p);
}

static void pod_gone(struct runner *r, struct doc *prev)
{
	auto_free(pod_destroy) struct pod *p = NULL;
	auto_xfree char *name = NULL;
	struct error err;
	struct run *run;

	if (pod_view(prev, &p, &err))
		return;
	site_pod_remove(r->site, p->meta.uid);
	name = attempt_name_of(p);
	run = name ? runner_find(r, name) : NULL;
	if (run)
		run_pod_gone(run, p->meta.name, p->meta.uid);
}

static void on_pod(struct doc *doc, struct doc *prev, void *arg)
{
	auto_free(pod_destroy) struct pod *p = NULL;
	struct runner *r = arg;
	struct error err;

	if (!doc)
		pod_gone(r, prev);
	else if (pod_view(doc, &p, &err))
		log_warn("runner", "pod %s: %s", doc->key, err.text);
	else
		runner_pod_seen(r, p);
	runner_room_changed(r);
	runner_poke_waiting(r);
}

static void on_twin(struct doc *doc, struct doc *prev, void *arg)
{
	auto_free(twin_destroy) struct twin *t = NULL;
	struct runner *r = arg;
	struct error err;
	struct run *run;

	if (twin_view(doc ? doc : prev, &t, &err)) {
		log_warn("runner", "placement %s: %s", doc ? doc->key : prev->key, err.text);
		return;
	}
	if (!doc) {
		run = runner_find(r, t->meta.name);
		if (run)
			run_set_twin(run, NULL);
		return;
	}
	run = need_run(r, t->meta.name, t->job_uid, t->part, t->generation);
	run_set_twin(run, doc);
}

/* What admission does to a pod may have changed. */
static void on_policy(struct doc *doc, struct doc *prev, void *arg)
{
	const char *key = (doc ? doc : prev)->key, *slash = strchr(key, '/');
	auto_xfree char *ns = slash ? xstrndup(key, (size_t)(slash - key)) : NULL;

	dry_forget(arg, ns);
}

static void on_namespace(struct doc *doc, struct doc *prev, void *arg)
{
	struct runner *r = arg;
	struct run *run, *tmp;
	const char *ns = (doc ? doc : prev)->key;

	dry_forget(r, ns);
	HASH_ITER (hh, r->runs, run, tmp)
		if (run->twin && !strcmp(run->twin->job_ns, ns))
			run_poke(run);
}

/* Looked up when a claim needs them. */
static void on_looked_up(struct doc *doc, struct doc *prev, void *arg)
{
}

static const struct kind_row {
	const char *path;
	bool absent_is_empty;
	void (*changed)(struct doc *doc, struct doc *prev, void *arg);
} kind_rows[KINDS] = {
	[KIND_NODES] = {"/api/v1/nodes", false, on_node},
	[KIND_PODS] = {"/api/v1/pods", false, on_pod},
	[KIND_TWINS] = {TWINS_PATH, false, on_twin},
	[KIND_NAMESPACES] = {"/api/v1/namespaces", false, on_namespace},
	[KIND_QUOTAS] = {"/api/v1/resourcequotas", true, on_looked_up},
	[KIND_LIMITS] = {"/api/v1/limitranges", true, on_policy},
	[KIND_VOLUMES] = {"/api/v1/persistentvolumes", true, on_looked_up},
	[KIND_CLAIMS] = {"/api/v1/persistentvolumeclaims", true, on_looked_up},
	[KIND_STORAGE_CLASSES] = {"/apis/storage.k8s.io/v1/storageclasses", true, on_looked_up},
	[KIND_PRIORITY_CLASSES] = {"/apis/scheduling.k8s.io/v1/priorityclasses", true, on_policy},
	[KIND_RUNTIME_CLASSES] = {"/apis/node.k8s.io/v1/runtimeclasses", true, on_policy},
};

struct doc *runner_known(const struct runner *r, enum member_kind kind, const char *ns,
			 const char *name)
{
	return informer_get(r->informers[kind], ns, name);
}

static void on_synced(void *arg)
{
	struct runner *r = arg;

	if (++r->synced < KINDS)
		return;
	r->ready = true;
	/* A run here is a twin or a pod of ours: there was a predecessor. */
	r->clean_if_empty = r->clean_if_empty && !r->runs;
	if (r->on_ready)
		r->on_ready(r->on_ready_arg);
	timer_start(r->turn, TURN_MS);
}

static void on_health(bool ok, const struct error *err, void *arg)
{
	if (!ok)
		log_warn("runner", "the member's apiserver: %s", err->text);
}

/* --- life --- */

static void watch_member(struct runner *r)
{
	for (int k = 0; k < KINDS; k++) {
		struct informer_config config = {
			.path = kind_rows[k].path,
			.absent_is_empty = kind_rows[k].absent_is_empty,
			.may_go_back = true,
			.changed = kind_rows[k].changed,
			.synced = on_synced,
			.health = on_health,
			.arg = r,
		};

		r->informers[k] = informer_create(r->member, r->env, &config);
	}
}

struct runner *runner_create(struct env *env, struct kube *member, struct owner *owner,
			     const struct runner_config *config,
			     void (*capacity_changed)(void *arg), void *arg)
{
	struct runner *r = xnew0(struct runner);

	r->env = env;
	r->member = member;
	r->owner = owner;
	r->cluster = xstrdup(config->cluster);
	r->own_namespace = xstrdup(config->own_namespace);
	r->shutout_wait_ms = config->shutout_wait_ms;
	r->keep_pods_ms = config->keep_pods_ms;
	r->journal_keep_ms = config->journal_keep_ms;
	r->clean = config->predecessor_left_cleanly;
	r->clean_if_empty = config->predecessor_unknown;
	r->started_ms = env_mono_ms(env);
	r->capacity_changed = capacity_changed;
	r->arg = arg;
	r->incarnation = -1;
	list_init(&r->dirty);
	list_init(&r->logs);
	r->turn = timer_create_in(env, on_turn, r);
	r->capacity_turn = timer_create_in(env, on_capacity_turn, r);
	r->shutout = timer_create_in(env, on_shutout_over, r);
	if (!r->clean)
		timer_start(r->shutout, r->shutout_wait_ms + 1);
	r->look_again = timer_create_in(env, on_look_again, r);
	timer_start(r->look_again, LOOK_AGAIN_MS);
	r->site = site_create(r->cluster);
	r->journal = journal_create(r);
	watch_member(r);
	return r;
}

void runner_destroy(struct runner *r)
{
	struct run *run, *tmp;

	if (!r)
		return;
	for (int k = 0; k < KINDS; k++)
		informer_destroy(r->informers[k]);
	HASH_ITER (hh, r->runs, run, tmp)
		run_destroy(run);
	journal_destroy(r->journal);
	logs_destroy(r);
	dry_forget(r, NULL);
	site_destroy(r->site);
	timer_destroy(r->turn);
	timer_destroy(r->capacity_turn);
	timer_destroy(r->shutout);
	timer_destroy(r->look_again);
	free(r->cluster);
	free(r->own_namespace);
	free(r->cluster_uid);
	free(r->hub);
	free(r);
}

bool runner_is_ready(const struct runner *r)
{
	return r->ready;
}

void runner_on_ready(struct runner *r, void (*fn)(void *arg), void *arg)
{
	r->on_ready = fn;
	r->on_ready_arg = arg;
}

void runner_set_term(struct runner *r, int64_t term)
{
	r->term = term;
}

void runner_set_identity(struct runner *r, const char *cluster_uid, const char *hub,
			 int64_t incarnation)
{
	free(r->cluster_uid);
	r->cluster_uid = cluster_uid ? xstrdup(cluster_uid) : NULL;
	free(r->hub);
	r->hub = hub ? xstrdup(hub) : NULL;
	r->incarnation = incarnation;
	runner_poke_all(r);
}

size_t runner_orphans(const struct runner *r)
{
	return r->orphans;
}

void runner_on_orphans(struct runner *r, void (*fn)(void *arg), void *arg)
{
	r->on_orphans = fn;
	r->on_orphans_arg = arg;
}

struct site *runner_site(struct runner *r)
{
	return r->site;
}

/* --- what the owner says --- */

void runner_placement_changed(struct runner *r, struct doc *doc, struct doc *prev)
{
	auto_free(placement_destroy) struct placement *p = NULL;
	struct error err;
	struct run *run;

	if (placement_view(doc ? doc : prev, &p, &err)) {
		log_warn("runner", "placement %s: %s", (doc ? doc : prev)->key, err.text);
		return;
	}
	run = doc ? need_run(r, p->meta.name, p->job_uid, p->part, p->generation)
		  : runner_find(r, p->meta.name);
	if (run)
		run_set_placement(run, doc);
}

/* What a predecessor had begun; half made is what it may not have made all pods of. */
static void note_inherited(struct run *run)
{
	const struct placement *p = run->placement;

	if (!p || (p->state != PLACEMENT_CLAIMED && p->state != PLACEMENT_RUNNING))
		return;
	run->predecessors = true;
	run->half_made =
		p->state == PLACEMENT_CLAIMED && p->desired == DESIRED_GO && run_is_ours(run);
}

static void note_all_inherited(struct runner *r)
{
	struct run *run, *tmp;

	HASH_ITER (hh, r->runs, run, tmp) {
		note_inherited(run);
		r->clean_if_empty = r->clean_if_empty && !run->predecessors;
	}
	if (!r->clean_if_empty)
		return;
	r->clean = true;
	timer_stop(r->shutout);
}

void runner_placements_synced(struct runner *r)
{
	if (!r->placements_synced)
		note_all_inherited(r);
	r->placements_synced = true;
	runner_poke_all(r);
	timer_start(r->turn, TURN_MS);
}
