#include "fedctl/targets.h"

#include <criterion/criterion.h>
#include <string.h>

#define PARSE(t, err, ...)                                                                         \
	targets_parse((const char *[]){__VA_ARGS__}, ARRAY_LEN(((const char *[]){__VA_ARGS__})),   \
		      t, err)

static void expect(const struct targets *t, size_t i, const char *plural, const char *name)
{
	cr_assert_lt(i, t->n);
	cr_expect_str_eq(t->items[i].kind->plural, plural);
	if (name)
		cr_expect_str_eq(t->items[i].name, name);
	else
		cr_expect_null(t->items[i].name);
}

Test(targets, are_a_kind_names_of_a_kind_or_pairs)
{
	struct targets t;
	struct error err;

	cr_assert_eq(PARSE(&t, &err, "vcjob"), 0);
	expect(&t, 0, "jobs", NULL);
	targets_finish(&t);
	cr_assert_eq(PARSE(&t, &err, "q", "a", "b"), 0);
	expect(&t, 0, "queues", "a");
	expect(&t, 1, "queues", "b");
	targets_finish(&t);
	cr_assert_eq(PARSE(&t, &err, "jobs,q"), 0);
	expect(&t, 0, "jobs", NULL);
	expect(&t, 1, "queues", NULL);
	targets_finish(&t);
	cr_assert_eq(PARSE(&t, &err, "jobs,q", "a", "b"), 0);
	expect(&t, 1, "jobs", "b");
	expect(&t, 2, "queues", "a");
	expect(&t, 3, "queues", "b");
	targets_finish(&t);
	cr_assert_eq(PARSE(&t, &err, "job/x", "jobs.batch.volcano.sh/y", "cl/z"), 0);
	expect(&t, 0, "jobs", "x");
	expect(&t, 1, "jobs", "y");
	expect(&t, 2, "clusters", "z");
	targets_finish(&t);
}

Test(targets, may_leave_the_kind_out_where_only_one_can_be_meant)
{
	const struct kind *jobs = kind_find_typed("jobs");
	struct targets t;
	struct error err;

	cr_assert_eq(targets_parse_of(jobs, (const char *[]){"x", "job/y"}, 2, &t, &err), 0);
	expect(&t, 0, "jobs", "x");
	expect(&t, 1, "jobs", "y");
	targets_finish(&t);
	cr_assert_eq(targets_parse_of(jobs, (const char *[]){"queue/y"}, 1, &t, &err), -1);
	cr_expect_str_eq(err.text, "\"queue/y\" is no job");
}

Test(targets, that_are_wrong_are_said_to_be)
{
	static const struct {
		const char *args[2], *text;
	} cases[] = {
		{{"jbos", NULL}, "there is no kind \"jbos\"; did you mean \"jobs\"?"},
		{{"jobs,qeues", NULL}, "there is no kind \"qeues\"; did you mean \"queues\"?"},
		{{"example-job", NULL},
		 "there is no kind \"example-job\"; to name an object: "
		 "KIND/NAME, like job/example-job"},
		{{"jobs", "../secrets"}, "\"../secrets\" is not a name"},
		{{"jobs", ".."}, "\"..\" is not a name"},
		{{"jobs", ""}, "\"\" is not a name"},
		{{"job/", NULL}, "\"job/\" is not KIND/NAME"},
		{{"job/a/b", NULL}, "\"job/a/b\" is not KIND/NAME"},
		{{"job/a", "b"}, "\"b\" is not KIND/NAME"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct targets t;
		struct error err;

		cr_assert_eq(targets_parse(cases[i].args, cases[i].args[1] ? 2 : 1, &t, &err), -1,
			     "%zu", i);
		cr_expect_str_eq(err.text, cases[i].text, "%zu: %s", i, err.text);
	}
}
