#include "member-agent/twin.h"

#include <stdlib.h>
#include <string.h>

#include "api/references.h"
#include "base/encode.h"
#include "base/json.h"
#include "kube/object.h"
#include "member-agent/names.h"
#include "member-agent/template.h"

/* --- work --- */

static const struct placement_task *task_of(const struct placement *p, const char *name)
{
	for (size_t i = 0; i < p->n_tasks; i++)
		if (!strcmp(p->tasks[i].name, name))
			return &p->tasks[i];
	return NULL;
}

static int add_task(json_t *tasks, const struct job *job, const struct job_task *t,
		    const struct placement *p, const char *priority_class, struct error *err)
{
	const struct placement_task *size = task_of(p, t->name);
	const struct job_alternative *alt = NULL;
	json_t *out, *template_;

	if (!size)
		return error_set(err, ERR_INVALID, "the placement does not size task \"%s\"",
				 t->name);
	if (size->alternative >= 0 && (size_t)size->alternative >= job->n_alternatives)
		return error_set(err, ERR_INVALID, "task \"%s\" has no alternative %d", t->name,
				 size->alternative);
	if (size->alternative >= 0)
		alt = &job->alternatives[size->alternative];
	template_ = json_deep_copy(t->template_);
	template_prepare(template_, alt, priority_class);
	template_rewrite_references(template_, job->meta.uid);
	out = json_object();
	json_set_str(out, "name", t->name);
	json_set_int(out, "replicas", size->replicas);
	json_set_int(out, "minAvailable",
		     t->min_available < size->replicas ? t->min_available : size->replicas);
	json_set_int(out, "maxRetry", t->max_retry);
	json_object_set_new(out, "template", template_);
	json_array_append_new(tasks, out);
	return 0;
}

static int64_t pods_of(const struct placement *p)
{
	int64_t n = 0;

	for (size_t i = 0; i < p->n_tasks; i++)
		n += p->tasks[i].replicas;
	return n;
}

/* What the templates refer to by name, each once: rewritten names cannot be traced back. */
static void note_reference(enum reference_kind kind, json_t *holder, const char *key, bool optional,
			   void *arg)
{
	const char *name = json_string_value(json_object_get(holder, key));
	const char *kind_name = kind == REFERENCE_SECRET ? "Secret" : "ConfigMap";
	json_t *copies = arg, *c;
	size_t i;

	json_array_foreach (copies, i, c) {
		if (strcmp(json_str_at(c, "name", NULL), name) ||
		    strcmp(json_str_at(c, "kind", NULL), kind_name))
			continue;
		if (!optional)
			json_object_del(c, "optional");
		return;
	}
	c = json_pack("{ssss}", "kind", kind_name, "name", name);
	if (optional)
		json_object_set_new(c, "optional", json_true());
	json_array_append_new(copies, c);
}

static bool share_a_copy(const json_t *a, const json_t *b, const char *uid)
{
	const char *name_a = json_str_at(a, "name", NULL), *name_b = json_str_at(b, "name", NULL);
	auto_xfree char *copy_a = copy_name_make(name_a, uid);
	auto_xfree char *copy_b = copy_name_make(name_b, uid);

	return strcmp(name_a, name_b) && !strcmp(copy_a, copy_b) &&
	       !strcmp(json_str_at(a, "kind", NULL), json_str_at(b, "kind", NULL));
}

/* Names of copies are cut: two originals with one copy would give the pods the wrong one. */
static int check_copies(const json_t *copies, const char *uid, struct error *err)
{
	for (size_t i = 0; i < json_array_size(copies); i++)
		for (size_t k = 0; k < i; k++) {
			const json_t *a = json_array_get(copies, k), *b = json_array_get(copies, i);

			if (!share_a_copy(a, b, uid))
				continue;
			return error_set(err, ERR_INVALID,
					 "%ss \"%s\" and \"%s\": their copies would have one "
					 "name, since that keeps 40 characters of theirs",
					 json_str_at(a, "kind", NULL), json_str_at(a, "name", NULL),
					 json_str_at(b, "name", NULL));
		}
	return 0;
}

/* A twin holds the templates deeper than the Job does. */
static int check_depth(const json_t *work, struct error *err)
{
	auto_json *twin = json_pack("{s{sO}}", "spec", "work", work);
	auto_xfree char *text = json_print(twin);

	if (object_is_shallow((struct sv){text, strlen(text)}))
		return 0;
	return error_set(err, ERR_INVALID, "the template of a task is nested too deep");
}

json_t *twin_work(const struct job *job, const struct placement *p,
		  bool (*class_known)(const char *priority_class, void *arg), void *arg,
		  struct error *err)
{
	const char *priority_class = job->priority_class;
	auto_json *work = json_object();
	json_t *tasks = json_array(), *copies = json_array();
	int64_t pods = pods_of(p);

