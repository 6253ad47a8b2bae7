/* Standalone itself: what the cluster says about jobs and queues, and whose turn it is. */
#include "member-agent/standalone.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "member-agent/names.h"
#include "member-agent/standalone_internal.h"

#define OFFER_WAIT_MS   2000  /* then the next gang does not wait any longer */
#define VOLCANO_ASK_MS  60000 /* Volcano may be installed, or removed, at any time */
#define EXPLAINS        200   /* per turn */
#define EXPLAIN_TURN_MS 1000

struct local_job *standalone_find(const struct standalone *s, const char *uid)
{
	struct local_job *j = NULL;

	if (uid)
		HASH_FIND_STR(s->by_uid, uid, j);
	return j;
}

struct site *standalone_site(const struct standalone *s)
{
	return runner_site(s->agent->runner);
}

int32_t standalone_priority(const struct standalone *s, const char *priority_class)
{
	struct doc *doc = *priority_class ? informer_get(s->classes, NULL, priority_class) : NULL;
	auto_json *tree = doc ? doc_tree(doc) : NULL;

	return (int32_t)json_int_at(tree, 0, "value", NULL);
}

/* --- turns --- */

void standalone_poke(struct standalone *s, int64_t ms)
{
	int64_t at = env_mono_ms(s->agent->env) + ms;

	if (s->stopped || (timer_active(s->turn) && s->turn_ms <= at))
		return;
	s->turn_ms = at;
	timer_start(s->turn, ms);
}

static void end_holds(struct standalone *s)
{
	int64_t now = env_mono_ms(s->agent->env), left;
	struct local_job *j, *tmp;

	list_for_each_safe (j, tmp, &s->waiting, waiting) {
		left = j->held_until_ms - now;
		if (j->state == LOCAL_HELD && left > 0)
			standalone_poke(s, left);
		else if (j->state == LOCAL_HELD)
			local_submit(j);
	}
}

static bool may_offer(struct standalone *s)
{
	int64_t left = s->offered_ms + OFFER_WAIT_MS - env_mono_ms(s->agent->env);

	if (!s->offered || left <= 0)
		return true;
	standalone_poke(s, left);
	return false;
}

/* False when nothing fits. */
static bool offer_next(struct standalone *s)
{
	auto_free(site_placement_destroy) struct site_placement *p = site_next(standalone_site(s));
	struct local_job *j;

	if (!p)
		return false;
	HASH_FIND(by_gang, s->by_gang, &p->gang, sizeof(p->gang), j);
	site_release_gang(standalone_site(s), j->uid);
	s->offered = j;
	s->offered_ms = env_mono_ms(s->agent->env);
	local_offer(j, p->alternatives);
	return true;
}

static void explain_waiting(struct standalone *s)
{
	struct local_job *j;
	size_t n = 0;

	list_for_each (j, &s->waiting, waiting) {
		if (n == EXPLAINS)
			break;
		if (!local_explain_is_due(j))
			continue;
		local_explain(j);
		n++;
	}
	if (!list_empty(&s->waiting))
		standalone_poke(s, EXPLAIN_TURN_MS);
}

static void on_turn(void *arg)
{
	struct standalone *s = arg;

	if (!s->ready || s->stopped)
		return;
	end_holds(s);
	while (may_offer(s))
		if (!offer_next(s)) {
			explain_waiting(s);
			return;
		}
}

void standalone_capacity_changed(struct standalone *s)
{
	standalone_poke(s, 1);
}

/* --- queues --- */

static void set_queue(struct standalone *s, struct doc *doc)
{
	auto_free(queue_destroy) struct queue *q = NULL;
	struct error err;

	if (queue_view(doc, &q, &err)) {
		log_warn("standalone", "queue %s: %s", doc->key, err.text);
		return;
	}
	/* Volcano keeps there what its own commands closed. */
	if (!strcmp(q->state, "Closed") || !strcmp(q->state, "Closing"))
		q->open = false;
	site_queue_set(standalone_site(s), q);
}

