/* The record against design document 3: which steps it takes, and what people then read. */
#include "lifecycle/record.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

#define NOW INT64_C(1767225600000000000) /* 2026-01-01T00:00:00Z */

static json_t *new_job(void)
{
	struct error err;
	static const char text[] =
		"{\"metadata\":{\"name\":\"j\",\"namespace\":\"ml\",\"uid\":\"u1\"},"
		"\"spec\":{\"minAvailable\":2,\"tasks\":[{\"name\":\"w\",\"replicas\":2}],"
		"\"placement\":{\"alternatives\":[{\"task\":\"w\",\"replicas\":4}]}}}";
	json_t *job = json_parse(text, strlen(text), NULL, &err);

	cr_assert(job, "%s", err.text);
	return job;
}

static void take_status(json_t *job, json_t *status)
{
	json_object_set_new(job, "status", status);
}

static json_t *offer_job(json_t *job, const char *cluster, int32_t alternative)
{
	struct record_offer offer = {.cluster = cluster,
				     .cluster_uid = "c1",
				     .why = "least waste",
				     .alternatives = &alternative,
				     .protocol = 1};
	json_t *status, *placement;
	struct error err;

	cr_assert_eq(record_make_offer(job, "abc", &offer, NOW, &status, &placement, &err), 0, "%s",
		     err.text);
	take_status(job, status);
	return placement;
}

static int answer(json_t *job, json_t **placement, const char *status_text, bool *ret_last,
		  struct error *err)
{
	json_t *after = json_deep_copy(*placement), *status;

	json_object_set_new(after, "status", json_loads(status_text, 0, NULL));
	if (record_answer(job, *placement, after, NOW, &status, ret_last, err)) {
		json_decref(after);
		return -1;
	}
	if (status)
		take_status(job, status);
	json_decref(*placement);
	*placement = after;
	return 0;
}

static void must_answer(json_t *job, json_t **placement, const char *status_text, bool last)
{
	struct error err;
	bool is_last;

	cr_assert_eq(answer(job, placement, status_text, &is_last, &err), 0, "%s: %s", status_text,
		     err.text);
	cr_assert_eq(is_last, last, "%s", status_text);
}

static void expect_phase(const json_t *job, const char *dispatch, const char *phase)
{
	cr_expect_str_eq(json_str_at(job, "status", "dispatch", "phase", NULL), dispatch);
	cr_expect_str_eq(json_str_at(job, "status", "state", "phase", NULL), phase);
}

static bool condition_is_true(const json_t *job, const char *type)
{
	const json_t *list = json_at(job, "status", "conditions", NULL);
	json_t *c;
	size_t i;

	json_array_foreach (list, i, c)
		if (!strcmp(json_str_at(c, "type", NULL), type))
			return !strcmp(json_str_at(c, "status", NULL), "True");
	return false;
}

Test(record, one_life)
{
	auto_json *job = new_job();
	auto_json *placement = offer_job(job, "gpu", -1);

	expect_phase(job, "Confirmed", "Pending");
	cr_expect_str_eq(json_str_at(placement, "metadata", "name", NULL), "u1-0-1");
	cr_expect_str_eq(json_str_at(placement, "metadata", "namespace", NULL), "cluster-gpu");
	cr_expect_str_eq(json_str_at(placement, "spec", "desired", NULL), "Go");
	must_answer(job, &placement, "{\"state\":\"Claimed\",\"capacitySeq\":7}", false);
	expect_phase(job, "Confirmed", "Pending");
	must_answer(job, &placement,
		    "{\"state\":\"Running\",\"counts\":{\"w\":{\"Running\":2}},"
		    "\"nodes\":\"gpu-0, gpu-1\"}",
		    false);
	expect_phase(job, "Running", "Running");
	cr_expect_eq(json_int_at(job, 0, "status", "running", NULL), 2);
	must_answer(job, &placement,
		    "{\"state\":\"Done\",\"counts\":{\"w\":{\"Succeeded\":2}},"
		    "\"outcome\":{\"phase\":\"Completed\"}}",
		    true);
	expect_phase(job, "Ended", "Completed");
	cr_expect_eq(json_int_at(job, 0, "status", "succeeded", NULL), 2);
	cr_expect(condition_is_true(job, "Completed"));
	cr_expect_not(condition_is_true(job, "Running"));
}

Test(record, chosen_alternative_is_in_the_placement)
{
	auto_json *job = new_job();
	auto_json *placement = offer_job(job, "gpu", 0);
	const json_t *task = json_array_get(json_at(placement, "spec", "size", "tasks", NULL), 0);

	cr_expect_eq(json_int_at(task, -1, "alternative", NULL), 0);
	cr_expect_eq(json_int_at(task, -1, "replicas", NULL), 4);
}

