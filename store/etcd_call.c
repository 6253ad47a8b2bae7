/* A unary call: goes on to the next endpoint when one does not serve, and again as long as that
 * can do no harm. */
#include "store/etcd.h"

#define CALL_TIMEOUT_MS  6000 /* a second more than etcd is told, below the 7 s of its own */
#define RETRY_FIRST_MS   20
#define RETRY_LONGEST_MS 500

const struct grpc_metadata etcd_metadata[ETCD_METADATA] = {
	{"hasleader", "true"},
	{"grpc-timeout", "5000m"},
};

struct etcd_call {
	struct list_node link;
	struct etcd *etcd;
	const char *method;
	struct strbuf message;
	bool repeatable;
	void (*done)(enum etcd_verdict verdict, struct sv message, const struct error *err,
		     void *arg);
	void *arg;
	size_t endpoint; /* where it was sent last */
	unsigned tries;
	int64_t since_ms;
	struct timer *retry;
	struct grpc_call *grpc;
};

void etcd_endpoint_failed(struct etcd *e, size_t endpoint)
{
	if (endpoint == e->current)
		e->current = (e->current + 1) % e->n_endpoints;
}

static void call_destroy(struct etcd_call *call)
{
	list_remove(&call->link);
	timer_destroy(call->retry);
	strbuf_finish(&call->message);
	free(call);
}

void etcd_call_cancel(struct etcd_call *call)
{
	if (!call)
		return;
	if (call->grpc)
		grpc_call_cancel(call->grpc);
	call_destroy(call);
}

static bool may_try_again(const struct etcd_call *call, enum etcd_verdict verdict,
			  const struct error *err)
{
	if (verdict != ETCD_NOT_REACHED && !(verdict == ETCD_UNKNOWN && call->repeatable))
		return false;
	if (err->code == ERR_TOO_LARGE)
		return false; /* it would be again */
	return env_mono_ms(call->etcd->env) - call->since_ms < ETCD_PATIENCE_MS;
}

/* At once as long as there is an endpoint that was not asked in this round. */
static void call_again(struct etcd_call *call)
{
	unsigned rounds = ++call->tries / (unsigned)call->etcd->n_endpoints;
	bool next_endpoint = call->tries % call->etcd->n_endpoints != 0;

	timer_start(call->retry, next_endpoint ? 0
					       : env_backoff_ms(call->etcd->env, rounds - 1,
								RETRY_FIRST_MS, RETRY_LONGEST_MS));
}

/* What people are told of it: which store, and not which of its methods. */
static void name_store(const struct etcd_call *call, struct error *err)
{
	auto_xfree char *what = xstrdup(err->text);

	error_set(err, err->code, "the state store (etcd at %s) %s",
		  call->etcd->endpoints[call->endpoint].url, what);
}

/* A refusal of what was asked is an answer; all other failures are trouble. */
static bool is_served(enum etcd_verdict verdict, const struct error *err)
{
	return verdict == ETCD_DONE ||
	       (verdict == ETCD_REFUSED && err->code != ERR_INTERNAL &&
		err->code != ERR_UNAUTHORIZED && err->code != ERR_FORBIDDEN);
}

static void note_trouble(struct etcd *e, enum etcd_verdict verdict, const struct error *err)
{
	if (is_served(verdict, err)) {
		e->trouble_since_ms = 0;
		return;
	}
	e->trouble = *err;
	if (!e->trouble_since_ms)
		e->trouble_since_ms = env_mono_ms(e->env);
}

static void call_answered(struct etcd_call *call, const struct grpc_answer *answer)
{
	struct sv message = {answer->message, answer->size};
	struct error err;
	enum etcd_verdict verdict = etcd_judge(answer, &err);

	if (verdict != ETCD_DONE)
		name_store(call, &err);
	note_trouble(call->etcd, verdict, &err);
	if (verdict == ETCD_NOT_REACHED || verdict == ETCD_UNKNOWN)
		etcd_endpoint_failed(call->etcd, call->endpoint);
	if (may_try_again(call, verdict, &err)) {
		call_again(call);
		return;
	}
	call->done(verdict, message, verdict == ETCD_DONE ? NULL : &err, call->arg);
	call_destroy(call);
}

static void on_answer(const struct grpc_answer *answer, void *arg)
{
	struct etcd_call *call = arg;

	call->grpc = NULL;
	call_answered(call, answer);
}

static void call_send(struct etcd_call *call)
{
	struct etcd *e = call->etcd;
	const struct grpc_call_spec spec = {.method = call->method,
					    .message = call->message.bytes,
					    .size = call->message.size,
					    .metadata = etcd_metadata,
					    .n_metadata = ETCD_METADATA,
					    .timeout_ms = CALL_TIMEOUT_MS,
					    .on_done = on_answer,
					    .arg = call};

	call->endpoint = e->current;
	call->grpc = grpc_call_start(e->endpoints[call->endpoint].client, &spec);
}

static void on_retry(void *arg)
{
	call_send(arg);
}

struct etcd_call *etcd_call_start(struct etcd *e, const struct etcd_call_spec *spec)
{
	struct etcd_call *call = xnew0(struct etcd_call);

	call->etcd = e;
	call->method = spec->method;
	call->message = *spec->message;
	*spec->message = (struct strbuf){0};
	call->repeatable = spec->repeatable;
	call->done = spec->done;
	call->arg = spec->arg;
	call->since_ms = env_mono_ms(e->env);
	call->retry = timer_create_in(e->env, on_retry, call);
	list_push_back(&e->calls, &call->link);
	call_send(call);
	return call;
}
