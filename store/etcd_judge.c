/* What an answer of etcd means: the one place that knows its codes and texts. */
#include "store/etcd_codec.h"

enum {
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_INVALID = 3,
	GRPC_DEADLINE = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_PERMISSION = 7,
	GRPC_EXHAUSTED = 8,
	GRPC_PRECONDITION = 9,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_UNAVAILABLE = 14,
	GRPC_UNAUTHENTICATED = 16,
};

/* The first row whose code fits and whose text is a part of the answer's. A write with any other
 * answer may have been done: a request can time out, or a server end, with its entry in the log;
 * and "database space exceeded" is also the answer to the write that exceeds it, which is done. */
static const struct {
	int code;
	const char *text;
	enum etcd_verdict verdict;
	enum error_code error;
} rows[] = {
	{GRPC_INVALID, "request is too large", ETCD_REFUSED, ERR_TOO_LARGE},
	{GRPC_INVALID, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_NOT_FOUND, "requested lease not found", ETCD_REFUSED, ERR_NOT_FOUND},
	{GRPC_NOT_FOUND, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_PERMISSION, "", ETCD_REFUSED, ERR_FORBIDDEN},
	{GRPC_UNAUTHENTICATED, "", ETCD_REFUSED, ERR_UNAUTHORIZED},
	{GRPC_EXHAUSTED, "received message larger", ETCD_REFUSED, ERR_TOO_LARGE},
	{GRPC_EXHAUSTED, "too many requests", ETCD_REFUSED, ERR_TOO_MANY},
	{GRPC_PRECONDITION, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_OUT_OF_RANGE, "has been compacted", ETCD_REFUSED, ERR_EXPIRED},
	{GRPC_OUT_OF_RANGE, "is a future revision", ETCD_REFUSED, ERR_BAD_REQUEST},
	{GRPC_UNIMPLEMENTED, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_UNAVAILABLE, "etcdserver: no leader", ETCD_NOT_REACHED, ERR_UNAVAILABLE},
};

/* Without a gRPC code it is not etcd's handler that answers. */
static enum etcd_verdict judge_plain(int status, struct sv body, struct error *err)
{
	int n = body.n < 200 ? (int)body.n : 200;

	if (status >= 500 || status == 429) {
		error_set(err, ERR_UNKNOWN_OUTCOME, "answers HTTP %d: %.*s", status, n, body.p);
		return ETCD_UNKNOWN;
	}
	error_set(err, ERR_INTERNAL, "answers HTTP %d: %.*s", status, n, body.p);
	return ETCD_REFUSED;
}

static enum etcd_verdict judge_transport(const struct error *transport, struct error *err)
{
	const char *colon = strstr(transport->text, ": "); /* behind "POST http://..." */
	const char *reason = colon ? colon + 2 : transport->text;

	if (transport->code == ERR_UNREACHABLE) {
		error_set(err, ERR_UNAVAILABLE, "does not answer: %s", reason);
		return ETCD_NOT_REACHED;
	}
	error_set(err, ERR_UNKNOWN_OUTCOME, "does not answer: %s", reason);
	return ETCD_UNKNOWN;
}

/* 3.4 and 3.5 have both names for the text, 3.6 has only the first. */
static struct sv failure_text(struct sv body)
{
	struct sv text = {"", 0};

	if (!scan_find_str(body, &text, "message", NULL))
		scan_find_str(body, &text, "error", NULL);
	return text;
}

static bool contains(struct sv text, const char *part)
{
	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static bool failure_code(struct sv body, int64_t *ret_code)
{
	struct scan s;
	struct sv value;

	if (!scan_find(body, &value, "code", NULL))
		return false;
	scan_init(&s, value.p, value.n);
	return scan_int64(&s, ret_code);
}

enum etcd_verdict etcd_judge(int status, struct sv body, const struct error *transport,
			     struct error *err)
{
	int64_t code;
	struct sv text;

	if (status == 0)
		return judge_transport(transport, err);
	if (status == 200)
		return ETCD_DONE;
	if (!failure_code(body, &code))
		return judge_plain(status, body, err);
	text = failure_text(body);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].code != code || !contains(text, rows[i].text))
			continue;
		error_set(err, rows[i].error, "says: %.*s", (int)text.n, text.p);
		return rows[i].verdict;
	}
	error_set(err, ERR_UNKNOWN_OUTCOME, "says: %.*s (HTTP %d, code %d)", (int)text.n, text.p,
		  status, (int)code);
	return ETCD_UNKNOWN;
}
