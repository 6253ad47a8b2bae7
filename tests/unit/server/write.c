/* The pipeline: hooks of a profile, stale views, writes beside the object's own, own writes. */
#include "fixture.h"

#define SIDE_KEY "/federator/core/configmaps/default/side"

static int admit(struct server_write *w, struct error *err, void *arg)
{
	const char *ask = text_at(w->object, "metadata", "annotations", "ask", NULL);

	if (!strcmp(ask, "refuse"))
		return error_set(err, ERR_FORBIDDEN, "%s may not", w->user->name);
	if (!strcmp(ask, "cause"))
		causes_add(&w->causes, CAUSE_INVALID, "metadata.annotations", NULL, "not so");
	if (!strcmp(ask, "change") && w->op != SERVER_DELETE)
		json_set_str(json_object_need(w->object, "data"), "op",
			     w->op == SERVER_CREATE ? "create" : "update");
	if (!strcmp(ask, "warn"))
		server_write_warn(w, "it \"works\" %d times", 2);
	if (!strcmp(ask, "free") && w->op == SERVER_DELETE)
		json_object_del(json_object_get(w->object, "metadata"), "finalizers");
	return 0;
}

/* A hook that deletes the status key itself, and compares it. */
static void remove_both(struct server_write *w)
{
	auto_strbuf key = {0};

	kind_status_key(w->kind, w->ns, w->name, &key);
	server_write_guard(w, key.bytes, STORE_MOD, w->stored->status_revision);
	server_write_put(w, key.bytes, NULL, 0);
	w->remove = true;
}