/* Queues can only be read here, so the one that everybody expects is open when it is missing. */
static void set_default_queue(struct standalone *s)
{
	static const char bytes[] = "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":"
				    "\"Queue\",\"metadata\":{\"name\":\"default\"}}";
	auto_free(doc_unref) struct doc *doc = doc_create("default", bytes, strlen(bytes));

	set_queue(s, doc);
}

static void on_queue(struct doc *doc, struct doc *prev, void *arg)
{
	struct standalone *s = arg;

	if (s->stopped)
		return;
	if (doc)
		set_queue(s, doc);
	else if (!strcmp(prev->key, "default"))
		set_default_queue(s);
	else
		site_queue_remove(standalone_site(s), prev->key);
	standalone_poke(s, 1);
}

/* --- jobs --- */

static struct local_job *need_job(struct standalone *s, struct sv uid, const struct doc *doc)
{
	auto_xfree char *text = xstrndup(uid.p, uid.n);
	struct local_job *j = standalone_find(s, text);
	const char *slash = strchr(doc->key, '/');
	auto_xfree char *ns = xstrndup(doc->key, slash ? (size_t)(slash - doc->key) : 0);

	return j ? j : local_create(s, text, ns, slash ? slash + 1 : doc->key);
}

static bool uid_of(const struct doc *doc, struct sv *ret)
{
	return scan_find_str((struct sv){doc->bytes, doc->size}, ret, "metadata", "uid", NULL);
}

static void set_job(struct standalone *s, struct doc *doc, bool gone)
{
	struct sv uid, deleted;
	struct local_job *j;

	if (!uid_of(doc, &uid))
		return;
	j = need_job(s, uid, doc);
	local_set_doc(j, gone ? NULL : doc,
		      scan_find((struct sv){doc->bytes, doc->size}, &deleted, "metadata",
				"deletionTimestamp", NULL));
	if (s->ready)
		local_update(j);
}

/* A Job that was deleted and made again under its name may come as one change. */
static bool is_another(const struct doc *doc, const struct doc *prev)
{
	struct sv now, before;

	if (!doc || !prev || !uid_of(doc, &now) || !uid_of(prev, &before))
		return false;
	return now.n != before.n || memcmp(now.p, before.p, now.n);
}

static void on_job(struct doc *doc, struct doc *prev, void *arg)
{
	struct standalone *s = arg;

	if (s->stopped)
		return;
	if (!doc || is_another(doc, prev))
		set_job(s, prev, true);
	if (doc)
		set_job(s, doc, false);
}

/* --- twins --- */

static bool is_foreign(const struct standalone *s, const json_t *twin)
{
	const char *cluster = json_str_at(twin, "spec", "clusterUID", NULL);

	return !cluster || strcmp(cluster, s->agent->member_uid);
}

static void forget_foreign(struct standalone *s, const char *name)
{
	struct foreign_twin *f;

	HASH_FIND_STR(s->foreign, name, f);
	if (!f)
		return;
	HASH_DEL(s->foreign, f);
	free(f->name);
	free(f);
}

static void note_foreign(struct standalone *s, const char *name)
{
	struct foreign_twin *f;

	forget_foreign(s, name);
	f = xnew0(struct foreign_twin);
	f->name = xstrdup(name);
	HASH_ADD_KEYPTR(hh, s->foreign, f->name, strlen(f->name), f);
	log_warn("standalone", "placement %s is a hub's: not touched", name);
}

static void on_twin(struct doc *doc, struct doc *prev, void *arg)
{
	struct standalone *s = arg;
	auto_json *twin = doc ? json_parse_foreign(doc->bytes, doc->size, NULL) : NULL;
	const char *name = strchr((doc ? doc : prev)->key, '/') + 1;
	struct local_job *j;

	if (!doc) {
		forget_foreign(s, name);
		return;
	}
	j = standalone_find(s, json_str_at(twin, "spec", "job", "uid", NULL));
	if (is_foreign(s, twin)) {
		if (!prev)
			note_foreign(s, name);
	} else if (s->ready && !s->stopped && j) {
		local_twin_seen(j, name);
	}
}

