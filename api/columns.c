/* Cells that many kinds have, and the columns of the kinds that a federation adds. */
#include "api/cells.h"
#include "base/encode.h"

json_t *cell_copy(const json_t *value)
{
	if (!value || json_is_object(value) || json_is_array(value))
		return json_null();
	return json_copy((json_t *)(uintptr_t)value);
}

json_t *cell_string(const char *text)
{
	return text ? json_string(text) : json_null();
}

json_t *cell_count(const json_t *container)
{
	return json_integer((json_int_t)(json_object_size(container) + json_array_size(container)));
}

/* kubectl's steps: two numbers while the first is small, one when it is not. */
json_t *cell_since(const char *time, int64_t now_ns)
{
	static const struct {
		int64_t below_s, unit_s, rest_s; /* rest_s 0: one number */
		const char *unit, *rest;
	} steps[] = {
		{120, 1, 0, "s", ""},
		{600, 60, 1, "m", "s"},
		{3 * 3600, 60, 0, "m", ""},
		{8 * 3600, 3600, 60, "h", "m"},
		{48 * 3600, 3600, 0, "h", ""},
		{8 * 86400, 86400, 3600, "d", "h"},
		{2 * 365 * 86400, 86400, 0, "d", ""},
		{8 * 365 * 86400, 365 * 86400, 86400, "y", "d"},
		{INT64_MAX, 365 * 86400, 0, "y", ""},
	};
	int64_t then_ns, s, rest;
	size_t i = 0;

	if (!time || time_parse(time, &then_ns) < 0)
		return json_string("<unknown>");
	s = (now_ns - then_ns) / 1000000000;
	if (s < 0)
		s = 0;
	while (s >= steps[i].below_s)
		i++;
	rest = steps[i].rest_s ? s % steps[i].unit_s / steps[i].rest_s : 0;
	if (!rest)
		return json_sprintf("%lld%s", (long long)(s / steps[i].unit_s), steps[i].unit);
	return json_sprintf("%lld%s%lld%s", (long long)(s / steps[i].unit_s), steps[i].unit,
			    (long long)rest, steps[i].rest);
}

json_t *cell_age(const json_t *object, int64_t now_ns)
{
	return cell_since(json_str_at(object, "metadata", "creationTimestamp", NULL), now_ns);
}

CELL(job_status, "status", "state", "phase")
CELL(job_min_available, "spec", "minAvailable")
CELL(job_running, "status", "running")
CELL(job_queue, "spec", "queue")

static json_t *job_cluster(const json_t *job, int64_t now_ns)
{
	const json_t *parts = json_at(job, "status", "dispatch", "parts", NULL);

	return cell_string(json_str_at(json_array_get(parts, 0), "cluster", NULL));
}

const struct column columns_job[] = {
	{"Status", "string", 0, job_status},
	{"MinAvailable", "integer", 0, job_min_available},
	{"Running", "integer", 0, job_running},
	{"Cluster", "string", 0, job_cluster},
	COLUMN_AGE,
	{"Queue", "string", 1, job_queue},
	{NULL},
};

CELL(queue_state, "status", "state")
CELL(queue_weight, "spec", "weight")
CELL(queue_running, "status", "running")
CELL(queue_waiting, "status", "pending")

const struct column columns_queue[] = {
	{"State", "string", 0, queue_state},
	{"Weight", "integer", 0, queue_weight},
	{"Running", "integer", 0, queue_running},
	{"Waiting", "integer", 0, queue_waiting},
	COLUMN_AGE,
	{NULL},
};
