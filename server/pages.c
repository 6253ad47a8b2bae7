/*
 * Answers that are the same as long as the process lives, made once at its start: version,
 * discovery, OpenAPI. Clients keep them by their ETag.
 */
#include <string.h>

#include "base/encode.h"
#include "server/pages.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

static const char *const content_types[] = {
	[FORM_JSON] = "application/json",
	[FORM_DISCOVERY_V2] =
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
	[FORM_DISCOVERY_V2BETA1] =
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
};

void page_add(struct server *s, const char *path, enum form form, json_t *take_body)
{
	auto_json *body = take_body;
	auto_strbuf text = {0};
	struct page *p;
	char hash[65];

	json_write(&text, body);
	sha256_hex(strbuf_str(&text), text.size, hash);
	s->pages = xrealloc(s->pages, s->n_pages + 1, sizeof(*s->pages));
	p = &s->pages[s->n_pages++];
	*p = (struct page){
		.path = xstrdup(path), .form = form, .content_type = content_types[form]};
	snprintf(p->etag, sizeof(p->etag), "\"%.64s\"", hash);
	p->size = text.size;
	p->body = strbuf_take(&text);
}

static void add_version(struct server *s)
{
	const char *git = s->profile->git_version ? s->profile->git_version : "v1.36.0";
	auto_xfree char *minor = xstrdup("36");
	json_t *j = json_object();
	unsigned major_n, minor_n;

	if (sscanf(git, "v%u.%u", &major_n, &minor_n) == 2) {
		free(minor);
		minor = xasprintf("%u", minor_n);
	}
	json_set_str(j, "major", "1");
	json_set_str(j, "minor", minor);
	json_set_str(j, "gitVersion", git);
	json_set_str(j, "gitCommit", "");
	json_set_str(j, "gitTreeState", "");
	json_set_str(j, "buildDate", "1970-01-01T00:00:00Z");
	json_set_str(j, "goVersion", "none");
	json_set_str(j, "compiler", COMPILER);
	json_set_str(j, "platform", "linux");
	page_add(s, "/version", FORM_JSON, j);
}

/* What a joining member compares with the hash that it was given; a certificate is no secret. */
static void add_authority(struct server *s)
{
	json_t *j = json_object();

	json_set_str(j, "certificate", s->profile->ca_pem);
	page_add(s, "/ca", FORM_JSON, j);
}

static const char *const health_paths[] = {"/healthz", "/livez", "/readyz"};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What there is to ask for. */
static void add_root(struct server *s)
{
	auto_xfree const char **paths =
		xcalloc(s->n_pages + ARRAY_LEN(health_paths), sizeof(char *));
	json_t *list = json_array(), *root = json_object();
	size_t n = 0;

	for (size_t i = 0; i < s->n_pages; i++)
		paths[n++] = s->pages[i].path;
	for (size_t i = 0; i < ARRAY_LEN(health_paths); i++)
		paths[n++] = health_paths[i];
	qsort(paths, n, sizeof(*paths), compare_texts);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(paths[i - 1], paths[i]) != 0)
			json_array_append_new(list, json_string(paths[i]));
	json_object_set_new(root, "paths", list);
	page_add(s, "/", FORM_JSON, root);
}

void pages_create(struct server *s)
{
	add_version(s);
	if (s->profile->ca_pem)
		add_authority(s);
	discovery_add(s);
	openapi_add(s);
	add_root(s);
}

void pages_destroy(struct server *s)
{
	for (size_t i = 0; i < s->n_pages; i++) {
		free(s->pages[i].path);
		free(s->pages[i].body);
	}
	free(s->pages);
	s->pages = NULL;
	s->n_pages = 0;
}

static bool same_path(const char *page, const char *path)
{
	size_t n = strlen(page);

	return !strncmp(page, path, n) && (!path[n] || !strcmp(path + n, "/"));
}

/* Forms that the path has a page in, a bit each. */
static unsigned page_forms(const struct request *r)
{
	const struct server *s = r->server;
	unsigned forms = 0;

	for (size_t i = 0; i < s->n_pages; i++)
		if (same_path(s->pages[i].path, exchange_path(r->pub.x)))
			forms |= 1u << s->pages[i].form;
	return forms;
}

static const struct page *page_find(const struct request *r, enum form form)
{
	const struct server *s = r->server;

	for (size_t i = 0; i < s->n_pages; i++)
		if (s->pages[i].form == form &&
		    same_path(s->pages[i].path, exchange_path(r->pub.x)))
			return &s->pages[i];
	return NULL;
}

static bool is_health(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(health_paths); i++)
		if (same_path(health_paths[i], path))
			return true;
	return false;
}

bool page_is_open(const struct request *r)
{
	const char *path = exchange_path(r->pub.x);

	return is_health(path) || same_path("/version", path) || same_path("/ca", path);
}

static void health_run(struct request *r)
{
	bool ready = r->server->ready || !same_path("/readyz", exchange_path(r->pub.x));

	respond_text(r, ready ? 200 : 503, ready ? "ok" : "not ready: the cache is loading");
}

static void page_send(struct request *r, const struct page *p)
{
	const char *known = exchange_header(r->pub.x, "If-None-Match");

	exchange_add_header(r->pub.x, "ETag", p->etag);
	exchange_add_header(r->pub.x, "Vary", "Accept");
	exchange_add_header(r->pub.x, "Cache-Control",
			    p->immutable ? "public, immutable" : "public");
	if (known && strstr(known, p->etag))
		respond_bytes(r, 304, p->content_type, "", 0);
	else
		respond_bytes(r, 200, p->content_type, p->body, p->size);
}

void page_run(struct request *r)
{
	unsigned forms = page_forms(r);
	struct error err;
	enum form form;

	if (strcmp(exchange_method(r->pub.x), "GET") != 0) {
		error_set(&err, ERR_METHOD_NOT_ALLOWED,
			  "the server does not allow this method on the requested resource");
		respond_error(r, &err, NULL);
	} else if (is_health(exchange_path(r->pub.x))) {
		health_run(r);
	} else if (!forms) {
		respond_not_found_path(r);
	} else if (accept_form(exchange_header(r->pub.x, "Accept"), forms, &form, &err)) {
		respond_error(r, &err, NULL);
	} else {
		page_send(r, page_find(r, form));
	}
}
