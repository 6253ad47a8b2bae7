/* The space: search against a plain scan, the undo log, the invariants. */
#include "scheduler/space.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "scheduler/allocate.h"
#include "tests/unit/property.h"

#define SPECS 6
#define NODES 40

/* A node in its seat; in a space without seats, as many equal ones. */
struct bench_node {
	struct seat seat;
	struct shape_group *group;
	int64_t count;
	uint64_t rank;
	char name[16];
	const char *zone;
};

struct world {
	struct draw *draw;
	struct model model;
	struct space space;
	struct node_class *classes[3];
	struct spec *specs[SPECS];
	struct bench_node nodes[NODES];
};

static const char *value_of(const char *key, void *owner)
{
	const struct bench_node *n = owner;

	if (!strcmp(key, FIELD_NODE_NAME))
		return n->name;
	return !strcmp(key, "zone") ? n->zone : NULL;
}

static const char *const zones[] = {"z0", "z1", "z2"};

static struct node_class *make_class(struct world *w, int i)
{
	struct label labels[] = {{"zone", zones[i]}, {"host", "*"}};
	struct taint taint = {"busy", "", "NoSchedule"};

	return node_class_intern(&w->model.classes, labels, 2, &taint, i == 2);
}

static struct spec *make_spec(struct world *w, int i)
{
	auto_json *pod = json_object();
	struct resource amounts[] = {{"cpu", 1 + draw_below(w->draw, 5)},
				     {"memory", (int64_t)(1 + draw_below(w->draw, 5)) << 22},
				     {"pods", 1},
				     {"x.io/gpu", 1 + draw_below(w->draw, 2)}};
	struct resource_list request = {amounts, draw_below(w->draw, 3) ? 3 : 4};
	struct label zone = {"zone", zones[draw_below(w->draw, 2)]};
	struct error err;
	struct spec *s;

	if (draw_one_in(w->draw, 4))
		json_object_set_new(pod, "tolerations", json_pack("[{s:s}]", "operator", "Exists"));
	if (draw_one_in(w->draw, 5))
		json_object_set_new(pod, "containers",
				    json_pack("[{s:[{s:i}]}]", "ports", "hostPort", 80 + i));
	cr_assert(!spec_intern(&w->model, pod, &request, &zone, draw_one_in(w->draw, 3), &s, &err),
		  "%s", err.text);
	return s;
}

static void place_node(struct world *w, struct bench_node *n)
{
	int64_t room[4] = {draw_below(w->draw, 9), (int64_t)draw_below(w->draw, 9) << 22, 4,
			   draw_below(w->draw, 3)};
	int c = (int)draw_below(w->draw, 3);
	struct shape_group *g = space_group(&w->space, w->classes[c], NULL, room, ARRAY_LEN(room));

	n->zone = zones[c];
	if (w->space.seated) {
		space_seat(&w->space, &n->seat, g);
		return;
	}
	n->group = g;
	n->count = 1 + draw_below(w->draw, 3);
	space_add(&w->space, g, n->count);
}

/* The log must be empty. */
static void remove_node(struct world *w, struct bench_node *n)
{
	if (w->space.seated)
		space_unseat(&w->space, &n->seat);
	else
		space_add(&w->space, n->group, -n->count);
}

static void world_init(struct world *w, struct draw *d, bool seated)
{
	memset(w, 0, sizeof(*w));
	w->draw = d;
	model_init(&w->model);
	slots_intern(&w->model.slots, "x.io/gpu");
	space_init(&w->space, &w->model, seated);
	w->space.node_value = value_of;
	for (int i = 0; i < 3; i++)
		w->classes[i] = make_class(w, i);
	for (int i = 0; i < SPECS; i++)
		w->specs[i] = make_spec(w, i);
	for (int i = 0; i < NODES; i++) {
		struct bench_node *n = &w->nodes[i];

		snprintf(n->name, sizeof(n->name), "n%02d", i);
		n->rank = (uint64_t)i + 1;
		n->seat.rank = &n->rank;
		n->seat.owner = n;
		n->seat.link.priority = XXH3_64bits(n->name, strlen(n->name));
		place_node(w, n);
	}
}

