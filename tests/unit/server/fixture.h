/*
 * A real server on a free port of the loopback, with a memory store, on a thread of its own; tests
 * talk to it by HTTPS with blocking calls. Users are bearer tokens: "alice", or "alice,group".
 */
#ifndef TESTS_UNIT_SERVER_FIXTURE_H
#define TESTS_UNIT_SERVER_FIXTURE_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "server/server.h"

struct fixture;

/* What the profile leaves out is set by the fixture: every kind of the table, the tokens, the
 * namespace "default". NULL: nothing but that. */
struct fixture *fixture_create(const struct server_profile *profile);
void fixture_destroy(struct fixture *f);
struct server *fixture_server(struct fixture *f);
struct cache *fixture_cache(struct fixture *f);
struct store *fixture_store(struct fixture *f);
struct env *fixture_server_env(struct fixture *f);
/* Runs fn on the server's thread and waits for its end. */
void fixture_run(struct fixture *f, void (*fn)(struct fixture *f, void *arg), void *arg);
void fixture_hold_back(struct fixture *f, bool held);
/* All rows of the kind table, as a profile's kinds. */
const struct server_kind *all_kinds(size_t *ret_n);

struct answer {
	int status;   /* 0: no answer */
	json_t *json; /* NULL when the body is none */
	char *body, *headers;
};
void answer_finish(struct answer *a);
#define auto_answer __attribute__((cleanup(answer_finish), unused)) struct answer

struct call {
	const char *method, *path;
	const char *body;                 /* NULL: none */
	size_t size;                      /* 0: strlen(body) */
	const char *type, *accept, *user; /* NULL: application/json, application/json, "alice" */
	const char *header;               /* one more, or NULL */
	bool certificate;                 /* CN carol, O admins, instead of a token */
	bool nobody;                      /* no token, no certificate */
};
struct answer call_full(struct fixture *f, const struct call *c);
struct answer call(struct fixture *f, const char *method, const char *path, const char *body);
struct answer patch(struct fixture *f, const char *path, const char *type, const char *body);

/* Text at a path of the answer: at(&a, "metadata", "name"); "" when absent. */
#define at(a, ...) text_at((a)->json, __VA_ARGS__, NULL)
const char *text_at(const json_t *j, ...) __attribute__((sentinel));
/* The value of a response header, "" when absent; lives until the next call of it. */
const char *header_of(const struct answer *a, const char *name);

/* Status of failure: code, reason, and the message contains text. */
#define expect_failure(a, code_, reason_, text)                                                    \
	do {                                                                                       \
		cr_expect_eq((a)->status, code_, "status %d: %s", (a)->status, (a)->body);         \
		cr_expect_str_eq(at(a, "reason"), reason_, "%s", (a)->body);                       \
		cr_expect(strstr(at(a, "message"), text), "no \"%s\" in %s", text, (a)->body);     \
	} while (0)
#define expect_status(a, code_)                                                                    \
	cr_assert_eq((a)->status, code_, "status %d: %s", (a)->status, (a)->body)

/* A watch, read line by line. */
struct watcher;
struct watcher *watcher_open(struct fixture *f, const char *path, const char *accept);
struct watcher *watcher_open_as(struct fixture *f, const char *user, const char *path);
/* The next line; the caller owns it. NULL: the stream has ended, or nothing came in 5 s. */
json_t *watcher_next(struct watcher *w);
bool watcher_ended(struct watcher *w); /* waits up to 5 s; true: it ended cleanly */
/* Nothing comes for so long. */
bool watcher_is_quiet(struct watcher *w, int64_t ms);
void watcher_close(struct watcher *w);
/* Expects the next line to be of that type about an object of that name; its version is returned
 * in a buffer that lives until the next call. */
const char *expect_event(struct watcher *w, const char *type, const char *name);

#define JOBS    "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
#define QUEUES  "/apis/scheduling.volcano.sh/v1beta1/queues"
#define CONFIGS "/api/v1/namespaces/default/configmaps"

/* Bodies, in static memory that the next call overwrites. */
const char *job_body(const char *name, const char *extra_metadata);
const char *config_body(const char *name, const char *extra_metadata);

#endif
