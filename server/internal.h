/* What the files of this folder share. Nobody else includes it. */
#ifndef SERVER_INTERNAL_H
#define SERVER_INTERNAL_H

#include "base/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "server/server.h"
#include "server/stored.h"

struct collector;
struct namespaces;
struct page;

struct server {
	struct loop *loop;
	struct env *env;
	const struct server_profile *profile;
	struct store *store;
	struct cache *cache;
	struct http_server *http;
	struct page *pages; /* answers that never change: discovery, OpenAPI, version */
	size_t n_pages;
	struct list watches;
	struct collector *collector;
	struct namespaces *namespaces;
	size_t n_pending; /* requests and writes that still hold this struct */
	size_t n_missing; /* namespaces of the profile that are not made yet */
	struct timer *retry;
	bool ready, http_gone;
	void (*on_ready)(void *arg);
	void *on_ready_arg;
	void (*done)(void *arg);
	void *done_arg;
};

const struct server_kind *server_find_kind(const struct server *s, const char *group,
					   const char *version, const char *plural);
/* By apiVersion and kind of an object or an owner reference; NULL: not served here. */
const struct server_kind *server_find_named(const struct server *s, const char *api_version,
					    const char *name);
unsigned server_kind_verbs(const struct server_kind *sk);
void server_hold(struct server *s);
void server_release(struct server *s);
/* Whether this process runs the collectors; ret->key is NULL when nothing guards. */
bool server_leads(const struct server *s, struct store_guard *ret);

/* --- request.c: one request, from its head to its last byte --- */

enum body_type { BODY_JSON, BODY_YAML, BODY_PROTOBUF };
enum field_validation { FIELDS_WARN, FIELDS_STRICT, FIELDS_IGNORE };

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
	void (*cleanup)(
		struct request *r); /* of state, when nobody holds the request; may be NULL */
	void (*on_close)(struct server_request *r, void *arg);
	void *on_close_arg;
	void (*body_done)(struct server_request *r, json_t *body, void *arg);
	void *body_arg;
	enum body_type body_type; /* of the body as it was read, which lives as long as x */
	const char *body_bytes;
	size_t body_size;
	char *body_duplicate; /* path of the first duplicate field of the body, or NULL */
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
/* The client's wishes that are alike for all writes; -1 when malformed. */
int request_dry_run(const struct request *r, bool *ret, struct error *err);
int request_field_validation(const struct request *r, enum field_validation *ret,
			     struct error *err);
const char *request_query(const struct request *r, const char *name); /* NULL: absent or empty */
int request_query_bool(const struct request *r, const char *name, bool *ret, struct error *err);

/* --- auth.c --- */

/* Fills r->user; -1 with UNAUTHORIZED. */
int request_authenticate(struct request *r, struct error *err);
bool request_is_anonymous(const struct request *r);
/* Asks the profile; -1 with FORBIDDEN (or UNAUTHORIZED for nobody) in Kubernetes' words. */
int request_authorize(const struct request *r, struct error *err);

/* --- routes.c --- */

enum route_type { ROUTE_NONE, ROUTE_PAGE, ROUTE_RESOURCE };
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
void respond_warning(struct request *r, const char *text);
/* A Status object of success or failure about what the request names. */
json_t *status_of(const struct request *r, const struct error *err, const struct causes *causes);
/* A cause with a reason of its own. */
void cause_add(struct causes *c, const char *reason, const char *field, const char *message);
/* `jobs.batch.volcano.sh "x" not found` and its like. */
int not_found(const struct kind *k, const char *name, struct error *err);
int already_exists(const struct kind *k, const char *name, struct error *err);
int conflict(const struct kind *k, const char *name, struct error *err);

/* --- negotiate.c --- */

enum form {
	FORM_JSON,
	FORM_TABLE_V1,
	FORM_TABLE_V1BETA1,
	FORM_DISCOVERY_V2,
	FORM_DISCOVERY_V2BETA1
};
/* The first form of the Accept header that is among the allowed (a bit per form). -1:
 * NOT_ACCEPTABLE. */
int accept_form(const char *accept, unsigned allowed, enum form *ret, struct error *err);
#define FORMS_OBJECT (1u << FORM_JSON | 1u << FORM_TABLE_V1 | 1u << FORM_TABLE_V1BETA1)

