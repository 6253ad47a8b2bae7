/* Watches: what comes first, what follows, how they end. */
#include "fixture.h"

#define WATCH CONFIGS "?watch=true"
#define WATCH_LIST                                                                                 \
	CONFIGS "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&"                     \
		"resourceVersionMatch=NotOlderThan"

static void make(struct fixture *f, const char *name, const char *meta)
{
	auto_answer a = call(f, "POST", CONFIGS, config_body(name, meta));

	cr_assert_eq(a.status, 201, "%s", a.body);
}

static void drop(struct fixture *f, const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), CONFIGS "/%s", name);
	{
		auto_answer a = call(f, "DELETE", path, NULL);

		cr_assert_eq(a.status, 200, "%s", a.body);
	}
}

static void change(struct fixture *f, const char *name, const char *body)
{
	char path[100];

	snprintf(path, sizeof(path), CONFIGS "/%s", name);
	{
		auto_answer a = patch(f, path, "merge-patch+json", body);

		cr_assert_eq(a.status, 200, "%s", a.body);
	}
}

static const char *list_version(struct fixture *f)
{
	static char version[40];
	auto_answer a = call(f, "GET", CONFIGS, NULL);

	snprintf(version, sizeof(version), "%.39s", at(&a, "metadata", "resourceVersion"));
	return version;
}

static struct watcher *watch_from(struct fixture *f, const char *version, const char *more)
{
	char path[300];

	snprintf(path, sizeof(path), WATCH "&resourceVersion=%s%s", version, more);
	return watcher_open(f, path, NULL);
}

static int64_t number(const char *text)
{
	return strtoll(text, NULL, 10);
}

Test(watch, tells_every_change_behind_a_version)
{
	struct fixture *f = fixture_create(NULL);
	int64_t added, modified, deleted;
	struct watcher *w;

	make(f, "before", "");
	w = watch_from(f, list_version(f), "");
	make(f, "a", "");
	change(f, "a", "{\"data\":{\"k\":\"w\"}}");
	drop(f, "a");
	added = number(expect_event(w, "ADDED", "a"));
	modified = number(expect_event(w, "MODIFIED", "a"));
	/* the version of the deletion, not of the last state */
	deleted = number(expect_event(w, "DELETED", "a"));
	cr_expect(added < modified && modified < deleted);
	cr_expect(deleted <= number(list_version(f)));
	watcher_close(w);
	fixture_destroy(f);
}

Test(watch, resumes_from_any_event_without_loss)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *all = watch_from(f, list_version(f), "");
	char versions[4][40];

	make(f, "a", "");
	make(f, "b", "");
	change(f, "a", "{\"data\":{\"k\":\"w\"}}");
	drop(f, "b");
	snprintf(versions[0], 40, "%s", expect_event(all, "ADDED", "a"));
	snprintf(versions[1], 40, "%s", expect_event(all, "ADDED", "b"));
	snprintf(versions[2], 40, "%s", expect_event(all, "MODIFIED", "a"));
	snprintf(versions[3], 40, "%s", expect_event(all, "DELETED", "b"));
	for (int i = 0; i < 3; i++) {
		static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
		struct watcher *w = watch_from(f, versions[i], "");

		cr_expect_str_eq(expect_event(w, types[i], i == 1 ? "a" : "b"), versions[i + 1]);
		watcher_close(w);
	}
	watcher_close(all);
	fixture_destroy(f);
}

static void expect_bookmark(struct watcher *w, bool initial_end)
{
	auto_json *line = watcher_next(w);
	const char *end = text_at(line, "object", "metadata", "annotations",
				  "k8s.io/initial-events-end", NULL);

	cr_assert_str_eq(text_at(line, "type", NULL), "BOOKMARK");
	cr_expect_str_eq(text_at(line, "object", "kind", NULL), "ConfigMap");
	cr_expect_str_eq(text_at(line, "object", "apiVersion", NULL), "v1");
	cr_expect(number(text_at(line, "object", "metadata", "resourceVersion", NULL)) > 0);
	cr_expect_str_eq(end, initial_end ? "true" : "");
}

Test(watch, list_by_watch_gives_objects_a_bookmark_and_then_changes)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w;

	make(f, "a", "");
	make(f, "b", "");
	w = watcher_open(f, WATCH_LIST, NULL);
	expect_event(w, "ADDED", "a");
	expect_event(w, "ADDED", "b");
	expect_bookmark(w, true);
	drop(f, "a");
	expect_event(w, "DELETED", "a");
	watcher_close(w);
	fixture_destroy(f);
}

Test(watch, without_a_version_begins_with_the_objects)
{
	static const char *const queries[] = {
		WATCH, WATCH "&resourceVersion=", WATCH "&resourceVersion=0"};
	struct fixture *f = fixture_create(NULL);

	make(f, "a", "");
	for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
		struct watcher *w = watcher_open(f, queries[i], NULL);
		char name[8];

		expect_event(w, "ADDED", "a");
		snprintf(name, sizeof(name), "b%zu", i);
		for (size_t j = 0; j < i; j++)
			json_decref(watcher_next(w));
		make(f, name, "");
		expect_event(w, "ADDED", name);
		watcher_close(w);
	}
	fixture_destroy(f);
}

