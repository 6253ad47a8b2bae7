/* What is written with a pod and about it: whose it is, that it was counted, how often it began. */
#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

#define PODS      "/api/v1/namespaces/x/pods"
#define DRY_RUN   "POST " PODS "?dryRun"
#define MAKE_POD  "POST " PODS "?timeout"
#define PATCH_POD "PATCH " PODS "/j-w-0"
#define END_POD   "DELETE " PODS "/j-w-0"
#define FINALIZER "\"federator.dev/outcome\""
#define COUNTED   OWNED_BY("u-0-3") ",\"finalizers\":[" FINALIZER "]"

static void begin(struct stage *s, const char *desired, const char *state)
{
	stage_start(s, true);
	stage_offer(s, 3, desired, state, "cu");
	runner_placements_synced(s->runner);
	virtual_env_advance(s->time, 100);
}

/* --- the finalizer of what must not run twice --- */

Test(marks, a_pod_that_may_not_be_repeated_stays_until_it_is_counted)
{
	static const struct {
		const char *twin;
		bool held;
	} cases[] = {
		{TWIN_WITH("cu", "", "0", ONE_TASK, ""), true},
		{TWIN_WITH("cu", "", "3", ONE_TASK, ""), false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = cases[i].twin, .pods = ""};

		begin(&s, "Go", "Claimed");
		stage_answer(&s, DRY_RUN, 201, DRY_POD);
		virtual_env_advance(s.time, 10);
		cr_expect_eq(strstr(stage_body(&s, MAKE_POD), FINALIZER) != NULL, cases[i].held,
			     "%s", stage_body(&s, MAKE_POD));
		stage_end(&s);
	}
}

/* Collected before the hub knows, it would be made again. */
Test(marks, the_finalizer_is_taken_off_only_behind_the_last_word)
{
	struct stage_pod over = {.version = "4", .phase = "Succeeded", .meta = COUNTED};
	auto_xfree char *pod = stage_pod_make(&over);
	struct stage s = {.twins = TWIN, .pods = pod};

	begin(&s, "Go", "Running");
	cr_assert_str_eq(strbuf_str(&s.said), "Done: ");
	virtual_env_advance(s.time, 10000);
	cr_expect(!stage_awaits(&s, PATCH_POD), "it is being said");
	stage_hear(&s, OWNER_LATER);
	virtual_env_advance(s.time, 100);
	cr_expect(!stage_awaits(&s, PATCH_POD), "it was not heard");
	stage_answer(&s, "PATCH /apis", 200, "{}");
	virtual_env_advance(s.time, 10000);
	stage_hear(&s, OWNER_OK);
	s.absent = true;
	virtual_env_advance(s.time, 2000);
	cr_expect(strstr(stage_body(&s, PATCH_POD), "\"finalizers\":[]"), "%s",
		  stage_body(&s, PATCH_POD));
	stage_end(&s);
}

/* --- deletion --- */

/* By the time that it is carried out, the name may be another's. */
Test(marks, pods_and_twins_are_deleted_by_uid)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running")};

	begin(&s, "Release", "Running");
	cr_expect(strstr(stage_body(&s, END_POD), "\"preconditions\":{\"uid\":\"p0\"}"), "%s",
		  stage_body(&s, END_POD));
	stage_end(&s);
	s = (struct stage){.twins = TWIN, .pods = "", .absent = true};
	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 10000);
	stage_answer(&s, "POST /api/v1/namespaces/federator-system/configmaps", 201, "{}");
	virtual_env_advance(s.time, 10);
	cr_expect(strstr(stage_body(&s, "DELETE"), "\"preconditions\":{\"uid\":\"t\"}"), "%s",
		  stage_body(&s, "DELETE"));
	stage_end(&s);
}

/* --- retries --- */

#define AGAIN TWIN_WITH("cu", "", "3", ONE_TASK, ",\"status\":{\"retries\":2}")

/* An attempt elsewhere goes on counting: else there would be maxRetry of them each time. */
Test(marks, every_word_says_how_often_it_began)
{
	static const struct {
		const char *what, *desired, *state, *twin, *phase, *said;
		int64_t retries;
	} cases[] = {
		{"counts", "Go", "Claimed", AGAIN, "Running", "Running: ", 2},
		{"the end", "Go", "Running", AGAIN, "Succeeded", "Done: ", 2},
		{"nothing left", "Go", "Running", "", NULL, "Lost:TwinLost ", 4},
		{"a release of nothing", "Release", "Claimed", "", NULL, "Released:Released ", 4},
		{"a refusal", "Release", "", "", NULL, "Refused:Released ", 4},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage_pod is = {.version = "4", .restart = "2", .phase = cases[i].phase};
		auto_xfree char *pod = cases[i].phase ? stage_pod_make(&is) : xstrdup("");
		struct stage s = {.twins = cases[i].twin, .pods = pod};

		begin(&s, cases[i].desired, cases[i].state);
		cr_expect_str_eq(strbuf_str(&s.said), cases[i].said, "%s: said %s", cases[i].what,
				 strbuf_str(&s.said));
		cr_expect_eq(s.retries, cases[i].retries, "%s: %d", cases[i].what, (int)s.retries);
		stage_end(&s);
	}
}

/* Given back after it began three times: its pods have to go first. */
Test(marks, a_release_says_how_often_it_began)
{
	struct stage_pod is = {.version = "4", .restart = "2", .phase = "Running"};
	auto_xfree char *pod = stage_pod_make(&is);
	struct stage s = {.twins = AGAIN, .pods = pod};

	begin(&s, "Release", "Running");
	stage_answer(&s, END_POD, 200, "{}");
	stage_watch(&s, "/api/v1/pods", "DELETED", pod);
	virtual_env_advance(s.time, 100);
	cr_expect_str_eq(strbuf_str(&s.said), "Released:Released ");
	cr_expect_eq(s.retries, 2);
	stage_end(&s);
}
