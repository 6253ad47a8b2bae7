/* Whose pod it is that has our labels, or a name that we need. */
#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

#define PODS     "/api/v1/namespaces/x/pods"
#define MAKE_POD "POST " PODS "?timeout"
#define READ_POD "GET " PODS "/j-w-0"
#define DRY_RUN  "POST " PODS "?dryRun"
#define EXISTS                                                                                     \
	"{\"kind\":\"Status\",\"code\":409,\"reason\":\"AlreadyExists\",\"message\":\"there\","    \
	"\"details\":{\"kind\":\"pods\"}}"

/* Claimed, with its twin, and no pod of its own yet. */
static void begin(struct stage *s)
{
	stage_begin(s, "Claimed");
	virtual_env_advance(s->time, 10);
	if (stage_awaits(s, DRY_RUN))
		stage_answer(s, DRY_RUN, 201, DRY_POD);
	virtual_env_advance(s->time, 10);
}

#define UNOWNED "\"annotations\":{}"
#define OTHERS                                                                                     \
	"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"r\"," \
	"\"uid\":\"r\",\"controller\":true}]"

/* Made from a manifest of one of ours: its labels say nothing of who made it. */
Test(whose, a_copy_takes_no_place)
{
	static const struct {
		const char *what;
		struct stage_pod pod;
	} cases[] = {
		{"another name", {.name = "copy"}},
		{"another name and no owner", {.name = "copy", .meta = UNOWNED}},
		{"another owner", {.name = "copy", .meta = OTHERS}},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *pod = stage_pod_make(&cases[i].pod);
		struct stage s = {.twins = TWIN, .pods = pod};

		begin(&s);
		cr_expect(stage_awaits(&s, MAKE_POD), "%s: asked %s", cases[i].what,
			  strbuf_str(&s.asked));
		cr_expect_str_eq(strbuf_str(&s.said), "", "%s: said %s", cases[i].what,
				 strbuf_str(&s.said));
		cr_expect(!stage_awaits(&s, "DELETE"), "%s: asked %s", cases[i].what,
			  strbuf_str(&s.asked));
		stage_end(&s);
	}
}

/* It lives, and is nobody's attempt. */
Test(whose, a_copy_without_our_owner_is_no_orphan)
{
	auto_xfree char *pod = stage_pod_make(&(struct stage_pod){.meta = UNOWNED});
	struct stage s = {.twins = "", .pods = pod, .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 4000);
	cr_expect_eq(runner_orphans(s.runner), 0);
	stage_end(&s);
}

/* Under the name that a pod of ours must have, and there before us. */
Test(whose, a_name_that_a_copy_holds_is_refused_at_once)
{
	auto_xfree char *pod = stage_pod_make(&(struct stage_pod){.meta = UNOWNED});
	struct stage s = {.twins = "", .pods = pod};

	stage_begin(&s, "");
	virtual_env_advance(s.time, 10);
	stage_give_job(&s, JOB);
	virtual_env_advance(s.time, 10);
	cr_expect_str_eq(strbuf_str(&s.said), "Refused:NameTaken ");
	stage_end(&s);
}

/* A POST that says AlreadyExists has made nothing: what is there is ours, or waited for. */
Test(whose, what_was_there_already_is_ours_only_when_all_of_it_is)
{
	static const struct {
		const char *what;
		struct stage_pod pod;
		bool ours;
	} cases[] = {
		{"ours", {.phase = "Running"}, true},
		{"of another job", {.job_uid = "v", .meta = OWNED_BY("v-0-3")}, false},
		{"of another generation", {.generation = "2", .meta = OWNED_BY("u-0-2")}, false},
		{"of an earlier start", {.restart = "1"}, false},
		{"over: succeeded", {.phase = "Succeeded"}, false},
		{"over: failed", {.phase = "Failed"}, false},
		{"going",
		 {.meta = OWNED_BY("u-0-3") ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\","
					    "\"deletionGracePeriodSeconds\":30"},
		 false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *pod = stage_pod_make(&cases[i].pod);
		struct stage s = {.twins = TWIN, .pods = ""};

		begin(&s);
		stage_answer(&s, MAKE_POD, 409, EXISTS);
		stage_answer(&s, READ_POD, 200, pod);
		virtual_env_advance(s.time, 100);
		cr_expect_str_eq(strbuf_str(&s.said), cases[i].ours ? "Running: " : "",
				 "%s: said %s", cases[i].what, strbuf_str(&s.said));
		cr_expect(!stage_awaits(&s, "DELETE"), "%s: asked %s", cases[i].what,
			  strbuf_str(&s.asked));
		virtual_env_advance(s.time, 1000);
		cr_expect_eq(stage_awaits(&s, MAKE_POD), !cases[i].ours, "%s: asked %s",
			     cases[i].what, strbuf_str(&s.asked));
		stage_end(&s);
	}
}

/* Somebody else's does not go for us. */
Test(whose, a_name_that_a_stranger_holds_ends_the_attempt_at_once)
{
	auto_xfree char *pod = stage_pod_make(&(struct stage_pod){.meta = UNOWNED});
	struct stage s = {.twins = TWIN, .pods = ""};

	begin(&s);
	stage_answer(&s, MAKE_POD, 409, EXISTS);
	stage_answer(&s, READ_POD, 200, pod);
	virtual_env_advance(s.time, 10);
	stage_answer(&s, "PATCH", 200, "{}");
	virtual_env_advance(s.time, 100);
	cr_expect_str_eq(strbuf_str(&s.said), "Released:NameTaken ");
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* An earlier one of ours goes by itself, in its time. */
Test(whose, a_name_that_an_earlier_attempt_holds_is_waited_for_half_a_minute)
{
	struct stage_pod earlier = {.generation = "2", .meta = OWNED_BY("u-0-2")};
	auto_xfree char *pod = stage_pod_make(&earlier);
	struct stage s = {.twins = TWIN, .pods = ""};
	int tries = 0;

	begin(&s);
	for (; !stage_awaits(&s, "PATCH") && tries < 100; tries++) {
		if (stage_awaits(&s, MAKE_POD)) {
			stage_answer(&s, MAKE_POD, 409, EXISTS);
			stage_answer(&s, READ_POD, 200, pod);
		}
		virtual_env_advance(s.time, 500);
	}
	cr_expect(tries > 50 && tries < 70, "given up after %d half seconds", tries);
	stage_answer(&s, "PATCH", 200, "{}");
	virtual_env_advance(s.time, 100);
	cr_expect_str_eq(strbuf_str(&s.said), "Released:NameTaken ");
	stage_end(&s);
}
