#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "lifecycle/record.h"

struct http_call {
	struct list_node node;
	struct http_call_spec spec;
	char *path, *body; /* body NULL: none */
	bool read;
};

#define NODE                                                                                       \
	"{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\"},\"status\":{\"allocatable\":{"   \
	"\"cpu\":\"8\",\"pods\":\"10\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}"  \
	"]}}"

/* --- the member --- */

static struct http_call *on_start(void *transport, const struct http_call_spec *spec)
{
	struct stage *s = transport;
	struct http_call *c = xnew0(struct http_call);

	c->spec = *spec;
	c->path = xstrdup(spec->path);
	c->body = spec->body ? xstrndup(spec->body, spec->body_size) : NULL;
	c->read = !strcmp(spec->method, "GET") && strstr(spec->path, "?limit=");
	if (!c->read && !spec->stream)
		strbuf_addf(&s->asked, "%s %s ", spec->method, spec->path);
	list_push_back(&s->calls, &c->node);
	return c;
}

static void call_free(struct http_call *c)
{
	list_remove(&c->node);
	free(c->path);
	free(c->body);
	free(c);
}

static void on_cancel(void *transport, struct http_call *call)
{
	call_free(call);
}

static void on_fresh(void *transport)
{
}

static void on_token(void *transport, const char *token)
{
}

static const struct kube_transport_ops ops = {
	.start = on_start,
	.cancel = on_cancel,
	.fresh = on_fresh,
	.set_token = on_token,
	.destroy = on_fresh,
};

static const char *items_of(const struct stage *s, const char *path)
{
	if (strstr(path, "/placements?"))
		return s->twins;
	if (strstr(path, "/pods?"))
		return s->pods;
	if (strstr(path, "/namespaces?"))
		return "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"1\"}}";
	return strstr(path, "/nodes?") ? NODE : "";
}

static void give(struct http_call *c, const struct http_answer *answer)
{
	struct http_call_spec spec = c->spec;

	call_free(c);
	spec.on_done(answer, spec.arg);
}

static bool answer_a_list(struct stage *s)
{
	struct http_call *c;

	list_for_each (c, &s->calls, node) {
		auto_xfree char *body = NULL;

		if (!c->read)
			continue;
		body = xasprintf("{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[%s]}",
				 items_of(s, c->path));
		give(c, &(struct http_answer){.status = 200,
					      .body = body,
					      .size = strlen(body),
					      .retry_after_s = -1});
		return true;
	}
	return false;
}

static struct http_call *find_call(const struct stage *s, const char *request)
{
	struct http_call *c;

	list_for_each (c, (struct list *)(uintptr_t)&s->calls, node) {
		auto_xfree char *text = xasprintf("%s %s", c->spec.method, c->path);

		if (!c->spec.stream && !strncmp(text, request, strlen(request)))
			return c;
	}
	return NULL;
}

bool stage_awaits(const struct stage *s, const char *request)
{
	return find_call(s, request) != NULL;
}

const char *stage_body(const struct stage *s, const char *request)
{
	struct http_call *c = find_call(s, request);

	cr_assert(c && c->body, "%s is not asked: %s", request, strbuf_str(&s->asked));
	return c->body;
}

void stage_answer(struct stage *s, const char *request, int status, const char *body)
{
	struct http_call *c = find_call(s, request);
	struct http_answer answer = {
		.status = status, .body = body, .size = strlen(body), .retry_after_s = -1};

	cr_assert(c, "%s is not asked: %s", request, strbuf_str(&s->asked));
	if (!status)
		error_set(&answer.err, ERR_UNKNOWN_OUTCOME, "the line was cut");
	give(c, &answer);
}

void stage_refuse(struct stage *s, const char *request)
{
	struct http_call *c = find_call(s, request);
	struct http_answer answer = {.body = "", .retry_after_s = -1};

	cr_assert(c, "%s is not asked: %s", request, strbuf_str(&s->asked));
	error_set(&answer.err, ERR_UNREACHABLE, "connection refused");
	give(c, &answer);
}

