#include "store/later.h"

struct later {
	struct loop *loop;
	struct list items;
	bool scheduled, gone;
};

struct later *later_create(struct loop *loop)
{
	struct later *l = xnew0(struct later);

	l->loop = loop;
	list_init(&l->items);
	return l;
}

static void later_schedule(struct later *l);

/* The items of this turn are moved to a list of their own: each may add, remove, or destroy. */
static void later_run(struct later *l)
{
	struct later_item end = {0};

	list_push_back(&l->items, &end.link);
	while (!l->gone && list_first(&l->items) != &end.link) {
		struct later_item *item =
			list_entry(list_first(&l->items), struct later_item, link);

		list_remove(&item->link);
		item->run(item);
	}
	l->scheduled = false;
	if (l->gone) {
		free(l);
		return;
	}
	list_remove(&end.link);
	if (!list_empty(&l->items))
		later_schedule(l);
}

static void on_turn(void *arg)
{
	struct later *l = arg;

	if (l->gone)
		free(l);
	else
		later_run(l);
}

static void later_schedule(struct later *l)
{
	if (l->scheduled)
		return;
	l->scheduled = true;
	loop_defer(l->loop, on_turn, l);
}

void later_add(struct later *l, struct later_item *item)
{
	list_push_back(&l->items, &item->link);
	later_schedule(l);
}

static void later_drop(struct later_item *item)
{
	list_remove(&item->link);
	if (item->drop)
		item->drop(item);
}

void later_forget(struct later *l, const void *arg)
{
	struct later_item *item, *next;

	list_for_each_safe (item, next, &l->items, link) {
		if (item->arg && item->arg == arg)
			later_drop(item);
	}
}

void later_destroy(struct later *l)
{
	struct later_item *item, *next;

	if (!l)
		return;
	list_for_each_safe (item, next, &l->items, link) {
		later_drop(item);
	}
	l->gone = true;
	if (!l->scheduled)
		free(l);
}
