/* When the cache is new enough for what a request asks. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "server/read.h"

static void fresh_done(const struct error *err, void *arg)
{
	struct request *r = arg;

	if (r->pub.x && !err)
		r->next(r);
	else if (r->pub.x)
		respond_error(r, err, NULL);
	request_unref(r);
}

static void too_large_version(int64_t version, int64_t present, struct error *err,
			      struct causes *causes)
{
	error_set(err, ERR_TIMEOUT, "Too large resource version: %" PRId64 ", current: %" PRId64,
		  version, present);
	cause_add(causes, "ResourceVersionTooLarge", "", "Too large resource version");
}

static void version_done(const struct error *failure, void *arg)
{
	struct request *r = arg;
	struct causes causes = {0};
	struct error err;

	if (r->pub.x && !failure) {
		r->next(r);
	} else if (r->pub.x) {
		too_large_version(r->awaited, cache_version(r->server->cache), &err, &causes);
		respond_error(r, &err, &causes);
	}
	causes_finish(&causes);
	request_unref(r);
}

void view_await(struct request *r, struct view view, void (*next)(struct request *r))
{
	struct cache *cache = r->server->cache;

	r->awaited = view.version;
	if (view.type == VIEW_ANY ||
	    (view.type == VIEW_VERSION && view.version <= cache_version(cache))) {
		next(r);
		return;
	}
	r->next = next;
	request_ref(r);
	if (view.type == VIEW_FRESH)
		cache_fresh(cache, fresh_done, r);
	else
		cache_wait(cache, view.version, SERVER_VIEW_MS, version_done, r);
}

int version_parse(const char *text, int64_t *ret, bool *ret_given, struct error *err)
{
	char *end;
	long long v;

	*ret_given = text != NULL;
	*ret = 0;
	if (!text)
		return 0;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9')
		return error_set(err, ERR_BAD_REQUEST,
				 "resourceVersion: Invalid value: \"%.40s\": is no version", text);
	*ret = v;
	return 0;
}
