#include <criterion/criterion.h>
#include <string.h>

#include "api/kind.h"
#include "base/encode.h"
#include "base/json.h"
#include "objects.h"

#define NOW "2026-11-29T12:00:00Z"

static int64_t wall(const char *time)
{
	int64_t ns = 0;

	cr_assert_eq(time_parse(time, &ns), 0);
	return ns;
}

/* One line of a table: "Name=cell|Name=cell", wide columns in brackets. */
static char *row(const struct kind *k, const json_t *object)
{
	struct strbuf out = {0};

	for (const struct column *c = k->columns; c->name; c++) {
		auto_json *cell = c->cell(object, wall(NOW));
		auto_xfree char *text = json_print(cell);

		strbuf_addf(&out, "%s%s%s=%s%s", out.size ? "|" : "", c->priority ? "[" : "",
			    c->name, json_is_string(cell) ? json_string_value(cell) : text,
			    c->priority ? "]" : "");
	}
	return strbuf_take(&out);
}

static const struct {
	const char *typed, *object, *row;
} shown[] = {
	{"vcjob",
	 "{metadata: {creationTimestamp: '2026-11-29T11:59:00Z'}, spec: {minAvailable: 2, queue: ml},"
	 " status: {state: {phase: Running}, running: 2, dispatch: {parts: [{cluster: gpu}]}}}",
	 "Status=Running|MinAvailable=2|Running=2|Cluster=gpu|Age=60s|[Queue=ml]"},
	{"vcjob", "{spec: {minAvailable: 2}}",
	 "Status=null|MinAvailable=2|Running=null|Cluster=null|Age=<unknown>|[Queue=null]"},
	{"queue", "{status: {state: Open, running: 1, pending: 4}}",
	 "State=Open|Running=1|Waiting=4|Age=<unknown>"},
	{"cluster",
	 "{spec: {accepted: true}, status: {nodes: 4, version: v1.36.3, conditions: ["
	 "{type: Joined, status: 'True'}, {type: Ready, status: 'False'}]}}",
	 "Accepted=true|Ready=False|Taints=null|Nodes=4|Version=v1.36.3|Age=<unknown>"},
	{"cluster",
	 "{spec: {taints: [{key: a.io/b, value: c, effect: NoSchedule}, "
	 "{key: federator.dev/cordoned, effect: NoSchedule}]}}",
	 "Accepted=null|Ready=null|Taints=a.io/b federator.dev/cordoned|Nodes=null|"
	 "Version=null|Age=<unknown>"},
	{"placement",
	 "{spec: {job: {name: a}, generation: 2, desired: Go}, status: {state: Running, nodes: n1}}",
	 "Job=a|Generation=2|Desired=Go|State=Running|Reason=null|Age=<unknown>|[Nodes=n1]"},
	{"dataset", "{spec: {size: 40Gi, version: v3}}", "Size=40Gi|Version=v3|Age=<unknown>"},
	{"namespace", "{status: {phase: Active}}", "Status=Active|Age=<unknown>"},
	{"configmap", "{data: {a: b, c: d}, binaryData: {e: AAAA}}", "Data=3|Age=<unknown>"},
	{"secret", "{type: Opaque, data: {a: b}}", "Type=Opaque|Data=1|Age=<unknown>"},
	{"event",
	 "{type: Normal, reason: Started, message: it runs, involvedObject: {kind: Job, name: a},"
	 " lastTimestamp: '2026-11-29T11:58:00Z', firstTimestamp: '2026-11-29T10:00:00Z'}",
	 "Last Seen=2m|Type=Normal|Reason=Started|Object=job/a|Message=it runs"},
	{"events.events.k8s.io",
	 "{type: Warning, reason: R, note: n, regarding: {kind: Pod, name: p},"
	 " eventTime: '2026-11-29T11:59:50.5Z'}",
	 "Last Seen=9s|Type=Warning|Reason=R|Object=pod/p|Message=n"},
	{"lease", "{spec: {holderIdentity: me}}", "Holder=me|Age=<unknown>"},
	{"pc", "{value: 100, preemptionPolicy: Never}",
	 "Value=100|Global-Default=false|Age=<unknown>|PreemptionPolicy=Never"},
	{"csr",
	 "{spec: {signerName: a/b, username: u, expirationSeconds: 86400}, status: {certificate: x,"
	 " conditions: [{type: Approved, status: 'True'}]}}",
	 "Age=<unknown>|SignerName=a/b|Requestor=u|RequestedDuration=24h|Condition=Approved,"
	 "Issued"},
	{"csr", "{spec: {signerName: a/b}}",
	 "Age=<unknown>|SignerName=a/b|Requestor=null|RequestedDuration=<none>|Condition=Pending"},
	{"node",
	 "{metadata: {labels: {node-role.kubernetes.io/worker: ''}}, spec: {unschedulable: true},"
	 " status: {conditions: [{type: Ready, status: 'True'}], nodeInfo: {kubeletVersion: v1}}}",
	 "Status=Ready,SchedulingDisabled|Roles=worker|Age=<unknown>|Version=v1|"
	 "[Internal-IP=<none>]|[External-IP=<none>]|[OS-Image=null]|[Kernel-Version=null]|"
	 "[Container-Runtime=null]"},
	{"pod",
	 "{spec: {nodeName: n1, containers: [{}, {}]}, status: {phase: Running, podIP: 10.0.0.1,"
	 " containerStatuses: [{ready: true, restartCount: 2}, {ready: false, restartCount: 1}]}}",
	 "Ready=1/2|Status=Running|Restarts=3|Age=<unknown>|[IP=10.0.0.1]|[Node=n1]"},
	{"pod",
	 "{spec: {containers: [{}]}, status: {phase: Failed, containerStatuses: [{state: {terminated:"
	 " {reason: Error, exitCode: 1}}}]}}",
	 "Ready=0/1|Status=Error|Restarts=0|Age=<unknown>|[IP=<none>]|[Node=<none>]"},
	{"pod", "{spec: {containers: [{}]}, status: {phase: Failed, reason: OutOfcpu}}",
	 "Ready=0/1|Status=OutOfcpu|Restarts=0|Age=<unknown>|[IP=<none>]|[Node=<none>]"},
	{"pod",
	 "{metadata: {deletionTimestamp: '2026-11-29T11:59:00Z'}, spec: {containers: [{}]},"
	 " status: {phase: Running}}",
	 "Ready=0/1|Status=Terminating|Restarts=0|Age=<unknown>|[IP=<none>]|[Node=<none>]"},
	{"service",
	 "{spec: {type: ClusterIP, clusterIP: None, ports: [{port: 80, protocol: TCP}, {port: 53,"
	 " protocol: UDP}], selector: {a: b}}}",
	 "Type=ClusterIP|Cluster-IP=None|External-IP=<none>|Port(s)=80/TCP,53/UDP|Age=<unknown>|"
	 "[Selector=a=b]"},
};

