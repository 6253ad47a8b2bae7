#include "fedctl/layout.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "fedctl/jobs.h"
#include "fedctl/output.h"

#define CELLS_MAX 24

struct cells {
	struct arena arena;
	const char *items[CELLS_MAX];
	size_t n;
};

static void put(struct cells *c, const char *text)
{
	assert(c->n < CELLS_MAX);
	c->items[c->n++] = text;
}

static bool of_jobs(const struct layout *l)
{
	return !l->columns && l->kind == kind_find("batch.volcano.sh", "jobs");
}

/* --- jobs --- */

struct job_column {
	const char *header;
	int wide; /* 0: always, 1: with -o wide only, -1: without it only */
	const char *(*cell)(struct arena *a, const struct job_facts *f, int64_t now_ns);
};

static const char *job_name(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return f->name;
}

static const char *job_queue(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return f->queue;
}

static const char *job_phase(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return f->deleting && !job_has_ended(f->phase) ? "Ending" : f->phase_name;
}

static const char *job_cluster(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return f->cluster;
}

static const char *job_tasks(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return arena_printf(a, "%lld/%lld", (long long)f->done, (long long)f->tasks);
}

static const char *span(struct arena *a, int64_t from_ns, int64_t to_ns)
{
	char text[TIME_SIZE];

	if (!from_ns || !to_ns)
		return NULL;
	duration_format(text, time_between(from_ns, to_ns));
	return arena_strdup(a, text);
}

static const char *moment(struct arena *a, int64_t ns)
{
	char text[TIME_SIZE];

	if (!ns)
		return NULL;
	time_format(text, ns);
	return arena_strdup(a, text);
}

static const char *job_waited(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	int64_t until = f->started_ns             ? f->started_ns
			: job_has_ended(f->phase) ? f->ended_ns
						  : now_ns;

	return span(a, f->wait_from_ns, until);
}

static const char *job_ran(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return span(a, f->started_ns, f->ended_ns ? f->ended_ns : now_ns);
}

static const char *job_submitted(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return moment(a, f->created_ns);
}

static const char *job_started(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return moment(a, f->started_ns);
}

static const char *job_ended(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return moment(a, f->ended_ns);
}

static const char *job_nodes(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return f->nodes;
}

static const char *job_why(struct arena *a, const struct job_facts *f, int64_t now_ns)
{
	return f->why_waiting;
}

#define JOB_PHASE_COLUMN 2

static const struct job_column job_columns[] = {
	{"NAME", 0, job_name},       {"QUEUE", 0, job_queue},         {"PHASE", 0, job_phase},
	{"CLUSTER", 0, job_cluster}, {"TASKS", 0, job_tasks},         {"WAITED", -1, job_waited},
	{"RAN", -1, job_ran},        {"SUBMITTED", 1, job_submitted}, {"STARTED", 1, job_started},
	{"ENDED", 1, job_ended},     {"NODES", 1, job_nodes},         {"WHY WAITING", 0, job_why},
};

static bool job_column_shown(const struct layout *l, const struct job_column *c)
{
	return !c->wide || (c->wide > 0) == l->wide;
}

static const char *phase_color(const char *phase)
{
	if (!strcmp(phase, "Completed"))
		return COLOR_GREEN;
	if (!strcmp(phase, "Failed"))
		return COLOR_RED;
	return !strcmp(phase, "Pending") || !strcmp(phase, "Restarting") ? COLOR_YELLOW : NULL;
}

static void job_headers(const struct layout *l, struct cells *c)
{
	for (size_t i = 0; i < ARRAY_LEN(job_columns); i++)
		if (job_column_shown(l, &job_columns[i]))
			put(c, job_columns[i].header);
}

static void job_row(const struct layout *l, const json_t *job, int64_t now_ns, struct cells *c)
{
	struct job_facts f;

	job_facts_read(job, &f);
	for (size_t i = 0; i < ARRAY_LEN(job_columns); i++)
		if (job_column_shown(l, &job_columns[i]))
			put(c, job_columns[i].cell(&c->arena, &f, now_ns));
}

