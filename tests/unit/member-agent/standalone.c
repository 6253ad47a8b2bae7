/* What an agent without a hub reads from Jobs and twins, and what it writes. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "member-agent/standalone_internal.h"

static json_t *tree(const char *text)
{
	struct error err;
	json_t *j = json_parse(text, strlen(text), NULL, &err);

	cr_assert_not_null(j, "%s: %s", text, err.text);
	return j;
}

static json_t *job_with(const char *status)
{
	auto_xfree char *text = xasprintf("{\"metadata\":{\"name\":\"x\"},\"status\":%s}", status);

	return tree(text);
}

Test(standalone, an_ended_job_is_known_by_its_record_and_without_one_by_its_phase)
{
	static const struct {
		const char *status;
		bool ended, strange;
	} rows[] = {
		{"{}", false, false},
		{"{\"state\":{\"phase\":\"Pending\"}}", false, false},
		{"{\"state\":{\"phase\":\"Completed\"}}", true, false},
		{"{\"state\":{\"phase\":\"Terminated\"}}", true, false},
		{"{\"state\":{\"phase\":\"Running\"}}", false, true},
		{"{\"state\":{\"phase\":\"Running\"},\"dispatch\":{\"phase\":\"Running\"}}", false,
		 false},
		{"{\"state\":{\"phase\":\"Running\"},\"dispatch\":{\"phase\":\"Ended\"}}", true,
		 false},
		/* Nobody knows whether it runs: it is not begun again. */
		{"{\"dispatch\":{\"phase\":\"Uncertain\"}}", true, false},
		/* The record counts more. */
		{"{\"state\":{\"phase\":\"Failed\"},\"dispatch\":{\"phase\":\"Queued\"}}", false,
		 false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_json *job = job_with(rows[i].status);

		cr_expect_eq(job_has_ended(job), rows[i].ended, "%s", rows[i].status);
		cr_expect_eq(job_is_strange(job), rows[i].strange, "%s", rows[i].status);
	}
}

#define RECORD(phase, n)                                                                           \
	"{\"dispatch\":{\"phase\":\"" phase "\",\"n\":" #n ",\"parts\":[{\"generation\":" #n "}]}}"
#define QUEUED(n) "{\"dispatch\":{\"phase\":\"Queued\",\"n\":" #n "}}"

