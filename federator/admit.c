/*
 * What the hub asks of objects beyond their schemas: a queue that is there and open, a cluster that
 * could hold the job, a token that joins only its own cluster. Also puts the Job's finalizer on.
 */
#include <string.h>

#include "api/references.h"
#include "api/views.h"
#include "base/closest.h"
#include "base/encode.h"
#include "base/json.h"
#include "base/pki.h"
#include "federator/hub.h"
#include "federator/placer.h"
#include "lifecycle/record.h"

/* --- jobs --- */

/* The record lives until every Placement is gone: users cannot drop this finalizer. */
static void keep_finalizer(json_t *job)
{
	json_t *meta = json_object_need(job, "metadata");
	json_t *list = json_object_get(meta, "finalizers"), *f;
	size_t i;

	if (!list) {
		list = json_array();
		json_object_set_new(meta, "finalizers", list);
	}
	json_array_foreach (list, i, f)
		if (!strcmp(json_string_value(f), JOB_FINALIZER))
			return;
	json_array_append_new(list, json_string(JOB_FINALIZER));
}

static bool offer_name(struct doc *doc, void *arg)
{
	closest_offer(arg, strrchr(doc->key, '/') + 1);
	return true;
}

/* Which object without namespace was probably meant; its name lives until the cache changes. */
static const char *closest_name(const struct hub *hub, const struct kind *kind, const char *name)
{
	auto_strbuf prefix = {0};
	struct closest near;

	kind_key(kind, NULL, NULL, &prefix);
	closest_init(&near, name, strlen(name));
	cache_each(hub->cache, prefix.bytes, NULL, offer_name, &near);
	return near.best;
}

static void no_queue(struct server_write *w, const struct hub *hub, const char *name)
{
	auto_xfree char *quoted = xasprintf("\"%s\"", name);
	const char *near = closest_name(hub, hub_kind("queues"), name);

	causes_add(&w->causes, CAUSE_NOT_FOUND, "spec.queue", quoted,
		   "no queue has this name; %s%s%sfedctl queue create %s makes it",
		   near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "", name);
}

static void check_queue(struct server_write *w, const struct hub *hub)
{
	const char *name = json_str_at(w->object, "spec", "queue", NULL);
	const struct doc *doc = hub_get(hub, hub_kind("queues"), NULL, name);

	if (!doc)
		no_queue(w, hub, name);
	else if (!queue_is_open(doc))
		causes_add(&w->causes, CAUSE_FORBIDDEN, "spec.queue", NULL,
			   "queue \"%s\" is closed", name);
}

/* A replica that lags does not see what came last: that something is not there shows only in a
 * fresh view. */
static int check_fresh(const struct server_write *w, struct error *err)
{
	return w->fresh ? 0 : error_set(err, ERR_UNAVAILABLE, "this replica has an old view");
}

/* What a job names need not be there yet, but it may also be misspelled. */
static int warn_unless_there(struct server_write *w, const struct hub *hub, const char *plural,
			     const char *name, const char *what, const char *then,
			     struct error *err)
{
	const struct kind *kind = hub_kind(plural);
	const char *near;

	if (!name || hub_get(hub, kind, NULL, name))
		return 0;
	if (check_fresh(w, err))
		return -1;
	near = closest_name(hub, kind, name);
	server_write_warn(w, "there is no %s \"%s\"%s%s%s; %s", what, name,
			  near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "",
			  then);
	return 0;
}

/* The first is enough to look at the others too. */
static const char *missing_dataset(const struct hub *hub, const json_t *spec)
{
	json_t *dataset;
	size_t i;

	json_array_foreach (json_at(spec, "placement", "datasets", NULL), i, dataset) {
		const char *name = json_str_at(dataset, "name", NULL);

		if (!hub_get(hub, hub_kind("datasets"), NULL, name))
			return name;
	}
	return NULL;
}

/* The first ConfigMap or Secret that pods need and that is not there: of a whole job. */
struct reference_search {
	const struct hub *hub;
	const char *ns;
	const char *name; /* borrowed; NULL: none is missing */
	enum reference_kind kind;
};

