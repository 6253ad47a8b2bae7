#include "federator/tunnel.h"

#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "lifecycle/record.h"

#define ANSWER_WITHIN_MS 10000 /* an agent begins its answer by then, or the user is told */
#define PING_MS          20000 /* so that both ends notice a dead line */

/* An agent's open line. */
struct line {
	struct list_node node;
	char *cluster;
	struct server_request *request;
};

/* A user's question on its way. */
struct question {
	struct list_node node;
	uint64_t id;
	char *cluster; /* whose agent may answer */
	struct server_request *user;
	struct server_request *agent; /* NULL until the answer begins */
	bool user_gone, agent_gone;   /* both exchanges call back: the last one frees */
	bool complete;                /* the answer's end has come */
	struct timer *patience;
};

struct tunnel {
	struct hub *hub;
	struct list lines, questions;
	struct timer *ping;
	uint64_t last_id;
};

/* --- lines --- */

static struct line *find_line(struct tunnel *t, const char *cluster)
{
	struct line *l;

	list_for_each (l, &t->lines, node)
		if (!strcmp(l->cluster, cluster))
			return l;
	return NULL;
}

static void line_free(struct line *l)
{
	list_remove(&l->node);
	server_request_unref(l->request);
	free(l->cluster);
	free(l);
}

static void on_line_closed(struct server_request *r, void *arg)
{
	line_free(arg);
}

static void on_ping(void *arg)
{
	struct tunnel *t = arg;
	struct line *l;

	list_for_each (l, &t->lines, node)
		if (l->request->x)
			exchange_write(l->request->x, "{}\n", 3);
	timer_start(t->ping, PING_MS);
}

/* The newest line of a cluster wins: an older one belongs to a process that is gone. */
void tunnel_requests(struct server_request *r, void *arg)
{
	struct hub *hub = arg;
	struct line *old = find_line(hub->tunnel, r->name), *l;

	if (hub_check_term(hub, r))
		return;
	if (old && old->request->x)
		exchange_end(old->request->x);
	l = xnew0(struct line);
	l->cluster = xstrdup(r->name);
	l->request = server_request_ref(r);
	list_push_front(&hub->tunnel->lines, &l->node);
	server_request_on_close(r, on_line_closed, l);
	exchange_begin(r->x, 200, "application/json");
	exchange_write(r->x, "{}\n", 3);
}

/* --- questions --- */

static void question_free(struct question *q)
{
	list_remove(&q->node);
	timer_destroy(q->patience);
	server_request_unref(q->user);
	server_request_unref(q->agent);
	free(q->cluster);
	free(q);
}

static struct question *find_question(struct tunnel *t, const char *id)
{
	uint64_t wanted = id ? strtoull(id, NULL, 10) : 0;
	struct question *q;

	list_for_each (q, &t->questions, node)
		if (q->id == wanted)
			return q;
	return NULL;
}

static void on_user_closed(struct server_request *r, void *arg)
{
	struct question *q = arg;

	q->user_gone = true;
	if (q->agent && q->agent->x && !q->complete)
		exchange_abort(q->agent->x);
	if (!q->agent || q->agent_gone)
		question_free(q);
}

static void on_no_answer(void *arg)
{
	struct question *q = arg;
	struct error err;

	error_set(&err, ERR_TIMEOUT, "the agent of the job's cluster did not answer within %d s",
		  ANSWER_WITHIN_MS / 1000);
	server_respond_error(q->user, &err, NULL);
}

static void ask(struct tunnel *t, struct line *l, struct server_request *user, json_t *what)
{
	struct question *q = xnew0(struct question);
	auto_strbuf text = {0};

	q->id = ++t->last_id;
	q->cluster = xstrdup(l->cluster);
	q->user = server_request_ref(user);
	q->patience = timer_create_in(t->hub->env, on_no_answer, q);
	timer_start(q->patience, ANSWER_WITHIN_MS);
	list_push_back(&t->questions, &q->node);
	server_request_on_close(user, on_user_closed, q);
	json_set_int(what, "id", (int64_t)q->id);
	json_write(&text, what);
	strbuf_addc(&text, '\n');
	exchange_write(l->request->x, text.bytes, text.size);
}

/* --- answers --- */

static void on_user_drained(struct exchange *x, void *arg)
{
	struct question *q = arg;

	if (q->agent && q->agent->x)
		exchange_read_pause(q->agent->x, false);
}

static void on_answer_data(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct question *q = arg;

	if (!q->user->x)
		return;
	if (!n) {
		q->complete = true;
		exchange_end(q->user->x);
		exchange_respond(x, 200, "text/plain", "", 0);
		return;
	}
	exchange_write(q->user->x, bytes, n);
	if (exchange_queued(q->user->x) > HTTP_MAX_QUEUED_OUT / 2)
		exchange_read_pause(x, true);
}

static void say_broken_off(struct question *q)
{
	struct error err;

	error_set(&err, ERR_UNAVAILABLE, "the agent of cluster %s broke its answer off",
		  q->cluster);
	server_respond_error(q->user, &err, NULL);
}

