#include "member-agent/twin.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "member-agent/names.h"
#include "member-agent/template.h"

static const char job_text[] =
	"{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":"
	"\"train\",\"namespace\":\"ml\",\"uid\":\"0123456789abcdef\"},\"spec\":{\"queue\":\"q\","
	"\"minAvailable\":3,\"maxRetry\":2,\"priorityClassName\":\"high\",\"plugins\":{\"env\":[],"
	"\"svc\":[\"--publish-not-ready-addresses=true\"]},"
	"\"placement\":{\"alternatives\":[{\"task\":\"work\",\"resources\":{\"x.io/gpu\":4,"
	"\"cpu\":\"2\"},\"nodeSelector\":{\"gpu\":\"a\"},\"replicas\":2}]},"
	"\"tasks\":[{\"name\":\"ps\",\"replicas\":1,\"minAvailable\":1,\"template\":{\"spec\":{"
	"\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"envFrom\":[{\"secretRef\":{\"name\":"
	"\"s\",\"optional\":true}}]}],\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":"
	"\"a-name-that-has-a-good-deal-more-than-forty-characters\"}},{\"name\":\"w\","
	"\"secret\":{\"secretName\":\"s\"}}]}}},"
	"{\"name\":\"work\",\"replicas\":3,\"minAvailable\":3,\"template\":{\"metadata\":{"
	"\"labels\":{\"mine\":\"1\"}},\"spec\":{\"restartPolicy\":\"OnFailure\","
	"\"initContainers\":[{\"name\":\"i\",\"image\":\"i\"}],"
	"\"containers\":[{\"name\":\"a\",\"image\":\"i\",\"resources\":{\"limits\":{\"x.io/gpu\":8,"
	"\"memory\":\"1Gi\"}}},{\"name\":\"b\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":"
	"\"1\"}}}]}}}]}}";

