#include "fixture.h"

#include <curl/curl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <uv.h>

#include "base/mem.h"
#include "base/pki.h"
#include "base/strbuf.h"

struct fixture {
	struct loop *loop;
	struct store *store;
	struct cache *cache;
	struct server *server;
	struct server_profile profile;
	struct pki_pair ca, pair, client;
	struct cache_join joins[8];
	int port;
	uv_thread_t thread;
	uv_async_t async;
	sem_t ready, ran;
	void (*fn)(struct fixture *f, void *arg);
	void *fn_arg;
};

const struct server_kind *all_kinds(size_t *ret_n)
{
	static struct server_kind rows[64];

	for (size_t i = 0; i < kinds_count; i++)
		rows[i].kind = kinds[i];
	*ret_n = kinds_count;
	return rows;
}

static int user_of_token(const char *token, struct arena *a, struct server_user *ret, void *arg)
{
	const char *comma = strchr(token, ',');
	const char **groups = arena_array(a, const char *, 2);

	if (!strcmp(token, "unknown"))
		return -1;
	groups[0] = comma ? arena_strdup(a, comma + 1) : NULL;
	ret->name = arena_strndup(a, token, strcspn(token, ","));
	ret->groups = groups;
	return 0;
}

/* --- the server's thread --- */

static void on_async(uv_async_t *async)
{
	struct fixture *f = async->data;

	f->fn(f, f->fn_arg);
	sem_post(&f->ran);
}

static void on_server_ready(void *arg)
{
	struct fixture *f = arg;

	sem_post(&f->ready);
}

static void on_cache_ready(void *arg)
{
}

static void make_joins(struct fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < kinds_count; i++) {
		struct strbuf main = {0}, status = {0};

		if (!kinds[i]->split_status)
			continue;
		kind_key(kinds[i], NULL, NULL, &main);
		kind_status_key(kinds[i], NULL, NULL, &status);
		f->joins[n++] = (struct cache_join){strbuf_take(&main), strbuf_take(&status)};
	}
}

static void make_pki(struct fixture *f)
{
	static const char *const hosts[] = {"127.0.0.1", NULL};
	static const char *const groups[] = {"admins", NULL};
	const int64_t now = env_wall_ns(loop_env(f->loop)) / 1000000000;
	const struct pki_subject server = {.user = "server",
					   .hosts = hosts,
					   .not_before_s = now - 60,
					   .not_after_s = now + 86400,
					   .server = true};
	const struct pki_subject client = {.user = "carol",
					   .groups = groups,
					   .not_before_s = now - 60,
					   .not_after_s = now + 86400,
					   .client = true};

	cr_assert_eq(pki_make_ca("ca", now - 60, now + 86400, &f->ca, NULL), 0);
	cr_assert_eq(pki_issue(&f->ca, &server, &f->pair, NULL), 0);
	cr_assert_eq(pki_issue(&f->ca, &client, &f->client, NULL), 0);
}

static void start(struct fixture *f)
{
	const struct http_server_config http = {.host = "127.0.0.1",
						.cert_pem = f->pair.cert_pem,
						.key_pem = f->pair.key_pem,
						.client_ca_pem = f->ca.cert_pem};
	struct error err;

	f->async.data = f;
	uv_async_init(loop_uv(f->loop), &f->async, on_async);
	f->store = store_memory_create(f->loop);
	f->cache = cache_create(f->store, f->loop, f->joins, on_cache_ready, f);
	cr_assert_eq(
		server_create(f->loop, &f->profile, f->store, f->cache, &http, &f->server, &err), 0,
		"%s", err.text);
	server_on_ready(f->server, on_server_ready, f);
	f->port = server_port(f->server);
}

static void run_thread(void *arg)
{
	struct fixture *f = arg;

	loop_run(f->loop);
}

static void default_profile(struct fixture *f, const struct server_profile *profile)
{
	static const char *const namespaces[] = {"default", NULL};

	if (profile)
		f->profile = *profile;
	if (!f->profile.kinds)
		f->profile.kinds = all_kinds(&f->profile.n_kinds);
	if (!f->profile.token)
		f->profile.token = user_of_token;
	if (!f->profile.namespaces)
		f->profile.namespaces = namespaces;
}

struct fixture *fixture_create(const struct server_profile *profile)
{
	struct fixture *f = xnew0(struct fixture);

	default_profile(f, profile);
	sem_init(&f->ready, 0, 0);
	sem_init(&f->ran, 0, 0);
	f->loop = loop_create();
	make_joins(f);
	make_pki(f);
	start(f);
	cr_assert_eq(uv_thread_create(&f->thread, run_thread, f), 0);
	sem_wait(&f->ready);
	return f;
}

void fixture_run(struct fixture *f, void (*fn)(struct fixture *f, void *arg), void *arg)
{
	f->fn = fn;
	f->fn_arg = arg;
	uv_async_send(&f->async);
	sem_wait(&f->ran);
}

