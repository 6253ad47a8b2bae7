/*
 * One command's talk with the federator: who and where from the kubeconfig and the flags, requests
 * that wait for their answers, and failures in people's words.
 */
#ifndef FEDCTL_SESSION_H
#define FEDCTL_SESSION_H

#include <jansson.h>

#include "api/kind.h"
#include "fedctl/command.h"
#include "kube/client.h"

struct session {
	const struct invocation *inv;
	struct loop *loop;
	struct env *env;
	struct kube_config config;
	struct kube *kube;
	const char *ns;               /* what is in force: -n, else the context's, else "default" */
	int64_t since_ns, allowed_ns; /* of the whole command by its own --timeout, 0: for ever */
	json_t *details;              /* Status.details of the last refusal, or NULL */
};

/* No request is made. On failure s needs no close. */
int session_open(struct session *s, const struct invocation *inv, struct error *err);
void session_close(struct session *s);

struct call {
	const char *method; /* NULL: GET */
	const char *path;
	const json_t *body;       /* NULL: none */
	const char *content_type; /* NULL: application/json */
	int64_t timeout_ms;       /* 0: what --timeout leaves, else 30 s */
	bool quiet;               /* warnings are not printed */
};

/* Waits for the answer, and asks again for as long as the federator asks to come again; prints
 * warnings. ret_body may be NULL; else caller owns. Follows a redirect to the leader once. Err is
 * in people's words, UNREACHABLE when the federator was not reached, TIMEOUT when the time was
 * over. */
int session_call(struct session *s, const struct call *call, json_t **ret_body, struct error *err);

/* kind_path() with both encoded, so that no character of a name becomes part of the query. */
void object_path(const struct kind *kind, const char *ns, const char *name, struct strbuf *out);

/* The object; NOT_FOUND offers the name that was probably meant. */
int session_get(struct session *s, const struct kind *kind, const char *ns, const char *name,
		json_t **ret, struct error *err);

/* All objects as an array, page by page; ns NULL: of all namespaces; selector: the text of -l or
 * NULL. */
int session_list(struct session *s, const struct kind *kind, const char *ns, const char *selector,
		 json_t **ret_items, struct error *err);

/* The name of an object that was probably meant, or NULL; caller frees. Asks for the names. */
char *session_closest(struct session *s, const struct kind *kind, const char *ns, const char *name);
/* "job \"mll\" not found in namespace \"x\"; did you mean \"ml\"?", asking for the names. */
int session_not_found(struct session *s, const struct kind *kind, const char *ns, const char *name,
		      struct error *err);

/* BAD_REQUEST: "https://... does not serve pods; it serves jobs, ...", asking what it does. */
int session_not_served(struct session *s, const struct kind *kind, struct error *err);

/* What is left for the command of its own --timeout, at least 1; 0: it may take for ever. */
int64_t session_left_ns(const struct session *s);
/* How long one request may take now. */
int64_t session_timeout_ms(const struct session *s);
/* TIMEOUT; why: what the federator said last, or "". */
void session_fail_late(const struct session *s, int64_t after_ms, const char *why,
		       struct error *err);

/* Runs the loop until somebody sets *done by session_wake(). */
void session_wait(struct session *s, const bool *done);
void session_wake(struct session *s, bool *done);

/* Puts what the transport said into people's words; reads: nothing can have been changed. */
void session_translate(const struct session *s, bool reads, struct error *err);
/* Whether it is about the way to the federator, and no word of the federator. */
bool error_is_of_transport(const struct error *err);
/* The last part of what it said: "Connection refused". Borrowed. */
const char *failure_reason(const struct error *err);

/* "error: ..." on stderr; a line for each cause when the last refusal had several. Returns the exit
 * code that fits. */
int session_fail(struct session *s, const struct error *err);
/* Whether the last refusal was only that something else is not there. */
bool session_lacks(const struct session *s, const struct error *err);
void say_error(const struct error *err);
void say_warning(const char *text);
int exit_of(const struct error *err);
/* The federator was not heard: another request would fare no better. */
bool exit_is_silence(int exit_code);

/* The words are wrong: EXIT_USAGE. */
int usage_fail(const struct error *err);

#endif