static void world_finish(struct world *w)
{
	space_rollback(&w->space, 0);
	for (int i = 0; i < NODES; i++)
		remove_node(w, &w->nodes[i]);
	space_finish(&w->space);
	for (int i = 0; i < SPECS; i++)
		spec_unref(&w->model, w->specs[i]);
	for (int i = 0; i < 3; i++)
		node_class_unref(&w->model.classes, w->classes[i]);
	model_finish(&w->model);
}

/* Devices that are free and not asked for, by kind: the first thing that is looked at. */
static int unasked_kinds(const struct world *w, const struct spec *s, const struct shape_group *g)
{
	int slot = slots_find(&w->model.slots, "x.io/gpu");

	return group_free(g)[slot] > 0 && !resource_list_get(&s->request, "x.io/gpu");
}

/* The best group by looking at all of them, and the definition of the order. */
static const struct shape_group *scan(struct world *w, const struct spec *s)
{
	const struct shape_group *best = NULL;
	struct shape_group *g, *next;
	struct seat *seat;

	HASH_ITER (hh, w->space.groups, g, next) {
		if (!g->count || !space_holds(&w->space, s, g, &seat))
			continue;
		if (!best || unasked_kinds(w, s, g) < unasked_kinds(w, s, best) ||
		    (unasked_kinds(w, s, g) == unasked_kinds(w, s, best) && group_before(g, best)))
			best = g;
	}
	return best;
}

static void disturb(struct world *w)
{
	struct bench_node *n = &w->nodes[draw_below(w->draw, NODES)];

	space_rollback(&w->space, 0);
	remove_node(w, n);
	place_node(w, n);
}

static bool step(struct world *w)
{
	struct spec *s = w->specs[draw_below(w->draw, SPECS)];
	struct seat *seat = NULL;
	struct shape_group *g;
	const char *fault;

	spec_refresh(&w->model, s);
	g = space_find(&w->space, s, &seat);
	if (g != scan(w, s))
		return draw_fail(w->draw, "%s is not the best group", g ? g->key.cls->key : "none");
	if (g)
		space_take(&w->space, g, seat, 1, 1, s, 0);
	if (draw_one_in(w->draw, 8))
		space_rollback(&w->space, draw_below(w->draw, (unsigned)w->space.n_log + 1));
	if (draw_one_in(w->draw, 8))
		disturb(w);
	fault = space_fault(&w->space);
	return !fault || draw_fail(w->draw, "%s", fault);
}

static bool search_finds_the_best(struct draw *d)
{
	static struct world w;
	bool good = true;

	world_init(&w, d, draw_below(d, 2));
	for (unsigned n = draw_below(d, 600); good && n; n--)
		good = step(&w);
	world_finish(&w);
	return good;
}

/* Searches with cursors find what a scan of all groups finds, whatever happens in between. */
Test(space, finds_the_best_group)
{
	property_check(search_finds_the_best, 40);
}

static void take_some(struct world *w)
{
	struct spec *s = w->specs[draw_below(w->draw, SPECS)];
	struct form_part part = {.spec = s, .replicas = 1 + (int32_t)draw_below(w->draw, 12)};
	int32_t order = 0;
	struct form_variant v = {.parts = &part, .order = &order, .pods = part.replicas};

	if (draw_below(w->draw, 2))
		allocate_gang(&w->space, &v, 1);
	else
		allocate_most(&w->space, &v, 1, NULL);
}

#define MARKS 20

/* Takes, and notes the content before each; then goes back over some of the marks. */
static bool goes_back_exactly(struct world *w, int marks)
{
	uint64_t sums[MARKS];
	size_t at[MARKS];

	for (int i = 0; i < marks; i++) {
		sums[i] = space_checksum(&w->space);
		at[i] = space_mark(&w->space);
		take_some(w);
		if (space_fault(&w->space))
			return draw_fail(w->draw, "taking %d: %s", i, space_fault(&w->space));
	}
	for (int i = marks - 1; i >= 0; i -= 1 + (int)draw_below(w->draw, 4)) {
		space_rollback(&w->space, at[i]);
		if (space_checksum(&w->space) != sums[i] || space_fault(&w->space))
			return draw_fail(w->draw, "mark %d of %d: %s", i, marks,
					 space_fault(&w->space) ? space_fault(&w->space)
								: "other content");
	}
	return true;
}

static bool undo_is_exact(struct draw *d)
{
	static struct world w;
	bool good;

	world_init(&w, d, draw_below(d, 2));
	good = goes_back_exactly(&w, 1 + (int)draw_below(d, MARKS));
	world_finish(&w);
	return good;
}

