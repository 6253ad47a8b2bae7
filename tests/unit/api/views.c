#include "api/views.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "views_check.h"

static struct job *job_of(const char *bytes)
{
	auto_doc *d = make_doc(bytes);
	struct error err = {0};
	struct job *j = NULL;

	cr_assert_eq(job_view(d, &j, &err), 0, "%s", err.text);
	return j;
}

Test(views, read_metadata)
{
	auto_free(job_destroy) struct job *j = job_of(
		"{\"metadata\":{\"name\":\"x\",\"namespace\":\"ml\",\"uid\":\"u-1\",\"generation\":3,"
		"\"creationTimestamp\":\"2026-11-29T17:46:46Z\","
		"\"deletionTimestamp\":\"2026-11-29T17:46:47Z\","
		"\"labels\":{\"b\":\"2\",\"a\":\"1\"},\"annotations\":{\"note\":\"\"},"
		"\"finalizers\":[\"federator.dev/release\",\"x.io/y\"],"
		"\"ownerReferences\":[{\"uid\":\"o-1\"},{\"uid\":\"o-2\",\"controller\":true}],"
		"\"managedFields\":[{}]},\"spec\":{\"tasks\":[]}}");
	const struct meta *m = &j->meta;

	cr_expect_str_eq(m->name, "x");
	cr_expect_str_eq(m->ns, "ml");
	cr_expect_str_eq(m->uid, "u-1");
	cr_expect_eq(m->version, 77);
	cr_expect_eq(m->generation, 3);
	cr_expect_eq(m->created_ns, SOME_TIME);
	cr_expect_eq(m->deleted_ns, SOME_TIME + 1000000000);
	cr_expect_eq(m->n_labels, 2);
	cr_expect_str_eq(meta_label(m, "a"), "1");
	cr_expect_str_eq(meta_label(m, "b"), "2");
	cr_expect_null(meta_label(m, "c"));
	cr_expect_str_eq(meta_annotation(m, "note"), "");
	cr_expect_null(meta_annotation(m, "a"));
	cr_expect(meta_has_finalizer(m, "federator.dev/release"));
	cr_expect(!meta_has_finalizer(m, "federator.dev"));
	cr_expect_null(m->finalizers[2]);
	cr_expect_str_eq(m->owner_uid, "o-2");
}

Test(views, take_absent_metadata_as_empty)
{
	auto_free(job_destroy) struct job *j = job_of("{\"metadata\":{}}");

	cr_expect_str_eq(j->meta.ns, "");
	cr_expect_str_eq(j->meta.name, "");
	cr_expect_str_eq(j->meta.uid, "");
	cr_expect_eq(j->meta.deleted_ns, 0);
	cr_expect_null(j->meta.finalizers[0]);
	cr_expect_null(j->meta.owner_uid);
	cr_expect(!meta_has_finalizer(&j->meta, "a"));
}

Test(views, default_what_a_job_leaves_out)
{
	auto_free(job_destroy) struct job *j =
		job_of("{\"metadata\":{},\"spec\":{\"tasks\":[{\"template\":{\"spec\":{}}},"
		       "{\"name\":\"w\",\"replicas\":0},{\"replicas\":4,\"minAvailable\":2,"
		       "\"maxRetry\":0}]}}");

	cr_expect_str_eq(j->queue, "default");
	cr_expect_str_eq(j->priority_class, "");
	cr_expect_str_eq(j->phase, "");
	cr_expect_eq(j->max_retry, 3);
	cr_expect_eq(j->min_success, -1);
	cr_expect_eq(j->ttl_s, -1);
	cr_expect_eq(j->n_tasks, 3);
	cr_expect_str_eq(j->tasks[0].name, "default0");
	cr_expect_str_eq(j->tasks[1].name, "w");
	cr_expect_str_eq(j->tasks[2].name, "default2");
	/* omitted is 1, written 0 is 0 */
	cr_expect_eq(j->tasks[0].replicas, 1);
	cr_expect_eq(j->tasks[1].replicas, 0);
	cr_expect_eq(j->tasks[0].min_available, 1);
	cr_expect_eq(j->tasks[1].min_available, 0);
	cr_expect_eq(j->tasks[2].min_available, 2);
	cr_expect_eq(j->tasks[0].max_retry, 3);
	cr_expect_eq(j->tasks[2].max_retry, 0);
	cr_expect_eq(j->min_available, 3);
	cr_expect(!j->plugin_env && !j->plugin_svc);
	cr_expect(selector_is_empty(j->cluster_selector));
	cr_expect_eq(j->dispatch.phase, DISPATCH_NONE);
	cr_expect_null(j->dispatch.cluster);
}

