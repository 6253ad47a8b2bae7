/* Owned objects go with their owners, by uid, and with nobody else. */
#include "fixture.h"

static bool becomes(struct fixture *f, const char *path, int status)
{
	for (int i = 0; i < 250; i++) {
		auto_answer a = call(f, "GET", path, NULL);

		if (a.status == status)
			return true;
		usleep(20000);
	}
	return false;
}

static char *make_owner(struct fixture *f, const char *name)
{
	auto_answer a = call(f, "POST", JOBS, job_body(name, ""));

	cr_assert_eq(a.status, 201, "%s", a.body);
	return xstrdup(at(&a, "metadata", "uid"));
}

static void make_owned(struct fixture *f, const char *name, const char *kind, const char *owner,
		       const char *uid, const char *more)
{
	auto_xfree char *refs = xasprintf(
		"\"ownerReferences\":[{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"%s\","
		"\"name\":\"%s\",\"uid\":\"%s\"}%s]",
		kind, owner, uid, more);
	auto_answer a = call(f, "POST", CONFIGS, config_body(name, refs));

	cr_assert_eq(a.status, 201, "%s", a.body);
}

static void drop(struct fixture *f, const char *path)
{
	auto_answer a = call(f, "DELETE", path, NULL);

	cr_assert_eq(a.status, 200, "%s", a.body);
}

Test(collector, deletes_what_a_deleted_object_owned)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *uid = make_owner(f, "j"), *other = make_owner(f, "k");

	make_owned(f, "mine", "Job", "j", uid, "");
	make_owned(f, "theirs", "Job", "k", other, "");
	drop(f, JOBS "/j");
	cr_expect(becomes(f, CONFIGS "/mine", 404));
	cr_expect(becomes(f, CONFIGS "/theirs", 200));
	fixture_destroy(f);
}

Test(collector, follows_a_chain_of_owners)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *uid = make_owner(f, "j");

	make_owned(f, "one", "Job", "j", uid, "");
	{
		auto_answer one = call(f, "GET", CONFIGS "/one", NULL);
		auto_xfree char *refs = xasprintf(
			"\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
			"\"name\":\"one\",\"uid\":\"%s\"}]",
			at(&one, "metadata", "uid"));
		auto_answer two = call(f, "POST", CONFIGS, config_body("two", refs));

		expect_status(&two, 201);
	}
	drop(f, JOBS "/j");
	cr_expect(becomes(f, CONFIGS "/two", 404));
	fixture_destroy(f);
}

Test(collector, an_owner_of_another_uid_is_no_owner)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *uid = make_owner(f, "j");

	make_owned(f, "wrong", "Job", "j", "00000000-0000-4000-8000-000000000000", "");
	cr_expect(becomes(f, CONFIGS "/wrong", 404));
	make_owned(f, "right", "Job", "j", uid, "");
	usleep(200000);
	cr_expect(becomes(f, CONFIGS "/right", 200));
	fixture_destroy(f);
}

Test(collector, keeps_what_has_one_owner_left_or_one_it_cannot_see)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *uid = make_owner(f, "j"), *other = make_owner(f, "k");
	auto_xfree char *second = xasprintf(
		",{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"name\":\"k\","
		"\"uid\":\"%s\"}",
		other);

	make_owned(f, "both", "Job", "j", uid, second);
	make_owned(f, "foreign", "Unknown", "z", "00000000-0000-4000-8000-000000000000", "");
	drop(f, JOBS "/j");
	usleep(300000);
	cr_expect(becomes(f, CONFIGS "/both", 200));
	cr_expect(becomes(f, CONFIGS "/foreign", 200));
	drop(f, JOBS "/k");
	cr_expect(becomes(f, CONFIGS "/both", 404));
	fixture_destroy(f);
}

static bool leads;

static bool lead(struct store_guard *ret, void *arg)
{
	return __atomic_load_n(&leads, __ATOMIC_RELAXED);
}

Test(collector, works_only_where_the_process_leads_and_catches_up)
{
	const struct server_profile profile = {.lead = lead};
	struct fixture *f = fixture_create(&profile);
	auto_xfree char *uid = make_owner(f, "j");

	make_owned(f, "mine", "Job", "j", uid, "");
	drop(f, JOBS "/j");
	usleep(300000);
	cr_expect(becomes(f, CONFIGS "/mine", 200));
	__atomic_store_n(&leads, true, __ATOMIC_RELAXED);
	cr_expect(becomes(f, CONFIGS "/mine", 404));
	fixture_destroy(f);
}

static bool lead_with_failing_guard(struct store_guard *ret, void *arg)
{
	*ret = (struct store_guard){"/federator/-/leader", STORE_MOD, 12345};
	return true;
}

Test(collector, a_deposed_process_deletes_nothing)
{
	const struct server_profile profile = {.lead = lead_with_failing_guard};
	struct fixture *f = fixture_create(&profile);
	auto_xfree char *uid = make_owner(f, "j");

	make_owned(f, "mine", "Job", "j", uid, "");
	drop(f, JOBS "/j");
	usleep(500000);
	cr_expect(becomes(f, CONFIGS "/mine", 200));
	fixture_destroy(f);
}
