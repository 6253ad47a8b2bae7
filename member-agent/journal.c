/*
 * What ended here, for a hub that lost its memory: ConfigMaps journal-<term>-<n> in the agent's
 * namespace, lines "uid part g outcome time". Written once, at 500 lines or 5 s after the first; a
 * run is forgotten only when its line is written. Old ones are removed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "base/scan.h"
#include "member-agent/runner_internal.h"

#define JOURNAL_LINES    500
#define JOURNAL_WAIT_MS  5000
#define JOURNAL_SWEEP_MS 3600000
#define JOURNAL_LABEL    "federator.dev/journal"

struct journal_line {
	char *run; /* its name; the run may be gone by then */
	bool dropped;
};

struct journal {
	struct runner *runner;
	struct strbuf text; /* not written yet */
	struct strbuf sent; /* of it, what is being written */
	struct journal_line *lines;
	size_t n, cap;
	struct timer *timer, *sweep;
	struct create *create; /* of the first `writing` lines */
	size_t writing;
	int64_t number;
	struct kube_call *list, *removal;
	char **old;
	size_t n_old, cap_old;
};

static void journal_write(struct journal *j);

/* --- writing --- */

static void lines_written(struct journal *j)
{
	for (size_t i = 0; i < j->writing; i++) {
		struct run *run = runner_find(j->runner, j->lines[i].run);

		if (run && !j->lines[i].dropped) {
			run->journaled = true;
			run_poke(run);
		}
		free(j->lines[i].run);
	}
	memmove(j->lines, j->lines + j->writing, (j->n - j->writing) * sizeof(*j->lines));
	j->n -= j->writing;
	j->writing = 0;
}

static void on_written(enum create_result result, const char *object, size_t size,
		       const struct error *err, void *arg)
{
	auto_json *found = result == CREATE_FOUND ? json_parse_foreign(object, size, NULL) : NULL;
	struct journal *j = arg;
	const char *text = json_str_at(found, "data", "lines", NULL);

	j->create = NULL;
	if (result == CREATE_REFUSED) {
		log_error("runner", "the journal cannot be written: %s", err->text);
		timer_start(j->timer, JOURNAL_WAIT_MS);
		return;
	}
	/* Another's, of the same term: it began to count anew. */
	if (result == CREATE_FOUND && (!text || strcmp(text, strbuf_str(&j->sent)))) {
		timer_start(j->timer, 1);
		return;
	}
	strbuf_consume(&j->text, j->sent.size);
	lines_written(j);
	if (j->n)
		timer_start(j->timer, JOURNAL_WAIT_MS);
}

static char *journal_body(const struct journal *j, const char *name)
{
	char now[TIME_SIZE];
	auto_json *body = NULL;

	time_format(now, env_wall_ns(j->runner->env));
	body = json_pack("{sssss{sssss{ss}}s{ssss}}", "apiVersion", "v1", "kind", "ConfigMap",
			 "metadata", "name", name, "namespace", j->runner->own_namespace, "labels",
			 JOURNAL_LABEL, "true", "data", "written", now, "lines",
			 strbuf_str(&j->sent));
	return json_print(body);
}

static void journal_write(struct journal *j)
{
	struct runner *r = j->runner;
	auto_xfree char *path = xasprintf("/api/v1/namespaces/%s/configmaps", r->own_namespace);
	auto_xfree char *name = xasprintf("journal-%" PRId64 "-%" PRId64, r->term, ++j->number);
	struct create_request request = {.path = path, .name = name, .done = on_written, .arg = j};

	if (j->create || !j->n)
		return;
	strbuf_clear(&j->sent);
	strbuf_adds(&j->sent, strbuf_str(&j->text));
	j->writing = j->n;
	request.take_body = journal_body(j, name);
	j->create = create_start(r->member, r->env, &request);
}

static void on_timer(void *arg)
{
	journal_write(arg);
}

