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
	CREATE_REFUSED, /* not there, and it will not be: err has the server's text */
	CREATE_DROPPED, /* not there, and nobody wants it any more */
};

/* An apiserver that has just started may know none of its roles yet. Shorter than the 10 s after
 * which the hub takes an unclaimed offer back. */
#define DENIED_FOR_MS   6000
#define DENIED_RETRY_MS 1000 /* at most, between tries */

typedef void (*create_done)(enum create_result result, const char *object, size_t size,
			    const struct error *err, void *arg);

struct create_request {
	const char *path; /* of the collection: "/api/v1/namespaces/x/pods"; copied */
	const char *name;
	char *take_body;
	int64_t timeout_ms; /* the server gives up after it too; 0: 30 s, and no ?timeout= */
	create_done done;
	/* A POST may yet be carried out, whatever is found until then. May be NULL. */
	void (*unanswered)(void *arg);
	void *arg;
};

/* Never calls back from inside this call. */
struct create *create_start(struct kube *k, struct env *env, const struct create_request *request);
void create_cancel(struct create *c); /* NULL: nothing; the POST may still be carried out */
/* Nobody wants it any more: no POST is sent from here on, and done comes once it is known whether
 * it is there. */
void create_drop(struct create *c);

/* True when trying again may help: what failed is the server's state, not what was asked. */
bool answer_is_transient(const struct kube_answer *a);
/* True for the 403 of the authorizer: it is about our rights, and says nothing of the object. */
bool error_is_denied(const struct error *err);
/* One more answer was denied: true once that goes on for DENIED_FOR_MS. since_ms: 0 at first. */
bool denial_lasts(struct env *env, int64_t *since_ms);
/* For status.reason of an attempt: "QuotaExceeded", "NamespaceTerminating" or "Forbidden". */
const char *refusal_reason(const struct error *err);

#endif