void stage_watch(struct stage *s, const char *collection, const char *type, const char *object)
{
	auto_xfree char *line = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
	auto_xfree char *path = xasprintf("%s?watch", collection);
	struct http_call *c;

	list_for_each (c, &s->calls, node) {
		if (!c->spec.stream || strncmp(c->path, path, strlen(path)))
			continue;
		c->spec.on_data(c, line, strlen(line), c->spec.arg);
		return;
	}
	cr_assert_fail("%s is not watched", collection);
}

static const char *otherwise(const char *text, const char *usual)
{
	return text ? text : usual;
}

char *stage_pod_make(const struct stage_pod *p)
{
	const char *name = otherwise(p->name, "j-w-0");

	return xasprintf(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
		"\"x\",\"uid\":\"uid-of-%s\",\"resourceVersion\":\"%s\",%s,\"labels\":{"
		"\"federator.dev/uid\":\"%s\",\"federator.dev/part\":\"0\","
		"\"federator.dev/generation\":\"%s\",\"federator.dev/restart\":\"%s\","
		"\"volcano.sh/task-spec\":\"w\",\"volcano.sh/task-index\":\"0\"}},\"spec\":{"
		"\"nodeName\":\"n\",\"containers\":[]},\"status\":{\"phase\":\"%s\"}}",
		name, name, otherwise(p->version, "20"), otherwise(p->meta, OWNED_BY("u-0-3")),
		otherwise(p->job_uid, "u"), otherwise(p->generation, "3"),
		otherwise(p->restart, "0"), otherwise(p->phase, "Running"));
}

/* --- the owner --- */

static struct stage *stage_of(struct owner *o)
{
	return container_of(o, struct stage, owner);
}

static void on_say(struct owner *o, const struct doc *placement, const json_t *status,
		   void (*done)(enum owner_reply reply, struct doc *now, const struct error *err,
				void *arg),
		   void *arg)
{
	const char *reason = json_str_at(status, "reason", NULL);
	const json_t *counts = json_at(status, "counts", NULL);
	struct stage *s = stage_of(o);

	s->retries = json_int_at(status, -1, "retries", NULL);
	strbuf_clear(&s->message);
	strbuf_adds(&s->message, otherwise(json_str_at(status, "message", NULL), ""));
	strbuf_clear(&s->counts);
	if (counts)
		json_write(&s->counts, counts);
	strbuf_addf(&s->said, "%s:%s ", json_str_at(status, "state", NULL), reason ? reason : "");
	s->said_done = done;
	s->said_arg = arg;
}

void stage_hear(struct stage *s, enum owner_reply reply)
{
	void (*done)(enum owner_reply reply, struct doc * now, const struct error *err, void *arg) =
		s->said_done;
	struct error err;

	cr_assert(done, "nothing was said");
	s->said_done = NULL;
	error_set(&err, ERR_NOT_FOUND, "it is not there");
	done(reply, NULL, reply == OWNER_OK ? NULL : &err, s->said_arg);
}

static void on_read_job(struct owner *o, const struct placement *p,
			void (*done)(struct doc *job, const struct error *err, void *arg),
			void *arg)
{
	struct stage *s = stage_of(o);

	strbuf_adds(&s->asked, "job ");
	s->job_done = done;
	s->job_arg = arg;
}

void stage_give_job(struct stage *s, const char *job)
{
	auto_free(doc_unref) struct doc *doc = doc_create("job", job, strlen(job));

	cr_assert(s->job_done, "the job is not asked for");
	s->job_done(doc, NULL, s->job_arg);
}

static void on_read_object(struct owner *o, const struct placement *p, const char *path,
			   void (*done)(const json_t *object, const struct error *err, void *arg),
			   void *arg)
{
	strbuf_adds(&stage_of(o)->asked, "object ");
}

static bool on_is_absent(struct owner *o, const char *name, int64_t claim_version)
{
	stage_of(o)->absent_since = claim_version;
	return stage_of(o)->absent;
}

static void on_forget_calls(struct owner *o, void *arg)
{
	struct stage *s = stage_of(o);

	if (s->said_arg == arg)
		s->said_done = NULL;
}