static int extend(struct server_write *w, struct error *err, void *arg)
{
	const char *term = server_write_header(w, "Federator-Term");
	const char *ask = text_at(w->object, "metadata", "annotations", "extend", NULL);
	static const char side[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				   "\"name\":\"side\",\"namespace\":\"default\"}}";

	if (term && !strcmp(term, "old")) {
		struct cause *c;

		causes_add(&w->causes, CAUSE_INVALID, "term", NULL, "old");
		c = &w->causes.items[w->causes.n - 1];
		c->reason_override = "TermSuperseded";
		return error_set(err, ERR_CONFLICT, "the term is over");
	}
	if (!strcmp(ask, "side"))
		server_write_put(w, SIDE_KEY, side, sizeof(side) - 1);
	if (!strcmp(ask, "guard"))
		server_write_guard(w, "/federator/core/configmaps/default/never", STORE_MOD, 77);
	if (!strcmp(ask, "remove") && w->op == SERVER_UPDATE)
		w->remove = true;
	if (w->op == SERVER_DELETE && w->kind->split_status)
		remove_both(w);
	return 0;
}

static const struct server_profile hooked = {.admit = admit, .extend = extend};

static struct answer ask(struct fixture *f, const char *name, const char *key, const char *value)
{
	auto_xfree char *meta = xasprintf("\"annotations\":{\"%s\":\"%s\"},\"finalizers\":"
					  "[\"example.com/x\"]",
					  key, value);

	return call(f, "POST", CONFIGS, config_body(name, meta));
}

Test(write, admission_refuses_changes_and_warns)
{
	struct fixture *f = fixture_create(&hooked);
	auto_answer refused = ask(f, "a", "ask", "refuse"), cause = ask(f, "b", "ask", "cause");
	auto_answer changed = ask(f, "c", "ask", "change"), warned = ask(f, "d", "ask", "warn");
	auto_answer updated =
		patch(f, CONFIGS "/c", "merge-patch+json", "{\"data\":{\"a\":\"b\"}}");

	expect_failure(&refused, 403, "Forbidden", "alice may not");
	expect_failure(&cause, 422, "Invalid",
		       "ConfigMap \"b\" is invalid: metadata.annotations: Invalid value: not so");
	expect_status(&changed, 201);
	cr_expect_str_eq(at(&changed, "data", "op"), "create");
	cr_expect_str_eq(at(&updated, "data", "op"), "update");
	expect_status(&warned, 201);
	cr_expect_str_eq(header_of(&warned, "Warning"), "299 - \"it \\\"works\\\" 2 times\"");
	fixture_destroy(f);
}

Test(write, admission_may_let_a_dying_object_go)
{
	struct fixture *f = fixture_create(&hooked);
	auto_answer made = ask(f, "a", "ask", "free");
	auto_answer gone = call(f, "DELETE", CONFIGS "/a", NULL);
	auto_answer got = call(f, "GET", CONFIGS "/a", NULL);

	expect_status(&made, 201);
	cr_expect_str_eq(at(&gone, "status"), "Success");
	expect_status(&got, 404);
	fixture_destroy(f);
}

Test(write, other_keys_are_written_in_the_same_transaction_or_not_at_all)
{
	struct fixture *f = fixture_create(&hooked);
	auto_answer with = ask(f, "a", "extend", "side");
	auto_answer side = call(f, "GET", CONFIGS "/side", NULL);
	auto_answer guarded = ask(f, "b", "extend", "guard");
	auto_answer b = call(f, "GET", CONFIGS "/b", NULL);

	expect_status(&with, 201);
	expect_status(&side, 200);
	cr_expect_eq(strtoll(at(&with, "metadata", "resourceVersion"), NULL, 10) / 1024,
		     strtoll(at(&side, "metadata", "resourceVersion"), NULL, 10) / 1024);
	cr_expect_str_neq(at(&with, "metadata", "resourceVersion"),
			  at(&side, "metadata", "resourceVersion"));
	{
		auto_answer got = call(f, "GET", CONFIGS "/a", NULL);

		cr_expect_str_eq(at(&got, "metadata", "resourceVersion"),
				 at(&with, "metadata", "resourceVersion"));
	}
	expect_failure(&guarded, 409, "Conflict", "the object has been modified");
	expect_status(&b, 404);
	fixture_destroy(f);
}

Test(write, an_update_may_remove_the_object_and_shows_it_as_it_would_have_been)
{
	struct fixture *f = fixture_create(&hooked);
	auto_answer made = ask(f, "a", "x", "y");
	auto_answer a = patch(f, CONFIGS "/a", "merge-patch+json",
			      "{\"metadata\":{\"annotations\":{\"extend\":\"remove\"}},"
			      "\"data\":{\"last\":\"word\"}}");
	auto_answer got = call(f, "GET", CONFIGS "/a", NULL);

	expect_status(&made, 201);
	expect_status(&a, 200);
	cr_expect_str_eq(at(&a, "data", "last"), "word");
	expect_status(&got, 404);
	fixture_destroy(f);
}

Test(write, a_hook_may_remove_what_a_finalizer_holds)
{
	struct fixture *f = fixture_create(&hooked);
	auto_answer made =
		call(f, "POST", JOBS, job_body("j", "\"finalizers\":[\"example.com/x\"]"));
	auto_answer status =
		patch(f, JOBS "/j/status", "merge-patch+json", "{\"status\":{\"running\":1}}");
	auto_answer gone = call(f, "DELETE", JOBS "/j", NULL);
	auto_answer got = call(f, "GET", JOBS "/j", NULL);

	expect_status(&made, 201);
	expect_status(&status, 200);
	expect_status(&gone, 200);
	cr_expect_str_eq(at(&gone, "status"), "Success");
	expect_status(&got, 404);
	fixture_destroy(f);
}

Test(write, hooks_see_headers_and_name_causes_of_their_own)
{
	struct fixture *f = fixture_create(&hooked);
	auto_answer a = call_full(f, &(struct call){"POST", CONFIGS, config_body("a", ""),
						    .header = "Federator-Term: old"});
	const json_t *cause = json_array_get(json_at(a.json, "details", "causes", NULL), 0);

	expect_failure(&a, 409, "Conflict", "the term is over");
	cr_expect_str_eq(text_at(cause, "reason", NULL), "TermSuperseded");
	fixture_destroy(f);
}

/* --- views that lag behind --- */

static void let_go_soon(void *arg)
{
	cache_hold_back(arg, false);
}

static void defer_let_go(struct fixture *f, void *arg)
{
	struct timer **t = arg;

	*t = timer_create_in(fixture_server_env(f), let_go_soon, fixture_cache(f));
	timer_start(*t, 300);
}

static void drop_timer(struct fixture *f, void *arg)
{
	struct timer **t = arg;

	timer_destroy(*t);
}

Test(write, a_stale_view_refuses_nothing)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer old = call(f, "POST", CONFIGS, config_body("old", ""));
	auto_answer seen = call(f, "GET", CONFIGS, NULL);
	struct timer *t = NULL;

	fixture_hold_back(f, true);
	{
		auto_answer made = call(f, "POST", CONFIGS, config_body("new", ""));
		auto_answer changed =
			patch(f, CONFIGS "/old", "merge-patch+json", "{\"data\":{\"one\":\"1\"}}");

		expect_status(&made, 201);
		expect_status(&changed, 200);
	}
	/* "new" is not in the view yet, and "old" is there as it was */
	fixture_run(f, defer_let_go, &t);
	{
		auto_answer found =
			patch(f, CONFIGS "/new", "merge-patch+json", "{\"data\":{\"a\":\"b\"}}");
		auto_answer both =
			patch(f, CONFIGS "/old", "merge-patch+json", "{\"data\":{\"two\":\"2\"}}");

		expect_status(&found, 200);
		expect_status(&both, 200);
		cr_expect_str_eq(at(&both, "data", "one"), "1");
		cr_expect_str_eq(at(&both, "data", "two"), "2");
	}
	fixture_run(f, drop_timer, &t);
	fixture_destroy(f);
}

