/* One request: what it asks for, who asks, how it is answered. */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include "server/internal.h"
#include "server/negotiate.h"

enum field_validation { FIELDS_WARN, FIELDS_STRICT, FIELDS_IGNORE };

/* What an error is about when it is not the object that the path names. */
struct about {
	bool said; /* false: that object */
	const char *group, *kind, *name;
};

struct request {
	struct server_request pub;
	unsigned refs;
	struct arena arena;
	struct server *server;
	const struct server_kind *kind;
	const struct server_route *route;
	struct server_user user;
	enum verb verb;
	void (*run)(struct request *r);
	void (*next)(struct request *r); /* behind a view that is waited for */
	int64_t awaited;                 /* version of that view */
	void *state;                     /* of the verb that runs */
	/* Of state, when nobody holds the request any more; may be NULL. */
	void (*cleanup)(struct request *r);
	void (*on_close)(struct server_request *r, void *arg);
	void *on_close_arg;
	void (*body_done)(struct server_request *r, json_t *body, void *arg);
	void *body_arg;
	enum body_type body_type; /* of the body as it was read, which lives as long as x */
	const char *body_bytes;
	size_t body_size;
	char *body_duplicate; /* path of the first duplicate field of the body, or NULL */
	struct about about;   /* of the error to come */
	struct causes causes; /* what is wrong with its options */
};

struct request *request_create(struct server *s, struct exchange *x);
static inline struct request *request_of(struct server_request *pub)
{
	return container_of(pub, struct request, pub);
}
void request_ref(struct request *r);
void request_unref(struct request *r);
/* Another tree of a body that was read and parsed before; the caller owns it. */
json_t *request_body_again(const struct request *r);
/* Reads the body, at most SERVER_MAX_BODY; arg of done is the request. */
void request_read(struct request *r,
		  void (*done)(struct exchange *x, const char *bytes, size_t n, void *arg));
const char *request_query(const struct request *r, const char *name); /* NULL: absent or empty */

/* --- auth.c --- */

/* Fills r->user; -1 with UNAUTHORIZED. */
int request_authenticate(struct request *r, struct error *err);
bool request_is_anonymous(const struct request *r);
/* Asks the profile; -1 with FORBIDDEN (or UNAUTHORIZED for nobody) in Kubernetes' words. */
int request_authorize(const struct request *r, struct error *err);

/* --- routes.c --- */

enum route_type { ROUTE_NONE, ROUTE_NO_RESOURCE, ROUTE_PAGE, ROUTE_RESOURCE };
/* Fills kind, names and subresource of r->pub from the path. */
enum route_type route_parse(struct request *r);
/* Fills verb and run; -1 with METHOD_NOT_ALLOWED. */
int route_verb(struct request *r, struct error *err);

/* --- respond.c --- */

void respond_bytes(struct request *r, int status, const char *content_type, const void *bytes,
		   size_t n);
void respond_text(struct request *r, int status, const char *text);
void respond_json(struct request *r, int status, const json_t *body);
void respond_error(struct request *r, const struct error *err, const struct causes *causes);
void respond_not_found_path(struct request *r);
/* A resource that is not there in a group and version that is. */
void respond_not_found_resource(struct request *r);
void respond_warning(struct request *r, const char *text);
/* A cause with a reason of its own. */
void cause_add(struct causes *c, const char *reason, const char *field, const char *message);
/* `jobs.batch.volcano.sh "x" not found` and its like. */
int not_found(const struct kind *k, const char *name, struct error *err);
int already_exists(const struct kind *k, const char *name, struct error *err);
int conflict(const struct kind *k, const char *name, struct error *err);

#endif
