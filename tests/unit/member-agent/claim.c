/* A claim, from the offer to its mark. */
#include "stage.h"

#include <criterion/criterion.h>

#define DRY_RUN "POST /api/v1/namespaces/x/pods?dryRun"

static void ask_dry_run(struct stage *s)
{
	stage_start(s, true);
	stage_offer(s, 3, "Go", "", "cu");
	runner_placements_synced(s->runner);
	virtual_env_advance(s->time, 10);
	stage_give_job(s);
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