Test(record, a_choice_for_other_tasks_is_not_offered)
{
	auto_json *job = new_job();
	const int32_t alternatives[] = {-1, 1};
	struct record_offer offer = {.cluster = "gpu",
				     .cluster_uid = "c1",
				     .alternatives = alternatives,
				     .n_alternatives = 2,
				     .protocol = 1};
	json_t *status, *placement;
	struct error err;

	cr_assert_lt(record_make_offer(job, "abc", &offer, NOW, &status, &placement, &err), 0);
	cr_expect_eq(err.code, ERR_CONFLICT);
	offer.n_alternatives = 1;
	cr_assert_eq(record_make_offer(job, "abc", &offer, NOW, &status, &placement, &err), 0);
	json_decref(status);
	json_decref(placement);
	offer.alternatives = &alternatives[1];
	cr_assert_lt(record_make_offer(job, "abc", &offer, NOW, &status, &placement, &err), 0);
	cr_expect_eq(err.code, ERR_CONFLICT, "there is one alternative, 0");
}

Test(record, refusal_goes_back_to_the_queue_and_counts_on)
{
	auto_json *job = new_job();
	auto_json *first = offer_job(job, "gpu", -1);
	const json_t *attempts;

	must_answer(job, &first,
		    "{\"state\":\"Refused\",\"reason\":\"NameTaken\",\"message\":\"pod j-w-0\"}",
		    true);
	expect_phase(job, "Queued", "Pending");
	cr_expect_null(json_at(job, "status", "dispatch", "parts", NULL));
	auto_json *second = offer_job(job, "large", -1);
	cr_expect_str_eq(json_str_at(second, "metadata", "name", NULL), "u1-0-2");
	attempts = json_at(job, "status", "dispatch", "attempts", NULL);
	cr_assert_eq(json_array_size(attempts), 2);
	cr_expect_str_eq(json_str_at(json_array_get(attempts, 0), "how", NULL), "Refused");
	cr_expect_str_eq(json_str_at(json_array_get(attempts, 0), "reason", NULL), "NameTaken");
}

/* However many clusters there are: their turns come round later than attempts are kept. */
Test(record, refusals_are_counted_by_cluster_and_begin_anew_behind_one_for_room)
{
	static const char *const clusters[] = {"a", "b", "c", "d", "e", "f"};
	auto_json *job = new_job();

	for (size_t round = 0; round < 3; round++)
		for (size_t i = 0; i < ARRAY_LEN(clusters); i++) {
			auto_json *p = offer_job(job, clusters[i], -1);

			must_answer(job, &p, "{\"state\":\"Refused\",\"reason\":\"Forbidden\"}",
				    true);
		}
	cr_expect_eq(record_refusals(job, "a"), 3);
	cr_expect_eq(record_refusals(job, "f"), 3);
	cr_expect_eq(record_refusals(job, "g"), 0);
	auto_json *p = offer_job(job, "a", -1);
	must_answer(job, &p, "{\"state\":\"Refused\",\"reason\":\"NoRoom\"}", true);
	cr_expect_eq(record_refusals(job, "a"), 0);
	cr_expect_eq(record_refusals(job, "b"), 3);
}

Test(record, an_older_generation_moves_nothing)
{
	auto_json *job = new_job();
	auto_json *first = offer_job(job, "gpu", -1);
	json_t *status;
	struct error err;
	bool last;

	cr_assert_eq(record_take_back(job, "not claimed within 10 s", NOW, &status, &err), 0);
	take_status(job, status);
	auto_json *second = offer_job(job, "large", -1);
	cr_expect_eq(answer(job, &first, "{\"state\":\"Claimed\"}", &last, &err), -1);
	cr_expect_eq(err.code, ERR_CONFLICT);
	must_answer(job, &second, "{\"state\":\"Claimed\"}", false);
}

Test(record, claims_and_refusals_only_before_the_claim)
{
	auto_json *job = new_job();
	auto_json *placement = offer_job(job, "gpu", -1);
	struct error err;
	bool last;

	cr_expect_eq(answer(job, &placement, "{\"state\":\"Running\"}", &last, &err), -1);
	cr_expect_eq(err.code, ERR_CONFLICT);
	must_answer(job, &placement, "{\"state\":\"Claimed\"}", false);
	cr_expect_eq(answer(job, &placement, "{\"state\":\"Claimed\"}", &last, &err), -1);
	cr_expect_eq(answer(job, &placement, "{\"state\":\"Refused\"}", &last, &err), -1);
	cr_expect_eq(answer(job, &placement, "{\"state\":\"Sideways\"}", &last, &err), -1);
	cr_expect_eq(err.code, ERR_INVALID);
}