/* An answer that breaks off must not look like the end of the log. */
static void on_answer_closed(struct server_request *r, void *arg)
{
	struct question *q = arg;

	q->agent_gone = true;
	if (q->user_gone) {
		question_free(q);
		return;
	}
	if (q->complete || !q->user->x)
		return;
	if (exchange_begun(q->user->x))
		exchange_abort(q->user->x);
	else
		say_broken_off(q);
}

static void on_error_body(struct server_request *r, json_t *body, void *arg)
{
	const char *message = json_str_at(body, "message", NULL);
	struct question *q = arg;
	struct error err;

	q->complete = true;
	error_set(&err, ERR_NOT_FOUND, "%s", message ? message : "the agent has no such log");
	server_respond_error(q->user, &err, NULL);
	exchange_respond(r->x, 200, "text/plain", "", 0);
}

void tunnel_answers(struct server_request *r, void *arg)
{
	struct hub *hub = arg;
	struct question *q = find_question(hub->tunnel, exchange_query(r->x, "id"));
	struct error err;

	if (hub_check_term(hub, r))
		return;
	if (!q || q->agent || !q->user->x || strcmp(q->cluster, r->name)) {
		error_set(&err, ERR_NOT_FOUND, "nobody waits for this answer any more");
		server_respond_error(r, &err, NULL);
		return;
	}
	timer_stop(q->patience);
	q->agent = server_request_ref(r);
	server_request_on_close(r, on_answer_closed, q);
	if (exchange_query(r->x, "error")) {
		server_read_body(r, on_error_body, q);
		return;
	}
	exchange_begin(q->user->x, 200, "text/plain");
	exchange_on_drain(q->user->x, on_user_drained, q);
	exchange_read_stream(r->x, on_answer_data, q);
}

/* --- logs --- */

/* Where the job runs, or ran last: its part, else its last attempt. */
static const json_t *place_of(const json_t *job)
{
	const json_t *parts = json_at(job, "status", "dispatch", "parts", NULL);
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL);

	return json_array_size(parts) ? json_array_get(parts, 0)
				      : json_array_get(attempts, json_array_size(attempts) - 1);
}

static json_t *log_question(const struct server_request *r, const json_t *job, const json_t *place)
{
	const char *task = exchange_query(r->x, "task"), *index = exchange_query(r->x, "index");
	const char *follow = exchange_query(r->x, "follow");
	const char *tail = exchange_query(r->x, "tailLines");
	json_t *what = json_object(), *log = json_object_need(what, "log");

	json_set_str(log, "namespace", r->ns);
	json_set_str(log, "uid", json_str_at(job, "metadata", "uid", NULL));
	json_set_int(log, "part", 0);
	json_set_int(log, "generation", json_int_at(place, 0, "generation", NULL));
	json_set_str(log, "task", task);
	json_set_int(log, "index", index ? strtoll(index, NULL, 10) : 0);
	json_object_set_new(log, "follow", json_boolean(follow && !strcmp(follow, "true")));
	json_set_int(log, "tailLines", tail ? strtoll(tail, NULL, 10) : -1);
	return what;
}

void tunnel_log(struct server_request *r, void *arg)
{
	struct hub *hub = arg;
	auto_json *job = hub_tree(hub, r->kind, r->ns, r->name), *what = NULL;
	const json_t *place = place_of(job);
	const char *cluster = json_str_at(place, "cluster", NULL);
	struct line *l = cluster ? find_line(hub->tunnel, cluster) : NULL;
	struct error err;

	if (!job)
		error_set(&err, ERR_NOT_FOUND, "jobs.batch.volcano.sh \"%s\" not found", r->name);
	else if (!cluster)
		error_set(&err, ERR_BAD_REQUEST, "job %s has not started: it has no log yet",
			  r->name);
	else if (!l || !l->request->x)
		error_set(&err, ERR_UNAVAILABLE,
			  "the agent of cluster %s, where job %s is, is not connected", cluster,
			  r->name);
	if (!l || !l->request->x) {
		server_respond_error(r, &err, NULL);
		return;
	}
	what = log_question(r, job, place);
	ask(hub->tunnel, l, r, what);
}

/* --- life --- */

struct tunnel *tunnel_create(struct hub *hub)
{
	struct tunnel *t = xnew0(struct tunnel);

	t->hub = hub;
	list_init(&t->lines);
	list_init(&t->questions);
	t->ping = timer_create_in(hub->env, on_ping, t);
	timer_start(t->ping, PING_MS);
	return t;
}

void tunnel_destroy(struct tunnel *t)
{
	struct question *q, *next_question;
	struct line *l, *next_line;

	if (!t)
		return;
	list_for_each_safe (q, next_question, &t->questions, node)
		question_free(q);
	list_for_each_safe (l, next_line, &t->lines, node)
		line_free(l);
	timer_destroy(t->ping);
	free(t);
}
