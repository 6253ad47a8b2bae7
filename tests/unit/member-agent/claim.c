/* What comes before a claim, what comes only after it, and who waits for whom. */
#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

#define PODS      "/api/v1/namespaces/x/pods"
#define DRY_RUN   "POST " PODS "?dryRun"
#define MAKE_POD  "POST " PODS "?timeout"
#define END_POD   "DELETE " PODS "/j-w-0"
#define MAKE_TWIN "POST /apis/federator.dev/v1alpha1/namespaces/x/placements"
#define OTHER_SPEC                                                                                 \
	"{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":"   \
	"\"j\",\"namespace\":\"x\",\"uid\":\"u\"},\"spec\":{\"minAvailable\":1,\"maxRetry\":7,"    \
	"\"queue\":\"default\",\"tasks\":[]}}"

static void expect_said(struct stage *s, const char *what, const char *said)
{
	cr_expect_str_eq(strbuf_str(&s->said), said, "%s: said \"%s\"", what, strbuf_str(&s->said));
}

static void begin(struct stage *s)
{
	stage_begin(s, "");
	virtual_env_advance(s->time, 10);
}

/* Gives the job as often as it is read, and forgets that it was. */
static bool give_when_read(struct stage *s, const char *job)
{
	for (int i = 0; i < 100 && !strstr(strbuf_str(&s->asked), "job "); i++)
		virtual_env_advance(s->time, 100);
	if (!strstr(strbuf_str(&s->asked), "job "))
		return false;
	stage_forget(s);
	stage_give_job(s, job);
	virtual_env_advance(s->time, 10);
	return true;
}

/* --- the job --- */

/* It may have been read too early; what stays another is none of this offer's. */
Test(claim, a_spec_that_is_another_is_read_again_and_then_refused)
{
	struct stage s = {.twins = "", .pods = ""};
	int reads = 0;

	begin(&s);
	while (reads < 10 && give_when_read(&s, OTHER_SPEC))
		reads++;
	cr_expect_eq(reads, 3);
	cr_expect(!stage_awaits(&s, "POST"), "asked %s", strbuf_str(&s.asked));
	expect_said(&s, "it stays another", "Refused:SpecChanged ");
	stage_end(&s);
}