static void on_destroyed(void *arg)
{
	struct fixture *f = arg;

	cache_destroy(f->cache);
	store_destroy(f->store);
	uv_close((uv_handle_t *)&f->async, NULL);
}

static void begin_end(struct fixture *f, void *arg)
{
	server_destroy(f->server, 0, on_destroyed, f);
}

void fixture_destroy(struct fixture *f)
{
	fixture_run(f, begin_end, NULL);
	uv_thread_join(&f->thread);
	loop_destroy(f->loop);
	for (struct cache_join *j = f->joins; j->main; j++) {
		free((char *)(uintptr_t)j->main);
		free((char *)(uintptr_t)j->status);
	}
	pki_pair_finish(&f->ca);
	pki_pair_finish(&f->pair);
	pki_pair_finish(&f->client);
	sem_destroy(&f->ready);
	sem_destroy(&f->ran);
	free(f);
}

struct server *fixture_server(struct fixture *f)
{
	return f->server;
}

struct cache *fixture_cache(struct fixture *f)
{
	return f->cache;
}

struct store *fixture_store(struct fixture *f)
{
	return f->store;
}

struct env *fixture_server_env(struct fixture *f)
{
	return loop_env(f->loop);
}

static void hold_back(struct fixture *f, void *arg)
{
	cache_hold_back(f->cache, *(bool *)arg);
}

void fixture_hold_back(struct fixture *f, bool held)
{
	fixture_run(f, hold_back, &held);
}

/* --- calls --- */

static size_t collect(char *bytes, size_t size, size_t n, void *arg)
{
	strbuf_add(arg, bytes, size * n);
	return size * n;
}

static void set_common(CURL *curl, struct fixture *f, const struct call *c,
		       struct curl_slist **headers)
{
	struct curl_blob ca = {f->ca.cert_pem, strlen(f->ca.cert_pem), CURL_BLOB_COPY};
	char url[4096], line[1024];

	snprintf(url, sizeof(url), "https://127.0.0.1:%d%s", f->port, c->path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &ca);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	snprintf(line, sizeof(line), "Accept: %s", c->accept ? c->accept : "application/json");
	*headers = curl_slist_append(*headers, line);
	snprintf(line, sizeof(line), "Authorization: Bearer %s", c->user ? c->user : "alice");
	if (!c->certificate && !c->nobody)
		*headers = curl_slist_append(*headers, line);
	if (c->header)
		*headers = curl_slist_append(*headers, c->header);
}

static void set_certificate(CURL *curl, struct fixture *f)
{
	struct curl_blob cert = {f->client.cert_pem, strlen(f->client.cert_pem), CURL_BLOB_COPY};
	struct curl_blob key = {f->client.key_pem, strlen(f->client.key_pem), CURL_BLOB_COPY};

	curl_easy_setopt(curl, CURLOPT_SSLCERT_BLOB, &cert);
	curl_easy_setopt(curl, CURLOPT_SSLKEY_BLOB, &key);
}

static void set_body(CURL *curl, const struct call *c, struct curl_slist **headers)
{
	char line[256];

	snprintf(line, sizeof(line), "Content-Type: %s", c->type ? c->type : "application/json");
	*headers = curl_slist_append(*headers, line);
	*headers = curl_slist_append(*headers, "Expect:");
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
			 (curl_off_t)(c->size ? c->size : strlen(c->body)));
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, c->body);
}

struct answer call_full(struct fixture *f, const struct call *c)
{
	struct strbuf body = {0}, head = {0};
	struct curl_slist *headers = NULL;
	CURL *curl = curl_easy_init();
	struct answer a = {0};
	long status = 0;

	set_common(curl, f, c, &headers);
	if (c->certificate)
		set_certificate(curl, f);
	if (c->body)
		set_body(curl, c, &headers);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, c->method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, &head);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 20000L);
	if (curl_easy_perform(curl) == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	a.status = (int)status;
	a.body = strbuf_take(&body);
	a.headers = strbuf_take(&head);
	a.json = json_loads(a.body, 0, NULL);
	return a;
}

struct answer call(struct fixture *f, const char *method, const char *path, const char *body)
{
	return call_full(f, &(struct call){.method = method, .path = path, .body = body});
}

struct answer patch(struct fixture *f, const char *path, const char *type, const char *body)
{
	char full[100];

	snprintf(full, sizeof(full), "application/%s", type);
	return call_full(
		f, &(struct call){.method = "PATCH", .path = path, .body = body, .type = full});
}

void answer_finish(struct answer *a)
{
	json_decref(a->json);
	free(a->body);
	free(a->headers);
}

const char *text_at(const json_t *j, ...)
{
	const char *key;
	va_list ap;

	va_start(ap, j);
	while (j && (key = va_arg(ap, const char *)))
		j = json_object_get(j, key);
	va_end(ap);
	return json_is_string(j) ? json_string_value(j) : "";
}

