/* What pods need beside themselves: copies of ConfigMaps and Secrets, and plugin svc's objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "member-agent/runner_internal.h"
#include "member-agent/template.h"

struct supply {
	char *kind, *name; /* "Secret" and the original's name; NULL: of plugin svc */
	json_t *(*make)(const struct twin *t);
	bool optional, absent;
	bool there; /* found in the member, made by a predecessor */
	json_t *original;
};

struct supplies {
	struct run *run;
	struct supply *items;
	size_t n, looked, read, made;
	bool looks; /* first at what is there */
	char *ns;
	supplies_read_done done;
	struct create *create;
	struct timer *timer;
	bool asked;
	int64_t held_since_ms; /* boot time: a name is an earlier attempt's; 0: none is */
};

static const struct {
	const char *kind, *plural;
} plurals[] = {
	{"ConfigMap", "configmaps"},
	{"Secret", "secrets"},
	{"Service", "services"},
};

static const char *plural_of(const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(plurals); i++)
		if (!strcmp(plurals[i].kind, kind))
			return plurals[i].plural;
	return "";
}

/* --- reading --- */

static void read_next(struct supplies *s);

static void tell(struct supplies *s, const struct error *err)
{
	supplies_read_done done = s->done;

	s->done = NULL;
	if (done)
		done(err, s->run);
	else
		run_poke(s->run);
}

static void on_original(const json_t *object, const struct error *err, void *arg)
{
	struct supplies *s = arg;
	struct supply *item = &s->items[s->read];
	bool missing = !object && (err->code == ERR_NOT_FOUND || err->code == ERR_FORBIDDEN);

	s->asked = false;
	if (!object && !missing) {
		timer_start(s->timer, 1000);
		return;
	}
	if (missing && !item->optional) {
		tell(s, err);
		return;
	}
	item->absent = missing;
	item->original = object ? json_deep_copy(object) : NULL;
	s->read++;
	read_next(s);
}

static void read_next(struct supplies *s)
{
	struct owner *owner = s->run->runner->owner;
	auto_xfree char *path = NULL;

	while (s->read < s->n && (!s->items[s->read].name || s->items[s->read].there))
		s->read++;
	if (s->read == s->n) {
		tell(s, NULL);
		return;
	}
	path = xasprintf("/api/v1/namespaces/%s/%s/%s", s->ns, plural_of(s->items[s->read].kind),
			 s->items[s->read].name);
	s->asked = true;
	owner->ops->read_object(owner, s->run->placement, path, on_original, s);
}

void supplies_read(struct supplies *s, supplies_read_done done)
{
	s->done = done;
	/* Not from inside this call. */
	timer_start(s->timer, 0);
}

/* --- making --- */

static json_t *copy_make(const struct supply *item, const struct twin *t)
{
	static const char *const kept[] = {"data", "binaryData", "immutable", "type"};
	auto_xfree char *name = copy_name_make(item->name, t->job_uid);
	auto_xfree char *part = xasprintf("%lld", (long long)t->part);
	auto_xfree char *generation = xasprintf("%lld", (long long)t->generation);
	json_t *copy = json_pack("{ssss}", "apiVersion", "v1", "kind", item->kind), *meta, *labels;

	meta = json_object_need(copy, "metadata");
	json_set_str(meta, "name", name);
	json_set_str(meta, "namespace", t->job_ns);
	labels = json_object_need(meta, "labels");
	json_set_str(labels, LABEL_UID, t->job_uid);
	json_set_str(labels, LABEL_PART, part);
	json_set_str(labels, LABEL_GENERATION, generation);
	json_object_set_new(meta, "ownerReferences",
			    json_pack("[o]", twin_owner_reference(t, false)));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		json_t *value = json_object_get(item->original, kept[i]);

		if (value)
			json_object_set(copy, kept[i], value);
	}
	return copy;
}

static void make_next(struct supplies *s);

static void look_next(struct supplies *s);

