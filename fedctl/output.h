/* What is printed, and how: objects as JSON or YAML, names, colors, the width of the terminal. */
#ifndef FEDCTL_OUTPUT_H
#define FEDCTL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "api/kind.h"
#include "base/strbuf.h"

#define COLOR_RED    "\033[31m"
#define COLOR_GREEN  "\033[32m"
#define COLOR_YELLOW "\033[33m"
#define COLOR_OFF    "\033[0m"

/* A terminal, and NO_COLOR is not set. */
bool colors_on(FILE *f);
/* Of the terminal that stdout is; 100 elsewhere. */
size_t output_width(void);

/* Appends text as one line: control characters, which could move a terminal's cursor, are spaces.
 */
void clean_text(const char *text, struct strbuf *out);

/* Columns that the text takes on a terminal. */
size_t text_width(const char *text);

/* Appends at most width columns of the text, the last an ellipsis where it was cut. */
void cut_text(const char *text, size_t width, struct strbuf *out);

enum output { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME };
enum output output_parse(const char *text); /* NULL: TABLE */
bool output_is_document(enum output form);  /* one text for all that is printed */

/* The object as JSON of four spaces, as YAML, or its name ("job.batch.volcano.sh/x"). Without
 * metadata.managedFields. */
void object_write(const json_t *object, enum output form, const struct kind *kind,
		  struct strbuf *out);
/* Several as a List; kind is for names only. */
void objects_write(json_t *items, enum output form, const struct kind *kind, struct strbuf *out);

/* What became of an object: the line, or the object itself where a form is given. */
void outcome_print(const char *line, const json_t *object, enum output form,
		   const struct kind *kind);

/* Writes and flushes; false: nobody reads any more. */
bool print_out(const char *bytes, size_t n);

#endif