static const char whole_job[] =
	"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"queue\":\"ml\",\"priorityClassName\":\"high\","
	"\"schedulerName\":\"federator\",\"minAvailable\":2,\"minSuccess\":1,\"maxRetry\":0,"
	"\"ttlSecondsAfterFinished\":0,\"plugins\":{\"env\":[],\"svc\":null},\"tasks\":["
	"{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"resources\":"
	"{\"limits\":{\"cpu\":4,\"nvidia.com/gpu\":1}}}]}}}],"
	"\"placement\":{\"clusterSelector\":{\"matchLabels\":{\"region\":\"eu\"}},"
	"\"datasets\":[{\"name\":\"imagenet\",\"mode\":\"Stream\"}],\"alternatives\":["
	"{\"task\":\"w\",\"resources\":{\"nvidia.com/gpu\":8},\"nodeSelector\":{\"gpu\":\"h100\"}},"
	"{\"task\":\"w\",\"speed\":\"0.45\",\"replicas\":4}]}},"
	"\"status\":{\"state\":{\"phase\":\"Running\","
	"\"lastTransitionTime\":\"2026-11-29T17:46:46Z\"},\"dispatch\":{\"phase\":\"Confirmed\","
	"\"n\":2,\"retries\":1,\"parts\":[{\"cluster\":\"gpu\",\"clusterUID\":\"c-1\","
	"\"generation\":1048578}],\"attempts\":[{}]}}}";

Test(views, read_a_whole_job)
{
	auto_free(job_destroy) struct job *j = job_of(whole_job);
	auto_json *eu = json_pack("{s:s}", "region", "eu");
	auto_json *us = json_pack("{s:s}", "region", "us");

	cr_expect_str_eq(j->queue, "ml");
	cr_expect_str_eq(j->priority_class, "high");
	cr_expect_eq(j->min_available, 2);
	cr_expect_eq(j->min_success, 1);
	cr_expect_eq(j->max_retry, 0);
	cr_expect_eq(j->ttl_s, 0);
	cr_expect(j->plugin_env && j->plugin_svc);
	cr_expect_eq(resource_list_get(&j->tasks[0].request, "cpu"), 4000);
	cr_expect_eq(resource_list_get(&j->tasks[0].request, "nvidia.com/gpu"), 1);
	cr_expect_eq(resource_list_get(&j->tasks[0].request, "pods"), 1);
	cr_expect(json_is_object(json_at(j->tasks[0].template_, "spec", NULL)));
	cr_expect(selector_match(j->cluster_selector, eu));
	cr_expect(!selector_match(j->cluster_selector, us));
	cr_expect_eq(j->n_datasets, 1);
	cr_expect_str_eq(j->datasets[0].name, "imagenet");
	cr_expect_eq(j->n_alternatives, 2);
	cr_expect_str_eq(j->alternatives[0].task, "w");
	cr_expect_eq(resource_list_get(&j->alternatives[0].resources, "nvidia.com/gpu"), 8);
	cr_expect_eq(j->alternatives[0].n_node_selector, 1);
	cr_expect_str_eq(j->alternatives[0].node_selector[0].value, "h100");
	cr_expect_eq(j->alternatives[0].replicas, -1);
	cr_expect_eq(j->alternatives[1].replicas, 4);
	cr_expect_str_eq(j->phase, "Running");
	cr_expect_eq(j->phase_since_ns, SOME_TIME);
	cr_expect_eq(j->dispatch.phase, DISPATCH_CONFIRMED);
	cr_expect_eq(j->dispatch.n, 2);
	cr_expect_eq(j->dispatch.retries, 1);
	cr_expect_str_eq(j->dispatch.cluster, "gpu");
	cr_expect_str_eq(j->dispatch.cluster_uid, "c-1");
	cr_expect_eq(j->dispatch.generation, 1048578);
}

Test(views, keep_the_tree_that_a_job_was_read_from)
{
	json_t *tree = json_loads(whole_job, 0, NULL);
	struct job *j = NULL;

	cr_assert_eq(job_view_tree(tree, &j, NULL), 0);
	json_decref(tree);
	cr_expect_eq(json_array_size(json_at(j->tasks[0].template_, "spec", "containers", NULL)),
		     1);
	job_destroy(j);
	job_destroy(NULL);
}

