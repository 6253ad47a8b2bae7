#include "api/views.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

/* 2026-11-29T17:46:46Z */
#define SOME_TIME INT64_C(1795974406000000000)

static struct doc *make(const char *bytes)
{
	struct doc *d = doc_create("/k", bytes, strlen(bytes));

	d->version = 77;
	return d;
}

static void unref_doc(struct doc **d)
{
	doc_unref(*d);
}
#define auto_doc __attribute__((cleanup(unref_doc))) struct doc

static struct job *job_of(const char *bytes)
{
	auto_doc *d = make(bytes);
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
	cr_expect_str_eq(j->scheduler_name, "");
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
	cr_expect_str_eq(j->scheduler_name, "federator");
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
	cr_expect_eq(j->alternatives[0].speed_milli, 1000);
	cr_expect_eq(j->alternatives[0].replicas, -1);
	cr_expect_eq(j->alternatives[1].speed_milli, 450);
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
		      "\"speed\":\"fast\"}]}}}",
		      "spec.placement.alternatives[0].speed: ");
	check_bad_job("{\"spec\":{\"placement\":{\"alternatives\":[{\"task\":\"a\","
		      "\"speed\":-1}]}}}",
		      "spec.placement.alternatives[0].speed: ");
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

static struct queue *queue_of(const char *bytes)
{
	auto_doc *d = make(bytes);
	struct error err = {0};
	struct queue *q = NULL;

	cr_assert_eq(queue_view(d, &q, &err), 0, "%s", err.text);
	return q;
}

Test(views, read_queues)
{
	auto_free(queue_destroy) struct queue *plain = queue_of("{\"metadata\":{\"name\":\"q\"}}");
	auto_free(queue_destroy) struct queue *closed =
		queue_of("{\"metadata\":{\"name\":\"q\"},\"spec\":{\"weight\":4,\"closed\":true,"
			 "\"capability\":{\"cpu\":\"64\"}},\"status\":{\"state\":\"Closed\"}}");

	cr_expect(plain->open);
	cr_expect_str_eq(plain->state, "");
	cr_expect_eq(plain->weight, 1);
	cr_expect(!plain->has_capability);
	cr_expect_eq(plain->capability.n, 0);
	cr_expect(!closed->open);
	cr_expect_str_eq(closed->state, "Closed");
	cr_expect_eq(closed->weight, 4);
	cr_expect(closed->has_capability);
	cr_expect_eq(resource_list_get(&closed->capability, "cpu"), 64000);
	queue_destroy(NULL);
}

static struct cluster *cluster_of(const char *bytes)
{
	auto_doc *d = make(bytes);
	struct error err = {0};
	struct cluster *c = NULL;

	cr_assert_eq(cluster_view(d, &c, &err), 0, "%s", err.text);
	return c;
}

Test(views, read_clusters)
{
	auto_free(cluster_destroy) struct cluster *c = cluster_of(
		"{\"metadata\":{\"name\":\"gpu\"},\"spec\":{\"accepted\":true,\"taints\":["
		"{\"key\":\"federator.dev/cordoned\",\"effect\":\"NoSchedule\"}]},\"status\":{"
		"\"lastHeartbeat\":\"2026-11-29T17:46:46.000000Z\",\"conditions\":[{\"type\":"
		"\"Joined\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"True\"}],"
		"\"capacityShapes\":[{\"labels\":{\"zone\":\"b\",\"arch\":\"a\"},\"taints\":["
		"{\"key\":\"t\",\"effect\":\"NoExecute\"}],\"amounts\":{\"cpu\":\"32\","
		"\"memory\":\"128Gi\"},\"count\":4},{\"count\":1}]}}");

	cr_expect(c->accepted && c->cordoned && c->ready && c->reported);
	cr_expect_eq(c->heartbeat_ns, SOME_TIME);
	cr_expect_eq(c->n_capacity, 2);
	cr_expect_eq(c->capacity[0].count, 4);
	cr_expect_str_eq(c->capacity[0].labels[0].key, "arch");
	cr_expect_str_eq(c->capacity[0].labels[1].value, "b");
	cr_expect_eq(json_array_size(c->capacity[0].taints), 1);
	cr_expect_eq(resource_list_get(&c->capacity[0].amounts, "memory"), 137438953472);
	cr_expect_null(c->capacity[1].taints);
	cluster_destroy(NULL);
}