Test(watch, sends_no_objects_when_told_so)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w;

	make(f, "a", "");
	w = watcher_open(f, WATCH "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
			 NULL);
	cr_expect(watcher_is_quiet(w, 300));
	make(f, "b", "");
	expect_event(w, "ADDED", "b");
	watcher_close(w);
	fixture_destroy(f);
}

Test(watch, ends_cleanly_at_its_time_with_a_bookmark)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w = watch_from(f, list_version(f),
				       "&timeoutSeconds=1&"
				       "allowWatchBookmarks=true");
	struct watcher *plain = watch_from(f, list_version(f), "&timeoutSeconds=1");

	expect_bookmark(w, false);
	cr_expect(watcher_ended(w));
	cr_expect(watcher_ended(plain));
	watcher_close(w);
	watcher_close(plain);
	fixture_destroy(f);
}

/* The window is one for all kinds, so a quiet watch must keep up with the busy ones. */
Test(watch, bookmarks_follow_changes_of_other_kinds)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w;
	auto_json *line = NULL;
	char version[40];

	snprintf(version, sizeof(version), "%s", list_version(f));
	w = watch_from(f, version, "&timeoutSeconds=2&allowWatchBookmarks=true");
	{
		auto_answer job = call(f, "POST", JOBS, job_body("j", ""));

		line = watcher_next(w);
		cr_expect_str_eq(text_at(line, "type", NULL), "BOOKMARK");
		cr_expect_str_eq(text_at(line, "object", "metadata", "resourceVersion", NULL),
				 at(&job, "metadata", "resourceVersion"));
	}
	watcher_close(w);
	fixture_destroy(f);
}

Test(watch, an_object_that_stops_matching_is_deleted_and_may_come_back)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w = watch_from(f, list_version(f), "&labelSelector=on%3Dyes");
	auto_json *gone = NULL;

	make(f, "a", "\"labels\":{\"on\":\"no\"}");
	make(f, "b", "\"labels\":{\"on\":\"yes\"}");
	expect_event(w, "ADDED", "b");
	change(f, "a", "{\"metadata\":{\"labels\":{\"on\":\"yes\"}}}");
	expect_event(w, "ADDED", "a");
	change(f, "a", "{\"metadata\":{\"labels\":{\"on\":\"no\"}}}");
	gone = watcher_next(w);
	cr_expect_str_eq(text_at(gone, "type", NULL), "DELETED");
	cr_expect_str_eq(text_at(gone, "object", "metadata", "labels", "on", NULL), "yes");
	cr_expect(number(text_at(gone, "object", "metadata", "resourceVersion", NULL)) <=
		  number(list_version(f)));
	change(f, "a", "{\"data\":{\"k\":\"x\"}}");
	drop(f, "a");
	drop(f, "b");
	expect_event(w, "DELETED", "b");
	watcher_close(w);
	fixture_destroy(f);
}

Test(watch, follows_one_name)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w;

	make(f, "a", "");
	make(f, "ab", "");
	w = watcher_open(f, WATCH "&fieldSelector=metadata.name%3Da&resourceVersion=0", NULL);
	expect_event(w, "ADDED", "a");
	change(f, "ab", "{\"data\":{\"k\":\"x\"}}");
	change(f, "a", "{\"data\":{\"k\":\"x\"}}");
	expect_event(w, "MODIFIED", "a");
	watcher_close(w);
	fixture_destroy(f);
}

static void ignore_result(const struct store_result *result, void *arg)
{
}

static void overflow_window(struct fixture *f, void *arg)
{
	static const char value[] = "{\"metadata\":{\"name\":\"x\",\"namespace\":\"other\"}}";
	const struct store_write write = {.key = "/federator/core/configmaps/other/x",
					  .value = value,
					  .size = sizeof(value) - 1};

	for (int i = 0; i < CACHE_WINDOW + 10; i++)
		store_commit(fixture_store(f), &(struct store_txn){.writes = &write, .n_writes = 1},
			     ignore_result, NULL);
}

