/* What an answer of etcd means: the one place that knows its codes and texts. */
#include "store/etcd_codec.h"

/* The first row whose code fits and whose text is a part of the answer's. A write with any other
 * answer may have been done: a request can time out, or a server end, with its entry in the log;
 * and "database space exceeded" is also the answer to the write that exceeds it, which is done. */
static const struct {
	int code;
	const char *text;
	enum etcd_verdict verdict;
	enum error_code error;
} rows[] = {
	{GRPC_INVALID_ARGUMENT, "request is too large", ETCD_REFUSED, ERR_TOO_LARGE},
	{GRPC_INVALID_ARGUMENT, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_NOT_FOUND, "requested lease not found", ETCD_REFUSED, ERR_NOT_FOUND},
	{GRPC_NOT_FOUND, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_PERMISSION_DENIED, "", ETCD_REFUSED, ERR_FORBIDDEN},
	{GRPC_UNAUTHENTICATED, "", ETCD_REFUSED, ERR_UNAUTHORIZED},
	{GRPC_RESOURCE_EXHAUSTED, "received message larger", ETCD_REFUSED, ERR_TOO_LARGE},
	{GRPC_RESOURCE_EXHAUSTED, "too many requests", ETCD_REFUSED, ERR_TOO_MANY},
	{GRPC_FAILED_PRECONDITION, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_OUT_OF_RANGE, "has been compacted", ETCD_REFUSED, ERR_EXPIRED},
	{GRPC_OUT_OF_RANGE, "is a future revision", ETCD_REFUSED, ERR_BAD_REQUEST},
	{GRPC_UNIMPLEMENTED, "", ETCD_REFUSED, ERR_INTERNAL},
	{GRPC_UNAVAILABLE, "etcdserver: no leader", ETCD_NOT_REACHED, ERR_UNAVAILABLE},
};

static enum etcd_verdict judge_transport(const struct error *transport, struct error *err)
{
	if (transport->code == ERR_UNREACHABLE) {
		error_set(err, ERR_UNAVAILABLE, "does not answer: %s", transport->text);
		return ETCD_NOT_REACHED;
	}
	if (transport->code == ERR_TOO_LARGE)
		error_set(err, ERR_TOO_LARGE, "answers too much: %s", transport->text);
	else
		error_set(err, ERR_UNKNOWN_OUTCOME, "does not answer: %s", transport->text);
	return ETCD_UNKNOWN;
}

enum etcd_verdict etcd_judge(const struct grpc_answer *answer, struct error *err)
{
	if (answer->status == -1)
		return judge_transport(&answer->err, err);
	if (answer->status == GRPC_OK)
		return ETCD_DONE;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].code != answer->status || !strstr(answer->text, rows[i].text))
			continue;
		error_set(err, rows[i].error, "says: %s", answer->text);
		return rows[i].verdict;
	}
	error_set(err, ERR_UNKNOWN_OUTCOME, "says: %s (code %d)", answer->text, answer->status);
	return ETCD_UNKNOWN;
}
