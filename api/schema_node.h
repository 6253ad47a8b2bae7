/*
 * Inside of schema_*.c: a compiled schema is a tree of nodes, one per place in an object.
 * Strings and JSON that nodes refer to belong to the file's tree, which the schema keeps.
 */
#ifndef API_SCHEMA_NODE_H
#define API_SCHEMA_NODE_H

#include <stdint.h>

#include "api/schema.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum node_type {
	NODE_ANY, /* no type: only with preserve */
	NODE_OBJECT,
	NODE_ARRAY,
	NODE_STRING,
	NODE_INTEGER,
	NODE_BOOLEAN,
	NODE_INT_OR_STRING,
	NODE_QUANTITY, /* a string of that format, or any number: core kinds only */
};

/* How a text must look: a format of OpenAPI, or a pattern whose check is written by hand. */
struct text_rule {
	const char *format, *pattern; /* one of them */
	bool (*ok)(const char *text);
	const char *must; /* "must be ..." */
};

struct schema_node;

struct schema_property {
	const char *name;
	struct schema_node *node;
};

#define NO_LIMIT INT64_MAX

struct schema_node {
	enum node_type type;
	bool preserve, nullable;
	struct schema_property *properties; /* sorted by name */
	size_t n_properties;
	struct schema_node *items;                            /* of an array */
	struct schema_node *additional;                       /* of an object that is a map */
	const struct text_rule *rule;                         /* of a string */
	const json_t *default_, *enum_, *required;            /* NULL when there is none */
	int64_t minimum, maximum;                             /* INT64_MIN, NO_LIMIT */
	int64_t min_length, max_length, min_items, max_items; /* 0, NO_LIMIT */
	const json_t *source;                                 /* as the file has it */
};

struct schema {
	struct arena arena;
	json_t *file, *meta_file;
	struct schema_node *root;
};

/* "spec.tasks[]"; NULL when there is no such place. */
const struct schema_node *schema_node_at(const struct schema *s, const char *path);
/* schema_validate() of a part, which lies at `at` in the whole. */
struct path;
void schema_validate_part(const struct schema_node *n, const json_t *value, const struct path *at,
			  struct causes *causes);

const struct schema_node *node_property(const struct schema_node *n, const char *name);

const struct text_rule *text_rule_by_format(const char *format);
const struct text_rule *text_rule_by_pattern(const char *pattern);
/* All of them, for tests; ends with an entry without ok. */
extern const struct text_rule text_rules[];

#endif
