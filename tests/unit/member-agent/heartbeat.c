/* Heartbeats, and what they are answered. */
#include "member-agent/heartbeat.h"

#include <criterion/criterion.h>
#include <string.h>

#include "process.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/cluster-gpu/leases"
#define UNKNOWN                                                                                    \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"m\",\"reason\":\"Forbidden\","  \
	"\"code\":403,\"details\":{\"causes\":[{\"reason\":\"ClusterUnknown\"}]}}"
#define TOLD                                                                                       \
	"the hub at https://hub:7443 has no cluster gpu any more: somebody deleted it; what runs " \
	"here goes on, and nothing new comes; to join it again, end this agent, delete the "       \
	"Secret federator-system/member-agent, on the hub: kubectl delete csr gpu, and start it "  \
	"with a new token: fedctl cluster token create gpu\n"

/* It goes on, asks seldom, and says what happened once each time that it happens. */
Test(heartbeat, a_cluster_that_was_deleted_is_told_of_once)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct heartbeat *h;

	process_keep_log();
	h = heartbeat_create(&p->agent);
	cr_expect_str_eq(peer_request(p->hub), "POST " LEASES);
	peer_answer(p->hub, 201, "{}");
	for (size_t deletions = 1; deletions <= 2; deletions++) {
		for (int i = 0; i < 4; i++) {
			process_advance(p, HEARTBEAT_MS - 1);
			cr_expect_eq(peer_waiting(p->hub), 0, "too soon");
			process_advance(p, 1);
			cr_assert_str_eq(peer_request(p->hub), "PATCH " LEASES "/agent");
			peer_answer(p->hub, 403, UNKNOWN);
			cr_expect_eq(process_logged(TOLD), deletions);
		}
		/* Its store was restored. */
		process_advance(p, HEARTBEAT_MS);
		peer_answer(p->hub, 200, "{}");
		cr_expect_eq(process_logged("the hub has cluster gpu again\n"), deletions);
	}
	cr_expect_eq(p->stopped + p->deposed, 0);
	heartbeat_destroy(h);
}
