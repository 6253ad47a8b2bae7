#include "api/views.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "views_check.h"

static struct placement *placement_of(const char *bytes)
{
	auto_doc *d = make_doc(bytes);
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
	auto_doc *d = make_doc(bytes);
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
		auto_doc *d = make_doc(cases[i].bytes);
		struct placement *p = NULL;
		struct error err = {0};

		cr_expect_eq(placement_view(d, &p, &err), -1, "%s", cases[i].bytes);
		cr_expect(!strncmp(err.text, cases[i].text, strlen(cases[i].text)), "%s", err.text);
	}
}
