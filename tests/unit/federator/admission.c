/* What the hub says of a Job when it is submitted, beside yes or no. */
#include <string.h>

#include "base/json.h"
#include "caller.h"

#define JOBS "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"

struct scene {
	struct bed *bed;
	struct caller *user;
};

static void begin(struct scene *s)
{
	s->bed = bed_create();
	s->user = caller_create(s->bed, "ann", "system:masters");
	bed_put(s->bed, "priorityclasses", "{metadata: {name: high, uid: p0}, value: 9}");
	bed_put(s->bed, "datasets", "{metadata: {name: imagenet, uid: d0}, spec: {size: 1Gi}}");
	bed_cluster(s->bed, "a");
	bed_report(s->bed, "a", 1, 1);
}

static void end(struct scene *s)
{
	caller_destroy(s->user);
	bed_destroy(s->bed);
}

static void expect_of(struct scene *s, const char *more_of_pod, const char *more_of_spec,
		      const char *warnings)
{
	auto_xfree char *job = xasprintf(
		"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {generateName: j},"
		" spec: {tasks: [{name: t, template: {spec: {containers: [{name: c, image: i}], "
		"%s}}}], %s}}",
		more_of_pod, more_of_spec);

	cr_assert_eq(caller_call(s->user, "POST", JOBS, job), 201);
	cr_expect_str_eq(caller_warnings(s->user), warnings, "%s %s: %s", more_of_pod, more_of_spec,
			 caller_warnings(s->user));
}

static void expect_warnings(struct scene *s, const char *more_of_spec, const char *warnings)
{
	expect_of(s, "", more_of_spec, warnings);
}

Test(admission, names_that_are_there_are_not_spoken_of)
{
	struct scene s;

	begin(&s);
	expect_warnings(&s, "priorityClassName: high", "");
	expect_warnings(&s, "placement: {datasets: [{name: imagenet}]}", "");
	expect_warnings(&s, "", "");
	end(&s);
}

Test(admission, a_priority_class_that_is_not_there_is_warned_of)
{
	struct scene s;

	begin(&s);
	expect_warnings(&s, "priorityClassName: hihg",
			"there is no priority class \"hihg\" (did you mean \"high\"?); the job has "
			"the default priority\n");
	expect_warnings(&s, "priorityClassName: nothing-like-it",
			"there is no priority class \"nothing-like-it\"; the job has the default "
			"priority\n");
	end(&s);
}

Test(admission, the_first_data_set_that_is_not_there_is_warned_of)
{
	struct scene s;

	begin(&s);
	expect_warnings(
		&s, "placement: {datasets: [{name: imagenet}, {name: imagnet}, {name: x}]}",
		"there is no data set \"imagnet\" (did you mean \"imagenet\"?); the job waits "
		"for it\n");
	end(&s);
}

Test(admission, the_first_secret_or_config_map_that_is_not_there_is_warned_of)
{
	struct scene s;

	begin(&s);
	bed_put(s.bed, "secrets", "{metadata: {name: pull, namespace: default, uid: s1}}");
	expect_of(&s, "imagePullSecrets: [{name: pull}]", "", "");
	expect_of(&s, "volumes: [{name: v, configMap: {name: c, optional: true}}]", "", "");
	expect_of(&s, "imagePullSecrets: [{name: pull}, {name: other}, {name: third}]", "",
		  "there is no Secret \"other\" in namespace \"default\" of the federator; the job "
		  "waits for it\n");
	expect_of(&s, "volumes: [{name: v, configMap: {name: c}}]", "",
		  "there is no ConfigMap \"c\" in namespace \"default\" of the federator; the job "
		  "waits for it\n");
	end(&s);
}

Test(admission, a_change_elsewhere_does_not_warn_again)
{
	auto_xfree char *path = NULL;
	struct scene s;

	begin(&s);
	expect_warnings(&s, "priorityClassName: low",
			"there is no priority class \"low\"; the job has the default priority\n");
	path = xasprintf(JOBS "/%s", json_str_at(caller_body(s.user), "metadata", "name", NULL));
	cr_assert_eq(caller_call(s.user, "PATCH", path, "{metadata: {labels: {a: b}}}"), 200);
	cr_expect_str_eq(caller_warnings(s.user), "");
	end(&s);
}

static void expect_stays(struct scene *s, const char *path, const char *said)
{
	const char *message;

	cr_assert_eq(caller_call(s->user, "DELETE", path, NULL), 403);
	message = json_str_at(caller_body(s->user), "message", NULL);
	cr_expect(strstr(message, said), "%s", message);
}

Test(admission, what_still_has_jobs_names_one_and_the_step_that_is_left)
{
	static const char queue[] = "/apis/scheduling.volcano.sh/v1beta1/queues/q";
	static const char cluster[] = "/apis/federator.dev/v1alpha1/clusters/a";
	struct scene s;

	begin(&s);
	bed_put(s.bed, "queues", "{metadata: {name: q, uid: q1}, spec: {}}");
	bed_put(s.bed, "jobs",
		"{metadata: {name: j, uid: uid-j}, spec: {queue: q, minAvailable: 1,"
		" tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c}]}}}]}}");
	bed_wait_phase(s.bed, "j", "Confirmed");
	expect_stays(&s, queue,
		     "(job default/j): close it, then wait for its jobs, or cancel them");
	expect_stays(
		&s, cluster,
		"(job default/j): fedctl cluster cordon a, then wait for them, or cancel them");
	cr_assert_eq(caller_call(s.user, "PATCH", queue, "{spec: {closed: true}}"), 200);
	cr_assert_eq(caller_call(s.user, "PATCH", cluster,
				 "{spec: {taints: [{key: federator.dev/cordoned, effect: "
				 "NoSchedule}]}}"),
		     200);
	expect_stays(&s, queue, "(job default/j): wait for its jobs, or cancel them");
	expect_stays(&s, cluster, "(job default/j): wait for them, or cancel them");
	end(&s);
}

static void on_show(void *arg)
{
	cache_hold_back(bed_hub(arg)->cache, false);
}

/* It was made just before, and this replica lags. */
Test(admission, what_came_last_is_not_missing)
{
	struct timer *show;
	struct scene s;

	begin(&s);
	show = timer_create_in(bed_hub(s.bed)->env, on_show, s.bed);
	cache_hold_back(bed_hub(s.bed)->cache, true);
	bed_put(s.bed, "datasets", "{metadata: {name: new, uid: d1}, spec: {size: 1Gi}}");
	timer_start(show, 500);
	expect_warnings(&s, "placement: {datasets: [{name: new}]}", "");
	timer_destroy(show);
	end(&s);
}
