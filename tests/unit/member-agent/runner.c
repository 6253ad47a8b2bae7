/*
 * The table of the start-up, on virtual time: what a runner says and asks for when it finds the
 * member and the owner in a given state.
 */
#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

static void answer(struct stage *s, const char *begin, int status, const char *body)
{
	stage_answer(s, begin, status, body);
	virtual_env_advance(s->time, 10);
}

/* It was sent, and no answer came. */
static void lose(struct stage *s, const char *begin)
{
	answer(s, begin, 0, "");
}

static void event(struct stage *s, const char *type, const char *pod)
{
	stage_watch(s, "/api/v1/pods", type, pod);
	virtual_env_advance(s->time, 10);
}

static bool was_asked(const struct stage *s, const char *text)
{
	return strstr(strbuf_str(&s->asked), text) != NULL;
}

/* What is asked and said at once, and what by the time that W is over. */
Test(runner, a_start_does_what_the_table_says)
{
	static const struct {
		const char *what, *desired, *state, *cluster, *twins, *pods;
		const char *asked, *said, *said_after_w;
	} cases[] = {
		{"offered", "Go", "", "cu", "", "", "job ", "", ""},
		{"offered, but a twin is there", "Go", "", "cu", TWIN, POD("Running"), "", "", ""},
		{"claimed, no twin", "Go", "Claimed", "cu", "", "", "job ", "", ""},
		{"ran, nothing left", "Go", "Running", "cu", "", "", "", "", "Lost:TwinLost "},
		{"ended while nobody looked", "Go", "Running", "cu", TWIN, POD("Succeeded"), "", "",
		 "Done: "},
		{"runs", "Go", "Claimed", "cu", TWIN, POD("Running"), "", "Running: ", "Running: "},
		{"release before the claim", "Release", "", "cu", "", "", "", "Refused:Released ",
		 "Refused:Released "},
		{"release of nothing", "Release", "Claimed", "cu", "", "", "", "",
		 "Released:Released "},
		{"release, all had ended", "Release", "Running", "cu", TWIN, POD("Succeeded"), "",
		 "", "Done: "},
		{"a word of a newer version", "Pause", "", "cu", "", "", "", "", ""},
		{"of another cluster", "Go", "", "other", "", "", "", "", ""},
		{"of another cluster, running here", "Release", "Running", "other", TWIN,
		 POD("Running"), "", "", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = cases[i].twins, .pods = cases[i].pods};

		stage_start(&s, false);
		stage_offer(&s, 3, cases[i].desired, cases[i].state, cases[i].cluster);
		runner_placements_synced(s.runner);
		virtual_env_advance(s.time, 100);
		cr_expect_str_eq(strbuf_str(&s.asked), cases[i].asked, "%s: asked %s",
				 cases[i].what, strbuf_str(&s.asked));
		cr_expect_str_eq(strbuf_str(&s.said), cases[i].said, "%s: said %s", cases[i].what,
				 strbuf_str(&s.said));
		virtual_env_advance(s.time, W_MS + 1000);
		cr_expect_str_eq(strbuf_str(&s.said), cases[i].said_after_w, "%s: said %s",
				 cases[i].what, strbuf_str(&s.said));
		stage_end(&s);
	}
}

Test(runner, nothing_waits_when_the_predecessor_left_cleanly)
{
	struct stage s = {.twins = "", .pods = ""};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 100);
	cr_expect_str_eq(strbuf_str(&s.said), "Lost:TwinLost ");
	stage_end(&s);
}

/* Somebody may have removed the Lease of one who writes yet. */
Test(runner, without_a_lease_nothing_waits_only_where_there_is_nothing)
{
	static const struct {
		const char *what, *state, *twins, *pods;
		bool shut_in;
	} cases[] = {
		{"nothing", "", "", "", false},
		{"a twin", "Claimed", TWIN, "", true},
		{"a pod", "", "", POD("Running"), true},
		{"a claim", "Claimed", "", "", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = cases[i].twins, .pods = cases[i].pods, .no_lease = true};

		stage_start(&s, false);
		cr_expect(runner_is_shut_in(s.runner), "before the owner's list");
		stage_offer(&s, 3, "Go", cases[i].state, "cu");
		runner_placements_synced(s.runner);
		cr_expect_eq(runner_is_shut_in(s.runner), cases[i].shut_in, "%s", cases[i].what);
		stage_end(&s);
	}
}

