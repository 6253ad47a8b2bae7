#include "tests/unit/property.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define PATIENCE_S 20 /* to make a failure smaller */
#define BLOCK_MAX  64 /* draws that are left out at once */
#define NEAR       16 /* draws among which one is left out when an earlier one is lowered */

struct row {
	unsigned *items;
	size_t n, cap;
};

struct draw {
	uint64_t state;        /* of the generator */
	const struct row *row; /* what is drawn instead, and nothing but 0 behind it; or NULL */
	struct row made;
	char *text;
};

/* --- drawing ------------------------------------------------------------------------------ */

/* splitmix64 */
static uint64_t next_random(struct draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned next_of_row(const struct draw *d, unsigned bound)
{
	unsigned v = d->made.n < d->row->n ? d->row->items[d->made.n] : 0;

	return v < bound ? v : bound - 1;
}

unsigned draw_below(struct draw *d, unsigned bound)
{
	unsigned v;

	cr_assert_gt(bound, 0u);
	v = d->row ? next_of_row(d, bound) : (unsigned)(next_random(d) % bound);
	GROW(d->made.items, d->made.n, d->made.cap);
	d->made.items[d->made.n++] = v;
	return v;
}

void draw_order(struct draw *d, int *ret_order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret_order[i] = (int)i;
	for (size_t i = 0; i + 1 < n; i++) {
		size_t k = i + draw_below(d, (unsigned)(n - i));
		int first = ret_order[i];

		ret_order[i] = ret_order[k];
		ret_order[k] = first;
	}
}

void draw_count(struct draw *d, size_t *counter)
{
	*counter += !d->row;
}

bool draw_fail(struct draw *d, const char *fmt, ...)
{
	va_list ap;
	int n;

	free(d->text);
	va_start(ap, fmt);
	n = vasprintf(&d->text, fmt, ap);
	va_end(ap);
	cr_assert_geq(n, 0);
	return false;
}

/* --- making it smaller -------------------------------------------------------------------- */

struct search {
	property claim;
	struct row best; /* the smallest that fails */
	struct row next; /* to be tried */
	char *text;      /* of best */
	size_t smaller;
	time_t end;
};

static void row_set(struct row *r, const unsigned *items, size_t n)
{
	r->n = 0;
	for (size_t i = 0; i < n; i++) {
		GROW(r->items, r->n, r->cap);
		r->items[r->n++] = items[i];
	}
}

/* Shorter, or else lower in the first draw that differs. */
static bool is_smaller(const struct row *a, const struct row *b)
{
	if (a->n != b->n)
		return a->n < b->n;
	for (size_t i = 0; i < a->n; i++)
		if (a->items[i] != b->items[i])
			return a->items[i] < b->items[i];
	return false;
}

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static bool is_late(const struct search *s)
{
	return now_s() >= s->end;
}

/* Keeps the next row, as it was really drawn, if it fails too and is smaller. */
static bool try_next(struct search *s)
{
	struct draw d = {.row = &s->next};
	bool better;

	if (is_late(s))
		return false;
	better = !s->claim(&d) && is_smaller(&d.made, &s->best);
	if (better) {
		row_set(&s->best, d.made.items, d.made.n);
		free(s->text);
		s->text = take_ptr(d.text);
		s->smaller++;
	}
	free(d.made.items);
	free(d.text);
	return better;
}

static void next_without(struct search *s, size_t at, size_t n)
{
	memmove(s->next.items + at, s->next.items + at + n,
		(s->next.n - at - n) * sizeof(*s->next.items));
	s->next.n -= n;
}

/* Without n draws from `at` on. */
static bool try_without(struct search *s, size_t at, size_t n)
{
	row_set(&s->next, s->best.items, s->best.n);
	next_without(s, at, n);
	return try_next(s);
}

/* With `v` at `at`, and without the n draws from `from` on: what it counts may be one less. */
static bool try_lower(struct search *s, size_t at, unsigned v, size_t from, size_t n)
{
	if (from + n > s->best.n)
		return false;
	row_set(&s->next, s->best.items, s->best.n);
	s->next.items[at] = v;
	next_without(s, from, n);
	return try_next(s);
}

static bool leave_out(struct search *s)
{
	size_t before = s->smaller;

	for (size_t n = BLOCK_MAX; n; n /= 2)
		for (size_t end = s->best.n; end >= n; end -= n)
			if (end <= s->best.n)
				try_without(s, end - n, n);
	return s->smaller > before;
}

/* As low as it goes, by ever smaller steps. */
static void lower_one(struct search *s, size_t at)
{
	for (unsigned step = s->best.items[at]; step; step /= 2)
		while (at < s->best.n && s->best.items[at] >= step &&
		       try_lower(s, at, s->best.items[at] - step, at + 1, 0))
			;
}

/* By one, and without something behind it. */
static void lower_and_leave_out(struct search *s, size_t at)
{
	for (size_t n = 1; n <= BLOCK_MAX; n++)
		for (size_t from = at + 1; from <= at + NEAR; from += n)
			if (at < s->best.n && s->best.items[at])
				try_lower(s, at, s->best.items[at] - 1, from, n);
}

static bool lower(struct search *s)
{
	size_t before = s->smaller;

	for (size_t at = 0; at < s->best.n && !is_late(s); at++) {
		lower_one(s, at);
		lower_and_leave_out(s, at);
	}
	return s->smaller > before;
}

static void make_smaller(struct search *s)
{
	bool better = true;

	s->end = now_s() + PATIENCE_S;
	if (s->best.n)
		lower_one(s, 0); /* often how much there is */
	while (better && !is_late(s)) {
		better = leave_out(s);
		better |= lower(s);
	}
	free(s->next.items);
}

/* --- checking ----------------------------------------------------------------------------- */

static uint64_t trying; /* the seed, for what ends the process */

static void on_abort(int number)
{
	dprintf(STDERR_FILENO, "FEDERATOR_SEED=%" PRIu64 " ends the process\n", trying);
	signal(number, SIG_DFL);
	raise(number);
}

/* The claim holds for the case of this seed; else the case is in ret. */
static bool holds(property claim, uint64_t seed, struct search *ret)
{
	struct draw d = {.state = seed};

	trying = seed;
	signal(SIGABRT, on_abort);
	if (claim(&d)) {
		free(d.made.items);
		free(d.text);
		return true;
	}
	*ret = (struct search){.claim = claim, .best = d.made, .text = d.text};
	return false;
}

bool property_refute(property claim, uint64_t first_seed, size_t cases, struct counterexample *ret)
{
	struct search s;

	for (uint64_t seed = first_seed; seed < first_seed + cases; seed++) {
		if (holds(claim, seed, &s))
			continue;
		make_smaller(&s);
		free(s.best.items);
		*ret = (struct counterexample){seed, s.smaller, s.text ? s.text : xstrdup("")};
		return true;
	}
	return false;
}

static uint64_t number_of_env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

void property_check(property claim, size_t cases)
{
	uint64_t seed = number_of_env("FEDERATOR_SEED", 0);
	struct counterexample c;

	cases = seed ? 1 : number_of_env("PROPERTY_CASES", cases);
	if (property_refute(claim, seed ? seed : 1, cases, &c))
		cr_assert_fail("FEDERATOR_SEED=%" PRIu64 ", made smaller %zu times: %s", c.seed,
			       c.smaller, c.text);
}

void property_check_once(property claim, uint64_t seed)
{
	struct search s;

	if (!holds(claim, seed, &s))
		cr_assert_fail("seed %" PRIu64 ": %s", seed, s.text ? s.text : "");
}