Test(record, abort_waits_for_the_last_word_and_done_wins)
{
	auto_json *job = new_job();
	auto_json *placement = offer_job(job, "gpu", -1);
	json_t *status, *releasing;
	struct error err;

	must_answer(job, &placement, "{\"state\":\"Claimed\"}", false);
	cr_assert_eq(record_abort(job, placement, "Deleted", NOW, &status, &releasing, &err), 0);
	take_status(job, status);
	json_decref(placement);
	placement = releasing;
	expect_phase(job, "Releasing", "Pending");
	cr_expect_str_eq(json_str_at(placement, "spec", "desired", NULL), "Release");
	must_answer(job, &placement,
		    "{\"state\":\"Done\",\"outcome\":{\"phase\":\"Failed\",\"reason\":\"X\"}}",
		    true);
	expect_phase(job, "Ended", "Failed");
}

Test(record, an_offer_that_is_being_released_cannot_be_claimed)
{
	auto_json *job = new_job();
	auto_json *placement = offer_job(job, "gpu", -1);
	json_t *status, *releasing;
	struct error err;
	bool last;

	cr_assert_eq(record_abort(job, placement, "Deleted", NOW, &status, &releasing, &err), 0);
	take_status(job, status);
	json_decref(placement);
	placement = releasing;
	cr_expect_eq(answer(job, &placement, "{\"state\":\"Claimed\"}", &last, &err), -1);
	cr_expect_eq(err.code, ERR_CONFLICT);
}

Test(record, restarts_are_seen_and_retries_carried_over_generations)
{
	auto_json *job = new_job();
	auto_json *placement = offer_job(job, "gpu", -1);

	must_answer(job, &placement, "{\"state\":\"Claimed\"}", false);
	must_answer(job, &placement,
		    "{\"state\":\"Running\",\"reason\":\"Restarting\",\"retries\":2}", false);
	expect_phase(job, "Running", "Restarting");
	cr_expect_eq(json_int_at(job, 0, "status", "retryCount", NULL), 2);
	must_answer(job, &placement, "{\"state\":\"Released\",\"reason\":\"PodLost\"}", true);
	auto_json *second = offer_job(job, "large", -1);
	cr_expect_eq(json_int_at(second, 0, "spec", "retries", NULL), 2);
}

Test(record, only_the_last_five_attempts_are_kept)
{
	auto_json *job = new_job();
	const json_t *attempts;

	for (int i = 0; i < 7; i++) {
		auto_json *p = offer_job(job, "gpu", -1);

		must_answer(job, &p, "{\"state\":\"Refused\",\"reason\":\"NoRoom\"}", true);
	}
	attempts = json_at(job, "status", "dispatch", "attempts", NULL);
	cr_expect_eq(json_array_size(attempts), 5);
	cr_expect_eq(json_int_at(json_array_get(attempts, 0), 0, "generation", NULL), 3);
}

Test(record, pending_is_written_on_change_and_keeps_since)
{
	auto_json *job = new_job();
	auto_json *first = json_pack("{ss,ss}", "code", "NoRoom", "detail", "2 of 16");
	auto_json *again = json_pack("{ss,ss}", "code", "NoRoom", "detail", "4 of 16");
	json_t *status = record_set_pending(job, first, NOW);

	take_status(job, status);
	cr_expect_null(record_set_pending(job, first, NOW + 5000000000));
	status = record_set_pending(job, again, NOW + 5000000000);
	cr_assert_not_null(status);
	take_status(job, status);
	cr_expect_str_eq(json_str_at(job, "status", "pending", "since", NULL),
			 "2026-01-01T00:00:00Z");
	take_status(job, record_set_pending(job, NULL, NOW));
	cr_expect_null(json_at(job, "status", "pending", NULL));
}

Test(record, ended_is_the_end)
{
	static const enum record_step steps[] = {RECORD_OFFER,     RECORD_CLAIM, RECORD_RUNNING,
						 RECORD_TAKE_BACK, RECORD_ABORT, RECORD_REFUSED,
						 RECORD_RELEASED,  RECORD_DONE,  RECORD_LOST};
	enum dispatch_phase to;

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		cr_expect_not(record_edge(DISPATCH_ENDED, steps[i], &to));
		cr_expect_not(record_edge(DISPATCH_UNCERTAIN, steps[i], &to));
	}
}