static void on_timer(void *arg)
{
	struct supplies *s = arg;

	if (s->looks)
		look_next(s);
	else if (s->read < s->n || s->done)
		read_next(s);
	else
		make_next(s);
}

static void on_old_deleted(struct run *run, const struct kube_answer *a, void *arg)
{
	if (run->supplies)
		timer_start(run->supplies->timer, 300);
}

/* Of an earlier attempt of ours: it goes, and the collector need not be waited for. */
static void delete_old(struct supplies *s, const json_t *object)
{
	auto_json *body = json_pack("{s{ss}}", "preconditions", "uid",
				    json_str_at(object, "metadata", "uid", NULL));
	auto_xfree char *path = xasprintf("/api/v1/namespaces/%s/%s/%s", s->ns,
					  plural_of(json_str_at(object, "kind", NULL)),
					  json_str_at(object, "metadata", "name", NULL));

	run_send(s->run, "DELETE", path, body, NULL, on_old_deleted, NULL);
}

static bool is_owned(const json_t *object, const struct twin *t)
{
	const json_t *owners = json_at(object, "metadata", "ownerReferences", NULL);
	json_t *o;
	size_t i;

	json_array_foreach (owners, i, o) {
		const char *uid = json_str_at(o, "uid", NULL);

		if (uid && !strcmp(uid, t->meta.uid))
			return true;
	}
	return false;
}

/* What others hold on to does not go for us. */
static bool may_be_waited_for(struct supplies *s)
{
	int64_t now = env_mono_ms(s->run->runner->env);

	if (!s->held_since_ms)
		s->held_since_ms = now;
	return now - s->held_since_ms < NAME_WAIT_MS;
}

static void name_taken(struct supplies *s, const json_t *object, const char *why)
{
	const char *kind = json_str_at(object, "kind", NULL);
	char text[300];

	snprintf(text, sizeof(text), "%s %s in namespace %s %s", kind ? kind : "object",
		 json_str_at(object, "metadata", "name", NULL), s->ns, why);
	run_give_up(s->run, "NameTaken", text);
}

static void judge_found(struct supplies *s, json_t *object)
{
	if (is_owned(object, s->run->twin)) {
		s->held_since_ms = 0;
		s->made++;
		make_next(s);
	} else if (!json_str_at(object, "metadata", "labels", LABEL_UID, NULL)) {
		name_taken(s, object, "is not the federator's");
	} else if (may_be_waited_for(s)) {
		delete_old(s, object);
	} else {
		name_taken(s, object, "is of an earlier attempt, and does not go");
	}
}

static void on_made(enum create_result result, const char *object, size_t size,
		    const struct error *err, void *arg)
{
	auto_json *found = result == CREATE_FOUND ? json_parse_foreign(object, size, NULL) : NULL;
	struct supplies *s = arg;

	s->create = NULL;
	if (!s->run->twin)
		return;
	if (result == CREATE_REFUSED) {
		run_refused(s->run, err);
		return;
	}
	if (result == CREATE_FOUND && found) {
		judge_found(s, found);
		return;
	}
	s->held_since_ms = 0;
	s->made++;
	make_next(s);
}

static void make_next(struct supplies *s)
{
	const struct twin *t = s->run->twin;
	auto_json *object = NULL;
	auto_xfree char *path = NULL;
	struct create_request request = {.done = on_made, .arg = s};

	if (!t)
		return;
	while (s->made < s->n && (s->items[s->made].absent || s->items[s->made].there))
		s->made++;
	if (s->made == s->n) {
		run_poke(s->run);
		return;
	}
	object = s->items[s->made].make ? s->items[s->made].make(t)
					: copy_make(&s->items[s->made], t);
	path = xasprintf("/api/v1/namespaces/%s/%s", s->ns,
			 plural_of(json_str_at(object, "kind", NULL)));
	request.path = path;
	request.name = json_str_at(object, "metadata", "name", NULL);
	request.take_body = json_print(object);
	request.timeout_ms = runner_write_timeout_ms(s->run->runner);
	s->create = create_start(s->run->runner->member, s->run->runner->env, &request);
}