static const struct owner_ops owner_ops = {
	.say = on_say,
	.read_job = on_read_job,
	.read_object = on_read_object,
	.is_absent = on_is_absent,
	.forget_calls = on_forget_calls,
};

static char *placement(const char *uid, const char *name, int generation, const char *desired,
		       const char *state, const char *cluster)
{
	char hash[65];

	record_spec_hash(JOB, strlen(JOB), hash);
	return xasprintf(
		"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{"
		"\"name\":\"%s-0-%d\",\"namespace\":\"cluster-c\"},\"spec\":{\"job\":{\"namespace\":"
		"\"x\",\"name\":\"%s\",\"uid\":\"%s\"},\"part\":0,\"specHash\":\"%s\","
		"\"generation\":%d,\"incarnation\":0,\"clusterUID\":\"%s\",\"desired\":\"%s\","
		"\"size\":{\"seq\":1,\"tasks\":[{\"name\":\"w\",\"replicas\":1}]},\"retries\":4,\"protocol\":1},"
		"\"status\":{\"state\":\"%s\"}}",
		uid, generation, name, uid, hash, generation, cluster, desired, state);
}

static struct doc *placement_doc(struct stage *s, const char *bytes)
{
	struct doc *doc = doc_create("placement", bytes, strlen(bytes));

	doc->version = ++s->version;
	return doc;
}

static void show(struct stage *s, const char *bytes)
{
	auto_free(doc_unref) struct doc *doc = placement_doc(s, bytes);

	runner_placement_changed(s->runner, doc, NULL);
}

void stage_offer(struct stage *s, int generation, const char *desired, const char *state,
		 const char *cluster)
{
	auto_xfree char *bytes = placement("u", "j", generation, desired, state, cluster);

	show(s, bytes);
}

void stage_offer_another(struct stage *s)
{
	auto_xfree char *bytes = placement("v", "k", 1, "Go", "", "cu");

	show(s, bytes);
}

void stage_take_back(struct stage *s, int generation)
{
	auto_xfree char *bytes = placement("u", "j", generation, "Go", "", "cu");
	auto_free(doc_unref) struct doc *doc = placement_doc(s, bytes);

	runner_placement_changed(s->runner, NULL, doc);
}

/* --- a stage --- */

static void on_orphans(void *arg)
{
	((struct stage *)arg)->orphans_told++;
}

void stage_start(struct stage *s, bool clean)
{
	struct runner_config config = {
		.cluster = "c",
		.own_namespace = "federator-system",
		.shutout_wait_ms = W_MS,
		.keep_pods_ms = 600000,
		.journal_keep_ms = 600000,
		.predecessor_left_cleanly = clean,
		.predecessor_unknown = s->no_lease,
	};

	s->time = virtual_env_create(1, 0);
	list_init(&s->calls);
	s->member = kube_create_with(virtual_env_seam(s->time), &ops, s);
	s->owner.ops = &owner_ops;
	s->runner =
		runner_create(virtual_env_seam(s->time), s->member, &s->owner, &config, NULL, NULL);
	runner_set_identity(s->runner, "cu", HUB, 0);
	runner_on_orphans(s->runner, on_orphans, s);
	while (answer_a_list(s))
		;
	cr_assert(runner_is_ready(s->runner));
}

void stage_begin(struct stage *s, const char *state)
{
	stage_start(s, true);
	stage_offer(s, 3, "Go", state, "cu");
	runner_placements_synced(s->runner);
}

void stage_end(struct stage *s)
{
	runner_destroy(s->runner);
	kube_destroy(s->member);
	cr_expect(list_empty(&s->calls), "a call outlives the runner");
	virtual_env_destroy(s->time);
	strbuf_finish(&s->asked);
	strbuf_finish(&s->said);
	strbuf_finish(&s->counts);
	strbuf_finish(&s->message);
}

void stage_forget(struct stage *s)
{
	strbuf_clear(&s->asked);
	strbuf_clear(&s->said);
}
