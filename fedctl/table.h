/*
 * Tables: columns aligned by what they take on a terminal, those that say nothing left out, and all
 * of it within a width.
 */
#ifndef FEDCTL_TABLE_H
#define FEDCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/strbuf.h"

struct table;

/* headers: n of them, copied. The first column is never left out. */
struct table *table_create(const char *const *headers, size_t n);
void table_destroy(struct table *t);
DEFINE_CLEANUP(struct table, table_destroy)

/* Appends a row of as many cells; NULL is empty. Copied, control characters made spaces. */
void table_add(struct table *t, const char *const *cells);
size_t table_rows(const struct table *t);

/* The column takes at least so much: for words that come later. */
void table_widen(struct table *t, size_t column, size_t width);
/* Shows all columns, the empty ones too: rows that come later may fill them. */
void table_keep_all(struct table *t);
/* Names are not cut, even where the line gets too long: people copy them. */
void table_keep_whole(struct table *t, size_t column);
/* Colors words of this column; color gives an escape sequence or NULL. */
void table_paint(struct table *t, size_t column, const char *(*color)(const char *word));

/* Lines of the headers, the first time, and of the rows added since; those are forgotten, but for
 * the widths that they made. width 0: no limit. */
void table_write(struct table *t, size_t width, bool colors, struct strbuf *out);

#endif