Test(columns, show_each_kind)
{
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		auto_json *o = object_from_yaml(shown[i].object);
		auto_xfree char *text = row(kind_find_typed(shown[i].typed), o);

		cr_expect_str_eq(text, shown[i].row);
	}
}

/* kubectl's own steps. */
Test(columns, tell_ages_as_kubectl_does)
{
	static const struct {
		int64_t seconds;
		const char *age;
	} cases[] = {
		{-5, "0s"},
		{0, "0s"},
		{119, "119s"},
		{120, "2m"},
		{121, "2m1s"},
		{599, "9m59s"},
		{600, "10m"},
		{3 * 3600 - 1, "179m"},
		{3 * 3600, "3h"},
		{3 * 3600 + 60, "3h1m"},
		{8 * 3600 - 1, "7h59m"},
		{8 * 3600, "8h"},
		{48 * 3600 - 1, "47h"},
		{48 * 3600, "2d"},
		{49 * 3600, "2d1h"},
		{8 * 86400 - 1, "7d23h"},
		{8 * 86400, "8d"},
		{730 * 86400 - 1, "729d"},
		{730 * 86400, "2y"},
		{731 * 86400, "2y1d"},
		{8 * 365 * 86400, "8y"},
	};
	const struct kind *k = kind_find_typed("configmap");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *o = object_from_yaml("{metadata: {creationTimestamp: '" NOW "'}}");
		auto_json *cell =
			k->columns[1].cell(o, wall(NOW) + cases[i].seconds * (int64_t)1000000000);

		cr_expect_str_eq(json_string_value(cell), cases[i].age, "%lld s",
				 (long long)cases[i].seconds);
	}
}

Test(columns, tell_ages_of_more_than_fits)
{
	auto_json *o = object_from_yaml("{metadata: {creationTimestamp: '1685-01-01T00:00:00Z'}}");
	auto_json *cell = kind_find_typed("configmap")->columns[1].cell(o, wall(NOW));

	cr_expect_str_eq(json_string_value(cell), "292y");
}

/* Lists must not fail because one object is odd. */
Test(columns, bear_any_shape)
{
	static const char *const objects[] = {
		"{}",
		"{metadata: 1, spec: 2, status: 3}",
		"{spec: [], status: [], data: 5}",
		"{status: {conditions: [1, {}, {type: 7}], containerStatuses: [1, {state: 2}]}}",
		"{status: {addresses: [3], dispatch: {parts: [4]}}, spec: {ports: [5], selector: {a: 1}}}",
		"{metadata: {creationTimestamp: 9, labels: 1}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(objects); i++)
		for (size_t k = 0; k < kinds_count; k++) {
			auto_json *o = object_from_yaml(objects[i]);
			auto_xfree char *text = row(kinds[k], o);

			cr_expect(text);
		}
}
