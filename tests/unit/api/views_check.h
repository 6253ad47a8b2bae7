/* What the tests of views share. */
#ifndef TESTS_UNIT_API_VIEWS_CHECK_H
#define TESTS_UNIT_API_VIEWS_CHECK_H

#include <string.h>

#include "api/views.h"

/* 2026-11-29T17:46:46Z */
#define SOME_TIME INT64_C(1795974406000000000)

static inline struct doc *make_doc(const char *bytes)
{
	struct doc *d = doc_create("/k", bytes, strlen(bytes));

	d->version = 77;
	return d;
}

static inline void unref_doc(struct doc **d)
{
	doc_unref(*d);
}
#define auto_doc __attribute__((cleanup(unref_doc))) struct doc

#endif