static const char placement_text[] =
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{\"name\":"
	"\"0123456789abcdef-0-3\",\"namespace\":\"cluster-c\"},\"spec\":{\"job\":{\"namespace\":"
	"\"ml\",\"name\":\"train\",\"uid\":\"0123456789abcdef\"},\"part\":0,\"generation\":3,"
	"\"desired\":\"Go\",\"retries\":1,\"size\":{\"seq\":1,\"tasks\":[{\"name\":\"ps\","
	"\"replicas\":1},{\"name\":\"work\",\"replicas\":2,\"alternative\":0}]}}}";

static struct doc *doc_of(const char *text)
{
	return doc_create("k", text, strlen(text));
}

static bool is_high(const char *name, void *arg)
{
	return *(bool *)arg && !strcmp(name, "high");
}

/* The twin of the job above, as it would be read back from the member. */
static struct twin *make_twin(bool class_known)
{
	auto_free(doc_unref) struct doc *job_doc = doc_of(job_text);
	auto_free(doc_unref) struct doc *placement_doc = doc_of(placement_text), *twin_doc = NULL;
	auto_free(job_destroy) struct job *job = NULL;
	auto_free(placement_destroy) struct placement *p = NULL;
	auto_json *work = NULL, *tree = NULL;
	auto_xfree char *bytes = NULL;
	struct error err;
	struct twin *t;

	cr_assert_eq(job_view(job_doc, &job, &err), 0, "%s", err.text);
	cr_assert_eq(placement_view(placement_doc, &p, &err), 0, "%s", err.text);
	work = twin_work(job, p, is_high, &class_known, &err);
	cr_assert_not_null(work, "%s", err.text);
	tree = twin_make(p, "sha256:ab/gpu", 77, work);
	json_set_str(json_object_get(tree, "metadata"), "uid", "twin-uid");
	bytes = json_print(tree);
	twin_doc = doc_of(bytes);
	cr_assert_eq(twin_view(twin_doc, &t, &err), 0, "%s", err.text);
	return t;
}

Test(twin, it_keeps_the_attempt_as_it_was_claimed)
{
	auto_free(twin_destroy) struct twin *t = make_twin(true);
	const json_t *labels = json_at(t->tree, "metadata", "labels", NULL);

	cr_expect_str_eq(t->meta.name, "0123456789abcdef-0-3");
	cr_expect_str_eq(t->meta.ns, "ml");
	cr_expect_str_eq(json_str_at(labels, "federator.dev/uid", NULL), "0123456789abcdef");
	cr_expect_str_eq(json_str_at(labels, "federator.dev/generation", NULL), "3");
	cr_expect_eq(t->claim_version, 77);
	cr_expect_str_eq(t->hub, "sha256:ab/gpu");
	cr_expect_eq(json_array_size(json_at(t->tree, "metadata", "finalizers", NULL)), 1);
	cr_expect_eq(t->n_tasks, 2);
	cr_expect_eq(t->tasks[1].replicas, 2, "the placement's size counts");
	cr_expect_eq(t->tasks[1].min_available, 2);
	cr_expect(t->tasks[1].on_failure && !t->tasks[0].on_failure);
	cr_expect_eq(t->max_retry, 2);
	cr_expect_eq(t->memory.retries, 1, "retries of earlier attempts count on");
	cr_expect_eq(json_array_size(t->copies), 2, "each original once");
	cr_expect_null(json_at(json_array_get(t->copies, 0), "optional", NULL),
		       "one of its references is not optional");
}

static const char LONG[] = "a-name-that-has-a-good-deal-more-than-forty-characters";

/* The job above, whose ConfigMap is another one, too. */
static json_t *work_with(const char *second, struct error *err)
{
	auto_json *tree = json_parse(job_text, strlen(job_text), NULL, NULL);
	json_t *tasks = json_object_get(json_object_get(tree, "spec"), "tasks");
	json_t *spec =
		json_object_get(json_object_get(json_array_get(tasks, 1), "template"), "spec");
	auto_free(doc_unref) struct doc *placement_doc = doc_of(placement_text), *job_doc = NULL;
	auto_free(placement_destroy) struct placement *p = NULL;
	auto_free(job_destroy) struct job *job = NULL;
	auto_xfree char *bytes = NULL;
	bool known = false;

	json_object_set_new(spec, "volumes",
			    json_pack("[{sss{ss}}]", "name", "x", "configMap", "name", second));
	bytes = json_print(tree);
	job_doc = doc_of(bytes);
	cr_assert_eq(job_view(job_doc, &job, err), 0, "%s", err->text);
	cr_assert_eq(placement_view(placement_doc, &p, err), 0, "%s", err->text);
	return twin_work(job, p, is_high, &known, err);
}

Test(twin, two_originals_never_share_a_copy)
{
	auto_xfree char *alike = xasprintf("%.40s-2", LONG);
	auto_json *other = NULL, *work = NULL;
	struct error err;

	work = work_with(alike, &err);
	cr_assert_null(work);
	cr_expect(strstr(err.text, LONG) && strstr(err.text, alike), "%s", err.text);
	work = work_with(LONG, &err);
	cr_expect_not_null(work, "the same one twice");
	other = work_with("b", &err);
	cr_expect_eq(json_array_size(json_object_get(other, "copies")), 3);
}

/* "<cut>.-<uid>" would be no name. */
Test(twin, the_name_of_a_copy_is_not_cut_behind_a_dot)
{
	auto_xfree char *copy =
		copy_name_make("a-name-with-a-dot-as-fortieth-character.json", "0123456789");

	cr_expect_str_eq(copy, "a-name-with-a-dot-as-fortieth-character-01234567");
}

Test(twin, memory_is_read_back_as_it_was_written)
{
	auto_free(twin_destroy) struct twin *t = make_twin(true), *again = NULL;
	struct attempt_memory m = {
		.retries = 2,
		.restart_at_ns = INT64_C(1700000000123456000),
		.losses = 1,
		.first_loss_ns = INT64_C(1700000000000000000),
		.last_loss_ns = INT64_C(1700000001000000000),
		.outcome = {OUTCOME_FAILED, "TaskFailed", "exit code 3"},
		.release = true,
		.release_reason = "PodLost",
		.release_message = "why",
	};
	auto_json *patch = twin_memory_patch(&m, 12);
	auto_free(doc_unref) struct doc *doc = NULL;
	auto_xfree char *bytes = NULL;
	struct error err;

	cr_expect_str_eq(json_str_at(patch, "metadata", "resourceVersion", NULL), "12");
	json_object_set(t->tree, "status", json_object_get(patch, "status"));
	bytes = json_print(t->tree);
	doc = doc_of(bytes);
	cr_assert_eq(twin_view(doc, &again, &err), 0);
	cr_expect_eq(again->memory.retries, m.retries);
	cr_expect_eq(again->memory.restart_at_ns, m.restart_at_ns);
	cr_expect_eq(again->memory.losses, m.losses);
	cr_expect_eq(again->memory.last_loss_ns, m.last_loss_ns);
	cr_expect_eq(again->memory.outcome.phase, OUTCOME_FAILED);
	cr_expect_str_eq(again->memory.outcome.message, "exit code 3");
	cr_expect(again->memory.release);
	cr_expect_str_eq(again->memory.release_reason, "PodLost");
}

Test(twin, a_placement_that_does_not_size_the_job_is_invalid)
{
	auto_free(doc_unref) struct doc *job_doc = doc_of(job_text);
	auto_free(doc_unref) struct doc *placement_doc = doc_of(placement_text);
	auto_free(job_destroy) struct job *job = NULL;
	auto_free(placement_destroy) struct placement *p = NULL;
	bool known = true;
	struct error err;

	cr_assert_eq(job_view(job_doc, &job, &err), 0);
	cr_assert_eq(placement_view(placement_doc, &p, &err), 0);
	p->tasks[1].alternative = 5;
	cr_expect_null(twin_work(job, p, is_high, &known, &err));
	p->n_tasks = 1;
	cr_expect_null(twin_work(job, p, is_high, &known, &err));
	cr_expect_eq(err.code, ERR_INVALID);
}

/* A Job whose last object lies so many levels deep, in a member that a cluster would drop. */
static char *deep_job(int levels)
{
	auto_strbuf text = {0};
	const int container = 8;

	strbuf_adds(&text, "{\"metadata\":{\"name\":\"train\",\"namespace\":\"ml\",\"uid\":"
			   "\"0123456789abcdef\"},\"spec\":{\"tasks\":[{\"name\":\"ps\","
			   "\"template\":{\"spec\":{\"containers\":[{\"x\":");
	for (int i = container + 1; i < levels; i++)
		strbuf_adds(&text, "{\"x\":");
	strbuf_adds(&text, "{}");
	for (int i = container + 1; i < levels; i++)
		strbuf_addc(&text, '}');
	strbuf_adds(&text, "}]}}}]}}");
	return strbuf_take(&text);
}

/* The hub takes 64 levels; the twin holds the templates one deeper than the Job does. */
Test(twin, a_job_that_is_too_deep_for_a_twin_is_refused)
{
	auto_free(doc_unref) struct doc *placement_doc = doc_of(placement_text);
	auto_free(placement_destroy) struct placement *p = NULL;
	bool known = true;

	cr_assert_eq(placement_view(placement_doc, &p, NULL), 0);
	p->n_tasks = 1;
	for (int levels = 63; levels <= 64; levels++) {
		auto_xfree char *text = deep_job(levels);
		auto_free(doc_unref) struct doc *job_doc = doc_of(text);
		auto_free(job_destroy) struct job *job = NULL;
		auto_json *work = NULL;
		struct error err = {0};

		cr_assert_eq(job_view(job_doc, &job, &err), 0, "%s", err.text);
		work = twin_work(job, p, is_high, &known, &err);
		cr_expect_eq(work != NULL, levels == 63, "%d levels: %s", levels, err.text);
		cr_expect(work || err.code == ERR_INVALID);
	}
}

static const char *env_of(const json_t *container, const char *name)
{
	json_t *e;
	size_t i;

	json_array_foreach (json_object_get(container, "env"), i, e)
		if (!strcmp(json_str_at(e, "name", NULL), name))
			return json_str_at(e, "value", NULL);
	return NULL;
}

Test(pod, it_is_bound_owned_and_labelled)
{
	auto_free(twin_destroy) struct twin *t = make_twin(true);
	struct pod_order order = {
		.twin = t, .task = 1, .index = 1, .restart = 2, .node = "n7", .finalizer = true};
	auto_json *pod = pod_make(&order);
	const json_t *meta = json_object_get(pod, "metadata"), *spec = json_object_get(pod, "spec");
	const json_t *labels = json_object_get(meta, "labels");
	const json_t *owner = json_array_get(json_object_get(meta, "ownerReferences"), 0);
	static const char *const expected[][2] = {
		{"federator.dev/uid", "0123456789abcdef"},
		{"federator.dev/generation", "3"},
		{"federator.dev/restart", "2"},
		{"volcano.sh/job-name", "train"},
		{"volcano.sh/task-spec", "work"},
		{"volcano.sh/task-index", "1"},
		{"volcano.sh/queue-name", "q"},
		{"mine", "1"},
	};

	cr_expect_str_eq(json_str_at(meta, "name", NULL), "train-work-1");
	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		cr_expect_str_eq(json_str_at(labels, expected[i][0], NULL), expected[i][1]);
	cr_expect_str_eq(json_str_at(owner, "uid", NULL), "twin-uid");
	cr_expect(json_is_true(json_object_get(owner, "controller")));
	cr_expect_str_eq(json_str_at(spec, "nodeName", NULL), "n7");
	cr_expect_str_eq(json_str_at(spec, "schedulerName", NULL), "federator");
	cr_expect_str_eq(json_str_at(spec, "restartPolicy", NULL), "OnFailure");
	cr_expect_str_eq(json_str_at(spec, "priorityClassName", NULL), "high");
	cr_expect_eq(json_array_size(json_object_get(meta, "finalizers")), 1);
}

/* A class that this cluster does not have would be refused; the queue's order is the hub's. */
Test(pod, an_unknown_priority_class_is_left_out)
{
	auto_free(twin_destroy) struct twin *t = make_twin(false);
	struct pod_order order = {.twin = t};
	auto_json *pod = pod_make(&order);

	cr_expect_null(json_at(pod, "spec", "priorityClassName", NULL));
	cr_expect_null(json_at(pod, "spec", "nodeName", NULL), "a dry run has no node");
	cr_expect_str_eq(json_str_at(pod, "spec", "restartPolicy", NULL), "Never");
}

Test(pod, the_alternative_counts_for_the_whole_pod)
{
	auto_free(twin_destroy) struct twin *t = make_twin(true);
	struct pod_order order = {.twin = t, .task = 1};
	auto_json *pod = pod_make(&order);
	const json_t *spec = json_object_get(pod, "spec");
	struct resource_list request = {0};
	struct arena arena = {0};
	struct error err;

	cr_assert_eq(pod_request(&arena, spec, &request, &err), 0);
	cr_expect_eq(resource_list_get(&request, "x.io/gpu"), 4);
	cr_expect_eq(resource_list_get(&request, "cpu"), 2000);
	cr_expect_eq(resource_list_get(&request, "memory"), INT64_C(1) << 30);
	cr_expect_str_eq(json_str_at(spec, "nodeSelector", "gpu", NULL), "a");
	arena_finish(&arena);
}

Test(pod, plugins_reach_every_container)
{
	auto_free(twin_destroy) struct twin *t = make_twin(true);
	struct pod_order order = {.twin = t, .task = 1, .index = 1};
	auto_json *pod = pod_make(&order), *service = service_make(t), *hosts = hosts_make(t);
	const json_t *spec = json_object_get(pod, "spec");
	static const char *const lists[] = {"initContainers", "containers"};
	json_t *c;
	size_t i;

	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		json_array_foreach (json_object_get(spec, lists[l]), i, c) {
			cr_expect_str_eq(env_of(c, "VC_TASK_INDEX"), "1");
			cr_expect_str_eq(env_of(c, "VK_TASK_INDEX"), "1");
			cr_expect_str_eq(env_of(c, "VC_WORK_HOSTS"),
					 "train-work-0.train,train-work-1.train");
			cr_expect_str_eq(env_of(c, "VC_WORK_NUM"), "2");
			cr_expect_str_eq(env_of(c, "VC_PS_NUM"), "1");
			cr_expect_eq(json_array_size(json_object_get(c, "volumeMounts")), 1);
		}
	cr_expect_str_eq(json_str_at(spec, "hostname", NULL), "train-work-1");
	cr_expect_str_eq(json_str_at(spec, "subdomain", NULL), "train");
	cr_expect_str_eq(json_str_at(hosts, "data", "work.host", NULL),
			 "train-work-0.train\ntrain-work-1.train");
	cr_expect_str_eq(json_str_at(hosts, "metadata", "name", NULL), "train-svc");
	cr_expect_str_eq(json_str_at(service, "spec", "clusterIP", NULL), "None");
	cr_expect(json_is_true(json_at(service, "spec", "publishNotReadyAddresses", NULL)));
}

/* A template may name the host of its pods and the Service that they are found by; an empty name is
 * none. */
Test(pod, hosts_are_listed_as_the_template_names_them)
{
	static const struct {
		const char *names, *host, *subdomain, *hosts, *lines, *num;
	} cases[] = {
		{"{}", "train-work-1", "train", "train-work-0.train,train-work-1.train",
		 "train-work-0.train\ntrain-work-1.train", "2"},
		{"{\"hostname\":\"custom\"}", "custom", "train", "custom.train", "custom.train",
		 "1"},
		{"{\"subdomain\":\"peers\"}", "train-work-1", "peers",
		 "train-work-0.peers,train-work-1.peers", "train-work-0.peers\ntrain-work-1.peers",
		 "2"},
		{"{\"hostname\":\"custom\",\"subdomain\":\"peers\"}", "custom", "peers",
		 "custom.peers", "custom.peers", "1"},
		{"{\"hostname\":\"\",\"subdomain\":\"\"}", "train-work-1", "train",
		 "train-work-0.train,train-work-1.train", "train-work-0.train\ntrain-work-1.train",
		 "2"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(twin_destroy) struct twin *t = make_twin(true);
		struct pod_order ps = {.twin = t}, work = {.twin = t, .task = 1, .index = 1};
		auto_json *names = json_parse(cases[i].names, strlen(cases[i].names), NULL, NULL);
		auto_json *peer = NULL, *pod = NULL, *hosts = NULL;
		const json_t *c;

		json_object_update(json_object_get(t->tasks[1].template_, "spec"), names);
		peer = pod_make(&ps);
		pod = pod_make(&work);
		hosts = hosts_make(t);
		cr_expect_str_eq(json_str_at(pod, "spec", "hostname", NULL), cases[i].host);
		cr_expect_str_eq(json_str_at(pod, "spec", "subdomain", NULL), cases[i].subdomain);
		cr_expect_str_eq(json_str_at(peer, "spec", "hostname", NULL), "train-ps-0");
		c = json_array_get(json_at(peer, "spec", "containers", NULL), 0);
		cr_expect_str_eq(env_of(c, "VC_WORK_HOSTS"), cases[i].hosts);
		cr_expect_str_eq(env_of(c, "VC_WORK_NUM"), cases[i].num);
		cr_expect_str_eq(env_of(c, "VC_PS_HOSTS"), "train-ps-0.train");
		cr_expect_str_eq(json_str_at(hosts, "data", "work.host", NULL), cases[i].lines);
	}
}

Test(pod, the_file_of_hosts_has_no_dash)
{
	auto_free(twin_destroy) struct twin *t = make_twin(true);
	auto_json *hosts = NULL;

	t->tasks[0].name = "my-own-ps";
	hosts = hosts_make(t);
	cr_expect_str_eq(json_str_at(hosts, "data", "my_own_ps.host", NULL),
			 "train-my-own-ps-0.train");
	cr_expect_eq(json_object_size(json_object_get(hosts, "data")), 2);
}

Test(pod, references_name_the_copies)
{
	auto_free(twin_destroy) struct twin *t = make_twin(true);
	struct pod_order order = {.twin = t};
	auto_json *pod = pod_make(&order);
	const json_t *spec = json_object_get(pod, "spec");
	const json_t *volumes = json_object_get(spec, "volumes");
	const json_t *from = json_array_get(
		json_object_get(json_array_get(json_object_get(spec, "containers"), 0), "envFrom"),
		0);

	cr_expect_str_eq(json_str_at(json_array_get(volumes, 0), "configMap", "name", NULL),
			 "a-name-that-has-a-good-deal-more-than-fo-01234567");
	cr_expect_str_eq(json_str_at(json_array_get(volumes, 1), "secret", "secretName", NULL),
			 "s-01234567");
	cr_expect_str_eq(json_str_at(from, "secretRef", "name", NULL), "s-01234567");
}
