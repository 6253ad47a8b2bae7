/* The end of an attempt: no last word while a pod of it may yet come to run, and nothing that only
 * the twin explains before the twin says it. */
#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

#define PODS      "/api/v1/namespaces/x/pods"
#define MAKE_POD  "POST " PODS "?timeout"
#define READ_POD  "GET " PODS "/j-w-0"
#define END_POD   "DELETE " PODS "/j-w-0"
#define DRY_RUN   "POST " PODS "?dryRun"
#define WRITE_END "PATCH /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3/status"

static void expect_said(struct stage *s, const char *what, const char *said)
{
	cr_expect_str_eq(strbuf_str(&s->said), said, "%s: said \"%s\"", what, strbuf_str(&s->said));
}

/* A claimed attempt whose pod is being made. */
static void make_pod(struct stage *s)
{
	stage_begin(s, "Claimed");
	virtual_env_advance(s->time, 10);
	stage_answer(s, DRY_RUN, 201, DRY_POD);
	virtual_env_advance(s->time, 10);
	cr_assert(stage_awaits(s, MAKE_POD), "asked %s", strbuf_str(&s->asked));
}

static void ask_for_release(struct stage *s)
{
	stage_offer(s, 3, "Release", "Claimed", "cu");
	virtual_env_advance(s->time, 100);
}

Test(ending, no_last_word_while_a_pod_is_being_made)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	make_pod(&s);
	ask_for_release(&s);
	expect_said(&s, "the POST is under way", "");
	stage_answer(&s, MAKE_POD, 201, MADE("Pending"));
	virtual_env_advance(s.time, 100);
	expect_said(&s, "the pod is there", "");
	cr_expect(stage_awaits(&s, END_POD), "asked %s", strbuf_str(&s.asked));
	stage_watch(&s, "/api/v1/pods", "ADDED", MADE("Pending"));
	stage_watch(&s, "/api/v1/pods", "DELETED", MADE("Pending"));
	virtual_env_advance(s.time, 100);
	expect_said(&s, "the pod is gone", "Released:Released ");
	stage_end(&s);
}

/* The answer was lost and a GET finds nothing: the POST may be carried out for W yet. */
Test(ending, no_last_word_within_w_of_a_lost_post)
{
	static const struct {
		const char *what;
		int status;
	} cases[] = {{"cut", 0}, {"an error of the server", 500}, {"its time-out", 504}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = TWIN, .pods = ""};

		make_pod(&s);
		stage_answer(&s, MAKE_POD, cases[i].status, "");
		ask_for_release(&s);
		stage_answer(&s, READ_POD, 404, "");
		virtual_env_advance(s.time, W_MS - 1000);
		expect_said(&s, cases[i].what, "");
		cr_expect(!stage_awaits(&s, MAKE_POD), "%s: made again", cases[i].what);
		virtual_env_advance(s.time, 1000);
		expect_said(&s, cases[i].what, "Released:Released ");
		stage_end(&s);
	}
}

#define BROKEN_OFF "{\"metadata\":{\"name\":\"j-w-0\",\"resourceVersion\":\"11\"},\"spec\":["

/* Its beginning tells a pod, but it is not one: what became of the POST is asked again. */
Test(ending, an_answer_that_breaks_off_is_no_pod)
{
	static const char *const answers[] = {"no JSON", (MADE("Running") "}"), BROKEN_OFF};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct stage s = {.twins = TWIN, .pods = ""};

		make_pod(&s);
		stage_answer(&s, MAKE_POD, 201, answers[i]);
		virtual_env_advance(s.time, 100);
		expect_said(&s, answers[i], "");
		virtual_env_advance(s.time, 60000);
		cr_expect(stage_awaits(&s, MAKE_POD), "%s: asked %s", answers[i],
			  strbuf_str(&s.asked));
		stage_end(&s);
	}
}

/* It was made, and nobody knows what: the watch has yet to show it. */
Test(ending, no_last_word_within_w_of_an_answer_that_cannot_be_read)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	make_pod(&s);
	stage_answer(&s, MAKE_POD, 201, "{\"metadata\":");
	ask_for_release(&s);
	virtual_env_advance(s.time, W_MS - 1000);
	expect_said(&s, "it may be there", "");
	virtual_env_advance(s.time, 1000);
	expect_said(&s, "it is not", "Released:Released ");
	stage_end(&s);
}