Test(watch, too_old_a_version_is_an_error_event_but_never_for_a_list_by_watch)
{
	struct fixture *f = fixture_create(NULL);
	char version[40], path[300];
	struct watcher *w;

	snprintf(version, sizeof(version), "%s", list_version(f));
	make(f, "a", "");
	make(f, "b", "");
	{
		auto_answer page = call(f, "GET", CONFIGS "?limit=1", NULL);

		snprintf(path, sizeof(path), CONFIGS "?limit=1&continue=%s",
			 at(&page, "metadata", "continue"));
	}
	fixture_run(f, overflow_window, NULL);
	list_version(f); /* waits until the cache has them */
	w = watch_from(f, version, "");
	{
		auto_json *line = watcher_next(w);

		cr_expect_str_eq(text_at(line, "type", NULL), "ERROR");
		cr_expect_str_eq(text_at(line, "object", "reason", NULL), "Expired");
		cr_expect_str_eq(text_at(line, "object", "kind", NULL), "Status");
		cr_expect_eq(json_int_at(line, 0, "object", "code", NULL), 410);
		cr_expect(strstr(text_at(line, "object", "message", NULL),
				 "too old resource version"));
	}
	cr_expect(watcher_ended(w));
	watcher_close(w);
	w = watcher_open(f, WATCH_LIST "&resourceVersion=1024", NULL);
	expect_event(w, "ADDED", "a");
	expect_event(w, "ADDED", "b");
	expect_bookmark(w, true);
	watcher_close(w);
	{
		auto_answer page = call(f, "GET", path, NULL);

		expect_failure(&page, 410, "Expired", "The provided continue parameter is too old");
	}
	fixture_destroy(f);
}

static const struct {
	const char *query;
	int code;
	const char *reason, *text;
} refusals[] = {
	{"sendInitialEvents=true", 422, "Invalid", "resourceVersionMatch"},
	{"sendInitialEvents=true&resourceVersionMatch=Exact", 422, "Invalid",
	 "resourceVersionMatch"},
	{"resourceVersionMatch=NotOlderThan", 422, "Invalid", "forbidden for watch unless"},
	{"resourceVersion=abc", 500, "", "resourceVersion"},
	{"timeoutSeconds=soon", 400, "BadRequest", "timeoutSeconds"},
	{"resourceVersion=99999999", 504, "Timeout", "Too large resource version"},
	{"labelSelector=a%20b", 400, "BadRequest", ""},
};

Test(watch, refuses_what_makes_no_sense)
{
	struct fixture *f = fixture_create(NULL);
	char path[200];

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		snprintf(path, sizeof(path), WATCH "&%s", refusals[i].query);
		{
			auto_answer a = call(f, "GET", path, NULL);

			expect_failure(&a, refusals[i].code, refusals[i].reason, refusals[i].text);
		}
	}
	fixture_destroy(f);
}

Test(watch, tells_columns_of_a_table_once)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w;
	auto_json *first = NULL, *second = NULL;
	const json_t *row;

	make(f, "a", "");
	make(f, "b", "");
	w = watcher_open(f, WATCH "&resourceVersion=0",
			 "application/json;as=Table;v=v1;g=meta.k8s.io");
	first = watcher_next(w);
	second = watcher_next(w);
	cr_expect_str_eq(text_at(first, "object", "kind", NULL), "Table");
	cr_expect(json_array_size(json_at(first, "object", "columnDefinitions", NULL)) > 1);
	cr_expect(json_is_null(json_at(second, "object", "columnDefinitions", NULL)));
	row = json_array_get(json_at(second, "object", "rows", NULL), 0);
	cr_expect_str_eq(json_string_value(json_array_get(json_object_get(row, "cells"), 0)), "b");
	watcher_close(w);
	fixture_destroy(f);
}

/* Whoever reads nothing while more than a megabyte waits loses the connection. */
Test(watch, cuts_who_reads_too_slowly)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *w = watch_from(f, list_version(f), "");
	auto_xfree char *fill = xmalloc(500001);

	memset(fill, 'x', 500000);
	fill[500000] = '\0';
	cr_expect(watcher_is_quiet(w, 100));
	for (int i = 0; i < 40; i++) {
		auto_xfree char *body = xasprintf(
			"{\"metadata\":{\"name\":\"l%d\"},\"data\":{\"k\":\"%s\"}}", i, fill);
		auto_answer a = call(f, "POST", CONFIGS, body);

		cr_assert_eq(a.status, 201);
	}
	for (;;) {
		auto_json *line = watcher_next(w);

		if (!line)
			break;
	}
	cr_expect_not(watcher_ended(w));
	cr_expect_not(watcher_is_quiet(w, 0));
	watcher_close(w);
	fixture_destroy(f);
}

Test(watch, many_first_objects_come_at_the_client_s_pace)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *fill = xmalloc(500001);
	struct watcher *w;
	int n = 0;

	memset(fill, 'x', 500000);
	fill[500000] = '\0';
	for (int i = 0; i < 12; i++) {
		auto_xfree char *body = xasprintf(
			"{\"metadata\":{\"name\":\"l%02d\"},\"data\":{\"k\":\"%s\"}}", i, fill);
		auto_answer a = call(f, "POST", CONFIGS, body);

		cr_assert_eq(a.status, 201);
	}
	w = watcher_open(f, WATCH_LIST, NULL);
	cr_expect_not(watcher_is_quiet(w, 300));
	for (; n < 12; n++) {
		char name[8];

		snprintf(name, sizeof(name), "l%02d", n);
		expect_event(w, "ADDED", name);
	}
	expect_bookmark(w, true);
	make(f, "later", "");
	expect_event(w, "ADDED", "later");
	watcher_close(w);
	fixture_destroy(f);
}