Test(views, know_every_phase_of_the_record)
{
	static const struct {
		const char *name;
		enum dispatch_phase phase;
	} cases[] = {
		{"", DISPATCH_NONE},
		{"Queued", DISPATCH_QUEUED},
		{"Confirmed", DISPATCH_CONFIRMED},
		{"Running", DISPATCH_RUNNING},
		{"Releasing", DISPATCH_RELEASING},
		{"Ended", DISPATCH_ENDED},
		{"Uncertain", DISPATCH_UNCERTAIN},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *tree = json_pack("{s:{},s:{s:{s:s}}}", "metadata", "status", "dispatch",
					    "phase", cases[i].name);
		auto_free(job_destroy) struct job *j = NULL;

		cr_assert_eq(job_view_tree(tree, &j, NULL), 0);
		cr_expect_eq(j->dispatch.phase, cases[i].phase);
		cr_expect_str_eq(dispatch_phase_name(cases[i].phase), cases[i].name);
	}
}

/* bytes, and how the error must begin */
static void check_bad_job(const char *bytes, const char *text)
{
	auto_json *tree = json_loads(bytes, 0, NULL);
	struct error err = {0};
	struct job *j = NULL;

	cr_assert(tree, "%s", bytes);
	cr_expect_eq(job_view_tree(tree, &j, &err), -1, "%s", bytes);
	cr_expect_eq(err.code, ERR_INVALID);
	cr_expect(!strncmp(err.text, text, strlen(text)), "%s: %s", text, err.text);
	cr_expect_null(j);
}

Test(views, name_the_path_of_what_is_wrong)
{
	check_bad_job("{\"metadata\":[]}", "metadata: must be an object");
	check_bad_job("{\"metadata\":{\"name\":1}}", "metadata.name: must be a string");
	check_bad_job("{\"metadata\":{\"creationTimestamp\":\"now\"}}",
		      "metadata.creationTimestamp: must be a time");
	check_bad_job("{\"metadata\":{\"labels\":{\"a.b/c\":1}}}", "metadata.labels[a.b/c]: ");
	check_bad_job("{\"metadata\":{\"finalizers\":[\"a\",1]}}", "metadata.finalizers[1]: ");
	check_bad_job("{\"metadata\":{\"resourceVersion\":\"abc\"}}", "metadata.resourceVersion: ");
	check_bad_job("{\"spec\":{\"tasks\":{}}}", "spec.tasks: must be an array");
	check_bad_job("{\"spec\":{\"tasks\":[{},{\"replicas\":-1}]}}",
		      "spec.tasks[1].replicas: must be from 0 to 2147483647, not -1");
	check_bad_job("{\"spec\":{\"tasks\":[{\"replicas\":2147483648}]}}",
		      "spec.tasks[0].replicas: must be from 0 to 2147483647");
	check_bad_job("{\"spec\":{\"tasks\":[{\"replicas\":\"1\"}]}}",
		      "spec.tasks[0].replicas: must be a whole number");
	check_bad_job("{\"spec\":{\"tasks\":[{\"replicas\":1.5}]}}", "spec.tasks[0].replicas: ");
	check_bad_job("{\"spec\":{\"tasks\":[{\"replicas\":2147483647},{\"replicas\":1}]}}",
		      "spec.tasks: ");
	check_bad_job(
		"{\"spec\":{\"tasks\":[{\"template\":{\"spec\":{\"containers\":[{\"resources\":"
		"{\"limits\":{\"cpu\":\"x\"}}}]}}}]}}",
		"spec.tasks[0].template.spec: containers[0]: resources.limits: cpu: ");
	check_bad_job("{\"spec\":{\"placement\":{\"clusterSelector\":{\"matchLabels\":[]}}}}",
		      "spec.placement.clusterSelector: matchLabels: ");
	check_bad_job("{\"spec\":{\"placement\":{\"alternatives\":[{}]}}}",
		      "spec.placement.alternatives[0].task: is missing");
	check_bad_job("{\"spec\":{\"placement\":{\"alternatives\":[{\"task\":\"a\","
		      "\"resources\":{\"cpu\":\"?\"}}]}}}",
		      "spec.placement.alternatives[0].resources: cpu: ");
	check_bad_job("{\"status\":{\"dispatch\":{\"phase\":\"Reserving\"}}}",
		      "status.dispatch.phase: \"Reserving\"");
	check_bad_job("{\"status\":{\"dispatch\":{\"parts\":[{},{}]}}}", "status.dispatch.parts: ");
	check_bad_job("{\"status\":{\"dispatch\":{\"parts\":[{\"cluster\":\"a\"}]}}}",
		      "status.dispatch.parts[0].generation: is missing");
	check_bad_job("[]", "must be an object");
}

Test(views, take_null_as_absent)
{
	auto_free(job_destroy) struct job *j =
		job_of("{\"metadata\":{\"labels\":null,\"creationTimestamp\":null},\"spec\":{"
		       "\"queue\":null,\"maxRetry\":null,\"tasks\":null},\"status\":null}");

	cr_expect_str_eq(j->queue, "default");
	cr_expect_eq(j->max_retry, 3);
	cr_expect_eq(j->n_tasks, 0);
}
