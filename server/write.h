/* Writing: the pipeline, and what its preparations share. */
#ifndef SERVER_WRITE_H
#define SERVER_WRITE_H

#include "server/request.h"

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
	struct about about; /* of the error, if there is one */

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
int delete_options_parse(struct request *r, const json_t *body, struct delete_options *ret,
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

/* --- namespaces.c --- */

bool is_namespace(const struct kind *k);
/* Guards that the namespace is there and stays as seen; -1 when it is absent or going. */
int namespace_guard(struct write *w, struct error *err);

#endif
