/*
 * Explanations for people: the screen of `fedctl explain`.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "scheduler/explain_internal.h"

#define NS_PER_S 1000000000LL
#define WIDTH    100

/* --- sentences ---------------------------------------------------------------------------- */

/* "12 s", "41 min", "3 h", "2 d" */
static void add_duration(int64_t ns, struct strbuf *out)
{
	int64_t s = ns > 0 ? ns / NS_PER_S : 0;

	if (s < 120)
		strbuf_addf(out, "%" PRId64 " s", s);
	else if (s < 120 * 60)
		strbuf_addf(out, "%" PRId64 " min", s / 60);
	else if (s < 48 * 3600)
		strbuf_addf(out, "%" PRId64 " h", s / 3600);
	else
		strbuf_addf(out, "%" PRId64 " d", s / 86400);
}

static void add_clock(int64_t wall_ns, int32_t utc_offset_s, struct strbuf *out)
{
	int64_t s = wall_ns / NS_PER_S + utc_offset_s;
	int64_t minute = ((s / 60) % 1440 + 1440) % 1440;

	strbuf_addf(out, "%02d:%02d", (int)(minute / 60), (int)(minute % 60));
}

static void add_headline(const struct explain *e, int64_t now_ns, int32_t utc_offset_s,
			 struct strbuf *out)
{
	strbuf_addf(out, "%s waits since ", e->name);
	add_clock(e->submitted_ns, utc_offset_s, out);
	strbuf_adds(out, " (");
	add_duration(time_between(e->submitted_ns, now_ns), out);
	strbuf_addf(out, "). Queue %s, priority %" PRId32 "; ", e->queue, e->priority);
	if (e->pods == 1)
		strbuf_adds(out, "1 task.\n");
	else
		strbuf_addf(out, "all %" PRId64 " tasks must start together.\n", e->pods);
}

static const char *hold_name(enum wait_code c)
{
	static const char *const names[] = {
#define X(name, code, text) [WAIT_##name] = text,
		WAIT_CODES(X)
#undef X
	};

	return names[c];
}

static void add_quotas(const struct explain *e, struct strbuf *out)
{
	for (size_t i = 0; i < e->n_quotas; i++) {
		const struct explain_quota *q = &e->quotas[i];

		strbuf_addf(out, i ? "; it may use " : "queue %s may use ", e->queue);
		explain_amount(q->resource, q->capability, out);
		strbuf_addf(out, " %s and uses ", q->resource);
		explain_amount(q->resource, q->used, out);
		strbuf_adds(out, "; this job needs ");
		explain_amount(q->resource, q->needs, out);
	}
}

static void add_gate(const struct explain *e, const struct explain_gate *g, struct strbuf *out)
{
	strbuf_addf(out, "Held back by  %s: ", hold_name(g->code));
	if (g->code == WAIT_QUOTA)
		add_quotas(e, out);
	else
		strbuf_adds(out, g->detail);
	strbuf_adds(out, ".\n");
	if (*g->remedy)
		strbuf_addf(out, "%s\n", g->remedy);
}

static bool more_is_below(const struct explain *e)
{
	for (size_t i = 0; i < e->n_places; i++)
		if (e->places[i].verdict == VERDICT_FITS)
			return e->n_others;
	return e->n_others || e->n_places;
}

static void add_reason(const struct explain *e, struct strbuf *out)
{
	if (e->code == WAIT_NONE) {
		strbuf_adds(out, "\nNothing holds it back: it starts with the next decision.\n");
		return;
	}
	strbuf_addc(out, '\n');
	add_gate(e, &(struct explain_gate){e->code, e->detail, e->remedy}, out);
	if (!e->sole && more_is_below(e))
		strbuf_adds(out, "It is not the only reason: see below.\n");
	for (size_t i = 0; i < e->n_others; i++)
		add_gate(e, &e->others[i], out);
}

/* --- the table ---------------------------------------------------------------------------- */

enum column { COL_PLACE, COL_VERDICT, COL_SHORT, COL_DATA, COL_START, COLS };

static const char *const headers[COLS] = {"CLUSTER", "VERDICT", "SHORT OF", "DATA TO MOVE",
					  "COULD START"};

struct table {
	struct arena arena;
	const char *(*rows)[COLS];
	size_t n;
	size_t width[COLS];
	bool shown[COLS];
};

static const char *short_text(struct arena *a, const struct explain_place *p)
{
	struct strbuf b = {0};
	const char *text;

	for (size_t i = 0; i < p->n_shorts && p->verdict == VERDICT_FULL; i++) {
		strbuf_adds(&b, i ? ", " : "");
		explain_write_short(&p->shorts[i], &b);
	}
	if (!b.size)
		strbuf_adds(&b, *p->detail ? p->detail : "-");
	if (*p->variant && p->verdict != VERDICT_EXCLUDED)
		strbuf_addf(&b, " (%s)", p->variant);
	text = arena_strdup(a, strbuf_str(&b));
	strbuf_finish(&b);
	return text;
}