static void judge_again(struct standalone *s)
{
	struct local_job *j, *tmp;

	HASH_ITER (hh, s->by_uid, j, tmp) {
		j->judged = -1;
		local_update(j);
	}
}

/* Jobs that name it may have come first. */
static void on_class(struct doc *doc, struct doc *prev, void *arg)
{
	struct standalone *s = arg;

	if (s->ready && !s->stopped)
		judge_again(s);
}

/* --- the start --- */

struct newest {
	struct standalone *alone;
	json_t *twins; /* {uid of the job: its newest twin} */
};

static void note_twin(struct doc *doc, void *arg)
{
	struct newest *n = arg;
	auto_json *twin = json_parse_foreign(doc->bytes, doc->size, NULL);
	const char *uid = json_str_at(twin, "spec", "job", "uid", NULL);
	const json_t *known = uid ? json_object_get(n->twins, uid) : NULL;

	if (!uid || is_foreign(n->alone, twin))
		return;
	if (json_int_at(known, -1, "spec", "generation", NULL) <
	    json_int_at(twin, 0, "spec", "generation", NULL))
		json_object_set(n->twins, uid, twin);
	if (!standalone_find(n->alone, uid))
		local_set_doc(local_create(n->alone, uid,
					   json_str_at(twin, "metadata", "namespace", NULL),
					   json_str_at(twin, "spec", "job", "name", NULL)),
			      NULL, true);
}

static void take_over(struct standalone *s)
{
	auto_json *twins = json_object();
	struct newest newest = {s, twins};
	struct local_job *j, *tmp;

	informer_each(s->twins, note_twin, &newest);
	HASH_ITER (hh, s->by_uid, j, tmp)
		if (!local_resume(j, json_object_get(twins, j->uid)) || j->ending)
			local_update(j);
}

static void begin_work(struct standalone *s)
{
	s->ready = true;
	take_over(s);
	if (s->explain_name) {
		standalone_explain(s);
		return;
	}
	log_info("standalone", "schedules %s of cluster %s",
		 s->beside ? "the jobs that name " SCHEDULER_NAME " as their scheduler"
			   : "all jobs",
		 s->agent->settings.name);
	runner_placements_synced(s->agent->runner);
	standalone_poke(s, 1);
}

#define PARTS 5 /* four informers, and whether Volcano is there */

static void on_synced(void *arg)
{
	struct standalone *s = arg;

	if (++s->synced == PARTS)
		begin_work(s);
}

static void on_health(bool ok, const struct error *err, void *arg)
{
	if (!ok)
		log_warn("standalone", "%s; are the kinds of api/crds installed?", err->text);
}

static struct informer *watch(struct standalone *s, const char *path,
			      void (*changed)(struct doc *doc, struct doc *prev, void *arg))
{
	struct informer_config config = {
		.path = path,
		.may_go_back = true,
		.changed = changed,
		.synced = on_synced,
		.health = on_health,
		.arg = s,
	};

	return informer_create(s->agent->member, s->agent->env, &config);
}

/* --- Volcano --- */

/* Its PodGroup is a kind that this project does not install. */
static bool serves_pod_groups(const struct kube_answer *a)
{
	auto_json *list = a->ok ? json_parse_foreign(a->body, a->size, NULL) : NULL;
	json_t *kind;
	size_t i;

	json_array_foreach (json_object_get(list, "resources"), i, kind) {
		const char *name = json_str_at(kind, "name", NULL);

		if (name && !strcmp(name, "podgroups"))
			return true;
	}
	return false;
}