Test(runner, nothing_happens_before_all_placements_are_known)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = true};

	stage_start(&s, true);
	virtual_env_advance(s.time, 4000);
	cr_expect_str_eq(strbuf_str(&s.asked), "");
	stage_end(&s);
}

/* A live attempt without a Placement is told of, and left alone. */
Test(runner, an_orphan_is_not_touched)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running"), .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 4000);
	cr_expect_eq(runner_orphans(s.runner), 1);
	cr_expect_eq(s.orphans_told, 1);
	cr_expect_str_eq(strbuf_str(&s.asked), "POST /api/v1/namespaces/x/events?timeout=20000ms ");
	stage_end(&s);
}

/* Absent from an old view means nothing: neither an orphan nor forgotten. */
Test(runner, an_old_view_ends_nothing)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = false};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 4000);
	cr_expect_eq(runner_orphans(s.runner), 0);
	cr_expect_str_eq(strbuf_str(&s.asked), "");
	stage_end(&s);
}

/* The journal has it before the twin goes. */
Test(runner, what_is_over_is_written_down_before_it_is_forgotten)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 5500);
	cr_expect_not_null(strstr(strbuf_str(&s.asked), "POST /api/v1/namespaces/federator-system/"
							"configmaps "));
	cr_expect_null(strstr(strbuf_str(&s.asked), "DELETE"));
	stage_end(&s);
}

/* --- pods that are being made --- */

#define PODS      "/api/v1/namespaces/x/pods"
#define DRY_RUN   "POST " PODS "?dryRun=All"
#define MAKE      "POST " PODS "?timeout="
#define READ(pod) "GET " PODS "/" pod
#define STATUS(code, reason, text)                                                                 \
	"{\"kind\":\"Status\",\"code\":" #code ",\"reason\":\"" reason "\",\"message\":\"" text    \
	"\",\"details\":{\"kind\":\"pods\"}}"
#define NOT_FOUND STATUS(404, "NotFound", "no")
#define DENIED                                                                                     \
	STATUS(403, "Forbidden",                                                                   \
	       "pods is forbidden: User \\\"a\\\" cannot create resource \\\"pods\\\" in API "     \
	       "group \\\"\\\" in the namespace \\\"x\\\"")

/* Claimed, with its twin; the POST of the pod is on its way. */
static void stage_making(struct stage *s)
{
	stage_begin(s, "Claimed");
	virtual_env_advance(s->time, 100);
	answer(s, DRY_RUN, 201, POD(""));
	cr_assert(stage_awaits(s, MAKE), "asked %s", strbuf_str(&s->asked));
}

Test(runner, a_post_that_turns_out_to_have_been_carried_out_holds_nothing_back)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	lose(&s, MAKE);
	answer(&s, READ("j-w-0"), 200, POD_IS("0", "20", "Pending"));
	event(&s, "ADDED", POD_IS("0", "21", "Succeeded"));
	cr_expect_str_eq(strbuf_str(&s.said), "Done: ");
	stage_end(&s);
}

/* For how long until it is granted: the seconds in which every create is denied. */
static void deny_for(struct stage *s, int seconds)
{
	for (int i = 0; i < seconds * 10; i++) {
		if (stage_awaits(s, MAKE))
			answer(s, MAKE, 403, DENIED);
		virtual_env_advance(s->time, 100);
	}
}

static void wait_making(struct stage *s)
{
	for (int i = 0; i < 600 && !stage_awaits(s, MAKE); i++)
		virtual_env_advance(s->time, 100);
	cr_assert(stage_awaits(s, MAKE), "asked %s", strbuf_str(&s->asked));
}

static void stage_one_of_two_runs(struct stage *s)
{
	stage_begin(s, "Running");
	virtual_env_advance(s->time, 100);
	answer(s, DRY_RUN, 201, POD(""));
	strbuf_clear(&s->said);
}

#define TOO_LARGE                                                                                  \
	"{\"metadata\":{\"name\":\"d\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{" \
	"\"requests\":{\"cpu\":\"30\"}}}]}}"

