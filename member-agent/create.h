/*
 * A POST whose outcome is always found out (facts on real apiservers: admission runs before the
 * name check, a cut line may have been carried out). A GET settles what an answer left open; only
 * behind its 404, on a new connection, is the same name posted again. Goes on until it knows.
 */
#ifndef MEMBER_AGENT_CREATE_H
#define MEMBER_AGENT_CREATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "kube/client.h"

struct create;

enum create_result {
	CREATE_MADE,    /* object: as the server made it */
	CREATE_FOUND,   /* object: what has that name; perhaps ours, from an earlier try */
	CREATE_REFUSED, /* for good: err has the server's text */
};

typedef void (*create_done)(enum create_result result, const char *object, size_t size,
			    const struct error *err, void *arg);

struct create_request {
	const char *path; /* of the collection: "/api/v1/namespaces/x/pods"; copied */
	const char *name;
	char *take_body;
	int64_t timeout_ms; /* the server gives up after it too; 0: 30 s, and no ?timeout= */
	create_done done;
	void *arg;
};

/* Never calls back from inside this call. */
struct create *create_start(struct kube *k, struct env *env, const struct create_request *request);
void create_cancel(struct create *c); /* NULL: nothing; the POST may still be carried out */

/* True when trying again may help: what failed is the server's state, not what was asked. */
bool answer_is_transient(const struct kube_answer *a);

#endif
