#include "scheduler/port_set.h"

#include <criterion/criterion.h>

Test(port_set, sets_are_interned_joined_and_compared)
{
	struct port_set *all = NULL;
	struct port_set *a = port_set_intern(&all, (int32_t[]){80, 22, 80}, 3);
	struct port_set *b = port_set_intern(&all, (int32_t[]){22, 80}, 2);
	struct port_set *c = port_set_intern(&all, (int32_t[]){443}, 1);
	struct port_set *u = port_set_union(&all, a, c);
	struct port_set *same = port_set_union(&all, a, NULL);

	cr_expect_eq(a, b);
	cr_expect_eq(same, a);
	cr_expect_eq(u->n, 3);
	cr_expect(port_set_meets(u, c) && port_set_meets(u, a));
	cr_expect(!port_set_meets(a, c) && !port_set_meets(a, NULL) && !port_set_meets(NULL, NULL));
	cr_expect_null(port_set_intern(&all, NULL, 0));
	cr_expect(port_set_compare(a, c) < 0 && port_set_compare(c, a) > 0);
	cr_expect(port_set_compare(a, u) < 0 && port_set_compare(NULL, a) < 0);
	cr_expect_eq(port_set_compare(a, b), 0);
	port_set_unref(&all, a);
	port_set_unref(&all, b);
	port_set_unref(&all, same);
	port_set_unref(&all, c);
	port_set_unref(&all, u);
	cr_expect_null(all);
}