Test(claim, a_spec_that_becomes_the_right_one_is_taken)
{
	struct stage s = {.twins = "", .pods = ""};

	begin(&s);
	cr_assert(give_when_read(&s, OTHER_SPEC));
	cr_assert(give_when_read(&s, OTHER_SPEC));
	cr_expect(!stage_awaits(&s, DRY_RUN));
	cr_assert(give_when_read(&s, JOB));
	expect_said(&s, "it fits", "");
	cr_expect(stage_awaits(&s, DRY_RUN), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* --- the claim --- */

/* Up to the claim, which is being said. */
static void claim(struct stage *s)
{
	begin(s);
	cr_assert(give_when_read(s, JOB));
	stage_answer(s, DRY_RUN, 201, DRY_POD);
	virtual_env_advance(s->time, 10);
	expect_said(s, "the claim", "Claimed: ");
}

/* Before that another leader may take the offer back, and nobody would know of a twin. */
Test(claim, nothing_is_made_before_the_claim_is_heard)
{
	static const enum owner_reply no[] = {OWNER_CHANGED, OWNER_GONE, OWNER_LATER};
	struct stage s = {.twins = "", .pods = ""};

	claim(&s);
	virtual_env_advance(s.time, 5000);
	cr_expect(!stage_awaits(&s, "POST"), "asked %s", strbuf_str(&s.asked));
	stage_hear(&s, OWNER_OK);
	stage_offer(&s, 3, "Go", "Claimed", "cu");
	virtual_env_advance(s.time, 10);
	cr_expect(stage_awaits(&s, MAKE_TWIN), "asked %s", strbuf_str(&s.asked));
	cr_expect(!stage_awaits(&s, MAKE_POD), "pods come after their twin");
	stage_end(&s);
	for (size_t i = 0; i < ARRAY_LEN(no); i++) {
		s = (struct stage){.twins = "", .pods = ""};
		claim(&s);
		stage_hear(&s, no[i]);
		virtual_env_advance(s.time, 5000);
		cr_expect(!stage_awaits(&s, "POST"), "reply %d: asked %s", no[i],
			  strbuf_str(&s.asked));
		stage_end(&s);
	}
}

/* Claimed by a predecessor, who made nothing of it that can be seen. */
static void inherit(struct stage *s, bool clean)
{
	stage_start(s, clean);
	stage_offer(s, 3, "Go", "Claimed", "cu");
	runner_placements_synced(s->runner);
	virtual_env_advance(s->time, 10);
	cr_assert(give_when_read(s, JOB));
	stage_answer(s, DRY_RUN, 201, DRY_POD);
}

Test(claim, what_a_predecessor_claimed_and_left_is_made_at_once)
{
	struct stage s = {.twins = "", .pods = ""};

	inherit(&s, true);
	virtual_env_advance(s.time, 100);
	cr_expect(stage_awaits(&s, MAKE_TWIN), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* Its twin and pods may be on their way from whoever claimed it. */
Test(claim, what_a_predecessor_claimed_and_may_be_making_is_made_after_w)
{
	struct stage s = {.twins = "", .pods = ""};

	inherit(&s, false);
	virtual_env_advance(s.time, 10);
	stage_offer(&s, 3, "Go", "Claimed", "cu");
	virtual_env_advance(s.time, W_MS - 1000);
	cr_expect(!stage_awaits(&s, MAKE_TWIN), "asked %s", strbuf_str(&s.asked));
	virtual_env_advance(s.time, 2000);
	cr_expect(stage_awaits(&s, MAKE_TWIN), "asked %s", strbuf_str(&s.asked));
	expect_said(&s, "it was claimed", "");
	stage_end(&s);
}

static void ask_dry_run(struct stage *s)
{
	stage_begin(s, "");
	virtual_env_advance(s->time, 10);
	stage_give_job(s, JOB);
	virtual_env_advance(s->time, 100);
	cr_assert(stage_awaits(s, DRY_RUN), "asked %s", strbuf_str(&s->asked));
}

/* In the same turn of the loop, before the run has looked at what became of its Placement. */
Test(claim, an_offer_taken_back_during_the_dry_run_is_not_claimed)
{
	static const struct {
		const char *what;
		bool gone;
	} cases[] = {{"deleted", true}, {"released", false}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = "", .pods = ""};

		ask_dry_run(&s);
		if (cases[i].gone)
			stage_take_back(&s, 3);
		else
			stage_offer(&s, 3, "Release", "", "cu");
		stage_answer(&s, DRY_RUN, 201, DRY_POD);
		cr_expect_str_eq(strbuf_str(&s.said), "", "%s: said %s", cases[i].what,
				 strbuf_str(&s.said));
		virtual_env_advance(s.time, 1000);
		cr_expect(!strstr(strbuf_str(&s.said), "Claimed"), "%s", cases[i].what);
		stage_end(&s);
	}
}

/* An offer to the cluster that had the name before, or of a hub before it was restored. */
Test(claim, an_offer_to_another_cluster_or_of_another_incarnation_is_not_touched)
{
	static const char *const states[] = {"", "Claimed", "Running"};

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		struct stage s = {.twins = "", .pods = ""};

		stage_start(&s, true);
		stage_offer(&s, 3, "Go", states[i], "other");
		runner_placements_synced(s.runner);
		virtual_env_advance(s.time, 60000);
		expect_said(&s, "another cluster", "");
		runner_set_identity(s.runner, "cu", HUB, 1);
		stage_offer(&s, 4, "Go", states[i], "cu");
		virtual_env_advance(s.time, 60000);
		expect_said(&s, "another incarnation", "");
		cr_expect(!strstr(strbuf_str(&s.asked), "job"), "asked %s", strbuf_str(&s.asked));
		stage_end(&s);
	}
}

/* --- who waits for whom --- */

/* Two attempts of one job at once are what all of this is there to prevent. */
Test(claim, a_later_attempt_waits_for_the_end_of_the_earlier_one)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running"), .absent = true};

	stage_begin(&s, "Running");
	virtual_env_advance(s.time, 10);
	stage_forget(&s);
	stage_offer(&s, 4, "Go", "", "cu");
	virtual_env_advance(s.time, 10);
	cr_assert(give_when_read(&s, JOB));
	virtual_env_advance(s.time, W_MS);
	cr_expect(!stage_awaits(&s, DRY_RUN), "asked %s", strbuf_str(&s.asked));
	expect_said(&s, "the earlier one runs", "");
	virtual_env_advance(s.time, W_MS);
	expect_said(&s, "and goes on running", "Refused:NameTaken ");
	stage_end(&s);
}

/* One of two pods stands: whoever left it so was killed between them. */
static void begin_half_made(struct stage *s)
{
	stage_begin(s, "Claimed");
	stage_offer_another(s);
	virtual_env_advance(s->time, 10);
	stage_hear(s, OWNER_OK);
	cr_assert(give_when_read(s, JOB_OF("k", "v")));
}

Test(claim, nothing_new_is_claimed_before_a_half_made_gang_is_whole)
{
	struct stage s = {.twins = TWIN_OF(TWO_PODS), .pods = POD("Running")};

	begin_half_made(&s);
	stage_answer(&s, DRY_RUN, 201, DRY_POD);
	stage_answer(&s, DRY_RUN, 201, DRY_POD);
	virtual_env_advance(s.time, 5000);
	cr_expect(!strstr(strbuf_str(&s.said), "Claimed"), "said %s", strbuf_str(&s.said));
	cr_assert(stage_awaits(&s, MAKE_POD), "asked %s", strbuf_str(&s.asked));
	stage_answer(&s, MAKE_POD, 201, POD_IS("1", "20", "Pending"));
	virtual_env_advance(s.time, 1000);
	cr_expect(strstr(strbuf_str(&s.said), "Claimed"), "said %s", strbuf_str(&s.said));
	stage_end(&s);
}

/* Half a gang must not run for as long as there is no room for the rest. */
Test(claim, a_half_made_gang_without_room_is_ended)
{
	static const char large[] =
		"{\"metadata\":{\"name\":\"d\"},\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"cpu\":\"30\"}}}]}}";
	struct stage s = {.twins = TWIN_OF(TWO_PODS), .pods = POD("Running")};

	begin_half_made(&s);
	stage_answer(&s, DRY_RUN, 201, large);
	virtual_env_advance(s.time, 100);
	stage_answer(&s, "PATCH", 200, "{}");
	virtual_env_advance(s.time, 100);
	cr_expect(stage_awaits(&s, END_POD), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}
