/* Who asks, and what the profile lets them do. */
#include "fixture.h"

static int64_t asked_view;

static bool has_group(const struct server_user *u, const char *group)
{
	for (const char *const *g = u->groups; g && *g; g++)
		if (!strcmp(*g, group))
			return true;
	return false;
}

/* carol's group may all; bob only reads; dora reads the object "a" alone while it exists. */
static bool authorize(const struct server_request *r, struct strbuf *why, void *arg)
{
	if (has_group(r->user, "admins") || !strcmp(r->user->name, "alice"))
		return true;
	if (!strcmp(r->user->name, "bob"))
		return !strcmp(r->verb, "get") || !strcmp(r->verb, "list");
	if (!strcmp(r->user->name, "dora") && r->name && !strcmp(r->name, "a"))
		return true;
	strbuf_adds(why, "ask an administrator");
	return false;
}

static int64_t view(const struct server_request *r, void *arg)
{
	return strcmp(r->user->name, "bob") ? 0 : __atomic_load_n(&asked_view, __ATOMIC_RELAXED);
}

static const struct server_profile profile = {.authorize = authorize, .view = view};

Test(auth, knows_people_by_certificate_or_token)
{
	struct fixture *f = fixture_create(&profile);
	auto_answer cert = call_full(f, &(struct call){"GET", CONFIGS, .certificate = true});
	auto_answer token = call_full(f, &(struct call){"GET", CONFIGS, .user = "eve,admins"});
	auto_answer unknown = call_full(f, &(struct call){"GET", CONFIGS, .user = "unknown"});
	auto_answer nobody = call_full(f, &(struct call){"GET", CONFIGS, .nobody = true});

	expect_status(&cert, 200);
	expect_status(&token, 200);
	expect_failure(&unknown, 401, "Unauthorized", "Unauthorized");
	expect_failure(&nobody, 401, "Unauthorized", "Unauthorized");
	fixture_destroy(f);
}

static bool authorize_all(const struct server_request *r, struct strbuf *why, void *arg)
{
	return true;
}

Test(auth, gives_nobody_what_a_profile_gives_to_all)
{
	const struct server_profile open = {.authorize = authorize_all};
	struct fixture *f = fixture_create(&open);
	auto_answer somebody = call_full(f, &(struct call){"GET", CONFIGS, .user = "mallory"});
	auto_answer list = call_full(f, &(struct call){"GET", CONFIGS, .nobody = true});
	auto_answer watch = call_full(f, &(struct call){"GET", JOBS "?watch=1", .nobody = true});
	auto_answer delete = call_full(f, &(struct call){"DELETE", CONFIGS, .nobody = true});

	expect_status(&somebody, 200);
	expect_failure(&list, 401, "Unauthorized", "Unauthorized");
	expect_failure(&watch, 401, "Unauthorized", "Unauthorized");
	expect_failure(&delete, 401, "Unauthorized", "Unauthorized");
	fixture_destroy(f);
}

static const struct {
	const char *user, *method, *path, *text;
} refusals[] = {
	{"bob", "DELETE", CONFIGS "/x",
	 "configmaps \"x\" is forbidden: User \"bob\" cannot delete resource \"configmaps\" in API "
	 "group \"\" in the namespace \"default\""},
	{"bob", "DELETE", CONFIGS, "cannot deletecollection resource"},
	{"bob", "GET", JOBS "?watch=true",
	 "jobs.batch.volcano.sh is forbidden: User \"bob\" cannot watch resource \"jobs\" in API group "
	 "\"batch.volcano.sh\" in the namespace \"default\""},
	{"mallory", "GET", JOBS "/x/status", "cannot get resource \"jobs/status\" in API group"},
	{"mallory", "GET", QUEUES,
	 "cannot list resource \"queues\" in API group "
	 "\"scheduling.volcano.sh\" at the cluster scope: ask an administrator"},
	{"dora", "GET", CONFIGS, "cannot list"},
	{"dora", "GET", CONFIGS "?fieldSelector=metadata.name%3Db", "cannot list"},
};

Test(auth, says_in_kubernetes_words_who_may_not_do_what)
{
	struct fixture *f = fixture_create(&profile);

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		auto_answer a = call_full(f, &(struct call){refusals[i].method, refusals[i].path,
							    .user = refusals[i].user});

		expect_failure(&a, 403, "Forbidden", refusals[i].text);
	}
	fixture_destroy(f);
}

Test(auth, a_list_of_one_name_is_authorized_as_that_name)
{
	struct fixture *f = fixture_create(&profile);
	auto_answer a =
		call_full(f, &(struct call){"GET", CONFIGS "?fieldSelector=metadata.name%3Da",
					    .user = "dora"});

	expect_status(&a, 200);
	fixture_destroy(f);
}

Test(auth, the_view_is_as_new_as_named_before_anybody_is_authorized)
{
	struct fixture *f = fixture_create(&profile);

	__atomic_store_n(&asked_view, 1024 * 1000, __ATOMIC_RELAXED);
	{
		auto_answer late = call_full(
			f, &(struct call){"GET", CONFIGS "?resourceVersion=0", .user = "bob"});
		auto_answer other = call(f, "GET", CONFIGS "?resourceVersion=0", NULL);
		const json_t *cause =
			json_array_get(json_at(late.json, "details", "causes", NULL), 0);

		expect_failure(&late, 504, "Timeout", "Too large resource version: 1024000");
		cr_expect_str_eq(text_at(cause, "reason", NULL), "ResourceVersionTooLarge");
		expect_status(&other, 200);
	}
	__atomic_store_n(&asked_view, 1024, __ATOMIC_RELAXED);
	{
		auto_answer a = call_full(f, &(struct call){"GET", CONFIGS, .user = "bob"});

		expect_status(&a, 200);
	}
	fixture_destroy(f);
}

static bool dora_may = true;

static bool authorize_dora(const struct server_request *r, struct strbuf *why, void *arg)
{
	return strcmp(r->user->name, "dora") || __atomic_load_n(&dora_may, __ATOMIC_RELAXED);
}

Test(auth, a_watch_of_one_object_ends_when_the_right_to_it_ends)
{
	const struct server_profile changing = {.authorize = authorize_dora};
	struct fixture *f = fixture_create(&changing);
	auto_answer made = call(f, "POST", CONFIGS, config_body("a", ""));
	struct watcher *w =
		watcher_open_as(f, "dora", CONFIGS "?watch=true&fieldSelector=metadata.name%3Da");

	expect_status(&made, 201);
	expect_event(w, "ADDED", "a");
	__atomic_store_n(&dora_may, false, __ATOMIC_RELAXED);
	{
		auto_answer a =
			patch(f, CONFIGS "/a", "merge-patch+json", "{\"data\":{\"k\":\"secret\"}}");

		expect_status(&a, 200);
	}
	cr_expect(watcher_ended(w));
	watcher_close(w);
	fixture_destroy(f);
}