Test(write, a_stale_view_says_nothing_about_a_given_version)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", CONFIGS, config_body("a", ""));
	auto_answer seen = call(f, "GET", CONFIGS, NULL);
	struct timer *t = NULL;

	fixture_hold_back(f, true);
	{
		auto_answer one =
			patch(f, CONFIGS "/a", "merge-patch+json", "{\"data\":{\"one\":\"1\"}}");
		auto_xfree char *body = xasprintf(
			"{\"metadata\":{\"resourceVersion\":\"%s\"},\"data\":{\"two\":\"2\"}}",
			at(&one, "metadata", "resourceVersion"));

		fixture_run(f, defer_let_go, &t);
		{
			auto_answer two = patch(f, CONFIGS "/a", "merge-patch+json", body);

			expect_status(&two, 200);
			cr_expect_str_eq(at(&two, "data", "one"), "1");
		}
	}
	fixture_run(f, drop_timer, &t);
	fixture_destroy(f);
}

/* --- writes of the process itself --- */

struct own {
	char answer[600];
	bool done;
};

static void own_done(const json_t *object, const struct error *err, void *arg)
{
	struct own *o = arg;

	snprintf(o->answer, sizeof(o->answer), "%s",
		 err ? err->text : text_at(object, "metadata", "name", NULL));
	__atomic_store_n(&o->done, true, __ATOMIC_RELEASE);
}

static void wait_for(struct own *o)
{
	while (!__atomic_load_n(&o->done, __ATOMIC_ACQUIRE))
		usleep(1000);
	o->done = false;
}

static void own_create(struct fixture *f, void *arg)
{
	auto_json *body = json_pack("{s{ss}}", "metadata", "name", "own");
	const struct server_change change = {.op = SERVER_CREATE,
					     .kind = kind_find("", "configmaps"),
					     .ns = "default",
					     .body = body,
					     .grace_s = -1};

	server_change(fixture_server(f), &change, own_done, arg);
}

static void own_patch(struct fixture *f, void *arg)
{
	auto_json *body = json_pack("{s{ss}}", "data", "a", "b");
	const struct server_change change = {.op = SERVER_UPDATE,
					     .kind = kind_find("", "configmaps"),
					     .ns = "default",
					     .name = "own",
					     .body = body,
					     .patch = PATCH_MERGE};

	server_change(fixture_server(f), &change, own_done, arg);
}

static void own_delete(struct fixture *f, void *arg)
{
	const struct server_change change = {.op = SERVER_DELETE,
					     .kind = kind_find("", "configmaps"),
					     .ns = "default",
					     .name = "own",
					     .uid = "another",
					     .grace_s = -1};

	server_change(fixture_server(f), &change, own_done, arg);
}

Test(write, the_process_itself_writes_through_the_same_pipeline)
{
	struct fixture *f = fixture_create(NULL);
	struct own o = {0};

	fixture_run(f, own_create, &o);
	wait_for(&o);
	cr_expect_str_eq(o.answer, "own");
	fixture_run(f, own_create, &o);
	wait_for(&o);
	cr_expect_str_eq(o.answer, "configmaps \"own\" already exists");
	fixture_run(f, own_patch, &o);
	wait_for(&o);
	fixture_run(f, own_delete, &o);
	wait_for(&o);
	cr_expect(strstr(o.answer, "the UID in the precondition (another) does not match"));
	{
		auto_answer a = call(f, "GET", CONFIGS "/own", NULL);

		expect_status(&a, 200);
		cr_expect_str_eq(at(&a, "data", "a"), "b");
	}
	fixture_destroy(f);
}

static struct server_kind closed_rows[64];

Test(write, a_closed_status_is_dropped_on_every_path)
{
	struct server_profile profile = {0};
	struct fixture *f;

	memcpy(closed_rows, all_kinds(&profile.n_kinds), sizeof(closed_rows));
	for (size_t i = 0; i < profile.n_kinds; i++)
		closed_rows[i].status_closed =
			closed_rows[i].kind == kind_find("batch.volcano.sh", "jobs");
	profile.kinds = closed_rows;
	f = fixture_create(&profile);
	{
		auto_answer made = call(f, "POST", JOBS, job_body("j", ""));
		auto_answer status = patch(f, JOBS "/j/status", "merge-patch+json",
					   "{\"status\":{\"running\":5}}");
		auto_answer main =
			patch(f, JOBS "/j", "merge-patch+json", "{\"status\":{\"running\":5}}");

		expect_status(&made, 201);
		expect_status(&status, 200);
		expect_status(&main, 200);
		cr_expect(json_equal(made.json, status.json), "%s", status.body);
		cr_expect(json_equal(made.json, main.json), "%s", main.body);
	}
	fixture_destroy(f);
}
