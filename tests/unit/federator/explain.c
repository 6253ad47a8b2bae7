/* What explain says of a job that has ended. */
#include <string.h>

#include "base/json.h"
#include "base/yaml.h"
#include "bed.h"
#include "federator/placer.h"

static void expect_text_of(struct bed *b, const char *yaml, const char *text)
{
	auto_json *docs = NULL, *said = NULL;

	cr_assert_eq(yaml_parse_all(yaml, strlen(yaml), &docs, NULL), 0);
	said = placer_explain(bed_hub(b)->placer, json_array_get(docs, 0), 0);
	cr_expect_str_eq(json_str_at(said, "text", NULL), text, "%s",
			 json_str_at(said, "text", NULL));
}

static void expect_text(const char *yaml, const char *text)
{
	struct bed *b = bed_create();

	expect_text_of(b, yaml, text);
	bed_destroy(b);
}

Test(explain, an_ended_job_shows_each_choice_in_columns)
{
	expect_text(
		"metadata: {name: j, uid: u}\n"
		"status:\n"
		"  state: {phase: Failed, message: 'task t, pod 0: exit code 3'}\n"
		"  dispatch:\n"
		"    attempts:\n"
		"    - {generation: 1, cluster: gpu, why: only gpu is there, how: Released}\n"
		"    - generation: 2\n"
		"      cluster: large-eu-west\n"
		"      why: least waste on large-eu-west\n"
		"      runnersUp: [{cluster: gpu, why: no room}, {cluster: arm-us-east, why: full}]\n"
		"      nodes: n0\n"
		"      how: Done\n"
		"      reason: TaskFailed\n",
		"j is Failed: task t, pod 0: exit code 3\n\n"
		"Attempt 1  gpu, Released\n"
		"  why there  only gpu is there\n"
		"Attempt 2  large-eu-west (n0), Done: TaskFailed\n"
		"  why there        least waste on large-eu-west\n"
		"  not gpu          no room\n"
		"  not arm-us-east  full\n");
}

Test(explain, of_an_uncertain_job_the_next_step_is_named)
{
	expect_text("metadata: {name: j, namespace: ml, uid: u}\n"
		    "status:\n"
		    "  state: {phase: Running, message: nothing of it is left}\n"
		    "  dispatch:\n"
		    "    phase: Uncertain\n"
		    "    parts: [{cluster: gpu}]\n"
		    "    attempts: [{generation: 1, cluster: gpu, why: w, how: Lost}]\n",
		    "j is Uncertain: nothing of it is left\n"
		    "Nobody knows what became of it in gpu. It keeps its share of the queue until "
		    "somebody decides:\n"
		    "fedctl cancel j -n ml ends it for good; then it may be submitted again.\n\n"
		    "Attempt 1  gpu, Lost\n"
		    "  why there  w\n");
}

#define RUNNING_IN_GPU                                                                             \
	"metadata: {name: j, namespace: ml, uid: u, deletionTimestamp: '2026-11-30T00:00:00Z'}\n"  \
	"status:\n"                                                                                \
	"  state: {phase: Running}\n"                                                              \
	"  dispatch:\n"                                                                            \
	"    phase: Releasing\n"                                                                   \
	"    parts: [{cluster: gpu}]\n"                                                            \
	"    attempts: [{generation: 1, cluster: gpu, why: w}]\n"

#define ENDED_IN_GPU                                                                               \
	"metadata: {name: j, namespace: ml, uid: u}\n"                                             \
	"status:\n"                                                                                \
	"  state: {phase: Completed}\n"                                                            \
	"  dispatch:\n"                                                                            \
	"    phase: Ended\n"                                                                       \
	"    parts: [{cluster: gpu}]\n"                                                            \
	"    attempts: [{generation: 1, cluster: gpu, why: w, how: Done}]\n"

Test(explain, where_the_cluster_is_silent_that_is_told)
{
	struct bed *b = bed_create();

	bed_put(b, "clusters",
		"{metadata: {name: gpu, uid: c1}, spec: {}, status: {conditions: [{type: Ready, "
		"status: 'True'}]}}");
	bed_sleep(b, 100);
	expect_text_of(b, RUNNING_IN_GPU,
		       "j is Running, and being deleted\n\n"
		       "Attempt 1  gpu, under way\n"
		       "  why there  w\n");
	bed_put(b, "clusters",
		"{metadata: {name: gpu, uid: c1}, spec: {}, status: {conditions: [{type: Ready, "
		"status: 'False'}]}}");
	bed_sleep(b, 100);
	expect_text_of(
		b, RUNNING_IN_GPU,
		"j is Running, and being deleted\n"
		"Nothing is heard of gpu: this is how it stood then. What runs there goes on; "
		"more is known when its agent is back.\n\n"
		"Attempt 1  gpu, under way\n"
		"  why there  w\n");
	expect_text_of(b, ENDED_IN_GPU,
		       "j is Completed\n\n"
		       "Attempt 1  gpu, Done\n"
		       "  why there  w\n");
	bed_destroy(b);
}
