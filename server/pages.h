/* Answers that never change: version, discovery, OpenAPI. */
#ifndef SERVER_PAGES_H
#define SERVER_PAGES_H

#include "server/request.h"

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

#endif