const char *header_of(const struct answer *a, const char *name)
{
	static char value[8192];
	size_t n = strlen(name);

	value[0] = '\0';
	for (const char *line = a->headers; line && *line;) {
		const char *end = strstr(line, "\r\n");

		if (!end)
			break;
		if (!strncasecmp(line, name, n) && line[n] == ':') {
			const char *from = line + n + 1;

			from += strspn(from, " ");
			snprintf(value, sizeof(value), "%.*s", (int)(end - from), from);
			return value;
		}
		line = end + 2;
	}
	return value;
}

/* --- watches --- */

struct watcher {
	CURLM *multi;
	CURL *curl;
	struct curl_slist *headers;
	struct strbuf bytes;
	bool over;
	CURLcode how;
};

static struct watcher *watcher_start(struct fixture *f, const struct call *c)
{
	struct watcher *w = xnew0(struct watcher);

	w->multi = curl_multi_init();
	w->curl = curl_easy_init();
	set_common(w->curl, f, c, &w->headers);
	curl_easy_setopt(w->curl, CURLOPT_HTTPHEADER, w->headers);
	curl_easy_setopt(w->curl, CURLOPT_WRITEFUNCTION, collect);
	curl_easy_setopt(w->curl, CURLOPT_WRITEDATA, &w->bytes);
	curl_multi_add_handle(w->multi, w->curl);
	return w;
}

struct watcher *watcher_open(struct fixture *f, const char *path, const char *accept)
{
	return watcher_start(f, &(struct call){.path = path, .accept = accept});
}

struct watcher *watcher_open_as(struct fixture *f, const char *user, const char *path)
{
	return watcher_start(f, &(struct call){.path = path, .user = user});
}

static int64_t now_ms(void)
{
	return (int64_t)(uv_hrtime() / 1000000);
}

static void watcher_turn(struct watcher *w, int64_t wait_ms)
{
	CURLMsg *msg;
	int running, left;

	curl_multi_poll(w->multi, NULL, 0, (int)wait_ms, NULL);
	curl_multi_perform(w->multi, &running);
	while ((msg = curl_multi_info_read(w->multi, &left))) {
		w->over = true;
		w->how = msg->data.result;
	}
}

static bool has_line(const struct watcher *w)
{
	return w->bytes.size && memchr(w->bytes.bytes, '\n', w->bytes.size);
}

static void watcher_wait(struct watcher *w, int64_t ms)
{
	int64_t end = now_ms() + ms;
	int running;

	curl_multi_perform(w->multi, &running);
	while (!has_line(w) && !w->over && now_ms() < end)
		watcher_turn(w, 50);
}

json_t *watcher_next(struct watcher *w)
{
	json_t *line;
	size_t n;

	watcher_wait(w, 5000);
	if (!has_line(w))
		return NULL;
	n = (size_t)((char *)memchr(w->bytes.bytes, '\n', w->bytes.size) - w->bytes.bytes) + 1;
	line = json_loadb(w->bytes.bytes, n, 0, NULL);
	strbuf_consume(&w->bytes, n);
	return line;
}

bool watcher_is_quiet(struct watcher *w, int64_t ms)
{
	watcher_wait(w, ms);
	return !has_line(w) && !w->over;
}

bool watcher_ended(struct watcher *w)
{
	watcher_wait(w, 5000);
	return !has_line(w) && w->over && w->how == CURLE_OK;
}

void watcher_close(struct watcher *w)
{
	curl_multi_remove_handle(w->multi, w->curl);
	curl_easy_cleanup(w->curl);
	curl_multi_cleanup(w->multi);
	curl_slist_free_all(w->headers);
	strbuf_finish(&w->bytes);
	free(w);
}

const char *expect_event(struct watcher *w, const char *type, const char *name)
{
	static char version[32];
	auto_json *line = watcher_next(w);
	auto_xfree char *text = line ? json_dumps(line, 0) : xstrdup("nothing");

	cr_assert_str_eq(text_at(line, "type", NULL), type, "%s", text);
	cr_assert_str_eq(text_at(line, "object", "metadata", "name", NULL), name, "%s", text);
	snprintf(version, sizeof(version), "%.31s",
		 text_at(line, "object", "metadata", "resourceVersion", NULL));
	return version;
}

/* --- bodies --- */

const char *job_body(const char *name, const char *extra_metadata)
{
	static char body[2048];

	snprintf(
		body, sizeof(body),
		"{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{"
		"\"name\":\"%s\"%s%s},\"spec\":{\"queue\":\"default\",\"minAvailable\":1,"
		"\"tasks\":[{\"name\":\"main\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":"
		"[{\"name\":\"c\",\"image\":\"busybox\"}]}}}]}}",
		name, *extra_metadata ? "," : "", extra_metadata);
	return body;
}

const char *config_body(const char *name, const char *extra_metadata)
{
	static char body[2048];

	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"%s%s},"
		 "\"data\":{\"k\":\"v\"}}",
		 name, *extra_metadata ? "," : "", extra_metadata);
	return body;
}
