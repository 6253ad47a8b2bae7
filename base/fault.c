#include "base/fault.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

enum fault_kind { FAULT_NONE, FAULT_EXIT_BEFORE, FAULT_EXIT_AFTER, FAULT_LOSE_ANSWER };

static const struct {
	const char *name;
	enum fault_kind kind;
} kinds[] = {
	{"exit-before:", FAULT_EXIT_BEFORE},
	{"exit-after:", FAULT_EXIT_AFTER},
	{"lose-answer:", FAULT_LOSE_ANSWER},
};

/* Written once, before the first write of the process is counted. */
static struct {
	enum fault_kind kind;
	uint64_t at;
} plan;
static uv_once_t plan_once = UV_ONCE_INIT;
static atomic_uint_fast64_t writes, answers;

/* True when text is the whole plan: a misspelled one must not pass for an undisturbed run. */
static bool plan_parse(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t n = strlen(kinds[i].name);
		char *end;

		if (strncmp(text, kinds[i].name, n))
			continue;
		plan.at = strtoull(text + n, &end, 10);
		plan.kind = kinds[i].kind;
		return plan.at && end != text + n && !*end;
	}
	return false;
}

static void plan_read(void)
{
	const char *text = getenv("FEDERATOR_FAULT");

	if (!text || !*text || plan_parse(text))
		return;
	fprintf(stderr,
		"FEDERATOR_FAULT: \"%s\" is not exit-before:N, exit-after:N or lose-answer:N\n",
		text);
	_exit(2);
}

static bool plan_is(enum fault_kind kind, uint64_t n)
{
	return plan.kind == kind && plan.at == n;
}

void fault_before_write(void)
{
	uv_once(&plan_once, plan_read);
	if (plan_is(FAULT_EXIT_BEFORE, ++writes))
		_exit(FAULT_EXIT_STATUS);
}

bool fault_after_write(void)
{
	uint64_t n;

	uv_once(&plan_once, plan_read);
	n = ++answers;
	if (plan_is(FAULT_EXIT_AFTER, n))
		_exit(FAULT_EXIT_STATUS);
	return plan_is(FAULT_LOSE_ANSWER, n);
}
