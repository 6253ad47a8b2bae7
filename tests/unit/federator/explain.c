/* What explain says of a job that has ended. */
#include <string.h>

#include "base/json.h"
#include "base/yaml.h"
#include "bed.h"
#include "federator/placer.h"

static void expect_text(const char *yaml, const char *text)
{
	struct bed *b = bed_create();
	auto_json *docs = NULL, *said = NULL;

	cr_assert_eq(yaml_parse_all(yaml, strlen(yaml), &docs, NULL), 0);
	said = placer_explain(bed_hub(b)->placer, json_array_get(docs, 0), 0);
	cr_expect_str_eq(json_str_at(said, "text", NULL), text, "%s",
			 json_str_at(said, "text", NULL));
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
