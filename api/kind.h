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

struct kind {
	const char *group;   /* "" for core */
	const char *version; /* "v1alpha1" */
	const char *plural, *singular, *name, *list_name; /* "jobs", "job", "Job", "JobList" */
	const char *const *short_names; /* NULL-terminated, or NULL */
	const char *const *categories;
	bool namespaced;
	bool core;           /* strategic merge patch; no status prune of a CRD */
	bool has_status;     /* status subresource */
	bool split_status;   /* status lies in a key of its own */
	bool has_generation; /* metadata.generation counts changes of what is not metadata or status */
	unsigned verbs;
	const char *schema_file; /* "batch.volcano.sh_jobs.yaml": embedded at build */
	const struct column *columns; /* ends with a NULL name; NAME comes first by itself */
	const struct selectable_field *fields; /* ends with a NULL name; may be NULL */
	/* On a tree that was pruned and defaulted by the schema. May be NULL. */
	void (*set_defaults)(json_t *object);
	/* Adds a cause for everything that is wrong; old is NULL on create. May be NULL. */
	void (*validate)(const json_t *object, const json_t *old, struct causes *causes);
};

/* All kinds, core first. */
extern const struct kind *const kinds[];
extern const size_t kinds_count;

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

/* Keys of the store. name NULL: the prefix of a namespace; ns NULL: of the kind (ends with /). */
void kind_key(const struct kind *k, const char *ns, const char *name, struct strbuf *out);
/* The key of the status of a kind with split_status: "/federator/<group>/<plural>.status/...". */
void kind_status_key(const struct kind *k, const char *ns, const char *name, struct strbuf *out);
/* The REST path: "/apis/batch.volcano.sh/v1alpha1/namespaces/x/jobs/y"; ns and name as above. */
void kind_path(const struct kind *k, const char *ns, const char *name, struct strbuf *out);

#endif
