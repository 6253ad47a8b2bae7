/*
 * The kind table: one row per kind that some process serves. Server, store keys, client paths,
 * tables, discovery and OpenAPI are all driven by it.
 */
#ifndef API_KIND_H
#define API_KIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/status.h"
#include "base/strbuf.h"

struct schema;

enum verb {
	VERB_CREATE = 1 << 0,
	VERB_DELETE = 1 << 1,
	VERB_DELETECOLLECTION = 1 << 2,
	VERB_GET = 1 << 3,
	VERB_LIST = 1 << 4,
	VERB_PATCH = 1 << 5,
	VERB_UPDATE = 1 << 6,
	VERB_WATCH = 1 << 7,
	VERB_ALL = (1 << 8) - 1,
};

/* A column of `kubectl get`. Cells are made by `cell` (which writes into a JSON value: a string,
 * an integer or null) from the object's tree; now_ns is the wall clock, for ages. */
struct column {
	const char *name, *type; /* "Age", "date" */
	int priority;            /* 1: only with -o wide */
	json_t *(*cell)(const json_t *object, int64_t now_ns);
};

/* A field that fieldSelector may name besides metadata.name and metadata.namespace. */
struct selectable_field {
	const char *name; /* "spec.nodeName" */
};

/* What metadata.name must be (api/meta.h checks it). */
enum name_rule {
	NAME_SUBDOMAIN,  /* at most 253 characters: most kinds */
	NAME_LABEL,      /* at most 63 */
	NAME_LABEL_1035, /* begins with a letter: Service */
	NAME_CLUSTER,    /* a label of at most 32 */
	NAME_SEGMENT,    /* whatever a path segment may be: CertificateSigningRequest */
};

struct kind {
	const char *group;                                /* "" for core */
	const char *version;                              /* "v1alpha1" */
	const char *plural, *singular, *name, *list_name; /* "jobs", "job", "Job", "JobList" */
	const char *const *short_names;                   /* NULL-terminated, or NULL */
	const char *const *categories;
	bool namespaced;
	bool core;           /* strategic merge patch; no status prune of a CRD */
	bool has_status;     /* status subresource */
	bool split_status;   /* status lies in a key of its own */
	bool has_generation; /* metadata.generation counts changes of what is not metadata or status
			      */
	unsigned verbs;
	const char *schema_file;      /* "batch.volcano.sh_jobs.yaml": embedded at build */
	const struct column *columns; /* ends with a NULL name; NAME comes first by itself */
	bool name_wide;               /* NAME is shown with -o wide only (events) */
	const struct selectable_field *fields; /* ends with a NULL name; may be NULL */
	enum name_rule name_rule;
	/* On a tree that was pruned and defaulted by the schema, but not yet checked by it: types
	 * may be wrong. May be NULL; kind_default() runs both. */
	void (*set_defaults)(json_t *object);
	/* What the schema cannot say; old is NULL on create. Called only on trees that the schema
	 * found nothing wrong with. May be NULL; kind_validate() runs all checks. */
	void (*validate)(const json_t *object, const json_t *old, struct causes *causes);
};

/* All kinds, core first. */
extern const struct kind *const kinds[];
extern const size_t kinds_count;
#define KINDS_MAX 32

const struct kind *kind_find(const char *group, const char *plural);
const struct kind *kind_find_by_name(const char *api_version, const char *name);
/* What a person types: plural, singular, short name, any of them with ".group". */
const struct kind *kind_find_typed(const char *word);

/* "batch.volcano.sh/v1alpha1", "v1". */
void kind_api_version(const struct kind *k, struct strbuf *out);
/* "jobs.batch.volcano.sh", "configmaps": as error texts name a resource. */
void kind_resource_name(const struct kind *k, struct strbuf *out);
/* The schema, compiled at first use and kept. */
const struct schema *kind_schema(const struct kind *k);

/* The text of the CRD (or, for core kinds, of the file of the same format), as embedded at build:
 * what an agent installs in its member and a server publishes. */
const char *kind_crd_yaml(const struct kind *k, size_t *ret_size);

/* Schema defaults, then the kind's own. Idempotent. */
void kind_default(const struct kind *k, json_t *object);
/* Adds a cause for everything that is wrong with a defaulted object: its schema, its metadata,
 * the kind's own rules. old is the stored object of an update, NULL on create. */
void kind_validate(const struct kind *k, const json_t *object, const json_t *old,
		   struct causes *causes);

/* Keys of the store. Core's group is spelled "core". name NULL: the prefix of a namespace; ns NULL:
 * of the kind (ends with /). */
void kind_key(const struct kind *k, const char *ns, const char *name, struct strbuf *out);
/* The key of the status of a kind with split_status: "/federator/<group>/<plural>.status/...". */
void kind_status_key(const struct kind *k, const char *ns, const char *name, struct strbuf *out);
/* The REST path: "/apis/batch.volcano.sh/v1alpha1/namespaces/x/jobs/y"; ns and name as above. */
void kind_path(const struct kind *k, const char *ns, const char *name, struct strbuf *out);

#endif