Test(views, read_new_and_cordoned_clusters)
{
	static const struct {
		const char *spec;
		bool cordoned;
	} cases[] = {
		{"{}", false},
		{"{\"taints\":[]}", false},
		{"{\"taints\":[{\"key\":\"federator.dev/cordoned\",\"effect\":\"NoExecute\"}]}",
		 false},
		{"{\"taints\":[{\"key\":\"other\",\"effect\":\"NoSchedule\"}]}", false},
		{"{\"taints\":[{\"key\":\"other\",\"effect\":\"NoSchedule\"},{\"key\":"
		 "\"federator.dev/cordoned\",\"value\":\"x\",\"effect\":\"NoSchedule\"}]}",
		 true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *bytes =
			xasprintf("{\"metadata\":{},\"spec\":%s,\"status\":{\"conditions\":["
				  "{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}",
				  cases[i].spec);
		auto_free(cluster_destroy) struct cluster *c = cluster_of(bytes);

		cr_expect_eq(c->cordoned, cases[i].cordoned, "%s", cases[i].spec);
		cr_expect(!c->accepted && !c->ready && !c->reported);
	}
}

Test(views, tell_an_empty_report_from_none)
{
	auto_free(cluster_destroy) struct cluster *c =
		cluster_of("{\"metadata\":{},\"status\":{\"capacityShapes\":[]}}");

	cr_expect(c->reported);
	cr_expect_eq(c->n_capacity, 0);
}

static const char some_shapes[] =
	"[{\"labels\":{\"arch\":\"arm64\"},\"taints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}],"
	"\"amounts\":{\"cpu\":\"31500m\",\"memory\":\"128Gi\"},\"count\":4},"
	"{\"labels\":{},\"amounts\":{},\"count\":0}]";

Test(views, write_shapes_as_they_read_them)
{
	auto_json *array = json_loads(some_shapes, 0, NULL);
	auto_json *again = NULL;
	auto_xfree char *text = NULL;
	struct arena a = {0};
	struct shape *shapes = NULL;
	struct error err = {0};
	size_t n = 0;

	cr_assert_eq(shapes_parse(&a, array, &shapes, &n, &err), 0, "%s", err.text);
	cr_expect_eq(n, 2);
	again = shapes_json(shapes, n);
	text = json_print(again);
	cr_expect_str_eq(text, some_shapes);
	arena_finish(&a);
}

Test(views, refuse_bad_shapes)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
		{"{}", "must be an array"},
		{"[1]", "[0]: must be an object"},
		{"[{\"count\":1},{\"amounts\":{}}]", "[1].count: is missing"},
		{"[{\"count\":-1}]", "[0].count: "},
		{"[{\"count\":1,\"taints\":{}}]", "[0].taints: "},
		{"[{\"count\":1,\"labels\":{\"a\":1}}]", "[0].labels[a]: "},
		{"[{\"count\":1,\"amounts\":{\"cpu\":\"x\"}}]", "[0].amounts: cpu: "},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *array = json_loads(cases[i].json, 0, NULL);
		struct arena a = {0};
		struct shape *shapes = NULL;
		struct error err = {0};
		size_t n = 9;

		cr_expect_eq(shapes_parse(&a, array, &shapes, &n, &err), -1, "%s", cases[i].json);
		cr_expect(!strncmp(err.text, cases[i].text, strlen(cases[i].text)), "%s", err.text);
		cr_expect_eq(n, 9);
		cr_expect_null(shapes);
		arena_finish(&a);
	}
}

static struct placement *placement_of(const char *bytes)
{
	auto_doc *d = make(bytes);
	struct error err = {0};
	struct placement *p = NULL;

