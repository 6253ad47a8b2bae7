/* What is left of an attempt after its last word, and in which order it goes. */
#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

#define POD_PATH  "/api/v1/namespaces/x/pods/j-w-0"
#define TWIN_PATH "/apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3"
#define JOURNAL   "POST /api/v1/namespaces/federator-system/configmaps"
#define COUNTED   OWNED_BY("u-0-3") ",\"finalizers\":[\"federator.dev/outcome\"]"

/* All that is asked for within a while, but the journal: that is written when it is asked. */
static void run_for(struct stage *s, int64_t ms)
{
	for (; ms > 0; ms -= 500) {
		virtual_env_advance(s->time, 500);
		if (stage_awaits(s, JOURNAL))
			stage_answer(s, JOURNAL, 201, "{}");
	}
}

/* The collector that comes after the twin leaves what has a finalizer standing, and its name with
 * it. */
Test(forget, a_twin_stays_until_the_finalizers_of_its_pods_are_off)
{
	auto_xfree char *held = stage_pod_make(
		&(struct stage_pod){.version = "4", .phase = "Succeeded", .meta = COUNTED});
	auto_xfree char *free_pod = stage_pod_make(&(struct stage_pod){.phase = "Succeeded"});
	struct stage s = {.twins = TWIN, .pods = held, .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	run_for(&s, 1000);
	stage_answer(&s, "PATCH " POD_PATH, 500, "{}");
	run_for(&s, 30000);
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	stage_answer(&s, "PATCH " POD_PATH, 200, "{}");
	stage_watch(&s, "/api/v1/pods", "MODIFIED", free_pod);
	run_for(&s, 10000);
	cr_expect(stage_awaits(&s, "DELETE " TWIN_PATH), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* What the watch has not told yet is asked for now and then, not as fast as the line allows. */
Test(forget, a_twin_that_is_gone_already_is_not_asked_for_again_and_again)
{
	struct stage s = {.twins = TWIN, .pods = "", .absent = true};
	int asked = 0;

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	run_for(&s, 10000);
	for (int i = 0; i < 1000; i++) {
		if (stage_awaits(&s, "DELETE " TWIN_PATH)) {
			stage_answer(&s, "DELETE " TWIN_PATH, 404, "{}");
			asked++;
		}
		virtual_env_advance(s.time, 10);
	}
	cr_expect(asked > 1 && asked < 20, "asked %d times in 10 s", asked);
	stage_watch(&s, "/apis/federator.dev/v1alpha1/placements", "DELETED", TWIN);
	virtual_env_advance(s.time, 100);
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* The answer to a write of it is older than the end that the watch has told. */
Test(forget, a_late_answer_brings_no_twin_back)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_begin(&s, "Claimed");
	virtual_env_advance(s.time, 10);
	stage_answer(&s, "POST /api/v1/namespaces/x/pods?dryRun", 422, "{\"message\":\"no\"}");
	virtual_env_advance(s.time, 10);
	stage_watch(&s, "/apis/federator.dev/v1alpha1/placements", "DELETED", TWIN);
	stage_forget(&s);
	stage_answer(&s, "PATCH " TWIN_PATH "/status", 200, TWIN);
	virtual_env_advance(s.time, 1000);
	cr_expect_str_eq(strbuf_str(&s.asked), "job ", "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* The member has moved to another hub. Its own asks again, should it come back, and must not hear
 * that nothing is left: it would start again what has run. */
Test(forget, what_another_hub_claimed_is_kept_for_it)
{
	struct stage s = {
		.twins = TWIN_BY("other", "", ONE_TASK), .pods = POD("Succeeded"), .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	run_for(&s, 20000);
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	cr_expect(!stage_awaits(&s, "PATCH"), "asked %s", strbuf_str(&s.asked));
	cr_expect_eq(runner_orphans(s.runner), 0);
	stage_end(&s);
}

#define AT_HUB(hub) "\"annotations\":{\"federator.dev/hub\":\"" hub "\"},"

/* The Cluster was deleted on our hub, and we have joined it anew under its name: that it is not
 * there is the hub's word for what the former had claimed, too. */
Test(forget, what_a_former_cluster_of_ours_has_ended_goes)
{
	static const struct {
		const char *hub, *twin;
		bool goes;
	} cases[] = {
		{"ours", TWIN_BY("former", AT_HUB(HUB), ONE_TASK), true},
		{"our name elsewhere", TWIN_BY("former", AT_HUB("sha256:cd/c"), ONE_TASK), false},
		{"another name", TWIN_BY("former", AT_HUB("sha256:ab/d"), ONE_TASK), false}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = cases[i].twin, .pods = POD("Succeeded"), .absent = true};

		stage_start(&s, true);
		runner_placements_synced(s.runner);
		run_for(&s, 20000);
		cr_expect_eq(stage_awaits(&s, "DELETE " TWIN_PATH), cases[i].goes, "%s: asked %s",
			     cases[i].hub, strbuf_str(&s.asked));
		stage_end(&s);
	}
}

Test(forget, what_runs_of_another_hub_is_an_orphan)
{
	struct stage s = {.twins = TWIN_BY("other", "", ONE_TASK), .pods = POD("Running")};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	run_for(&s, 4000);
	cr_expect_eq(runner_orphans(s.runner), 1);
	cr_expect(stage_awaits(&s, "POST /api/v1/namespaces/x/events"), "asked %s",
		  strbuf_str(&s.asked));
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* A person has looked, and wants no more of it. */
Test(forget, what_another_hub_claimed_goes_when_it_is_deleted)
{
	struct stage s = {.twins = TWIN_BY("other",
					   "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",",
					   ONE_TASK),
			  .pods = POD("Succeeded")};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	run_for(&s, 20000);
	cr_expect(stage_awaits(&s, "PATCH " TWIN_PATH), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* --- the order --- */

#define CLAIMED_AT_7                                                                               \
	TWIN_BY("cu", "\"annotations\":{\"federator.dev/claim-version\":\"7\"},", ONE_TASK)

/* A view from before the claim does not show its Placement yet. */
Test(forget, absence_is_asked_for_from_the_claim_on)
{
	struct stage s = {.twins = CLAIMED_AT_7, .pods = POD("Succeeded")};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	run_for(&s, 20000);
	cr_expect_eq(s.absent_since, 7);
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

Test(forget, a_twin_stays_while_a_pod_of_it_is_ending)
{
	auto_xfree char *pod = stage_pod_make(&(struct stage_pod){
		.version = "4",
		.meta = OWNED_BY("u-0-3") ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\","
					  "\"deletionGracePeriodSeconds\":30"});
	struct stage s = {.twins = TWIN, .pods = pod, .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	run_for(&s, 20000);
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	stage_watch(&s, "/api/v1/pods", "DELETED", pod);
	run_for(&s, 10000);
	cr_expect(stage_awaits(&s, "DELETE " TWIN_PATH), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* Nothing is written while a predecessor may yet make a pod. */
Test(forget, a_twin_stays_for_w)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = true};

	stage_start(&s, false);
	runner_placements_synced(s.runner);
	run_for(&s, W_MS - 1000);
	cr_expect(!strstr(strbuf_str(&s.asked), JOURNAL " "), "asked %s", strbuf_str(&s.asked));
	run_for(&s, 20000);
	cr_expect(stage_awaits(&s, "DELETE " TWIN_PATH), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* The journal, the twin's deletion, and last its finalizer: each behind the answer to the one
 * before it. */
Test(forget, its_finalizer_is_what_goes_last)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 20000);
	stage_watch(&s, "/api/v1/pods", "MODIFIED", POD_IS("0", "20", "Succeeded"));
	virtual_env_advance(s.time, 10000);
	cr_expect(!stage_awaits(&s, "DELETE"), "asked %s", strbuf_str(&s.asked));
	cr_expect(!stage_awaits(&s, "PATCH"), "asked %s", strbuf_str(&s.asked));
	stage_answer(&s, JOURNAL, 201, "{}");
	virtual_env_advance(s.time, 10000);
	cr_expect(!stage_awaits(&s, "PATCH"), "asked %s", strbuf_str(&s.asked));
	stage_answer(&s, "DELETE " TWIN_PATH, 200, "{}");
	virtual_env_advance(s.time, 10);
	cr_expect(strstr(stage_body(&s, "PATCH " TWIN_PATH), "\"finalizers\":[]"), "%s",
		  stage_body(&s, "PATCH " TWIN_PATH));
	stage_end(&s);
}
