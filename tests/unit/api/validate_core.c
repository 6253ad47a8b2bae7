/* Rules of the other kinds: those of Kubernetes, and Queue, Cluster, DataSet, Placement. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "objects.h"

static void expect_lines(const char *object, const char *old, const char *lines)
{
	auto_json *o = object_from_yaml(object), *was = old ? object_from_yaml(old) : NULL;
	auto_xfree char *found = NULL, *old_found = was ? object_mistakes(was, NULL) : NULL;

	cr_assert(!old_found || !*old_found, "%s", old_found);
	found = object_mistakes(o, was);
	cr_expect_str_eq(found, lines, "%s: %s", object, found);
}

#define QUEUE   "apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}"
#define CLUSTER "apiVersion: federator.dev/v1alpha1, kind: Cluster, metadata: {name: a}"
#define DATASET "apiVersion: federator.dev/v1alpha1, kind: DataSet, metadata: {name: a}"
#define PLACED                                                                                     \
	"apiVersion: federator.dev/v1alpha1, kind: Placement, metadata: {name: a, namespace: b}"

Test(validate_core, federated_kinds)
{
	static const struct {
		const char *object, *lines;
	} cases[] = {
		{"{" QUEUE "}", ""},
		{"{" QUEUE
		 ", spec: {closed: true, capability: {cpu: 4, memory: 8Gi, nvidia.com/gpu: '2'}}}",
		 ""},
		{"{" QUEUE ", spec: {closed: 0}}",
		 "spec.closed: Invalid value: 0: must be true or false\n"},
		{"{" QUEUE ", spec: {capability: {cpu: -1}}}",
		 "spec.capability[cpu]: Invalid value: -1: is less than 0\n"},
		{"{" QUEUE ", spec: {capability: {cpu: '-1'}}}",
		 "spec.capability[cpu]: Invalid value: \"-1\": must be an amount such as 500m, 4 or 8Gi, not "
		 "below 0\n"},
		{"{" QUEUE
		 ", spec: {capability: {pods: 9, storage: 1Ti, ephemeral-storage: 1Gi, hugepages-2Mi: "
		 "2Mi}}}",
		 ""},
		{"{" QUEUE ", spec: {capability: {cpus: 4}}}",
		 "spec.capability[cpus]: Invalid value: must be cpu, memory, ephemeral-storage, pods, "
		 "storage, hugepages-<size>, or a name with a domain such as nvidia.com/gpu; did you "
		 "mean \"cpu\"?\n"},
		{"{" QUEUE ", spec: {capability: {gpu: 4}}}",
		 "spec.capability[gpu]: Invalid value: must be cpu, memory, ephemeral-storage, pods, "
		 "storage, hugepages-<size>, or a name with a domain such as nvidia.com/gpu\n"},
		{"{" QUEUE ", spec: {capability: {nvidia.com/gpu: 500m}}}",
		 "spec.capability[nvidia.com/gpu]: Invalid value: \"500m\": must be a whole number\n"},
		{"{" QUEUE ", spec: {closed: 'no'}}",
		 "spec.closed: Invalid value: \"no\": must be true or false\n"},
		{"{" CLUSTER "}", ""},
		{"{" CLUSTER
		 ", spec: {accepted: true, taints: [{key: federator.dev/cordoned, effect: "
		 "NoSchedule}]}}",
		 ""},
		{"{" CLUSTER
		 ", spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}}",
		 "spec.taints[1].key: Duplicate value: \"a\"\n"},
		{"{" CLUSTER ", spec: {taints: [{key: a, effect: NoExecute}]}}",
		 "spec.taints[0].effect: Unsupported value: \"NoExecute\": supported values: "
		 "\"NoSchedule\"\n"},
		{"{" CLUSTER
		 ", status: {capacityShapes: [{labels: {a: b}, amounts: {cpu: 4}, count: 3}]}}",
		 ""},
		{"{" CLUSTER ", status: {capacityShapes: [{amounts: {cpu: 4}}]}}",
		 "status.capacityShapes[0].count: Required value\n"},
		{"{" DATASET
		 ", spec: {size: 40Gi}, replicas: [{cluster: a}, {cluster: b, completeness: "
		 "'0.25'}]}",
		 ""},
		{"{" DATASET "}", "spec: Required value\n"},
		{"{" DATASET ", spec: {size: big}}",
		 "spec.size: Invalid value: \"big\": must be an amount such as 500m, 4 or 8Gi, not below "
		 "0\n"},
		{"{" DATASET ", spec: {size: 1}, replicas: [{cluster: a, completeness: '1.5'}]}",
		 "replicas[0].completeness: Invalid value: \"1.5\": is more than 1\n"},
		{"{" DATASET ", spec: {size: 1}, replicas: [{cluster: a, completeness: '-1'}]}",
		 "replicas[0].completeness: Invalid value: \"-1\": must be a decimal number such as 0.45, "
		 "with at most 6 decimals\n"},
		{"{" DATASET ", spec: {size: 1}, replicas: [{cluster: a}, {cluster: a}]}",
		 "replicas[1].cluster: Duplicate value: \"a\"\n"},
		{"{" PLACED
		 ", spec: {job: {namespace: n, name: j, uid: u}, generation: 1, desired: Go}}",
		 ""},
		{"{" PLACED ", spec: {generation: 1}}", "spec.job: Required value\n"},
		{"{" PLACED
		 ", spec: {job: {namespace: n, name: j, uid: u}, generation: 1}, status: {state: "
		 "Dancing}}",
		 "status.state: Unsupported value: \"Dancing\": supported values: \"\", \"Claimed\", "
		 "\"Running\", \"Refused\", \"Released\", \"Done\", \"Lost\"\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect_lines(cases[i].object, NULL, cases[i].lines);
}

#define CONFIGMAP "apiVersion: v1, kind: ConfigMap, metadata: {name: a}"
#define SECRET    "apiVersion: v1, kind: Secret, metadata: {name: a}"
#define CLASS     "apiVersion: scheduling.k8s.io/v1, kind: PriorityClass"
#define CSR                                                                                        \
	"apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: a}"
#define EVENT   "apiVersion: v1, kind: Event, metadata: {name: a, namespace: n}"
#define POD     "apiVersion: v1, kind: Pod, metadata: {name: a}"
#define SERVICE "apiVersion: v1, kind: Service, metadata: {name: a}"
#define NODE    "apiVersion: v1, kind: Node, metadata: {name: a}"
#define LEASE   "apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a}"

Test(validate_core, kinds_of_kubernetes)
{
	static const struct {
		const char *object, *lines;
	} cases[] = {
		{"{" CONFIGMAP ", data: {a.b-c_d: text, .x: y}, binaryData: {e: aGk=}}", ""},
		{"{" CONFIGMAP ", data: {a/b: text}}",
		 "data[a/b]: Invalid value: names have letters, digits, '-', '_' and '.' only, at most 253, "
		 "and do not begin with two dots\n"},
		{"{" CONFIGMAP ", data: {a: 1}}", "data[a]: Invalid value: 1: must be a string\n"},
		{"{" CONFIGMAP ", binaryData: {a: '%'}}",
		 "binaryData[a]: Invalid value: \"%\": must be base64\n"},
		{"{" CONFIGMAP ", data: {a: x}, binaryData: {a: aGk=}}",
		 "data[a]: Invalid value: binaryData has the same name\n"},
		{"{" SECRET ", stringData: {a: x}}", ""},
		{"{" SECRET ", data: {a: 'not base64'}}",
		 "data[a]: Invalid value: \"not base64\": must be base64\n"},
		{"{" SECRET ", type: kubernetes.io/tls, data: {tls.crt: aGk=}}",
		 "data[tls.key]: Required value: type kubernetes.io/tls has it\n"},
		{"{" CLASS ", metadata: {name: a}, value: 1000000000}", ""},
		{"{" CLASS ", metadata: {name: a}}", ""},
		{"{" CLASS ", metadata: {name: a}, value: 1000000001}",
		 "value: Forbidden: at most 1000000000 where the name does not begin with system-\n"},
		{"{" CLASS ", metadata: {name: system-a}, value: 2000000000}", ""},
		{"{" CSR ", spec: {request: aGk=, signerName: a.b/c, usages: [client auth]}}", ""},
		{"{" CSR ", spec: {request: '', signerName: a.b/c}}",
		 "spec.request: Invalid value: \"\": must have at least 1 character\n"},
		{"{" CSR ", spec: {request: aGk=}}", "spec.signerName: Required value\n"},
		{"{" EVENT ", involvedObject: {kind: Job, name: j, namespace: n}, reason: R}", ""},
		{"{" EVENT ", involvedObject: {kind: Job, name: j, namespace: m}}",
		 "involvedObject.namespace: Invalid value: \"m\": must be the event's namespace \"n\"\n"},
		{"{" LEASE
		 ", spec: {leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.123456Z'}}",
		 ""},
		{"{" LEASE ", spec: {leaseDurationSeconds: 0}}",
		 "spec.leaseDurationSeconds: Invalid value: 0: is less than 1\n"},
		{"{" NODE ", status: {capacity: {cpu: '4', memory: 16Gi, pods: 110}}}", ""},
		{"{" NODE ", status: {capacity: {cpu: four}}}",
		 "status.capacity[cpu]: Invalid value: \"four\": must be an amount such as 500m, 4 or 8Gi, "
		 "not below 0\n"
		 "status.allocatable[cpu]: Invalid value: \"four\": must be an amount such as 500m, 4 or 8Gi, "
		 "not below 0\n"},
		{"{" SERVICE ", spec: {clusterIP: None, selector: {a: b}}}", ""},
		{"{" SERVICE ", spec: {selector: {a: b}}}", "spec.ports: Required value\n"},
		{"{" SERVICE ", spec: {clusterIP: 10.0.0.1, ports: [{port: 1}]}}", ""},
		{"{" SERVICE ", spec: {clusterIP: here, ports: [{port: 1}]}}",
		 "spec.clusterIP: Invalid value: \"here\": must be None or an IP address\n"},
		{"{" SERVICE ", spec: {ports: [{port: 1, name: A}]}}",
		 "spec.ports[0].name: Invalid value: \"A\": must consist of lower case letters, digits and "
		 "'-', and begin and end with a letter or digit\n"},
		{"{" POD ", spec: {nodeName: A_, containers: [{name: a, image: b}]}}",
		 "spec.nodeName: Invalid value: \"A_\": must be the name of a node\n"},
		{"{" SERVICE ", spec: {ports: [{port: 1}, {port: 2, name: b}]}}",
		 "spec.ports[0].name: Required value: several ports need names\n"},
		{"{" POD ", spec: {nodeName: n1, containers: [{name: a, image: b}]}}", ""},
		{"{" POD ", spec: {containers: [{name: a}]}}",
		 "spec.containers[0].image: Required value\n"},
		{"{" POD
		 ", spec: {nodeName: n1, schedulingGates: [{name: g}], containers: [{name: a, image: "
		 "b}]}}",
		 "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect_lines(cases[i].object, NULL, cases[i].lines);
}

#define POD_SPEC "containers: [{name: a, image: b}]"

Test(validate_core, what_may_not_change)
{
	static const struct {
		const char *old, *object, *lines;
	} cases[] = {
		{"{" CONFIGMAP ", data: {a: x}}", "{" CONFIGMAP ", immutable: true, data: {a: y}}",
		 ""},
		{"{" CONFIGMAP ", immutable: true, data: {a: x}}",
		 "{" CONFIGMAP ", immutable: true, data: {a: y}}",
		 "data: Forbidden: cannot change while immutable is true\n"},
		{"{" CONFIGMAP ", immutable: true, data: {a: x}}", "{" CONFIGMAP ", data: {a: x}}",
		 "immutable: Forbidden: cannot be taken back\n"},
		{"{" CONFIGMAP ", immutable: true}", "{" CONFIGMAP ", immutable: true, data: {}}",
		 ""},
		{"{" SECRET ", type: a}", "{" SECRET ", type: b}",
		 "type: Invalid value: \"b\": cannot change\n"},
		{"{" CLASS ", metadata: {name: a}, value: 1}",
		 "{" CLASS ", metadata: {name: a}, value: 2}", "value: Forbidden: cannot change\n"},
		{"{" CLASS ", metadata: {name: a}, value: 1}",
		 "{" CLASS ", metadata: {name: a}, value: 1, description: d}", ""},
		{"{" CSR ", spec: {request: aGk=, signerName: a.b/c}}",
		 "{" CSR ", spec: {request: aGk=, signerName: a.b/d}}",
		 "spec: Forbidden: cannot change\n"},
		{"{" CSR ", spec: {request: aGk=, signerName: a.b/c}}",
		 "{" CSR
		 ", spec: {request: aGk=, signerName: a.b/c}, status: {conditions: [{type: Approved, "
		 "status: 'True'}]}}",
		 ""},
		{"{" POD ", spec: {" POD_SPEC "}}",
		 "{" POD ", spec: {activeDeadlineSeconds: 5, tolerations: [{operator: Exists}], "
		 "containers: [{name: a, image: c}]}}",
		 ""},
		{"{" POD ", spec: {" POD_SPEC ", schedulingGates: [{name: g}]}}",
		 "{" POD ", spec: {" POD_SPEC "}}", ""},
		{"{" POD ", spec: {" POD_SPEC "}}", "{" POD ", spec: {" POD_SPEC ", nodeName: n}}",
		 ""},
		{"{" POD ", spec: {" POD_SPEC ", schedulingGates: [{name: g}]}}",
		 "{" POD ", spec: {" POD_SPEC ", schedulingGates: [{name: g}], nodeName: n}}",
		 "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared\n"},
		{"{" POD ", spec: {" POD_SPEC ", nodeName: n}}", "{" POD ", spec: {" POD_SPEC "}}",
		 "spec: Forbidden: a pod may not change but for images, activeDeadlineSeconds and added "
		 "tolerations\n"},
		{"{" POD ", spec: {" POD_SPEC ", nodeName: n}}",
		 "{" POD ", spec: {" POD_SPEC ", nodeName: m}}",
		 "spec: Forbidden: a pod may not change but for images, activeDeadlineSeconds and added "
		 "tolerations\n"},
		{"{" POD ", spec: {" POD_SPEC ", tolerations: [{key: a}]}}",
		 "{" POD ", spec: {" POD_SPEC ", tolerations: [{key: b}]}}",
		 "spec: Forbidden: a pod may not change but for images, activeDeadlineSeconds and added "
		 "tolerations\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect_lines(cases[i].object, cases[i].old, cases[i].lines);
}

Test(validate_core, data_has_a_limit_together)
{
	auto_json *o = object_from_yaml("{" CONFIGMAP ", data: {}}");
	auto_xfree char *half = xasprintf("'%0*d'", 512 * 1024, 0);
	auto_xfree char *good = NULL, *bad = NULL;

	object_set(o, "data.a", half);
	object_set(o, "data.b", half);
	good = object_mistakes(o, NULL);
	cr_expect_str_eq(good, "");
	object_set(o, "data.c", "x");
	bad = object_mistakes(o, NULL);
	cr_expect_str_eq(
		bad, "data: Too long: all data has 1048577 bytes, at most 1048576 are allowed\n");
}