void journal_add(struct journal *j, struct run *run, const char *outcome)
{
	char now[TIME_SIZE];

	time_format(now, run_now_ns(run));
	strbuf_addf(&j->text, "%s %" PRId64 " %" PRId64 " %s %s\n", run->uid, run->part,
		    run->generation, outcome, now);
	GROW(j->lines, j->n, j->cap);
	j->lines[j->n++] = (struct journal_line){.run = xstrdup(run->name)};
	if (j->n >= JOURNAL_LINES)
		journal_write(j);
	else if (!timer_active(j->timer))
		timer_start(j->timer, JOURNAL_WAIT_MS);
}

void journal_hurry(struct journal *j)
{
	if (j->n && !j->create)
		timer_start(j->timer, 1);
}

void journal_drop(struct journal *j, struct run *run)
{
	for (size_t i = 0; j && i < j->n; i++)
		if (!strcmp(j->lines[i].run, run->name))
			j->lines[i].dropped = true;
}

/* --- removing --- */

static void remove_next(struct journal *j);

static void on_removed(const struct kube_answer *a, void *arg)
{
	struct journal *j = arg;

	j->removal = NULL;
	remove_next(j);
}

static void remove_next(struct journal *j)
{
	auto_xfree char *name = NULL, *path = NULL;
	struct kube_request request = {.method = "DELETE", .done = on_removed, .arg = j};

	if (!j->n_old)
		return;
	name = j->old[--j->n_old];
	path = xasprintf("/api/v1/namespaces/%s/configmaps/%s", j->runner->own_namespace, name);
	request.path = path;
	j->removal = kube_send(j->runner->member, &request);
}

static void note_if_old(struct journal *j, const json_t *map)
{
	const char *name = json_str_at(map, "metadata", "name", NULL);
	const char *made = json_str_at(map, "metadata", "creationTimestamp", NULL);
	int64_t at, limit;

	limit = env_wall_ns(j->runner->env) - j->runner->journal_keep_ms * INT64_C(1000000);
	if (!name || !made || time_parse(made, &at) || at > limit)
		return;
	GROW(j->old, j->n_old, j->cap_old);
	j->old[j->n_old++] = xstrdup(name);
}

static void on_list(const struct kube_answer *a, void *arg)
{
	auto_json *list = a->ok ? json_parse_foreign(a->body, a->size, NULL) : NULL;
	struct journal *j = arg;
	json_t *map;
	size_t i;

	j->list = NULL;
	json_array_foreach (json_object_get(list, "items"), i, map)
		note_if_old(j, map);
	timer_start(j->sweep, JOURNAL_SWEEP_MS);
	if (!j->removal)
		remove_next(j);
}

static void on_sweep(void *arg)
{
	struct journal *j = arg;
	auto_xfree char *path = xasprintf("/api/v1/namespaces/%s/configmaps?labelSelector=%s",
					  j->runner->own_namespace, JOURNAL_LABEL);
	struct kube_request request = {.method = "GET", .path = path, .done = on_list, .arg = j};

	j->list = kube_send(j->runner->member, &request);
}

/* --- life --- */

struct journal *journal_create(struct runner *r)
{
	struct journal *j = xnew0(struct journal);

	j->runner = r;
	j->timer = timer_create_in(r->env, on_timer, j);
	j->sweep = timer_create_in(r->env, on_sweep, j);
	timer_start(j->sweep, JOURNAL_WAIT_MS);
	return j;
}

void journal_destroy(struct journal *j)
{
	if (!j)
		return;
	create_cancel(j->create);
	kube_cancel(j->list);
	kube_cancel(j->removal);
	timer_destroy(j->timer);
	timer_destroy(j->sweep);
	for (size_t i = 0; i < j->n; i++)
		free(j->lines[i].run);
	free(j->lines);
	for (size_t i = 0; i < j->n_old; i++)
		free(j->old[i]);
	free(j->old);
	strbuf_finish(&j->text);
	strbuf_finish(&j->sent);
	free(j);
}
