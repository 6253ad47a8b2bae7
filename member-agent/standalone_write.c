/*
 * Writing jobs/status. Nobody else writes it, so what it is to be is known here: each try puts the
 * whole of it, by compare with the newest version; what is not known is read and tried again.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "kube/object.h"
#include "member-agent/standalone_internal.h"

#define RETRY_BASE_MS 500
#define RETRY_MAX_MS  15000
#define WRITE_MS      10000

static void send_status(struct local_job *j);
static void read_again(struct local_job *j);

static char *job_path(const struct local_job *j, const char *suffix)
{
	return xasprintf("/apis/batch.volcano.sh/v1alpha1/namespaces/%s/jobs/%s%s", j->ns, j->name,
			 suffix);
}

static void on_retry(void *arg)
{
	read_again(arg);
}

static void try_later(struct local_job *j, const struct error *err)
{
	struct env *env = j->alone->agent->env;

	if (!j->tries)
		log_warn("standalone", "write the status of job %s/%s: %s", j->ns, j->name,
			 err->text);
	if (!j->retry)
		j->retry = timer_create_in(env, on_retry, j);
	timer_start(j->retry, env_backoff_ms(env, j->tries++, RETRY_BASE_MS, RETRY_MAX_MS));
}

static void settled(struct local_job *j)
{
	j->tries = 0;
	j->unwritten = false;
	word_written(j);
}

/* What changed while the last one was under way goes in the next. */
static void written(struct local_job *j)
{
	if (j->sent == j->wanted)
		settled(j);
	else
		send_status(j);
}

/* The Job went meanwhile: the watch will say so; there is nowhere to write. */
static void gone(struct local_job *j)
{
	settled(j);
}

static void keep_newest(struct local_job *j, const struct kube_answer *a)
{
	struct error err;
	struct doc *doc = object_answer((struct sv){a->body, a->size}, &err);

	if (!doc)
		return;
	if (j->doc && doc->version > j->doc->version) {
		doc_unref(j->doc);
		j->doc = doc;
	} else {
		doc_unref(doc);
	}
}

/* Volcano's Job kind drops the record, or does not take a reason where it knows a number. */
static bool must_be_volcano(const struct local_job *j, const struct kube_answer *a)
{
	auto_json *now = a->ok ? json_parse_foreign(a->body, a->size, NULL) : NULL;

	if (j->alone->volcano_schema)
		return false;
	if (a->ok)
		return json_at(j->tree, "status", "dispatch", NULL) &&
		       !json_at(now, "status", "dispatch", NULL);
	return a->err.code == ERR_INVALID;
}

static void on_written(const struct kube_answer *a, void *arg)
{
	struct local_job *j = arg;

	j->call = NULL;
	if (must_be_volcano(j, a)) {
		log_info("standalone", "the Job kind of this cluster is Volcano's: reasons are in "
				       "status.state");
		j->alone->volcano_schema = true;
		read_again(j);
	} else if (a->ok) {
		keep_newest(j, a);
		written(j);
	} else if (a->status == 404) {
		gone(j);
	} else if (a->err.code == ERR_CONFLICT) {
		read_again(j);
	} else {
		try_later(j, &a->err);
	}
}

static void send_status(struct local_job *j)
{
	const json_t *status = json_at(j->tree, "status", NULL);
	auto_json *shown =
		j->alone->volcano_schema ? status_for_volcano(status) : json_deep_copy(status);
	auto_json *patch = status_patch(j->doc->version, shown);
	auto_xfree char *body = json_print(patch);
	auto_xfree char *path = job_path(j, "/status");

	j->sent = j->wanted;
	j->call = kube_send(j->alone->agent->member,
			    &(struct kube_request){.method = "PATCH",
						   .path = path,
						   .body = body,
						   .content_type = "application/json-patch+json",
						   .timeout_ms = WRITE_MS,
						   .done = on_written,
						   .arg = j});
}

static bool is_same_job(const struct local_job *j, const struct kube_answer *a)
{
	auto_json *now = json_parse_foreign(a->body, a->size, NULL);
	const char *uid = json_str_at(now, "metadata", "uid", NULL);

	return uid && !strcmp(uid, j->uid);
}

static void on_read(const struct kube_answer *a, void *arg)
{
	struct local_job *j = arg;

	j->call = NULL;
	if (a->ok && is_same_job(j, a)) {
		keep_newest(j, a);
		send_status(j);
	} else if (a->ok || a->status == 404) {
		gone(j);
	} else {
		try_later(j, &a->err);
	}
}

static void read_again(struct local_job *j)
{
	auto_xfree char *path = job_path(j, "");

	if (!j->doc || !j->tree) {
		gone(j);
		return;
	}
	j->call = kube_send(
		j->alone->agent->member,
		&(struct kube_request){.method = "GET", .path = path, .done = on_read, .arg = j});
}

void local_write(struct local_job *j)
{
	j->unwritten = true;
	j->wanted++;
	if (j->alone->stopped || j->alone->explain_name || j->call ||
	    (j->retry && timer_active(j->retry)))
		return;
	if (j->doc && j->tree)
		send_status(j);
	else
		gone(j);
}

void local_cancel_write(struct local_job *j)
{
	kube_cancel(take_ptr(j->call));
	if (j->retry)
		timer_stop(j->retry);
}

/* --- events --- */

static void on_event(const struct kube_answer *a, void *arg)
{
	struct local_job *j = arg;

	j->event = NULL;
	if (!a->ok)
		log_warn("standalone", "event about job %s/%s: %s", j->ns, j->name, a->err.text);
}

void local_tell(struct local_job *j, const char *type, const char *reason, const char *message)
{
	auto_xfree char *path = xasprintf("/api/v1/namespaces/%s/events", j->ns);
	auto_json *event = NULL;
	auto_xfree char *body = NULL;

	if (j->event || j->alone->explain_name || !j->doc)
		return;
	event = job_event(j->tree, type, reason, message, env_wall_ns(j->alone->agent->env));
	body = json_print(event);
	j->event = kube_send(
		j->alone->agent->member,
		&(struct kube_request){
			.method = "POST", .path = path, .body = body, .done = on_event, .arg = j});
}