/* It comes after all, from a POST that was thought lost. */
Test(ending, a_pod_that_comes_late_is_ended_before_the_last_word)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	make_pod(&s);
	stage_answer(&s, MAKE_POD, 0, "");
	ask_for_release(&s);
	stage_answer(&s, READ_POD, 404, "");
	stage_watch(&s, "/api/v1/pods", "ADDED", MADE("Running"));
	virtual_env_advance(s.time, W_MS + 1000);
	expect_said(&s, "it runs", "");
	cr_expect(stage_awaits(&s, END_POD), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

#define OTHER_POD                                                                                      \
	"{\"metadata\":{\"name\":\"q\",\"namespace\":\"y\",\"uid\":\"q\",\"resourceVersion\":\"30\"}," \
	"\"spec\":{\"containers\":[]},\"status\":{\"phase\":\"Running\"}}"

/* The watch was cut while it was made and deleted, and goes on behind both. */
Test(ending, a_pod_that_was_gone_before_the_watch_showed_it_holds_nothing_back)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	make_pod(&s);
	stage_answer(&s, MAKE_POD, 201, MADE("Running"));
	ask_for_release(&s);
	stage_answer(&s, END_POD, 404, "{}");
	virtual_env_advance(s.time, 10000);
	expect_said(&s, "the watch is not so far yet", "");
	stage_watch(&s, "/api/v1/pods", "ADDED", OTHER_POD);
	virtual_env_advance(s.time, 3000);
	expect_said(&s, "it is gone", "Released:Released ");
	stage_end(&s);
}

/* Which of two processes made it, nothing tells: ours may be carried out when it has gone. */
Test(ending, what_is_found_while_a_predecessor_may_write_settles_no_post)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_start(&s, false);
	stage_offer(&s, 3, "Go", "Claimed", "cu");
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, W_MS - 5000);
	stage_answer(&s, DRY_RUN, 201, DRY_POD);
	virtual_env_advance(s.time, 10);
	stage_answer(&s, MAKE_POD, 0, "");
	stage_answer(&s, READ_POD, 200, MADE("Pending"));
	stage_watch(&s, "/api/v1/pods", "ADDED", POD_IS("0", "12", "Succeeded"));
	virtual_env_advance(s.time, W_MS - 1000);
	expect_said(&s, "a POST of ours may be on its way", "");
	virtual_env_advance(s.time, 1100);
	expect_said(&s, "for W", "Done: ");
	stage_end(&s);
}

Test(ending, a_post_that_was_not_sent_holds_nothing_back)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	make_pod(&s);
	stage_refuse(&s, MAKE_POD);
	ask_for_release(&s);
	expect_said(&s, "never sent", "Released:Released ");
	stage_end(&s);
}

/* Two pods, one refused: what is left of the gang must not run while another begins elsewhere. */
Test(ending, a_refused_pod_releases_the_attempt_when_its_others_are_over)
{
	struct stage s = {.twins = TWIN_OF("[{\"name\":\"w\",\"replicas\":2,\"template\":{"
					   "\"spec\":{\"containers\":[]}}}]"),
			  .pods = ""};

	make_pod(&s);
	stage_answer(&s, MAKE_POD, 422, "{\"message\":\"no\"}");
	virtual_env_advance(s.time, 100);
	expect_said(&s, "the other is being made", "");
	stage_refuse(&s, MAKE_POD);
	virtual_env_advance(s.time, 10);
	stage_answer(&s, "PATCH", 200, "{}");
	virtual_env_advance(s.time, 100);
	expect_said(&s, "both are over", "Released:Forbidden ");
	stage_end(&s);
}

/* Ran, and was told to be over; whatever comes then is ended. */
Test(ending, what_comes_after_the_last_word_is_ended)
{
	struct stage s = {.twins = TWIN, .pods = "", .absent = true};

	make_pod(&s);
	stage_refuse(&s, MAKE_POD);
	ask_for_release(&s);
	stage_hear(&s, OWNER_OK);
	virtual_env_advance(s.time, 100);
	stage_watch(&s, "/api/v1/pods", "ADDED", MADE("Running"));
	virtual_env_advance(s.time, 100);
	cr_expect(stage_awaits(&s, END_POD), "asked %s", strbuf_str(&s.asked));
	cr_expect_eq(runner_orphans(s.runner), 0);
	stage_end(&s);
}

/* The answer to a last word comes from one replica, and the view from another that lags: it still
 * shows the claim, and then the end. The job may have begun elsewhere by then. */
Test(ending, an_older_view_starts_nothing_again_after_the_last_word)
{
	struct stage s = {.twins = "", .pods = ""};

	stage_start(&s, true);
	stage_offer(&s, 3, "Release", "Claimed", "cu");
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 100);
	expect_said(&s, "nothing had begun", "Released:Released ");
	stage_hear(&s, OWNER_OK);
	virtual_env_advance(s.time, 100);
	stage_offer(&s, 3, "Go", "Claimed", "cu");
	virtual_env_advance(s.time, 1000);
	cr_expect_str_eq(strbuf_str(&s.asked), "", "asked %s", strbuf_str(&s.asked));
	expect_said(&s, "it was settled", "Released:Released ");
	stage_end(&s);
}

/* Only a last word settles an attempt: a Placement that is not there is no order to end. */
Test(ending, a_word_about_a_placement_that_is_gone_makes_an_orphan)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running"), .absent = true};

	stage_begin(&s, "Claimed");
	virtual_env_advance(s.time, 100);
	expect_said(&s, "it runs", "Running: ");
	stage_hear(&s, OWNER_GONE);
	virtual_env_advance(s.time, 100);
	cr_expect_eq(runner_orphans(s.runner), 1);
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