static void look_up(enum reference_kind kind, json_t *holder, const char *key, bool optional,
		    void *arg)
{
	struct reference_search *s = arg;
	const char *name = json_str_at(holder, key, NULL);
	const char *plural = kind == REFERENCE_SECRET ? "secrets" : "configmaps";

	if (s->name || optional || !name || hub_get(s->hub, hub_kind(plural), s->ns, name))
		return;
	s->name = name;
	s->kind = kind;
}

static int warn_of_references(struct server_write *w, const struct hub *hub, struct error *err)
{
	struct reference_search s = {.hub = hub, .ns = w->ns};
	json_t *task;
	size_t i;

	json_array_foreach (json_at(w->object, "spec", "tasks", NULL), i, task)
		references_each(json_object_get(json_object_get(task, "template"), "spec"), look_up,
				&s);
	if (!s.name)
		return 0;
	if (check_fresh(w, err))
		return -1;
	server_write_warn(
		w,
		"there is no %s \"%s\" in namespace \"%s\" of the federator; the job waits for it",
		s.kind == REFERENCE_SECRET ? "Secret" : "ConfigMap", s.name, s.ns);
	return 0;
}

static int check_names(struct server_write *w, const struct hub *hub, struct error *err)
{
	const json_t *spec = json_object_get(w->object, "spec");

	if (warn_unless_there(w, hub, "priorityclasses",
			      json_str_at(spec, "priorityClassName", NULL), "priority class",
			      "the job has the default priority", err))
		return -1;
	if (warn_unless_there(w, hub, "datasets", missing_dataset(hub, spec), "data set",
			      "the job waits for it", err))
		return -1;
	return warn_of_references(w, hub, err);
}

static int check_room(struct server_write *w, const struct hub *hub, struct error *err)
{
	auto_xfree char *warning = NULL;

	if (w->causes.n)
		return 0;
	if (placer_admit(hub->placer, w->object, w->op == SERVER_CREATE, &w->causes, &warning, err))
		return -1;
	if (warning)
		server_write_warn(w, "%s", warning);
	return 0;
}

static bool spec_changes(const struct server_write *w)
{
	return !w->old ||
	       !json_equal(json_at(w->old, "spec", NULL), json_at(w->object, "spec", NULL));
}

static int admit_job(struct server_write *w, const struct hub *hub, struct error *err)
{
	if (w->op == SERVER_DELETE || !w->request)
		return 0;
	keep_finalizer(w->object);
	if (!spec_changes(w))
		return 0;
	check_queue(w, hub);
	return check_names(w, hub, err) ? -1 : check_room(w, hub, err);
}

/* --- queues --- */

struct queue_user {
	const char *queue;
	const char *job_key; /* of a live job in it; NULL: none found */
};

static bool uses_queue(struct doc *doc, void *arg)
{
	struct queue_user *search = arg;
	auto_json *job = doc_tree(doc);
	const char *queue = json_str_at(job, "spec", "queue", NULL);

	if (!queue || strcmp(queue, search->queue) || record_phase(job) == DISPATCH_ENDED)
		return true;
	search->job_key = doc->key;
	return false;
}

/* A queue with live work stays: its accounting would be lost. */
static int delete_queue(struct server_write *w, const struct hub *hub, struct error *err)
{
	struct queue_user search = {.queue = w->name};
	auto_strbuf prefix = {0};

	if (!strcmp(w->name, "default"))
		return error_set(err, ERR_FORBIDDEN, "the queue \"default\" cannot be deleted");
	kind_key(hub_kind("jobs"), NULL, NULL, &prefix);
	cache_each(hub->cache, prefix.bytes, NULL, uses_queue, &search);
	if (!search.job_key)
		return check_fresh(w, err);
	return error_set(err, ERR_FORBIDDEN,
			 "queue \"%s\" has live work (job %s): %swait for its jobs, or cancel them",
			 w->name, search.job_key + prefix.size,
			 queue_is_open(w->stored) ? "close it, then " : "");
}

/* --- clusters --- */

static bool take_first(struct doc *doc, void *arg)
{
	*(struct doc **)arg = doc;
	return false;
}