	json_object_set_new(work, "tasks", tasks);
	json_object_set_new(work, "copies", copies);
	for (size_t i = 0; i < job->n_tasks; i++)
		references_each(json_object_get(job->tasks[i].template_, "spec"), note_reference,
				copies);
	if (check_copies(copies, job->meta.uid, err))
		return NULL;
	if (priority_class && (!*priority_class || !class_known(priority_class, arg)))
		priority_class = NULL;
	for (size_t i = 0; i < job->n_tasks; i++)
		if (add_task(tasks, job, &job->tasks[i], p, priority_class, err))
			return NULL;
	json_set_str(work, "queue", job->queue);
	json_set_str(work, "priorityClassName", priority_class);
	json_set_int(work, "minAvailable", job->min_available < pods ? job->min_available : pods);
	if (job->min_success >= 0)
		json_set_int(work, "minSuccess", job->min_success);
	json_set_int(work, "maxRetry", job->max_retry);
	json_object_set(work, "plugins",
			json_object_get(json_object_get(job->tree, "spec"), "plugins"));
	return check_depth(work, err) ? NULL : json_incref(work);
}

/* --- making --- */

static void set_identity(json_t *meta, const struct placement *p)
{
	json_t *labels = json_object_need(meta, "labels");
	auto_xfree char *part = xasprintf("%lld", (long long)p->part);
	auto_xfree char *generation = xasprintf("%lld", (long long)p->generation);

	json_set_str(labels, LABEL_UID, p->job_uid);
	json_set_str(labels, LABEL_PART, part);
	json_set_str(labels, LABEL_GENERATION, generation);
}

json_t *twin_make(const struct placement *p, const char *hub, int64_t claim_version,
		  const json_t *work)
{
	json_t *t = json_object(), *meta, *spec;
	auto_xfree char *claim = xasprintf("%lld", (long long)claim_version);

	json_set_str(t, "apiVersion", "federator.dev/v1alpha1");
	json_set_str(t, "kind", "Placement");
	meta = json_object_need(t, "metadata");
	json_set_str(meta, "name", p->meta.name);
	json_set_str(meta, "namespace", p->job_ns);
	set_identity(meta, p);
	json_set_str(json_object_need(meta, "annotations"), ANNOTATION_CLAIM, claim);
	if (hub)
		json_set_str(json_object_need(meta, "annotations"), ANNOTATION_HUB, hub);
	json_object_set_new(meta, "finalizers", json_pack("[s]", FINALIZER_TWIN));
	spec = json_deep_copy(json_object_get(p->tree, "spec"));
	json_object_set_new(spec, "work", json_deep_copy(work));
	json_object_set_new(t, "spec", spec);
	return t;
}

json_t *twin_owner_reference(const struct twin *t, bool controller)
{
	return json_pack("{ssssssss*so*}", "apiVersion", "federator.dev/v1alpha1", "kind",
			 "Placement", "name", t->meta.name, "uid", t->meta.uid, "controller",
			 controller ? json_true() : NULL);
}

/* --- memory --- */

static void set_time(json_t *object, const char *key, int64_t wall_ns)
{
	char text[TIME_SIZE];

	if (!wall_ns) {
		json_object_set_new(object, key, json_null());
		return;
	}
	time_format_micro(text, wall_ns);
	json_set_str(object, key, text);
}

static int64_t get_time(const json_t *object, const char *key)
{
	const char *text = json_str_at(object, key, NULL);
	int64_t ns;

	return text && !time_parse(text, &ns) ? ns : 0;
}

static const char *const outcome_names[] = {
	[OUTCOME_NONE] = "",
	[OUTCOME_COMPLETED] = "Completed",
	[OUTCOME_FAILED] = "Failed",
};

json_t *twin_memory_patch(const struct attempt_memory *m, int64_t version)
{
	auto_xfree char *version_text = xasprintf("%lld", (long long)version);
	json_t *patch = json_object(), *status, *memory, *outcome;

	json_set_str(json_object_need(patch, "metadata"), "resourceVersion", version_text);
	status = json_object_need(patch, "status");
	json_set_int(status, "retries", m->retries);
	if (m->outcome.phase != OUTCOME_NONE) {
		outcome = json_object_need(status, "outcome");
		json_set_str(outcome, "phase", outcome_names[m->outcome.phase]);
		json_set_str(outcome, "reason", m->outcome.reason);
		json_set_str(outcome, "message", m->outcome.message);
	}
	memory = json_object_need(status, "memory");
	set_time(memory, "restartAt", m->restart_at_ns);
	json_set_int(memory, "losses", m->losses);
	set_time(memory, "firstLossAt", m->first_loss_ns);
	set_time(memory, "lastLossAt", m->last_loss_ns);
	if (m->release) {
		json_set_str(memory, "releaseReason", m->release_reason);
		json_set_str(memory, "releaseMessage", m->release_message);
	}
	return patch;
}

static void copy_text(char *to, size_t n, const json_t *from, const char *key)
{
	const char *text = json_str_at(from, key, NULL);

	snprintf(to, n, "%s", text ? text : "");
}