#define CRASHING                                                                                   \
	"[{\"name\":\"w\",\"replicas\":1,\"maxRetry\":3,\"template\":{\"spec\":{"                  \
	"\"restartPolicy\":\"OnFailure\",\"containers\":[]}}}]"

#define CRASHED                                                                                    \
	POD_AT("0", "4",                                                                           \
	       "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\","                    \
	       "\"restartCount\":4}]}")

/* A pod that restarts for ever is deleted for an outcome that nothing else tells of. */
Test(ending, an_outcome_is_written_before_what_runs_is_ended)
{
	struct stage s = {.twins = TWIN_OF(CRASHING), .pods = CRASHED};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 100);
	for (int i = 0; i < 3; i++) {
		cr_expect(stage_awaits(&s, WRITE_END), "asked %s", strbuf_str(&s.asked));
		cr_expect(!stage_awaits(&s, END_POD), "try %d: ended before it was written", i);
		stage_answer(&s, WRITE_END, i ? 500 : 409, "{}");
		virtual_env_advance(s.time, 10000);
	}
	stage_answer(&s, WRITE_END, 200, "{}");
	virtual_env_advance(s.time, 100);
	cr_expect(stage_awaits(&s, END_POD), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* It is deleted because it failed: the word after that still says so. */
Test(ending, a_pod_that_restarted_too_often_counts_as_failed)
{
	struct stage s = {.twins = TWIN_OF(CRASHING), .pods = CRASHED};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 100);
	stage_answer(&s, WRITE_END, 200, TWIN_OF(CRASHING));
	virtual_env_advance(s.time, 100);
	stage_answer(&s, END_POD, 200, "{}");
	stage_watch(&s, "/api/v1/pods", "DELETED", CRASHED);
	virtual_env_advance(s.time, W_MS);
	expect_said(&s, "it is gone", "Done: ");
	cr_expect_str_eq(strbuf_str(&s.counts), "{\"w\":{\"Failed\":1}}");
	stage_end(&s);
}

/* The cpu that the one node has left, as the hub is told. */
static void expect_free(struct stage *s, const char *cpu)
{
	struct capacity_report report = runner_report(s->runner);
	const char *free_cpu =
		json_str_at(json_array_get(report.shapes, 0), "amounts", "cpu", NULL);

	cr_expect_str_eq(free_cpu, cpu, "%s cpu are free", free_cpu);
	json_decref(report.shapes);
	json_decref(report.capacity);
}

/* The answer was lost, and the Placement is gone: only this word can have ended it. */
Test(ending, a_last_word_that_was_heard_gives_back_its_room_whatever_became_of_the_answer)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	make_pod(&s);
	stage_refuse(&s, MAKE_POD);
	ask_for_release(&s);
	expect_said(&s, "the end", "Released:Released ");
	expect_free(&s, "5");
	stage_hear(&s, OWNER_LATER);
	stage_take_back(&s, 3);
	s.absent = true;
	virtual_env_advance(s.time, 5000);
	expect_said(&s, "once", "Released:Released ");
	expect_free(&s, "8");
	stage_watch(&s, "/api/v1/pods", "ADDED", MADE("Running"));
	virtual_env_advance(s.time, 100);
	cr_expect_eq(runner_orphans(s.runner), 0);
	cr_expect(stage_awaits(&s, END_POD), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* Room is booked by job: what the older attempt gives back must not be the newer one's. */
Test(ending, an_older_attempt_gives_back_no_room_of_the_newer_one)
{
	struct stage s = {.twins = TWIN, .pods = "", .absent = true};

	make_pod(&s);
	stage_refuse(&s, MAKE_POD);
	ask_for_release(&s);
	stage_hear(&s, OWNER_OK);
	stage_offer(&s, 4, "Go", "", "cu");
	virtual_env_advance(s.time, 10);
	stage_give_job(&s, JOB);
	virtual_env_advance(s.time, 10000);
	stage_answer(&s, "POST /api/v1/namespaces/federator-system/configmaps", 201, "{}");
	virtual_env_advance(s.time, 10);
	/* the twin goes while the answer to its DELETE is on its way */
	stage_watch(&s, "/apis/federator.dev/v1alpha1/placements", "DELETED", TWIN);
	virtual_env_advance(s.time, 1000);
	if (stage_awaits(&s, DRY_RUN))
		stage_answer(&s, DRY_RUN, 201, DRY_POD);
	virtual_env_advance(s.time, 100);
	stage_answer(&s, "DELETE /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3", 200,
		     "{}");
	virtual_env_advance(s.time, 1000);
	if (stage_awaits(&s, DRY_RUN))
		stage_answer(&s, DRY_RUN, 201, DRY_POD);
	virtual_env_advance(s.time, 100);
	expect_said(&s, "the newer one", "Released:Released Claimed: ");
	expect_free(&s, "5");
	stage_end(&s);
}
