/* Reading: when the cache may be read, what a request means, how it is shown. */
#ifndef SERVER_READ_H
#define SERVER_READ_H

#include "server/request.h"

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
int list_limit(const struct request *r, size_t *ret, struct error *err); /* 0: none */
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

#endif