/* Rolling back to any earlier position restores the content of that position exactly. */
Test(space, undo_restores_the_checksum)
{
	property_check(undo_is_exact, 40);
}

static bool is_whole_or_absent(struct world *w, struct spec *s)
{
	struct form_part part = {.spec = s, .replicas = 1000};
	int32_t order = 0;
	struct form_variant v = {.parts = &part, .order = &order};
	uint64_t before = space_checksum(&w->space);
	int64_t most = allocate_most(&w->space, &v, 1, NULL);

	space_rollback(&w->space, 0);
	part.replicas = (int32_t)most + 1;
	if (allocate_gang(&w->space, &v, 1))
		return draw_fail(w->draw, "%d fit, %d were placed", (int)most, part.replicas);
	if (space_checksum(&w->space) != before)
		return draw_fail(w->draw, "a gang of %d left something behind", part.replicas);
	part.replicas = (int32_t)most;
	if (!allocate_gang(&w->space, &v, 1))
		return draw_fail(w->draw, "%d fit, but not as a gang", (int)most);
	space_rollback(&w->space, 0);
	return space_checksum(&w->space) == before || draw_fail(w->draw, "not as before");
}

static bool gangs_are_whole_or_absent(struct draw *d)
{
	static struct world w;
	bool good = true;

	world_init(&w, d, draw_below(d, 2));
	for (int i = 0; good && i < SPECS; i++)
		good = is_whole_or_absent(&w, w.specs[i]);
	world_finish(&w);
	return good;
}

/* All or nothing; nothing means nothing; and for equal pods it is exact. */
Test(space, gang_is_whole_or_absent)
{
	property_check(gangs_are_whole_or_absent, 40);
}

static bool widening_keeps_all(struct draw *d)
{
	static struct world w;
	bool good = true;
	char name[32];

	world_init(&w, d, true); /* groups are others behind it, seats know theirs */
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "x.io/more-%d", i);
		slots_intern(&w.model.slots, name);
	}
	space_widen(&w.space, w.model.slots.n);
	if (space_fault(&w.space) || w.space.nodes != NODES)
		good = draw_fail(d, "%d nodes: %s", (int)w.space.nodes, space_fault(&w.space));
	for (unsigned n = draw_below(d, 200); good && n; n--)
		good = step(&w);
	world_finish(&w);
	return good;
}

Test(space, widening_keeps_content)
{
	property_check(widening_keeps_all, 10);
}

/* The group that holds the pod was inserted, and after it more than a cursor can catch up on. */
Test(space, a_cursor_that_was_left_behind_begins_anew)
{
	struct model m;
	struct space s;
	struct resource big[] = {{"cpu", 500}}, small[] = {{"memory", 1 << 22}};
	struct spec *hungry, *other;
	auto_json *pod = json_object();
	int64_t with_cpu[SLOTS_FIXED] = {1000, 0, 1000};
	int64_t with_memory[SLOTS_FIXED] = {0, INT64_C(400) << 22, 1000};
	struct shape_group *g;
	struct node_class *cls;
	struct seat *seat = NULL;
	struct error err;

	model_init(&m);
	space_init(&s, &m, false);
	cls = node_class_intern(&m.classes, NULL, 0, NULL, 0);
	cr_assert(!spec_intern(&m, pod, &(struct resource_list){big, 1}, NULL, 0, &hungry, &err));
	cr_assert(!spec_intern(&m, pod, &(struct resource_list){small, 1}, NULL, 0, &other, &err));
	space_add(&s, space_group(&s, cls, NULL, with_memory, SLOTS_FIXED), 1);
	spec_refresh(&m, hungry);
	spec_refresh(&m, other);
	cr_expect_null(space_find(&s, hungry, &seat));
	g = space_group(&s, cls, NULL, with_cpu, SLOTS_FIXED);
	space_add(&s, g, 1);
	for (int i = 0; i < 3 * SPACE_RECENT / 2; i++)
		space_take(&s, space_find(&s, other, &seat), NULL, 1, 1, other, 0);
	cr_expect_eq(space_find(&s, hungry, &seat), g);
	space_rollback(&s, 0);
	space_finish(&s);
	spec_unref(&m, hungry);
	spec_unref(&m, other);
	node_class_unref(&m.classes, cls);
	model_finish(&m);
}