	cr_assert_eq(placement_view(d, &p, &err), 0, "%s", err.text);
	return p;
}

Test(views, read_placements)
{
	auto_free(placement_destroy) struct placement *p = placement_of(
		"{\"metadata\":{\"name\":\"u-0-1\",\"namespace\":\"cluster-gpu\"},\"spec\":{\"job\":"
		"{\"namespace\":\"ml\",\"name\":\"x\",\"uid\":\"u\"},\"part\":0,\"specHash\":\"ab\","
		"\"generation\":1048577,\"incarnation\":1,\"clusterUID\":\"c\",\"desired\":\"Go\","
		"\"size\":{\"seq\":0,\"tasks\":[{\"name\":\"w\",\"replicas\":2,\"alternative\":1},"
		"{\"name\":\"ps\",\"replicas\":1}]},\"grace\":30,\"retries\":1,\"protocol\":1},"
		"\"status\":{\"state\":\"Claimed\",\"reason\":\"R\",\"message\":\"m\",\"retries\":2,"
		"\"counts\":{},\"capacitySeq\":4294967297}}");

	cr_expect_str_eq(p->job_ns, "ml");
	cr_expect_str_eq(p->job_name, "x");
	cr_expect_str_eq(p->job_uid, "u");
	cr_expect_str_eq(p->spec_hash, "ab");
	cr_expect_str_eq(p->cluster_uid, "c");
	cr_expect_eq(p->generation, 1048577);
	cr_expect_eq(p->incarnation, 1);
	cr_expect_eq(p->desired, DESIRED_GO);
	cr_expect_eq(p->grace_s, 30);
	cr_expect_eq(p->retries, 1);
	cr_expect_eq(p->protocol, 1);
	cr_expect_eq(p->n_tasks, 2);
	cr_expect_str_eq(p->tasks[0].name, "w");
	cr_expect_eq(p->tasks[0].alternative, 1);
	cr_expect_eq(p->tasks[0].replicas, 2);
	cr_expect_eq(p->tasks[1].alternative, -1);
	cr_expect_eq(p->state, PLACEMENT_CLAIMED);
	cr_expect_str_eq(p->reason, "R");
	cr_expect_str_eq(p->message, "m");
	cr_expect_eq(p->status_retries, 2);
	cr_expect_eq(p->capacity_seq, 4294967297);
	placement_destroy(NULL);
}

static int read_placement(const char *desired, const char *state, enum desired *ret_desired,
			  enum placement_state *ret_state)
{
	auto_xfree char *bytes = xasprintf(
		"{\"metadata\":{},\"spec\":{\"job\":{\"namespace\":\"a\",\"name\":\"b\",\"uid\":\"c\"},"
		"\"generation\":1,\"desired\":\"%s\"},\"status\":{\"state\":\"%s\"}}",
		desired, state);
	auto_doc *d = make(bytes);
	auto_free(placement_destroy) struct placement *p = NULL;

	if (placement_view(d, &p, NULL) < 0)
		return -1;
	*ret_desired = p->desired;
	*ret_state = p->state;
	return 0;
}

Test(views, start_nothing_on_a_word_they_do_not_know)
{
	static const struct {
		const char *name;
		enum placement_state state;
	} states[] = {
		{"", PLACEMENT_NONE},
		{"Claimed", PLACEMENT_CLAIMED},
		{"Running", PLACEMENT_RUNNING},
		{"Refused", PLACEMENT_REFUSED},
		{"Released", PLACEMENT_RELEASED},
		{"Done", PLACEMENT_DONE},
		{"Lost", PLACEMENT_LOST},
	};
	enum placement_state state;
	enum desired desired;

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		cr_expect_eq(read_placement("Release", states[i].name, &desired, &state), 0);
		cr_expect_eq(desired, DESIRED_RELEASE);
		cr_expect_eq(state, states[i].state);
		cr_expect_str_eq(placement_state_name(states[i].state), states[i].name);
	}
	cr_expect_eq(read_placement("Reserve", "", &desired, &state), 0);
	cr_expect_eq(desired, DESIRED_UNKNOWN);
	cr_expect_eq(read_placement("", "", &desired, &state), 0);
	cr_expect_eq(desired, DESIRED_UNKNOWN);
	/* a state of a newer agent is not to be taken for any that is known */
	cr_expect_eq(read_placement("Go", "Held", &desired, &state), -1);
}