int body_type_parse(const char *content_type, enum body_type *ret, struct error *err);
/* Bytes of a request's body to a tree that the caller owns; NULL with success when empty. */
int body_parse(enum body_type type, const char *bytes, size_t n, json_t **ret, char **ret_duplicate,
	       struct error *err);

/* --- pages.c, discovery.c, openapi.c: answers that never change --- */

struct page {
	char *path;
	enum form form;
	const char *content_type;
	char *body;
	size_t size;
	char etag[68];
	bool immutable;
};
void pages_create(struct server *s);
void pages_destroy(struct server *s);
void page_add(struct server *s, const char *path, enum form form, json_t *take_body);
void page_run(struct request *r);
bool page_is_open(const struct request *r); /* for those who are nobody, too */
void discovery_add(struct server *s);
void openapi_add(struct server *s);

/* --- view.c: when the cache may be read --- */

enum view_type { VIEW_ANY, VIEW_FRESH, VIEW_VERSION };
struct view {
	enum view_type type;
	int64_t version;
};
/* Calls next when the view is there (at once when it is); answers the request itself when it does
 * not come. The request is kept alive meanwhile. */
void view_await(struct request *r, struct view view, void (*next)(struct request *r));
/* resourceVersion; an empty text is 0 and not given. BAD_REQUEST when it is no version. */
int version_parse(const char *text, int64_t *ret, bool *ret_given, struct error *err);
void too_large_version(int64_t version, int64_t present, struct error *err, struct causes *causes);

/* --- select.c: which documents a request means --- */

struct selection {
	const struct kind *kind;
	char *prefix;
	struct selector *labels; /* both: NULL is everything */
	struct field_selector *fields;
};
int selection_init(struct selection *sel, const struct request *r, struct error *err);
void selection_finish(struct selection *sel);
bool selection_match(const struct selection *sel, const struct doc *d);
bool selection_is_plain(const struct selection *sel); /* selects all of its prefix */

struct doc_array {
	struct doc **items;
	size_t n, cap;
};
void doc_array_finish(struct doc_array *a);
void doc_array_add(struct doc_array *a, const struct doc *d);
/* Appends documents that match, behind the key `after` (NULL: from the start). */
struct collect {
	const char *after;
	size_t limit;  /* documents in ret at most; 0: no limit */
	size_t budget; /* documents looked at in this call; 0: no limit */
};
enum collected {
	COLLECTED_ALL,
	COLLECTED_LIMIT,  /* others that match follow */
	COLLECTED_BUDGET, /* go on behind *ret_last, which the caller frees */
};
enum collected selection_collect(const struct selection *sel, const struct cache *cache,
				 const struct collect *what, struct doc_array *ret,
				 char **ret_last);

/* --- get.c, list.c, watch.c, table.c --- */

void get_run(struct request *r);
void list_run(struct request *r);
void watch_run(struct request *r);

enum include { INCLUDE_METADATA, INCLUDE_NONE, INCLUDE_OBJECT };
struct table_options {
	enum form form; /* FORM_JSON: no table */
	enum include include;
};
int table_options_parse(const struct request *r, struct table_options *ret, struct error *err);
/* Opens {"kind":"Table", ... "rows":[ ; columns false writes null in their place. */
void table_begin(struct strbuf *out, const struct kind *k, const struct table_options *o,
		 int64_t version, const char *continue_, int64_t remaining, bool columns);
void table_row(struct strbuf *out, const struct kind *k, const struct table_options *o,
	       const struct doc *d, int64_t version, int64_t now_ns);
void table_end(struct strbuf *out);

void watches_end(struct server *s);

/* --- write.c: the pipeline --- */

struct delete_options {
	int64_t grace_s;           /* -1: not given */
	const char *uid, *version; /* preconditions; NULL: none */
};

enum write_op { WRITE_CREATE, WRITE_REPLACE, WRITE_PATCH, WRITE_DELETE };

struct write {
	struct server_write pub; /* pub.object is owned */
	struct server *server;
	struct request *request; /* NULL: this process's own */
	const struct server_kind *kind;
	struct arena arena; /* of the whole write */
	enum write_op type;
	json_t *body; /* object or patch; NULL for delete */
	enum patch_type patch_type;
	struct delete_options del;
	enum field_validation validation;
	const char *duplicate; /* path of a field that the body has twice, or NULL */

