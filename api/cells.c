/* Cells that many kinds have. */
#include "api/cells.h"

#include <string.h>

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

/* kubectl's steps: two numbers while the first is small, one when it is not. */
json_t *cell_seconds(int64_t s)
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
	int64_t rest;
	size_t i = 0;

	while (i < ARRAY_LEN(steps) - 1 && s >= steps[i].below_s)
		i++;
	rest = steps[i].rest_s ? s % steps[i].unit_s / steps[i].rest_s : 0;
	if (!rest)
		return json_sprintf("%lld%s", (long long)(s / steps[i].unit_s), steps[i].unit);
	return json_sprintf("%lld%s%lld%s", (long long)(s / steps[i].unit_s), steps[i].unit,
			    (long long)rest, steps[i].rest);
}

json_t *cell_since(const char *time, int64_t now_ns)
{
	int64_t then_ns, s;

	if (!time || time_parse(time, &then_ns) < 0)
		return json_string("<unknown>");
	s = time_between(then_ns, now_ns) / 1000000000;
	return cell_seconds(s < 0 ? 0 : s);
}

json_t *cell_age(const json_t *object, int64_t now_ns)
{
	return cell_since(json_str_at(object, "metadata", "creationTimestamp", NULL), now_ns);
}

const json_t *cell_condition(const json_t *object, const char *type, const char *field)
{
	const json_t *conditions = json_at(object, "status", "conditions", NULL);
	size_t i;
	json_t *condition;

	json_array_foreach (conditions, i, condition) {
		const char *t = json_str_at(condition, "type", NULL);

		if (t && !strcmp(t, type))
			return json_object_get(condition, field);
	}
	return NULL;
}