static const char *data_text(struct arena *a, const struct explain_place *p)
{
	struct strbuf b = {0};
	const char *text;

	if (p->verdict == VERDICT_NEVER)
		return "-";
	explain_bytes(p->bytes, &b);
	text = arena_strdup(a, strbuf_str(&b));
	strbuf_finish(&b);
	return text;
}

static const char *start_text(struct arena *a, const struct explain *e,
			      const struct explain_place *p)
{
	if (p->verdict != VERDICT_FITS)
		return "-";
	if (e->code == WAIT_NONE)
		return "now";
	return arena_printf(a, "now, but for the %s", hold_name(e->code));
}

static void fill_table(struct table *t, const struct explain *e)
{
	t->n = e->n_places;
	t->rows = arena_alloc(&t->arena, sizeof(*t->rows) * (t->n + 1));
	for (size_t i = 0; i < t->n; i++) {
		const struct explain_place *p = &e->places[i];

		t->rows[i][COL_PLACE] = p->name;
		t->rows[i][COL_VERDICT] = verdict_name(p->verdict);
		t->rows[i][COL_SHORT] = short_text(&t->arena, p);
		t->rows[i][COL_DATA] = e->has_data ? data_text(&t->arena, p) : "-";
		t->rows[i][COL_START] = start_text(&t->arena, e, p);
	}
}

/* A column in which nothing stands is left out. */
static void measure_table(struct table *t)
{
	for (int c = 0; c < COLS; c++) {
		t->width[c] = strlen(headers[c]);
		t->shown[c] = c == COL_PLACE;
		for (size_t i = 0; i < t->n; i++) {
			size_t n = strlen(t->rows[i][c]);

			t->width[c] = n > t->width[c] ? n : t->width[c];
			t->shown[c] |= strcmp(t->rows[i][c], "-") != 0;
		}
	}
}

/* The reason is the only column that may be long. */
static void limit_table(struct table *t)
{
	size_t others = 0;

	for (int c = 0; c < COLS; c++)
		others += c != COL_SHORT && t->shown[c] ? t->width[c] + 2 : 0;
	if (others + t->width[COL_SHORT] > WIDTH)
		t->width[COL_SHORT] = others + 30 < WIDTH ? WIDTH - others : 30;
}

static void add_cell(const struct table *t, int c, const char *text, struct strbuf *out)
{
	size_t n = strlen(text), width = t->width[c];

	if (n > width) {
		strbuf_add(out, text, width - 3);
		strbuf_adds(out, "...");
	} else {
		strbuf_adds(out, text);
		for (size_t i = n; i < width; i++)
			strbuf_addc(out, ' ');
	}
	strbuf_adds(out, "  ");
}

static void add_row(const struct table *t, const char *const *cells, struct strbuf *out)
{
	auto_strbuf row = {0};

	for (int c = 0; c < COLS; c++)
		if (t->shown[c])
			add_cell(t, c, cells[c], &row);
	while (row.size && row.bytes[row.size - 1] == ' ')
		row.size--;
	strbuf_add(out, row.bytes, row.size);
	strbuf_addc(out, '\n');
}

static void add_table(const struct explain *e, struct strbuf *out)
{
	struct table t = {0};

	if (!e->n_places)
		return;
	fill_table(&t, e);
	measure_table(&t);
	limit_table(&t);
	strbuf_addc(out, '\n');
	add_row(&t, headers, out);
	for (size_t i = 0; i < t.n; i++)
		add_row(&t, t.rows[i], out);
	arena_finish(&t.arena);
}

/* --- the funnel --------------------------------------------------------------------------- */

/* What one filter alone keeps away. */
static void add_lifted(const struct explain *e, struct strbuf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_steps; i++) {
		if (!e->steps[i].alone)
			continue;
		if (!n)
			strbuf_addf(out,
				    "%s gained if one filter alone were lifted:  ", e->funnel_of);
		strbuf_addf(out, "%s%s %" PRId64, n++ ? ", " : "", filter_name(e->steps[i].filter),
			    e->steps[i].alone);
	}
	if (n)
		strbuf_addc(out, '\n');
}

static void add_funnel(const struct explain *e, struct strbuf *out)
{
	if (!e->n_steps)
		return;
	strbuf_addf(out, "\n%s left after each filter:  ", e->funnel_of);
	for (size_t i = 0; i < e->n_steps; i++)
		strbuf_addf(out, "%s%s %" PRId64, i ? ", " : "", filter_name(e->steps[i].filter),
			    e->steps[i].left);
	strbuf_addc(out, '\n');
	add_lifted(e, out);
}

void explain_text(const struct explain *e, int64_t now_ns, int32_t utc_offset_s, struct strbuf *out)
{
	add_headline(e, now_ns, utc_offset_s, out);
	add_reason(e, out);
	add_table(e, out);
	add_funnel(e, out);
}