/* Room that is missing comes by an event; it is looked for every few seconds, and not always. */
Test(runner, a_pod_without_room_is_not_planned_without_a_pause)
{
	struct stage s = {.twins = TWIN_OF(TWO_PODS), .pods = POD("Running")};
	struct env *env = NULL;
	size_t turns = 0;
	int64_t end;

	stage_start(&s, true);
	env = virtual_env_seam(s.time);
	stage_offer(&s, 3, "Go", "Running", "cu");
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 100);
	answer(&s, DRY_RUN, 201, TOO_LARGE);
	for (end = env_mono_ms(env) + 20000; env_mono_ms(env) < end; turns++)
		cr_assert(virtual_env_step(s.time));
	cr_expect_lt(turns, 100, "%zu timers went off in 20 s", turns);
	stage_end(&s);
}

/* People should not have to wait for the last retry to learn what is wrong. */
Test(runner, a_restart_says_which_pod_failed_and_how)
{
	struct stage s = {.twins = TWIN_WITH("cu", "", "3", ONE_TASK, ""), .pods = POD("Failed")};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 10);
	stage_answer(&s, "PATCH /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3/status",
		     200, TWIN_WITH("cu", "", "3", ONE_TASK, ",\"status\":{\"retries\":1}"));
	stage_hear(&s, OWNER_LATER); /* what was said before */
	virtual_env_advance(s.time, 3000);
	cr_expect(strstr(strbuf_str(&s.said), "Running:Restarting"), "said %s",
		  strbuf_str(&s.said));
	cr_expect_str_eq(strbuf_str(&s.message), "task w, pod 0: failed");
	stage_end(&s);
}

/* Runs are looked at again and again: where nothing has changed, nothing is asked or said. */
Test(runner, a_look_again_changes_nothing)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running")};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 10);
	stage_hear(&s, OWNER_OK);
	virtual_env_advance(s.time, 10000);
	stage_forget(&s);
	virtual_env_advance(s.time, 600000);
	cr_expect_str_eq(strbuf_str(&s.asked), "");
	cr_expect_str_eq(strbuf_str(&s.said), "");
	stage_end(&s);
}

/* An apiserver that has just started may know nobody's rights. */
Test(runner, rights_that_lack_for_a_moment_are_waited_for)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	deny_for(&s, 5);
	wait_making(&s);
	answer(&s, MAKE, 201, POD_IS("0", "20", "Running"));
	cr_expect_str_eq(strbuf_str(&s.said), "Running: ");
	cr_expect_not(was_asked(&s, "DELETE"));
	stage_end(&s);
}

Test(runner, rights_that_lack_for_long_give_back_what_has_not_begun)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	deny_for(&s, 15);
	answer(&s, "PATCH /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3/status", 200,
	       TWIN);
	cr_expect_str_eq(strbuf_str(&s.said), "Released:Forbidden ");
	stage_end(&s);
}

Test(runner, rights_that_lack_end_nothing_that_runs)
{
	struct stage s = {.twins = TWIN_OF(TWO_PODS), .pods = POD("Running")};

	stage_one_of_two_runs(&s);
	deny_for(&s, 60);
	cr_expect_not(was_asked(&s, "DELETE"));
	stage_hear(&s, OWNER_LATER);
	strbuf_clear(&s.said);
	deny_for(&s, 30);
	cr_expect(strstr(strbuf_str(&s.said), "Running:Forbidden"), "said %s", strbuf_str(&s.said));
	wait_making(&s);
	answer(&s, MAKE, 201, POD_IS("1", "20", "Running"));
	cr_expect_not(was_asked(&s, "DELETE"));
	stage_end(&s);
}

