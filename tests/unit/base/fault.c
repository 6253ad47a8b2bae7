#include "base/fault.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(fault);

Test(fault, inert_when_unset)
{
	unsetenv("FEDERATOR_FAULT");
	for (int i = 0; i < 100; i++) {
		fault_before_write();
		cr_assert_not(fault_after_write());
	}
}

Test(fault, exit_before_lets_earlier_writes_pass, .exit_code = FAULT_EXIT_STATUS)
{
	setenv("FEDERATOR_FAULT", "exit-before:3", 1);
	fault_before_write();
	fault_after_write();
	fault_before_write();
	fault_after_write();
	fault_before_write();
	exit(1);
}

Test(fault, exit_before_counts_writes_not_answers, .exit_code = 0)
{
	setenv("FEDERATOR_FAULT", "exit-before:3", 1);
	fault_before_write();
	fault_before_write();
	for (int i = 0; i < 5; i++)
		fault_after_write();
	exit(0);
}

Test(fault, exit_after_lets_the_write_happen, .exit_code = FAULT_EXIT_STATUS)
{
	setenv("FEDERATOR_FAULT", "exit-after:1", 1);
	fault_before_write();
	fault_before_write();
	fault_after_write();
	exit(1);
}

Test(fault, lose_answer_hits_exactly_one)
{
	setenv("FEDERATOR_FAULT", "lose-answer:2", 1);
	for (int i = 1; i <= 5; i++) {
		fault_before_write();
		cr_assert_eq(fault_after_write(), i == 2);
	}
}

static void expect_refused(const char *text)
{
	setenv("FEDERATOR_FAULT", text, 1);
	fault_before_write();
	exit(0);
}

/* A test that misspells its fault must not pass for an undisturbed run. */
Test(fault, unknown_kind_is_refused, .exit_code = 2)
{
	expect_refused("exit:1");
}

Test(fault, zero_is_refused, .exit_code = 2)
{
	expect_refused("exit-after:0");
}

Test(fault, trailing_text_is_refused, .exit_code = 2)
{
	expect_refused("exit-after:1x");
}

Test(fault, missing_number_is_refused, .exit_code = 2)
{
	expect_refused("lose-answer:");
}
