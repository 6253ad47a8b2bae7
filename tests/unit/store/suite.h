/*
 * What every implementation of the store must do, case by case; test_memory.c and test_etcd.c run
 * each of them.
 */
#ifndef TESTS_STORE_SUITE_H
#define TESTS_STORE_SUITE_H

#include "tests/unit/store/bed.h"

#define KEY(name) STORE_PREFIX "test/" name

#define SUITE_CASES(X)                                                                             \
	X(reads_back_what_was_written)                                                             \
	X(keeps_any_bytes)                                                                         \
	X(refuses_what_is_too_large)                                                               \
	X(commits_only_when_all_guards_hold)                                                       \
	X(a_new_life_of_a_key_has_a_new_create_revision)                                           \
	X(versions_are_those_that_watchers_see)                                                    \
	X(one_of_many_with_the_same_guard_wins)                                                    \
	X(writes_to_one_key_keep_their_order)                                                      \
	X(outcomes_of_transactions_sent_together_are_separate)                                     \
	X(no_write_skew_between_transactions_sent_together)                                        \
	X(one_guard_shared_by_many)                                                                \
	X(large_and_small_transactions_together)                                                   \
	X(ranges_in_byte_order_by_pages)                                                           \
	X(ranges_of_the_past)                                                                      \
	X(a_range_sees_what_was_acknowledged)                                                      \
	X(watches_history_then_live)                                                               \
	X(watches_only_its_prefix)                                                                 \
	X(a_watch_behind_a_compaction_ends)                                                        \
	X(a_watch_of_the_future_waits)                                                             \
	X(unwatch_inside_a_callback)                                                               \
	X(a_large_backlog_comes_whole)                                                             \
	X(keys_of_a_lease_go_with_it)                                                              \
	X(a_lease_that_is_kept_lives)                                                              \
	X(forgotten_calls_are_not_answered)                                                        \
	X(destroyed_in_the_middle_of_its_work)                                                     \
	X(a_lost_answer_is_an_unknown_outcome)

#define X(name) void suite_##name(struct bed *bed);
SUITE_CASES(X)
#undef X

#endif