/* --- what a predecessor made --- */

static void on_read_again(const struct error *err, struct run *run)
{
	struct supplies *s = run->supplies;
	bool ending;

	if (!err) {
		run_poke(run);
	} else if (run_pods_live(run, &ending)) {
		run_hold(run, "ReferenceMissing", err->text);
		s->done = on_read_again;
		timer_start(s->timer, DENIED_WAIT_MS);
	} else {
		run_give_up(run, "ReferenceMissing", err->text);
	}
}

static void on_looked(struct run *run, const struct kube_answer *a, void *arg)
{
	auto_json *object = a->ok ? json_parse_foreign(a->body, a->size, NULL) : NULL;
	struct supplies *s = run->supplies;

	if (!s || s != arg || !run->twin)
		return;
	s->asked = false;
	if (!a->ok && a->status != 404) {
		timer_start(s->timer, 1000);
		return;
	}
	s->items[s->looked].there = is_owned(object, run->twin);
	s->looked++;
	look_next(s);
}

static char *supply_path(const struct supplies *s, const struct supply *item)
{
	auto_json *made = item->make ? item->make(s->run->twin) : NULL;
	auto_xfree char *copy =
		item->make ? NULL : copy_name_make(item->name, s->run->twin->job_uid);

	return xasprintf("/api/v1/namespaces/%s/%s/%s", s->ns,
			 plural_of(made ? json_str_at(made, "kind", NULL) : item->kind),
			 made ? json_str_at(made, "metadata", "name", NULL) : copy);
}

/* The originals may have changed or gone since; what a pod was made with is good for the next. */
static void look_next(struct supplies *s)
{
	auto_xfree char *path = NULL;

	if (s->looked == s->n) {
		s->looks = false;
		supplies_read(s, on_read_again);
		return;
	}
	path = supply_path(s, &s->items[s->looked]);
	s->asked = true;
	run_send(s->run, "GET", path, NULL, NULL, on_looked, s);
}

/* --- life --- */

static void add_item(struct supplies *s, struct supply item)
{
	s->items = xrealloc(s->items, s->n + 1, sizeof(*s->items));
	s->items[s->n++] = item;
}

struct supplies *supplies_create(struct run *run, const struct twin *t)
{
	struct supplies *s = xnew0(struct supplies);
	json_t *c;
	size_t i;

	s->run = run;
	s->ns = xstrdup(t->job_ns);
	s->timer = timer_create_in(run->runner->env, on_timer, s);
	json_array_foreach (t->copies, i, c) {
		struct supply item = {
			.kind = xstrdup(json_str_at(c, "kind", NULL)),
			.name = xstrdup(json_str_at(c, "name", NULL)),
			.optional = json_is_true(json_object_get(c, "optional")),
		};

		add_item(s, item);
	}
	if (t->plugin_svc) {
		add_item(s, (struct supply){.make = service_make});
		add_item(s, (struct supply){.make = hosts_make});
	}
	return s;
}

void supplies_destroy(struct supplies *s)
{
	struct owner *owner;

	if (!s)
		return;
	owner = s->run->runner->owner;
	owner->ops->forget_calls(owner, s);
	create_cancel(s->create);
	timer_destroy(s->timer);
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].kind);
		free(s->items[i].name);
		json_decref(s->items[i].original);
	}
	free(s->items);
	free(s->ns);
	free(s);
}

bool supplies_ready(struct run *run)
{
	struct supplies *s = run->supplies;

	if (!s) {
		s = run->supplies = supplies_create(run, run->twin);
		s->looks = true;
	}
	if (s->made == s->n)
		return true;
	if (!s->asked && !s->create && !timer_active(s->timer))
		timer_start(s->timer, 0);
	return false;
}
