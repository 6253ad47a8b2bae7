/* What the cluster has, in shapes. */
#include "member-agent/runner_internal.h"

struct capacity_report runner_report(struct runner *r)
{
	struct capacity_report report = {.seq = (r->term << 32) + ++r->reports};
	struct arena arena = {0};
	struct site_shapes shapes;

	site_report(r->site, true, &arena, &shapes);
	report.shapes = shapes_json(shapes.items, shapes.n);
	site_capacity(r->site, &arena, &shapes);
	report.capacity = shapes_json(shapes.items, shapes.n);
	arena_finish(&arena);
	return report;
}