static void read_memory(const json_t *tree, struct attempt_memory *m)
{
	const json_t *status = json_at(tree, "status", NULL);
	const json_t *memory = json_at(status, "memory", NULL);
	const json_t *outcome = json_at(status, "outcome", NULL);
	const char *phase = json_str_at(outcome, "phase", NULL);

	m->retries =
		json_int_at(status, json_int_at(tree, 0, "spec", "retries", NULL), "retries", NULL);
	m->restart_at_ns = get_time(memory, "restartAt");
	m->losses = json_int_at(memory, 0, "losses", NULL);
	m->first_loss_ns = get_time(memory, "firstLossAt");
	m->last_loss_ns = get_time(memory, "lastLossAt");
	for (int p = OUTCOME_COMPLETED; phase && p <= OUTCOME_FAILED; p++)
		if (!strcmp(outcome_names[p], phase))
			m->outcome.phase = (enum outcome_phase)p;
	copy_text(m->outcome.reason, sizeof(m->outcome.reason), outcome, "reason");
	copy_text(m->outcome.message, sizeof(m->outcome.message), outcome, "message");
	copy_text(m->release_reason, sizeof(m->release_reason), memory, "releaseReason");
	copy_text(m->release_message, sizeof(m->release_message), memory, "releaseMessage");
	m->release = m->release_reason[0] != '\0';
}

/* --- reading --- */

static int read_task(const json_t *t, struct twin_task *ret, struct error *err)
{
	const char *policy = json_str_at(t, "template", "spec", "restartPolicy", NULL);

	ret->name = json_str_at(t, "name", NULL);
	ret->template_ = json_at(t, "template", NULL);
	if (!ret->name || !json_is_object(ret->template_))
		return error_set(err, ERR_INVALID,
				 "spec.work.tasks: a task has no name or template");
	ret->replicas = (int32_t)json_int_at(t, 1, "replicas", NULL);
	ret->min_available = (int32_t)json_int_at(t, ret->replicas, "minAvailable", NULL);
	ret->max_retry = (int32_t)json_int_at(t, 3, "maxRetry", NULL);
	ret->on_failure = policy && !strcmp(policy, "OnFailure");
	if (ret->replicas < 0)
		return error_set(err, ERR_INVALID, "spec.work.tasks: task \"%s\" has %d replicas",
				 ret->name, ret->replicas);
	return 0;
}

static int read_work(struct twin *t, const json_t *work, struct error *err)
{
	const json_t *tasks = json_at(work, "tasks", NULL);
	const char *queue = json_str_at(work, "queue", NULL);

	t->queue = queue ? queue : "";
	t->min_available = (int32_t)json_int_at(work, 0, "minAvailable", NULL);
	t->min_success = (int32_t)json_int_at(work, -1, "minSuccess", NULL);
	t->max_retry = (int32_t)json_int_at(work, 3, "maxRetry", NULL);
	t->plugin_env = json_at(work, "plugins", "env", NULL) != NULL;
	t->svc_args = json_at(work, "plugins", "svc", NULL);
	t->plugin_svc = t->svc_args != NULL;
	t->copies = json_at(work, "copies", NULL);
	t->n_tasks = json_array_size(tasks);
	t->tasks = arena_array(&t->arena, struct twin_task, t->n_tasks);
	for (size_t i = 0; i < t->n_tasks; i++)
		if (read_task(json_array_get(tasks, i), &t->tasks[i], err))
			return -1;
	return 0;
}

static void read_meta(struct twin *t, const struct placement *p)
{
	const char *claim = meta_annotation(&p->meta, ANNOTATION_CLAIM);
	const char *hub = meta_annotation(&p->meta, ANNOTATION_HUB);

	t->hub = hub ? arena_strdup(&t->arena, hub) : NULL;
	t->claim_version = claim ? strtoll(claim, NULL, 10) : 0;
	t->meta = p->meta;
	t->meta.name = arena_strdup(&t->arena, p->meta.name);
	t->meta.ns = arena_strdup(&t->arena, p->meta.ns);
	t->meta.uid = arena_strdup(&t->arena, p->meta.uid);
	t->meta.labels = t->meta.annotations = NULL;
	t->meta.n_labels = t->meta.n_annotations = 0;
	t->meta.finalizers = NULL;
	t->meta.owner_uid = NULL;
	t->job_ns = arena_strdup(&t->arena, p->job_ns);
	t->job_name = arena_strdup(&t->arena, p->job_name);
	t->job_uid = arena_strdup(&t->arena, p->job_uid);
	t->cluster_uid = arena_strdup(&t->arena, p->cluster_uid);
	t->incarnation = p->incarnation;
	t->part = p->part;
	t->generation = p->generation;
	t->grace_s = p->grace_s;
	t->ending = p->meta.deleted_ns != 0;
}

int twin_view(const struct doc *d, struct twin **ret, struct error *err)
{
	auto_free(twin_destroy) struct twin *t = xnew0(struct twin);
	auto_free(placement_destroy) struct placement *p = NULL;

	if (placement_view(d, &p, err))
		return -1;
	t->tree = doc_tree(d);
	read_meta(t, p);
	if (read_work(t, json_at(t->tree, "spec", "work", NULL), err))
		return -1;
	read_memory(t->tree, &t->memory);
	*ret = take_ptr(t);
	return 0;
}

void twin_destroy(struct twin *t)
{
	if (!t)
		return;
	arena_finish(&t->arena);
	json_decref(t->tree);
	free(t);
}