/* --- the columns of a command --- */

static void command_headers(const struct layout *l, struct cells *c)
{
	for (const struct layout_column *k = l->columns; k->header; k++)
		put(c, k->header);
}

static void command_row(const struct layout *l, const json_t *object, int64_t now_ns,
			struct cells *c)
{
	for (const struct layout_column *k = l->columns; k->header; k++)
		put(c, k->cell(&c->arena, object, now_ns));
}

/* --- other kinds --- */

static bool column_shown(const struct layout *l, const struct column *c)
{
	return !c->priority || l->wide;
}

static const char *upper(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text);

	for (char *c = copy; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

static void kind_headers(const struct layout *l, struct cells *c)
{
	if (!l->kind->name_wide || l->wide)
		put(c, "NAME");
	for (const struct column *k = l->kind->columns; k && k->name; k++)
		if (column_shown(l, k))
			put(c, upper(&c->arena, k->name));
}

static const char *cell_text(struct arena *a, const json_t *value)
{
	auto_xfree char *text = NULL;

	if (!value || json_is_null(value))
		return NULL;
	if (json_is_string(value))
		return arena_strdup(a, json_string_value(value));
	text = json_print(value);
	return arena_strdup(a, text);
}

static void kind_row(const struct layout *l, const json_t *object, int64_t now_ns, struct cells *c)
{
	if (!l->kind->name_wide || l->wide)
		put(c, json_str_at(object, "metadata", "name", NULL));
	for (const struct column *k = l->kind->columns; k && k->name; k++) {
		auto_json *value = NULL;

		if (!column_shown(l, k))
			continue;
		value = k->cell(object, now_ns);
		put(c, cell_text(&c->arena, value));
	}
}

/* --- all --- */

static void headers(const struct layout *l, struct cells *c)
{
	if (l->namespaces)
		put(c, "NAMESPACE");
	if (l->columns)
		command_headers(l, c);
	else if (of_jobs(l))
		job_headers(l, c);
	else
		kind_headers(l, c);
}

/* Phases are painted, and the longest one may come later. */
static void prepare_phases(const struct layout *l, struct table *t)
{
	size_t column = JOB_PHASE_COLUMN + l->namespaces;

	if (l->growing)
		table_widen(t, column, strlen("Restarting"));
	table_paint(t, column, phase_color);
}

struct table *layout_table(const struct layout *l)
{
	struct cells c = {0};
	struct table *t;

	headers(l, &c);
	t = table_create(c.items, c.n);
	if (l->columns || !l->kind->name_wide || l->wide)
		table_keep_whole(t, l->namespaces);
	if (l->growing)
		table_keep_all(t);
	if (of_jobs(l))
		prepare_phases(l, t);
	arena_finish(&c.arena);
	return t;
}

void layout_add(const struct layout *l, struct table *t, const json_t *object, int64_t now_ns)
{
	struct cells c = {0};

	if (l->namespaces)
		put(&c, json_str_at(object, "metadata", "namespace", NULL));
	if (l->columns)
		command_row(l, object, now_ns, &c);
	else if (of_jobs(l))
		job_row(l, object, now_ns, &c);
	else
		kind_row(l, object, now_ns, &c);
	table_add(t, c.items);
	arena_finish(&c.arena);
}

void layout_add_deleted(const struct layout *l, struct table *t, const json_t *object)
{
	const char *cells[CELLS_MAX] = {0};
	size_t name = l->namespaces;

	if (l->namespaces)
		cells[0] = json_str_at(object, "metadata", "namespace", NULL);
	cells[name] = json_str_at(object, "metadata", "name", NULL);
	cells[name + (of_jobs(l) ? JOB_PHASE_COLUMN : 1)] = "Deleted";
	table_add(t, cells);
}