Test(standalone, an_attempt_is_open_until_the_record_has_settled_its_generation)
{
	static const struct {
		const char *status;
		int64_t twin; /* its generation; 0: none */
		bool open;
	} rows[] = {
		{"{}", 0, false},
		{"{}", 1, true}, /* the claim is the twin; nothing was written yet */
		{QUEUED(1), 1, false},
		{QUEUED(1), 2, true},
		{RECORD("Running", 2), 2, true},
		{RECORD("Running", 2), 1, false}, /* an older one's twin, not gone yet */
		{RECORD("Running", 2), 0, true},  /* its twin is lost: a person must know */
		{RECORD("Confirmed", 1), 0, true},
		{RECORD("Ended", 1), 1, false},
		{RECORD("Uncertain", 1), 1, false},
		{"{\"state\":{\"phase\":\"Completed\"}}", 1, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_json *job = job_with(rows[i].status);
		auto_json *twin = rows[i].twin ? json_pack("{s{sI}}", "spec", "generation",
							   (json_int_t)rows[i].twin)
					       : NULL;

		cr_expect_eq(job_leaves_open(job, twin), rows[i].open, "%zu: %s", i,
			     rows[i].status);
	}
}

Test(standalone, volcanos_kind_gets_no_record_and_the_reason_as_state)
{
	auto_json *waits = tree("{\"state\":{\"phase\":\"Pending\"},\"dispatch\":{\"n\":1},"
				"\"pending\":{\"code\":\"NoRoom\",\"detail\":\"full\"}}");
	auto_json *runs = tree("{\"state\":{\"phase\":\"Running\"},\"dispatch\":{\"n\":1},"
			       "\"pending\":2}");
	auto_json *want_waits = tree("{\"state\":{\"phase\":\"Pending\",\"reason\":\"NoRoom\","
				     "\"message\":\"full\"}}");
	auto_json *want_runs = tree("{\"state\":{\"phase\":\"Running\"},\"pending\":2}");
	auto_json *got_waits = status_for_volcano(waits);
	auto_json *got_runs = status_for_volcano(runs);

	cr_expect(json_equal(got_waits, want_waits));
	cr_expect(json_equal(got_runs, want_runs));
	cr_expect_not_null(json_object_get(waits, "dispatch"), "the argument is not changed");
}

Test(standalone, a_status_is_written_whole_and_by_compare)
{
	auto_json *status = tree("{\"state\":{\"phase\":\"Running\"}}");
	auto_json *patch = status_patch(41, status);
	auto_json *want = tree("[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\","
			       "\"value\":\"41\"},{\"op\":\"add\",\"path\":\"/status\",\"value\":"
			       "{\"state\":{\"phase\":\"Running\"}}}]");

	cr_expect(json_equal(patch, want));
}

Test(standalone, a_refusal_is_told_in_the_runners_words)
{
	auto_json *said =
		tree("{\"state\":\"Refused\",\"reason\":\"NameTaken\",\"message\":\"pod x\","
		     "\"nearestMiss\":{\"fits\":1}}");
	auto_json *got = pending_of_refusal("here", said);
	auto_json *want = tree("{\"code\":\"NameTaken\",\"cluster\":\"here\",\"detail\":\"pod x\","
			       "\"nearestMiss\":{\"fits\":1}}");

	cr_expect(json_equal(got, want));
}

Test(standalone, a_reason_about_the_queue_names_no_cluster)
{
	struct explain_place place = {.name = "here", .verdict = VERDICT_FITS, .detail = ""};
	struct explain_short lacks = {.resource = "nvidia.com/gpu", .have = 8, .want = 12};
	struct explain e = {.code = WAIT_QUOTA, .detail = "d", .places = &place, .n_places = 1};
	auto_json *quota = pending_of_explain(&e);
	auto_json *room = NULL;

	cr_expect_str_eq(json_str_at(quota, "code", NULL), "Quota");
	cr_expect_null(json_object_get(quota, "cluster"));
	e.code = WAIT_NO_ROOM;
	place.verdict = VERDICT_FULL;
	place.pods = 3;
	place.fits = 2;
	place.shorts = &lacks;
	place.n_shorts = 1;
	room = pending_of_explain(&e);
	cr_expect_str_eq(json_str_at(room, "cluster", NULL), "here");
	cr_expect_str_eq(json_str_at(room, "nearestMiss", "resource", NULL), "nvidia.com/gpu");
	cr_expect_str_eq(json_str_at(room, "nearestMiss", "have", NULL), "8");
	cr_expect_str_eq(json_str_at(room, "nearestMiss", "want", NULL), "12");
	cr_expect_eq(json_int_at(room, 0, "nearestMiss", "fits", NULL), 2);
}

/* An API server refuses events of more than 1,024 characters' text. */
Test(standalone, a_long_event_is_cut_between_characters)
{
	auto_json *job = tree("{\"metadata\":{\"name\":\"x\",\"namespace\":\"n\",\"uid\":\"u\"}}");
	char text[3001] = "";
	auto_json *event = NULL;
	const char *message;

	for (int i = 0; i < 1000; i++)
		memcpy(text + i * 3, "\xe2\x82\xac", 3);
	event = job_event(job, "Warning", "Invalid", text, 0);
	cr_assert_not_null(event);
	message = json_str_at(event, "message", NULL);
	cr_expect_leq(strlen(message), 1000);
	cr_expect_geq(strlen(message), 990);
	cr_expect_eq(strlen(message) % 3, 0);
	cr_expect_str_eq(json_str_at(event, "involvedObject", "name", NULL), "x");
	cr_expect_str_eq(json_str_at(event, "involvedObject", "uid", NULL), "u");
	cr_expect_str_eq(json_str_at(event, "metadata", "namespace", NULL), "n");
	cr_expect_str_eq(json_str_at(event, "firstTimestamp", NULL), "1970-01-01T00:00:00Z");
}
