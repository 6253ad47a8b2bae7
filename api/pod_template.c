/* Templates of Jobs: what a pod must satisfy, and what a pod that is created bound cannot have. */
#include <string.h>

#include "api/kinds.h"
#include "api/meta.h"
#include "api/pod_rules.h"
#include "api/schema_node.h"
#include "base/json.h"

/* Whoever reads a list of Jobs finds it behind six levels, in a twin it lies behind five, and all
 * of ours read JSON of at most 64. */
#define TEMPLATE_LEVELS (JSON_MAX_DEPTH - 6)

static bool is_filled(const json_t *value)
{
	if (json_is_string(value))
		return *json_string_value(value);
	return json_object_size(value) || json_array_size(value);
}

static bool has_strict_spread(const json_t *constraints)
{
	size_t i;
	json_t *constraint;

	json_array_foreach (constraints, i, constraint) {
		const char *otherwise = json_str_at(constraint, "whenUnsatisfiable", NULL);

		if (!otherwise || strcmp(otherwise, "ScheduleAnyway"))
			return true;
	}
	return false;
}

/* What would be without effect, or keep the pod from ever starting. */
static const struct refusal {
	const char *path[4]; /* below spec */
	bool (*applies)(const json_t *value);
	const char *why;
} refusals[] = {
	{{"nodeName"}, is_filled, "the node is chosen by the scheduler; use nodeSelector"},
	{{"schedulingGates"},
	 is_filled,
	 "pods are created on their node, so that no gate can hold them"},
	{{"resourceClaims"}, is_filled, "claims of dynamic resource allocation are not supported"},
	{{"ephemeralContainers"}, is_filled, "a template cannot have ephemeral containers"},
	{{"affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"},
	 is_filled,
	 "affinity to pods is not supported; use nodeAffinity"},
	{{"affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"},
	 is_filled,
	 "affinity to pods is not supported; use nodeAffinity"},
	{{"topologySpreadConstraints"},
	 has_strict_spread,
	 "spreading is not supported; whenUnsatisfiable may be ScheduleAnyway"},
};

static void check_refusal(const struct refusal *r, const json_t *spec, const struct path *at,
			  struct causes *c)
{
	struct path steps[ARRAY_LEN(r->path)];
	const json_t *value = spec;

	for (size_t i = 0; i < ARRAY_LEN(r->path) && r->path[i]; i++) {
		steps[i] = (struct path){.up = at, .field = r->path[i]};
		at = &steps[i];
		value = json_object_get(value, r->path[i]);
	}
	if (r->applies(value))
		causes_add_at(c, CAUSE_FORBIDDEN, at, NULL, "%s", r->why);
}

static void check_meta(const json_t *template_, const struct path *at, struct causes *c)
{
	static const char *const fields[] = {"labels", "annotations"};
	const struct schema *pod = kind_schema(&kind_pod);
	const json_t *meta = json_object_get(template_, "metadata");
	const struct path *here = PATH_FIELD(at, "metadata");
	size_t before = c->n;

	if (meta && !json_is_null(meta) && !json_is_object(meta))
		causes_add_at(c, CAUSE_TYPE, here, meta, "must be an object");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const json_t *value = json_object_get(meta, fields[i]);

		if (value && !json_is_null(value))
			schema_validate_part(
				node_property(schema_node_at(pod, "metadata"), fields[i]), value,
				PATH_FIELD(here, fields[i]), c);
	}
	if (c->n != before)
		return;
	meta_check_labels(json_object_get(meta, "labels"), PATH_FIELD(here, "labels"), c);
	meta_check_annotations(json_object_get(meta, "annotations"),
			       PATH_FIELD(here, "annotations"), c);
}

static size_t levels_of(const json_t *value)
{
	size_t deepest = 0, n, i;
	const char *key;
	json_t *child;

	json_object_foreach ((json_t *)(uintptr_t)value, key, child) {
		n = levels_of(child);
		deepest = n > deepest ? n : deepest;
	}
	json_array_foreach (value, i, child) {
		n = levels_of(child);
		deepest = n > deepest ? n : deepest;
	}
	return json_is_object(value) || json_is_array(value) ? deepest + 1 : 0;
}

static void check_levels(const json_t *template_, const struct path *at, struct causes *c)
{
	if (levels_of(template_) > TEMPLATE_LEVELS)
		causes_add_at(c, CAUSE_INVALID, at, NULL, "is nested deeper than %d levels",
			      TEMPLATE_LEVELS);
}

void pod_template_check(const json_t *template_, const struct path *at, struct causes *c)
{
	const json_t *spec = json_object_get(template_, "spec");
	const struct path *here = PATH_FIELD(at, "spec");
	size_t before = c->n;

	check_levels(template_, at, c);
	check_meta(template_, at, c);
	if (!spec || json_is_null(spec)) {
		causes_add_at(c, CAUSE_REQUIRED, here, NULL, "%s", "");
		return;
	}
	schema_validate_part(schema_node_at(kind_schema(&kind_pod), "spec"), spec, here, c);
	if (c->n != before)
		return;
	pod_spec_check(spec, here, c);
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		check_refusal(&refusals[i], spec, here, c);
}