static void set_beside(struct standalone *s, bool beside)
{
	bool changed = s->beside != beside;

	s->beside = beside;
	if (!s->asked_volcano) {
		s->asked_volcano = true;
		on_synced(s);
	} else if (changed && s->ready) {
		log_info("standalone", "Volcano %s: %s", beside ? "is here" : "went",
			 beside ? "only jobs that name " SCHEDULER_NAME " are taken"
				: "all jobs are taken");
		judge_again(s);
	}
}

static void on_discovery(const struct kube_answer *a, void *arg)
{
	struct standalone *s = arg;

	s->discovery = NULL;
	if (!a->ok && a->status != 404) {
		log_warn("standalone", "ask whether Volcano is here: %s", a->err.text);
		timer_start(s->ask_volcano, 1000);
		return;
	}
	timer_start(s->ask_volcano, VOLCANO_ASK_MS);
	set_beside(s, s->only_ours || serves_pod_groups(a));
}

static void on_ask_volcano(void *arg)
{
	struct standalone *s = arg;

	s->discovery =
		kube_send(s->agent->member,
			  &(struct kube_request){.method = "GET",
						 .path = "/apis/scheduling.volcano.sh/v1beta1",
						 .done = on_discovery,
						 .arg = s});
}

/* --- life --- */

/* The name of the journal's parts holds it, and must not repeat: minutes since 1970. */
static int64_t term_of(const struct standalone *s)
{
	return env_wall_ns(s->agent->env) / INT64_C(60000000000);
}

void standalone_begin(struct standalone *s)
{
	struct runner *r = s->agent->runner;

	runner_set_term(r, term_of(s));
	runner_set_identity(r, s->agent->member_uid, NULL, 0);
	set_default_queue(s);
	s->jobs = watch(s, "/apis/batch.volcano.sh/v1alpha1/jobs", on_job);
	s->queues = watch(s, "/apis/scheduling.volcano.sh/v1beta1/queues", on_queue);
	s->classes = watch(s, "/apis/scheduling.k8s.io/v1/priorityclasses", on_class);
	s->twins = watch(s, "/apis/federator.dev/v1alpha1/placements", on_twin);
	on_ask_volcano(s);
}

struct owner *standalone_owner(struct standalone *s)
{
	return &s->owner;
}

static void set_explain(struct standalone *s, const char *explain)
{
	const char *slash = strchr(explain, '/');

	s->explain_ns = slash ? xstrndup(explain, (size_t)(slash - explain)) : xstrdup("default");
	s->explain_name = xstrdup(slash ? slash + 1 : explain);
}

struct standalone *standalone_create(struct agent *a, bool beside_volcano, const char *explain)
{
	struct standalone *s = xnew0(struct standalone);

	s->owner.ops = &standalone_ops;
	s->agent = a;
	s->only_ours = beside_volcano;
	list_init(&s->waiting);
	s->turn = timer_create_in(a->env, on_turn, s);
	s->ask_volcano = timer_create_in(a->env, on_ask_volcano, s);
	words_init(s);
	if (explain)
		set_explain(s, explain);
	return s;
}

void standalone_stop(struct standalone *s)
{
	struct local_job *j, *tmp;

	if (!s)
		return;
	s->stopped = true;
	timer_stop(s->turn);
	timer_stop(s->ask_volcano);
	kube_cancel(take_ptr(s->discovery));
	HASH_ITER (hh, s->by_uid, j, tmp) {
		local_drop_gang(j);
		local_cancel_write(j);
	}
}

void standalone_destroy(struct standalone *s)
{
	struct local_job *j, *tmp;
	struct foreign_twin *f, *next;

	if (!s)
		return;
	informer_destroy(s->jobs);
	informer_destroy(s->queues);
	informer_destroy(s->classes);
	informer_destroy(s->twins);
	words_finish(s);
	HASH_ITER (hh, s->by_uid, j, tmp)
		local_destroy(j);
	HASH_ITER (hh, s->foreign, f, next)
		forget_foreign(s, f->name);
	timer_destroy(s->turn);
	timer_destroy(s->ask_volcano);
	free(s->explain_ns);
	free(s->explain_name);
	free(s);
}
