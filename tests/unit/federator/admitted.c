/* Views of admitted jobs: given for the document that they were read from, and for no other. */
#include <criterion/criterion.h>

#include "base/json.h"
#include "federator/admitted.h"

static struct job *job_of(const char *uid)
{
	auto_json *tree =
		json_pack("{s{ssss}s{s[]}}", "metadata", "name", "j", "uid", uid, "spec", "tasks");
	struct job *job = NULL;
	struct error err;

	cr_assert_eq(job_view_tree(tree, &job, &err), 0, "%s", err.text);
	return job;
}

static struct doc *created(int64_t create_revision, int64_t revision, int64_t status_revision)
{
	static const char bytes[] = "{\"metadata\":{}}";
	struct doc *d = doc_create("/k", bytes, sizeof(bytes) - 1);

	d->create_revision = create_revision;
	d->revision = revision;
	d->status_revision = status_revision;
	return d;
}

Test(admitted, is_given_once_for_the_creation)
{
	struct admitted *a = admitted_create();
	auto_free(doc_unref) struct doc *d = created(5, 5, 0);
	auto_free(job_destroy) struct job *job = NULL;

	admitted_add(a, job_of("u1"));
	admitted_add(a, job_of("u2"));
	cr_expect_null(admitted_take(a, d, "u3"));
	job = admitted_take(a, d, "u1");
	cr_assert(job);
	cr_expect_str_eq(job->meta.uid, "u1");
	cr_expect_null(admitted_take(a, d, "u1"));
	admitted_destroy(a);
}

Test(admitted, is_not_given_for_what_was_written_since)
{
	static const int64_t written[][3] = {{5, 6, 0}, {5, 5, 6}};
	struct admitted *a = admitted_create();

	admitted_add(a, job_of("u1"));
	for (size_t i = 0; i < ARRAY_LEN(written); i++) {
		auto_free(doc_unref) struct doc *d =
			created(written[i][0], written[i][1], written[i][2]);

		cr_expect_null(admitted_take(a, d, "u1"));
	}
	admitted_destroy(a);
}

Test(admitted, keeps_the_last_and_no_more)
{
	struct admitted *a = admitted_create();
	auto_free(doc_unref) struct doc *d = created(5, 5, 0);
	auto_free(job_destroy) struct job *job = NULL;

	admitted_add(a, job_of("first"));
	for (int i = 0; i < 5000; i++) {
		auto_xfree char *uid = xasprintf("u%d", i);

		admitted_add(a, job_of(uid));
	}
	cr_expect_null(admitted_take(a, d, "first"), "what never came to an event goes");
	job = admitted_take(a, d, "u4999");
	cr_expect(job);
	admitted_destroy(a);
}
