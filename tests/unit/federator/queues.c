/* Queue.status of a hub. */
#include <string.h>

#include "base/json.h"
#include "bed.h"

static int64_t pending_of(struct bed *b, const char *queue)
{
	auto_json *q = hub_tree(bed_hub(b), hub_kind("queues"), NULL, queue);

	return json_int_at(q, -1, "status", "pending", NULL);
}

Test(queues, a_status_that_was_not_written_is_written_later)
{
	struct bed *b = bed_create();

	bed_break(b, "/queues/");
	bed_put(b, "jobs",
		"{metadata: {name: j, uid: uid-j}, spec: {queue: default, minAvailable: 1,"
		" tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c}]}}}]}}");
	bed_sleep(b, 1300);
	cr_expect_eq(pending_of(b, "default"), -1);
	bed_break(b, NULL);
	for (int i = 0; i < 100 && pending_of(b, "default") != 1; i++)
		bed_sleep(b, 50);
	cr_expect_eq(pending_of(b, "default"), 1);
	bed_destroy(b);
}
