/* What a leader says of clusters that it has, and has not yet, heard. */
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "bed.h"
#include "federator/placer.h"

static json_t *cluster(struct bed *b, const char *name)
{
	return hub_tree(bed_hub(b), hub_kind("clusters"), NULL, name);
}

static int64_t version_of_cluster(struct bed *b, const char *name)
{
	return hub_get(bed_hub(b), hub_kind("clusters"), NULL, name)->version;
}

static const char *ready_of(const json_t *cluster)
{
	const json_t *list = json_at(cluster, "status", "conditions", NULL), *c;
	size_t i;

	json_array_foreach (list, i, c)
		if (!strcmp(json_str_at(c, "type", NULL), "Ready"))
			return json_str_at(c, "status", NULL);
	return "";
}

static void wait_ready(struct bed *b, const char *name)
{
	for (int i = 0; i < 200; i++) {
		auto_json *c = cluster(b, name);

		if (!strcmp(ready_of(c), "True"))
			return;
		bed_sleep(b, 10);
	}
	cr_assert_fail("%s is not Ready", name);
}

/* Its heartbeats are only for us to read: a change of leader is no silence. */
Test(clusters, a_new_leader_takes_its_predecessors_word_until_it_can_know)
{
	struct bed *b = bed_create();
	int64_t version;

	bed_cluster(b, "a");
	wait_ready(b, "a");
	bed_sleep(b, 50);
	version = version_of_cluster(b, "a");
	bed_lead_anew(b);
	bed_sleep(b, 300);
	cr_expect_eq(version_of_cluster(b, "a"), version, "its status was written again");
	bed_destroy(b);
}

Test(clusters, an_old_lease_is_no_heartbeat)
{
	struct bed *b = bed_create();
	auto_json *c = NULL;

	bed_put(b, "clusters", "{metadata: {name: dead, uid: uid-d}, spec: {accepted: true}}");
	bed_put_in(b, "leases", "cluster-dead",
		   "{metadata: {name: agent, uid: l1}, spec: {renewTime: "
		   "'2026-01-01T00:00:00.000000Z'}}");
	bed_sleep(b, 300);
	c = cluster(b, "dead");
	cr_expect_str_eq(ready_of(c), "");
	/* any change of it is one */
	bed_put_in(b, "leases", "cluster-dead",
		   "{metadata: {name: agent, uid: l1}, spec: {renewTime: "
		   "'2026-01-01T00:00:10.000000Z'}}");
	wait_ready(b, "dead");
	bed_destroy(b);
}

/* Nor does a new leader believe what nobody has said for long. */
Test(clusters, a_cluster_that_its_predecessor_called_silent_stays_so)
{
	struct bed *b = bed_create();
	auto_json *c = NULL;
	int64_t version;

	bed_put(b, "clusters",
		"{metadata: {name: dead, uid: uid-d}, spec: {accepted: true}, status: "
		"{lastHeartbeat: '2026-01-01T00:00:00Z', conditions: [{type: Ready, status: 'False'}, "
		"{type: Orphans, status: 'False'}]}}");
	bed_put_in(b, "leases", "cluster-dead",
		   "{metadata: {name: agent, uid: l1}, spec: {renewTime: "
		   "'2026-01-01T00:00:00.000000Z'}}");
	bed_sleep(b, 50);
	version = version_of_cluster(b, "dead");
	bed_lead_anew(b);
	bed_sleep(b, 300);
	cr_expect_eq(version_of_cluster(b, "dead"), version);
	/* heard again: the last heartbeat is in its Lease, no more in its status */
	bed_put_in(b, "leases", "cluster-dead", "{metadata: {name: agent, uid: l1}, spec: {}}");
	wait_ready(b, "dead");
	c = cluster(b, "dead");
	cr_expect_null(json_at(c, "status", "lastHeartbeat", NULL));
	bed_destroy(b);
}