static bool is_cordoned(const struct doc *doc)
{
	auto_free(cluster_destroy) struct cluster *view = NULL;
	struct error err;

	return !cluster_view(doc, &view, &err) && view->cordoned;
}

/* One of the jobs that are there, and the step that is still to do. */
static int fail_occupied(const struct server_write *w, struct doc *placement, struct error *err)
{
	auto_json *tree = doc_tree(placement);
	const json_t *job = json_at(tree, "spec", "job", NULL);
	auto_xfree char *cordon = xasprintf("fedctl cluster cordon %s, then ", w->name);

	return error_set(
		err, ERR_FORBIDDEN,
		"cluster \"%s\" still has jobs (job %s/%s): %swait for them, or cancel them",
		w->name, json_str_at(job, "namespace", NULL), json_str_at(job, "name", NULL),
		is_cordoned(w->stored) ? "" : cordon);
}

/* With its Cluster an agent loses its voice: jobs that it has would wait for its last word for
 * ever. */
static int delete_cluster(struct server_write *w, const struct hub *hub, struct error *err)
{
	auto_xfree char *ns = record_cluster_namespace(w->name);
	struct doc *placement = NULL;
	auto_strbuf prefix = {0};

	kind_key(hub_kind("placements"), ns, NULL, &prefix);
	cache_each(hub->cache, prefix.bytes, NULL, take_first, &placement);
	return placement ? fail_occupied(w, placement, err) : check_fresh(w, err);
}

/* --- joining --- */

static int admit_cluster(struct server_write *w, struct error *err)
{
	const char *joining = hub_joining_cluster(w->user);
	const char *name = json_str_at(w->object, "metadata", "name", NULL);

	if (!joining || w->op != SERVER_CREATE)
		return 0;
	if (strcmp(joining, name))
		return error_set(err, ERR_FORBIDDEN, "this token joins cluster \"%s\", not \"%s\"",
				 joining, name);
	if (json_is_true(json_at(w->object, "spec", "accepted", NULL)))
		return error_set(err, ERR_FORBIDDEN,
				 "spec.accepted is for an administrator to set: fedctl cluster "
				 "accept %s",
				 name);
	return 0;
}

/* A joining member asks for one certificate, in the name of its own cluster. */
static int admit_csr(struct server_write *w, struct error *err)
{
	const char *joining = hub_joining_cluster(w->user);
	const char *request = json_str_at(w->object, "spec", "request", NULL);
	struct pki_identity id = {0};
	auto_strbuf pem = {0};
	int rc = 0;

	if (w->op != SERVER_CREATE || !request)
		return 0;
	if (base64_decode(&pem, request, strlen(request)) || pki_read_csr(pem.bytes, &id, err)) {
		causes_add(&w->causes, CAUSE_INVALID, "spec.request", NULL,
			   "must be a certificate request in PEM, in base64");
		return 0;
	}
	json_set_str(json_object_need(w->object, "spec"), "username", w->user->name);
	if (joining && (strcmp(joining, json_str_at(w->object, "metadata", "name", NULL)) ||
			strncmp(id.user, "system:cluster:", 15) || strcmp(id.user + 15, joining) ||
			id.groups[0]))
		rc = error_set(err, ERR_FORBIDDEN,
			       "this token may ask for system:cluster:%s only, in a request named "
			       "%s",
			       joining, joining);
	pki_identity_finish(&id);
	return rc;
}

int hub_admit(struct server_write *w, struct error *err, void *arg)
{
	const struct hub *hub = arg;
	const char *plural = w->kind->plural;

	if (*w->subresource)
		return 0;
	if (!strcmp(plural, "jobs"))
		return admit_job(w, hub, err);
	if (!strcmp(plural, "queues") && w->op == SERVER_DELETE)
		return delete_queue(w, hub, err);
	if (!strcmp(plural, "clusters") && w->op == SERVER_DELETE)
		return delete_cluster(w, hub, err);
	if (!strcmp(plural, "clusters"))
		return admit_cluster(w, err);
	if (!strcmp(plural, "certificatesigningrequests"))
		return admit_csr(w, err);
	return 0;
}