	/* of the try in hand */
	struct arena scratch;
	unsigned tries;
	bool fresh; /* prepared on a view that is newer than the last refusal */
	struct doc *stored;
	json_t *old;
	char *key, *status_key;
	struct store_guard *guards;
	size_t n_guards, cap_guards;
	struct store_write *writes;
	size_t n_writes, cap_writes;
	size_t own_writes; /* the last so many of writes are of the object itself */
	size_t whole; /* place behind that of them which holds all of the object; 0: none does */
	const char **warnings, **unknown; /* unknown: fields that pruning dropped */
	size_t n_warnings, cap_warnings, n_unknown, cap_unknown;
	bool unchanged, removed;

	bool collects; /* written by a collector: only while this process leads */
	bool emptied;  /* delete of a namespace: nothing is left in it */

	int64_t version; /* of what was committed; 0: nothing was */
	void (*done)(struct write *w, const struct error *err);
	void *arg;
};

/* The caller sets what the operation needs and calls write_run; done is called once, then the write
 * is gone. err NULL: pub.object is what is there now (removed: what was there last). name NULL: the
 * body's. Takes body. */
struct write *write_create(struct server *s, struct request *r, const struct server_kind *kind,
			   enum write_op type, const char *ns, const char *name, json_t *body);
void write_run(struct write *w);
void write_refuse(struct write *w, const struct error *err); /* instead of write_run */
static inline struct write *write_of(struct server_write *pub)
{
	return container_of(pub, struct write, pub);
}
void write_add(struct write *w, const char *key, struct strbuf *value); /* value NULL: delete */
bool write_has(const struct write *w, const char *key);

/* A body of its own for each try, which the caller owns and may change. */
json_t *write_take_body(struct write *w);

/* Each makes object, guards and writes of one try. */
int create_prepare(struct write *w, struct error *err);
int update_prepare(struct write *w, struct error *err); /* replace and patch */
int delete_prepare(struct write *w, struct error *err);

/* check.c: prune, default, validate, admit; what create and update share. */
int object_check(struct write *w, struct error *err);
int object_admit(struct write *w, struct error *err);

/* put.c: from the object in hand to guards and writes. */
/* Loads stored, old and the keys from the cache; -1 with NOT_FOUND. */
int write_load(struct write *w, struct error *err);
int write_extend(struct write *w, struct error *err);
int object_put(struct write *w, struct error *err);
void object_remove(struct write *w);

/* The verbs as requests ask for them. */
void create_run(struct request *r);
void update_run(struct request *r);
void patch_run(struct request *r);
void delete_run(struct request *r);
void collection_run(struct request *r);
/* Answers a request with what a write came to; a `done`. */
void write_respond(struct write *w, const struct error *err);
/* Of body and query. */
int delete_options_parse(const struct request *r, const json_t *body, struct delete_options *ret,
			 bool *ret_dry_run, struct error *err);

/* --- metadata.c --- */

/* apiVersion, kind, namespace and name of a body against the path. */
int body_check(const struct write *w, json_t *object, struct error *err);
/* A name for generateName: its beginning and five characters. */
char *name_generate(struct env *env, const char *prefix); /* caller frees */
/* Fields of metadata that only the server sets: taken from old, whatever object says. */
void metadata_keep(json_t *object, const json_t *old);
bool metadata_has_finalizers(const json_t *object);
bool metadata_is_dying(const json_t *object);
void metadata_set_version(json_t *object, int64_t version);
const char *meta_str(const json_t *object, const char *field); /* metadata.<field>, or NULL */
/* Whether anything but metadata and status differs. */
bool spec_differs(const json_t *a, const json_t *b);

/* --- core_kinds.c: what Secrets and Namespaces have of their own --- */

void core_kind_fold(const struct kind *k, json_t *object);     /* before pruning */
void core_kind_complete(const struct kind *k, json_t *object); /* before admission, on create */
bool is_namespace(const struct kind *k);

/* --- collector.c, namespaces.c --- */

struct collector *collector_create(struct server *s);
void collector_destroy(struct collector *c);
struct namespaces *namespaces_create(struct server *s);
void namespaces_destroy(struct namespaces *n);
/* Doc of a namespace, or NULL. */
struct doc *namespace_get(const struct server *s, const char *ns);
/* Guards that the namespace is there and stays as seen; -1 when it is absent or going. */
int namespace_guard(struct write *w, struct error *err);
bool namespace_is_kept(const struct server *s, const char *ns);

#endif
