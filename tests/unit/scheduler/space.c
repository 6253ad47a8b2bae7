/* The space: search against a plain scan, the undo log, the invariants. */
#include "scheduler/space.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "random.h"
#include "scheduler/allocate.h"

#define SPECS 6
#define NODES 40

struct bench_node {
	struct seat seat;
	uint64_t rank;
	char name[16];
	const char *zone;
};

struct world {
	struct dice dice;
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
	struct resource amounts[] = {{"cpu", 1 + dice_roll(&w->dice, 5)},
				     {"memory", (int64_t)(1 + dice_roll(&w->dice, 5)) << 22},
				     {"pods", 1},
				     {"x.io/gpu", 1 + dice_roll(&w->dice, 2)}};
	struct resource_list request = {amounts, dice_roll(&w->dice, 3) ? 3 : 4};
	struct label zone = {"zone", zones[dice_roll(&w->dice, 2)]};
	struct error err;
	struct spec *s;

	if (!dice_roll(&w->dice, 4))
		json_object_set_new(pod, "tolerations", json_pack("[{s:s}]", "operator", "Exists"));
	if (!dice_roll(&w->dice, 5))
		json_object_set_new(pod, "containers",
				    json_pack("[{s:[{s:i}]}]", "ports", "hostPort", 80 + i));
	cr_assert(!spec_intern(&w->model, pod, &request, &zone, !dice_roll(&w->dice, 3), &s, &err),
		  "%s", err.text);
	return s;
}

static void place_node(struct world *w, struct bench_node *n)
{
	int64_t room[4] = {dice_roll(&w->dice, 9), (int64_t)dice_roll(&w->dice, 9) << 22, 4,
			   dice_roll(&w->dice, 3)};
	int c = (int)dice_roll(&w->dice, 3);

	n->zone = zones[c];
	space_seat(&w->space, &n->seat,
		   space_group(&w->space, w->classes[c], NULL, room, ARRAY_LEN(room)));
}

static void world_init(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->dice.state = seed;
	model_init(&w->model);
	slots_intern(&w->model.slots, "x.io/gpu");
	space_init(&w->space, &w->model, true);
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
		space_unseat(&w->space, &w->nodes[i].seat);
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
	struct bench_node *n = &w->nodes[dice_roll(&w->dice, NODES)];

	space_rollback(&w->space, 0);
	space_unseat(&w->space, &n->seat);
	place_node(w, n);
}

static void step(struct world *w, uint64_t seed)
{
	struct spec *s = w->specs[dice_roll(&w->dice, SPECS)];
	struct seat *seat = NULL;
	struct shape_group *g;

	spec_refresh(&w->model, s);
	g = space_find(&w->space, s, &seat);
	cr_assert_eq(g, scan(w, s), "seed %lu: not the best group", (unsigned long)seed);
	if (g)
		space_take(&w->space, g, seat, 1, 1, s, 0);
	if (!dice_roll(&w->dice, 8))
		space_rollback(&w->space, dice_roll(&w->dice, (uint32_t)w->space.n_log + 1));
	if (!dice_roll(&w->dice, 8))
		disturb(w);
	cr_assert_null(space_fault(&w->space), "seed %lu: %s", (unsigned long)seed,
		       space_fault(&w->space));
}

/* Searches with cursors find what a scan of all groups finds, whatever happens in between. */
Test(space, finds_the_best_group)
{
	static struct world w;

	for (int seed = 1; seed <= dice_seeds(40); seed++) {
		world_init(&w, (uint64_t)seed);
		for (int i = 0; i < 300; i++)
			step(&w, (uint64_t)seed);
		world_finish(&w);
	}
}

static void take_some(struct world *w)
{
	struct spec *s = w->specs[dice_roll(&w->dice, SPECS)];
	struct form_part part = {.spec = s, .replicas = 1 + (int32_t)dice_roll(&w->dice, 12)};
	int32_t order = 0;
	struct form_variant v = {.parts = &part, .order = &order, .pods = part.replicas};

	if (dice_roll(&w->dice, 2))
		allocate_gang(&w->space, &v, 1);
	else
		allocate_most(&w->space, &v, 1, NULL);
}

/* Rolling back to any earlier position restores the content of that position exactly. */
Test(space, undo_restores_the_checksum)
{
	static struct world w;

	for (int seed = 1; seed <= dice_seeds(40); seed++) {
		uint64_t sums[20];
		size_t marks[20];

		world_init(&w, (uint64_t)seed);
		for (int i = 0; i < 20; i++) {
			sums[i] = space_checksum(&w.space);
			marks[i] = space_mark(&w.space);
			take_some(&w);
			cr_assert_null(space_fault(&w.space));
		}
		for (int i = 19; i >= 0; i -= 1 + (int)dice_roll(&w.dice, 4)) {
			space_rollback(&w.space, marks[i]);
			cr_assert_eq(space_checksum(&w.space), sums[i], "seed %d, mark %d", seed,
				     i);
			cr_assert_null(space_fault(&w.space));
		}
		world_finish(&w);
	}
}

/* All or nothing; nothing means nothing; and for equal pods it is exact. */
Test(space, gang_is_whole_or_absent)
{
	static struct world w;

	for (int seed = 1; seed <= dice_seeds(40); seed++) {
		world_init(&w, (uint64_t)seed);
		for (int i = 0; i < SPECS; i++) {
			struct form_part part = {.spec = w.specs[i], .replicas = 1000};
			int32_t order = 0;
			struct form_variant v = {.parts = &part, .order = &order};
			uint64_t before = space_checksum(&w.space);
			int64_t most = allocate_most(&w.space, &v, 1, NULL);

			space_rollback(&w.space, 0);
			part.replicas = (int32_t)most + 1;
			cr_assert(!allocate_gang(&w.space, &v, 1));
			cr_assert_eq(space_checksum(&w.space), before);
			part.replicas = (int32_t)most;
			cr_assert(allocate_gang(&w.space, &v, 1));
			space_rollback(&w.space, 0);
			cr_assert_eq(space_checksum(&w.space), before);
		}
		world_finish(&w);
	}
}

Test(space, widening_keeps_content)
{
	static struct world w;
	char name[32];

	world_init(&w, 7);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "x.io/more-%d", i);
		slots_intern(&w.model.slots, name);
	}
	space_widen(&w.space, w.model.slots.n);
	cr_assert_null(space_fault(&w.space));
	cr_assert_eq(w.space.nodes, NODES);
	for (int i = 0; i < 100; i++)
		step(&w, 7);
	world_finish(&w);
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
