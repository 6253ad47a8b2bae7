#include "base/list.h"

#include <criterion/criterion.h>
#include <signal.h>

struct item {
	int value;
	struct list_node link;
};

TestSuite(list);

static void expect_values(const struct list *list, const int *values, size_t n)
{
	struct item *item;
	size_t i = 0;

	list_for_each (item, list, link) {
		cr_assert_lt(i, n);
		cr_assert_eq(item->value, values[i++]);
	}
	cr_assert_eq(i, n);
}

Test(list, keeps_the_order_of_pushes)
{
	struct item items[] = {{.value = 1}, {.value = 2}, {.value = 3}};
	struct list list;

	list_init(&list);
	cr_assert(list_empty(&list));
	cr_assert_null(list_first(&list));
	list_push_back(&list, &items[1].link);
	list_push_back(&list, &items[2].link);
	list_push_front(&list, &items[0].link);
	expect_values(&list, (int[]){1, 2, 3}, 3);
	cr_assert_eq(list_entry(list_first(&list), struct item, link), &items[0]);
}

Test(list, removes_anywhere_and_more_than_once)
{
	struct item items[4] = {{.value = 0}, {.value = 1}, {.value = 2}, {.value = 3}};
	struct list list;

	list_init(&list);
	for (int i = 0; i < 4; i++)
		list_push_back(&list, &items[i].link);
	list_remove(&items[1].link);
	list_remove(&items[1].link);
	cr_assert_not(list_linked(&items[1].link));
	expect_values(&list, (int[]){0, 2, 3}, 3);
	list_remove(&items[3].link);
	list_remove(&items[0].link);
	expect_values(&list, (int[]){2}, 1);
	list_remove(&items[2].link);
	cr_assert(list_empty(&list));
}

Test(list, body_of_the_safe_loop_may_remove)
{
	struct item items[6] = {0}, *item, *next;
	struct list list;

	list_init(&list);
	for (int i = 0; i < 6; i++) {
		items[i].value = i;
		list_push_back(&list, &items[i].link);
	}
	list_for_each_safe (item, next, &list, link)
		if (item->value % 2 == 0)
			list_remove(&item->link);
	expect_values(&list, (int[]){1, 3, 5}, 3);
}

Test(list, node_in_a_list_cannot_enter_another, .signal = SIGABRT)
{
	struct item item = {0};
	struct list list;

	list_init(&list);
	list_push_back(&list, &item.link);
	list_push_back(&list, &item.link);
}
