/* The server as a whole: its end while others still wait for it. */
#include "fixture.h"

Test(server, ends_watches_cleanly_and_answers_what_is_on_its_way)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *one = watcher_open(f, CONFIGS "?watch=true", NULL);
	struct watcher *two = watcher_open(
		f,
		CONFIGS "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
			"allowWatchBookmarks=true",
		NULL);

	cr_expect_not(watcher_is_quiet(two, 5000));
	cr_expect(watcher_is_quiet(one, 100));
	fixture_destroy(f);
	json_decref(watcher_next(two));
	cr_expect(watcher_ended(one));
	cr_expect(watcher_ended(two));
	watcher_close(one);
	watcher_close(two);
}

/* Requests that wait for a version, and for a view that is held back, when the end comes. */
Test(server, ends_while_requests_wait_for_a_view)
{
	struct fixture *f = fixture_create(NULL);
	struct watcher *version = watcher_open(f, CONFIGS "?resourceVersion=99999999", NULL);
	struct watcher *fresh;

	fixture_hold_back(f, true);
	{
		auto_answer a = call(f, "POST", CONFIGS, config_body("a", ""));

		expect_status(&a, 201);
	}
	fresh = watcher_open(f, CONFIGS, NULL);
	cr_expect(watcher_is_quiet(fresh, 100));
	cr_expect(watcher_is_quiet(version, 100));
	fixture_destroy(f);
	watcher_close(fresh);
	watcher_close(version);
}
