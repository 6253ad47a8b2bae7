#include "member-agent/podinfo.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"

static struct podinfo *pod_with(const char *meta, const char *status)
{
	auto_xfree char *bytes = xasprintf(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"j-w-0\","
		"\"namespace\":\"x\",\"uid\":\"u1\",\"labels\":{\"federator.dev/uid\":\"j1\","
		"\"federator.dev/part\":\"0\",\"federator.dev/generation\":\"3\","
		"\"federator.dev/restart\":\"2\",\"volcano.sh/task-spec\":\"w\","
		"\"volcano.sh/task-index\":\"0\"},\"ownerReferences\":[{\"apiVersion\":"
		"\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"name\":\"j1-0-3\","
		"\"controller\":true}]%s},\"spec\":{\"nodeName\":\"n\"},"
		"\"status\":{%s}}",
		meta, status);
	auto_free(doc_unref) struct doc *doc = doc_create("x/j-w-0", bytes, strlen(bytes));
	auto_free(pod_destroy) struct pod *p = NULL;
	struct error err;

	cr_assert_eq(pod_view(doc, &p, &err), 0, "%s", err.text);
	return podinfo_create(p);
}

#define TERMINATED(code, at)                                                                       \
	"\"containerStatuses\":[{\"restartCount\":0,\"state\":{\"terminated\":{\"exitCode\":" code \
	",\"finishedAt\":\"" at "\"}}}]"
#define DELETED ",\"deletionTimestamp\":\"2026-01-01T00:01:00Z\",\"deletionGracePeriodSeconds\":30"

Test(podinfo, a_slot_is_what_the_pod_says)
{
	static const struct {
		const char *what, *meta, *status;
		bool node_gone, terminating, ended;
		enum slot_state state;
	} cases[] = {
		{"new", "", "\"phase\":\"Pending\"", false, false, false, SLOT_PENDING},
		{"runs", "", "\"phase\":\"Running\"", false, false, false, SLOT_RUNNING},
		{"succeeded", "", "\"phase\":\"Succeeded\"", false, false, true, SLOT_SUCCEEDED},
		{"failed", "", "\"phase\":\"Failed\"," TERMINATED("3", "2026-01-01T00:00:00Z"),
		 false, false, true, SLOT_FAILED},
		{"refused by its kubelet", "", "\"phase\":\"Failed\",\"reason\":\"OutOfcpu\"",
		 false, false, true, SLOT_LOST},
		{"evicted by a taint", DELETED,
		 "\"phase\":\"Running\",\"conditions\":[{\"type\":\"DisruptionTarget\","
		 "\"status\":\"True\"}]",
		 false, true, false, SLOT_RUNNING},
		{"ended by a disruption", "",
		 "\"phase\":\"Failed\",\"conditions\":[{\"type\":\"DisruptionTarget\","
		 "\"status\":\"True\"}]",
		 false, false, true, SLOT_LOST},
		{"node gone", "", "\"phase\":\"Running\"", true, false, false, SLOT_LOST},
		{"node gone, done before", "", "\"phase\":\"Succeeded\"", true, false, true,
		 SLOT_SUCCEEDED},
		{"failed, then deleted", DELETED,
		 "\"phase\":\"Failed\"," TERMINATED("3", "2026-01-01T00:00:10Z"), false, true, true,
		 SLOT_FAILED},
		{"deleted, so it failed", DELETED,
		 "\"phase\":\"Failed\"," TERMINATED("143", "2026-01-01T00:00:31Z"), false, true,
		 true, SLOT_LOST},
		{"deleted with more grace than there is time",
		 ",\"deletionTimestamp\":\"2026-01-01T00:01:00Z\","
		 "\"deletionGracePeriodSeconds\":99999999999",
		 "\"phase\":\"Failed\"," TERMINATED("3", "2026-01-01T00:00:10Z"), false, true, true,
		 SLOT_LOST},
		{"deleted while it succeeded", DELETED, "\"phase\":\"Succeeded\"", false, true,
		 true, SLOT_SUCCEEDED},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(podinfo_destroy) struct podinfo *p =
			pod_with(cases[i].meta, cases[i].status);
		struct slot s = podinfo_slot(p, cases[i].node_gone);

		cr_expect_eq(s.state, cases[i].state, "%s: %d", cases[i].what, s.state);
		cr_expect_eq(s.terminating, cases[i].terminating, "%s", cases[i].what);
		cr_expect_eq(s.restart, 2);
		cr_expect_eq(podinfo_has_ended(p), cases[i].ended, "%s", cases[i].what);
	}
}

/* Who removes an object by force vouches for its node; a finalizer may hold the object still. */
Test(podinfo, a_forced_deletion_is_an_end)
{
	auto_free(podinfo_destroy) struct podinfo *p =
		pod_with(",\"deletionTimestamp\":\"2026-01-01T00:01:00Z\","
			 "\"deletionGracePeriodSeconds\":0,"
			 "\"finalizers\":[\"federator.dev/outcome\",\"x/y\"]",
			 "\"phase\":\"Running\"");

	cr_expect(podinfo_has_ended(p));
	cr_expect_eq(podinfo_slot(p, false).state, SLOT_LOST);
	cr_expect(p->has_finalizer);
	cr_expect_eq(json_array_size(p->other_finalizers), 1);
}