/* What the member's own policy refuses is no matter of time. */
Test(runner, a_quota_that_is_used_up_gives_the_attempt_back)
{
	struct stage s = {.twins = TWIN_OF(TWO_PODS), .pods = POD("Running")};

	stage_one_of_two_runs(&s);
	answer(&s, MAKE, 403,
	       STATUS(403, "Forbidden", "pods \\\"j-w-1\\\" is forbidden: exceeded quota: q"));
	answer(&s, READ("j-w-1"), 404, NOT_FOUND);
	answer(&s, "PATCH /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3/status", 200,
	       TWIN_OF(TWO_PODS));
	cr_expect(was_asked(&s, "DELETE " PODS "/j-w-0?"), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* Evicted, refused by its kubelet: where it was is the last place to make it again. */
Test(runner, a_pod_that_its_node_lost_is_planned_anew)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running")};
	static const char evicted[] = POD_AT("0", "12",
					     "{\"phase\":\"Failed\",\"conditions\":[{\"type\":"
					     "\"DisruptionTarget\",\"status\":\"True\"}]}");

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 100);
	event(&s, "MODIFIED", evicted);
	answer(&s, "PATCH", 200, "{\"metadata\":{\"name\":\"u-0-3\"}}");
	answer(&s, "DELETE", 200, "{}");
	event(&s, "DELETED", evicted);
	virtual_env_advance(s.time, 5000);
	cr_expect(stage_awaits(&s, DRY_RUN), "asked %s", strbuf_str(&s.asked));
	cr_expect_not(stage_awaits(&s, MAKE), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

#define NEW_TWIN                                                                                    \
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{\"name\":" \
	"\"u-0-3\",\"namespace\":\"x\",\"uid\":\"t2\",\"resourceVersion\":\"31\"},\"spec\":{"       \
	"\"job\":{\"namespace\":\"x\",\"name\":\"j\",\"uid\":\"u\"},\"part\":0,\"generation\":3,"   \
	"\"incarnation\":0,\"clusterUID\":\"cu\",\"work\":{\"minAvailable\":1,\"maxRetry\":0,"      \
	"\"tasks\":" ONE_TASK "}}}"

Test(runner, a_twin_that_stays_away_is_lost)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running")};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 100);
	stage_hear(&s, OWNER_OK);
	stage_watch(&s, "/apis/federator.dev/v1alpha1/placements", "DELETED", TWIN);
	virtual_env_advance(s.time, 1000);
	cr_expect_not(was_asked(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	virtual_env_advance(s.time, 2000);
	answer(&s, "DELETE " PODS "/j-w-0", 200, "{}");
	event(&s, "DELETED", POD_IS("0", "30", "Running"));
	cr_expect_str_eq(strbuf_str(&s.said), "Running: Lost:TwinLost ");
	stage_end(&s);
}

/* Restored from a backup: between the two the attempt seems lost. */
Test(runner, a_twin_that_is_made_anew_goes_on)
{
	static const char twins[] = "/apis/federator.dev/v1alpha1/placements";

	for (int wait = 0; wait < 3; wait++) {
		struct stage s = {.twins = TWIN, .pods = POD("Running")};

		stage_begin(&s, "Running");
		virtual_env_advance(s.time, 100);
		stage_hear(&s, OWNER_OK);
		stage_watch(&s, twins, "DELETED", TWIN);
		virtual_env_advance(s.time, wait * 5);
		if (wait > 1) {
			stage_watch(&s, "/api/v1/pods", "DELETED", POD_IS("0", "30", "Running"));
			virtual_env_advance(s.time, 5);
		}
		stage_watch(&s, twins, "ADDED", NEW_TWIN);
		virtual_env_advance(s.time, 5);
		if (wait < 2)
			stage_watch(&s, "/api/v1/pods", "DELETED", POD_IS("0", "32", "Running"));
		for (int i = 0; i < 50; i++) {
			if (stage_awaits(&s, "PATCH"))
				stage_answer(&s, "PATCH", 200, NEW_TWIN);
			if (stage_awaits(&s, DRY_RUN))
				stage_answer(&s, DRY_RUN, 201, DRY_POD);
			virtual_env_advance(s.time, 100);
		}
		cr_expect(stage_awaits(&s, MAKE), "wait %d: asked %s said %s", wait,
			  strbuf_str(&s.asked), strbuf_str(&s.said));
		stage_end(&s);
	}
}

/* --- after the last word --- */

/* The object of a pod that ended says that it runs: it stays ended, and is forgotten in its time.
 */
Test(runner, a_pod_that_ended_does_not_keep_its_twin_by_running_again)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded")};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 100);
	cr_assert_str_eq(strbuf_str(&s.said), "Done: ");
	s.absent = true;
	stage_hear(&s, OWNER_OK);
	event(&s, "MODIFIED", POD_IS("0", "20", "Running"));
	cr_expect_eq(runner_orphans(s.runner), 0);
	virtual_env_advance(s.time, 610000);
	answer(&s, "POST /api/v1/namespaces/federator-system/configmaps", 201, "{}");
	cr_expect(
		was_asked(&s, "DELETE /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3?"),
		"asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}
