/*
 * How views are read: a table of fields per record, one walker. Internal to the views.
 * Absent and null leave what is there; anything of a wrong type is INVALID and names its path.
 */
#ifndef API_VIEWS_DECODE_H
#define API_VIEWS_DECODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/path.h"
#include "api/views.h"

struct decoder {
	struct arena *arena;
	struct error *err;
};

enum field_type {
	FIELD_STRING,  /* const char *, in the arena */
	FIELD_STRINGS, /* const char *const *, NULL-terminated */
	FIELD_INT32,   /* 0 to INT32_MAX */
	FIELD_INT64,   /* 0 to INT64_MAX */
	FIELD_DECIMAL, /* int64_t, written as a string */
	FIELD_BOOL,
	FIELD_KEY,        /* bool: the key is there, whatever its value */
	FIELD_TIME,       /* int64_t, ns since 1970 */
	FIELD_MILLIONTHS, /* int64_t, a quantity in millionths */
	FIELD_WHOLE,      /* int64_t, a quantity in whole units */
	FIELD_ENUM,       /* by names */
	FIELD_LABELS,     /* struct label *, sorted by key, and a count */
	FIELD_RESOURCES,  /* struct resource_list */
	FIELD_TREE,       /* const json_t *, borrowed */
	FIELD_CONDITION,  /* bool: the condition `text` is True */
	FIELD_OBJECT,     /* a record, at offset */
	FIELD_ARRAY,      /* pointer to records, and a count */
	FIELD_CALL,       /* by a function of its own; into is the record */
};

struct names {
	const char *const *items;
	size_t n;
	int otherwise; /* the value of an unknown name; -1: it is an error */
};

struct field {
	const char *name;
	enum field_type type;
	bool required;
	size_t offset, count_offset;
	union {
		const struct record *record;
		const struct names *names;
		const char *text;
		int (*call)(struct decoder *d, const json_t *value, const struct path *at,
			    void *into);
	};
};

struct record {
	const struct field *fields;
	size_t n;
	size_t size;              /* of an element; arrays only */
	void (*init)(void *item); /* what stands where a field is absent; may be NULL */
};

#define FIELD(T, member, json_name, field_type)                                                    \
	{                                                                                          \
		.name = (json_name), .type = (field_type), .offset = offsetof(struct T, member)    \
	}
#define FIELD_REQUIRED(T, member, json_name, field_type)                                           \
	{                                                                                          \
		.name = (json_name), .type = (field_type), .offset = offsetof(struct T, member),   \
		.required = true                                                                   \
	}
#define FIELD_COUNTED(T, member, count, json_name, field_type)                                     \
	{                                                                                          \
		.name = (json_name), .type = (field_type), .offset = offsetof(struct T, member),   \
		.count_offset = offsetof(struct T, count)                                          \
	}
#define FIELD_ITEMS(T, member, count, json_name, record_)                                          \
	{                                                                                          \
		.name = (json_name), .type = FIELD_ARRAY, .offset = offsetof(struct T, member),    \
		.count_offset = offsetof(struct T, count), .record = (record_)                     \
	}
/* Fields of a nested object that lie in the same struct, or in a member of it. */
#define FIELD_NESTED(json_name, record_)                                                           \
	{                                                                                          \
		.name = (json_name), .type = FIELD_OBJECT, .record = (record_)                     \
	}
#define FIELD_MEMBER(T, member, json_name, record_)                                                \
	{                                                                                          \
		.name = (json_name), .type = FIELD_OBJECT, .offset = offsetof(struct T, member),   \
		.record = (record_)                                                                \
	}
#define FIELD_NAMED(T, member, json_name, names_)                                                  \
	{                                                                                          \
		.name = (json_name), .type = FIELD_ENUM, .offset = offsetof(struct T, member),     \
		.names = (names_)                                                                  \
	}
#define FIELD_TRUE(T, member, condition)                                                           \
	{                                                                                          \
		.name = "conditions", .type = FIELD_CONDITION,                                     \
		.offset = offsetof(struct T, member), .text = (condition)                          \
	}
#define FIELD_BY(json_name, function)                                                              \
	{                                                                                          \
		.name = (json_name), .type = FIELD_CALL, .call = (function)                        \
	}

#define RECORD(fields_)                                                                            \
	{                                                                                          \
		.fields = (fields_), .n = ARRAY_LEN(fields_)                                       \
	}

extern const struct record meta_record; /* of struct meta; meta_init() first */
void meta_init(struct meta *m);

int record_decode(struct decoder *d, const struct record *r, const json_t *object,
		  const struct path *at, void *into);
/* An array of records. */
int records_decode(struct decoder *d, const struct record *r, const json_t *array,
		   const struct path *at, void *ret_items, size_t *ret_n);
/* "path: text" into err, INVALID; returns -1. */
int decode_fail(struct decoder *d, const struct path *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts the path before an error that is there already; returns -1. */
int decode_prefix(struct decoder *d, const struct path *at);

#endif
