/*
 * Completions that are called from the loop, in the order they were added, and can be forgotten
 * all at once. What is added while they run waits for the next turn.
 */
#ifndef STORE_LATER_H
#define STORE_LATER_H

#include "base/list.h"
#include "base/loop.h"

struct later;

struct later_item {
	struct list_node link;
	void (*run)(struct later_item *item);
	void (*drop)(
		struct later_item *item); /* frees what run would have; NULL: nothing to free */
	void *arg;                        /* of the caller whose call this answers, or NULL */
};

struct later *later_create(struct loop *loop);
void later_add(struct later *l, struct later_item *item);
void later_forget(struct later *l, const void *arg); /* drops those with this arg */
void later_destroy(struct later *l); /* drops all; allowed from inside an item's run */

#endif