Test(views, refuse_placements_without_identity)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = {
		{"{\"metadata\":{}}", "spec: is missing"},
		{"{\"metadata\":{},\"spec\":{\"generation\":1}}", "spec.job: is missing"},
		{"{\"metadata\":{},\"spec\":{\"job\":{\"namespace\":\"a\",\"name\":\"b\"}}}",
		 "spec.job.uid: is missing"},
		{"{\"metadata\":{},\"spec\":{\"job\":{\"namespace\":\"a\",\"name\":\"b\",\"uid\":"
		 "\"c\"}}}",
		 "spec.generation: is missing"},
		{"{\"metadata\":{},\"spec\":{\"job\":{\"namespace\":\"a\",\"name\":\"b\",\"uid\":"
		 "\"c\"},\"generation\":1,\"size\":{\"tasks\":[{\"name\":\"w\",\"replicas\":1,"
		 "\"alternative\":-2}]}}}",
		 "spec.size.tasks[0].alternative: "},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_doc *d = make(cases[i].bytes);
		struct placement *p = NULL;
		struct error err = {0};

		cr_expect_eq(placement_view(d, &p, &err), -1, "%s", cases[i].bytes);
		cr_expect(!strncmp(err.text, cases[i].text, strlen(cases[i].text)), "%s", err.text);
	}
}

Test(views, read_data_sets)
{
	auto_doc *d = make("{\"metadata\":{\"name\":\"imagenet\"},\"spec\":{\"size\":\"150Gi\"},"
			   "\"replicas\":[{\"cluster\":\"arm\"},{\"cluster\":\"gpu\","
			   "\"completeness\":\"0.25\"},{\"cluster\":\"large\",\"completeness\":"
			   "\"0.000001\"}]}");
	auto_free(dataset_destroy) struct dataset *s = NULL;

	cr_assert_eq(dataset_view(d, &s, NULL), 0);
	cr_expect_str_eq(s->meta.name, "imagenet");
	cr_expect_eq(s->size_bytes, 161061273600);
	cr_expect_eq(s->n_replicas, 3);
	cr_expect_str_eq(s->replicas[0].cluster, "arm");
	cr_expect_eq(s->replicas[0].completeness_millionths, 1000000);
	cr_expect_eq(s->replicas[1].completeness_millionths, 250000);
	cr_expect_eq(s->replicas[2].completeness_millionths, 1);
	dataset_destroy(NULL);
}

Test(views, read_nodes)
{
	auto_doc *d = make("{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"}},\"spec\":{"
			   "\"unschedulable\":true,\"taints\":[{\"key\":\"t\",\"effect\":"
			   "\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"31850m\","
			   "\"pods\":\"110\"},\"capacity\":{\"cpu\":\"32\"},\"conditions\":["
			   "{\"type\":\"Ready\",\"status\":\"True\"}]}}");
	auto_doc *bare = make("{\"metadata\":{\"name\":\"n2\"}}");
	auto_free(node_destroy) struct node *n = NULL;
	auto_free(node_destroy) struct node *m = NULL;

	cr_assert_eq(node_view(d, &n, NULL), 0);
	cr_expect(n->unschedulable && n->ready);
	cr_expect_eq(json_array_size(n->taints), 1);
	cr_expect_eq(resource_list_get(&n->allocatable, "cpu"), 31850);
	cr_expect_eq(resource_list_get(&n->allocatable, "pods"), 110);
	cr_assert_eq(node_view(bare, &m, NULL), 0);
	cr_expect(!m->unschedulable && !m->ready);
	cr_expect_null(m->taints);
	node_destroy(NULL);
}

static struct pod *pod_of(const char *bytes)
{
	auto_doc *d = make(bytes);
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
