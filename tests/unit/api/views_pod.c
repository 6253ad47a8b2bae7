#include "api/views.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "views_check.h"

static struct pod *pod_of(const char *bytes)
{
	auto_doc *d = make_doc(bytes);
	struct error err = {0};
	struct pod *p = NULL;

	cr_assert_eq(pod_view(d, &p, &err), 0, "%s", err.text);
	return p;
}

Test(views, read_running_pods)
{
	auto_free(pod_destroy) struct pod *p = pod_of(
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n1\",\"containers\":["
		"{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":1}},\"ports\":["
		"{\"containerPort\":80,\"hostPort\":8080},{\"containerPort\":81}]}],"
		"\"initContainers\":[{\"name\":\"s\",\"restartPolicy\":\"Always\",\"ports\":["
		"{\"containerPort\":1,\"hostPort\":9090}]},{\"name\":\"i\",\"ports\":["
		"{\"containerPort\":1,\"hostPort\":7070}]}]},\"status\":{\"phase\":\"Running\","
		"\"containerStatuses\":[{\"name\":\"a\",\"restartCount\":2,\"resources\":{"
		"\"requests\":{\"cpu\":2}},\"state\":{\"running\":{}},\"lastState\":{"
		"\"terminated\":{\"exitCode\":137}}}],\"initContainerStatuses\":[{\"name\":\"s\","
		"\"restartCount\":1,\"state\":{\"terminated\":{\"exitCode\":3}}}]}}");

	cr_expect_str_eq(p->node, "n1");
	cr_expect_null(p->nominated_node);
	cr_expect_eq(p->phase, POD_RUNNING);
	cr_expect_null(p->reason);
	cr_expect_eq(resource_list_get(&p->request, "cpu"), 2000);
	cr_expect_eq(p->exit_code, -1);
	cr_expect_eq(p->restarts, 3);
	cr_expect(!p->disrupted);
	cr_expect_eq(p->n_host_ports, 2);
	cr_expect_eq(p->host_ports[0], 8080);
	cr_expect_eq(p->host_ports[1], 9090);
	pod_destroy(NULL);
}

Test(views, read_ended_pods)
{
	auto_free(pod_destroy) struct pod *p = pod_of(
		"{\"metadata\":{},\"spec\":{\"nodeName\":\"\",\"containers\":[{\"name\":\"a\","
		"\"resources\":{\"requests\":{\"cpu\":1}}}]},\"status\":{\"phase\":\"Failed\","
		"\"reason\":\"OutOfcpu\",\"message\":\"Pod was rejected\",\"nominatedNodeName\":"
		"\"n2\",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}],"
		"\"containerStatuses\":[{\"state\":{\"waiting\":{}}},{\"state\":{\"terminated\":"
		"{\"exitCode\":0}}},{\"state\":{\"terminated\":{\"exitCode\":1}}}]}}");

	cr_expect_null(p->node);
	cr_expect_str_eq(p->nominated_node, "n2");
	cr_expect_eq(p->phase, POD_FAILED);
	cr_expect_str_eq(p->reason, "OutOfcpu");
	cr_expect_str_eq(p->message, "Pod was rejected");
	cr_expect_eq(p->request.n, 0);
	cr_expect_eq(p->exit_code, 0);
	cr_expect(p->disrupted);
}

Test(views, read_every_phase_of_a_pod)
{
	static const struct {
		const char *name;
		enum pod_phase phase;
	} cases[] = {
		{"Pending", POD_PENDING}, {"Running", POD_RUNNING}, {"Succeeded", POD_SUCCEEDED},
		{"Failed", POD_FAILED},   {"Unknown", POD_UNKNOWN}, {"Dreaming", POD_UNKNOWN},
	};
	auto_free(pod_destroy) struct pod *bare = pod_of("{\"metadata\":{}}");

	cr_expect_eq(bare->phase, POD_PENDING);
	cr_expect_eq(resource_list_get(&bare->request, "pods"), 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *bytes =
			xasprintf("{\"metadata\":{},\"status\":{\"phase\":\"%s\"}}", cases[i].name);
		auto_free(pod_destroy) struct pod *p = pod_of(bytes);

		cr_expect_eq(p->phase, cases[i].phase, "%s", cases[i].name);
	}
}

Test(views, count_restarts_up_to_what_fits)
{
	auto_free(pod_destroy) struct pod *p =
		pod_of("{\"metadata\":{},\"status\":{\"containerStatuses\":[{\"restartCount\":"
		       "2147483647},{\"restartCount\":-5},{\"restartCount\":1}]}}");

	cr_expect_eq(p->restarts, INT32_MAX);
}

Test(views, take_the_ports_of_host_network_pods)
{
	auto_free(pod_destroy) struct pod *p = pod_of(
		"{\"metadata\":{},\"spec\":{\"hostNetwork\":true,\"containers\":[{\"ports\":["
		"{\"containerPort\":80},{\"containerPort\":99999},{}]}]}}");

	cr_expect_eq(p->n_host_ports, 1);
	cr_expect_eq(p->host_ports[0], 80);
}
