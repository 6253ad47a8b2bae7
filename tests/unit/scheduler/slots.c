#include "scheduler/slots.h"

#include <criterion/criterion.h>

Test(slots, which_resources_are_devices)
{
	static const struct {
		const char *name;
		bool extended;
	} table[] = {
		{"cpu", false},
		{"memory", false},
		{"ephemeral-storage", false},
		{"hugepages-2Mi", false},
		{"attachable-volumes-aws-ebs", false},
		{"nvidia.com/gpu", true},
		{"kubernetes.io/batch-cpu", false},
		{"node.kubernetes.io/something", false},
		{"notkubernetes.io/fpga", true},
		{"io/x", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		cr_expect_eq(resource_is_extended(table[i].name), table[i].extended, "%s",
			     table[i].name);
}

Test(slots, demand_fits_and_counts)
{
	struct slots s;
	struct resource amounts[] = {{"cpu", 3}, {"memory", 0}, {"x.io/gpu", 2}};
	struct resource_list l = {amounts, 3};
	int64_t room[SLOT_STRIDE] = {[SLOT_CPU] = 10, [3] = 5};
	struct demand d;

	slots_init(&s);
	demand_init(&d, &s, &l);
	cr_expect(d.unknown, "no node has x.io/gpu");
	cr_expect(!demand_fits(&d, room, SLOT_STRIDE));
	demand_finish(&d);
	cr_expect_eq(slots_intern(&s, "x.io/gpu"), 3);
	cr_expect_eq(slots_intern(&s, "x.io/gpu"), 3);
	demand_init(&d, &s, &l);
	cr_expect_eq(d.n, 2, "nothing is asked of memory");
	cr_expect(demand_fits(&d, room, SLOT_STRIDE));
	cr_expect(!demand_fits(&d, room, 3), "a vector that ends before the slot has none of it");
	cr_expect_eq(demand_count(&d, room, SLOT_STRIDE, 100), 2);
	cr_expect_eq(demand_count(&d, room, SLOT_STRIDE, 1), 1);
	room[SLOT_CPU] = 2;
	cr_expect_eq(demand_count(&d, room, SLOT_STRIDE, 100), 0);
	demand_finish(&d);
	slots_finish(&s);
}

Test(slots, names_without_end_are_not_taken)
{
	struct slots s;
	char name[32];

	slots_init(&s);
	for (int i = 0; i < SLOTS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "x.io/r%d", i);
		slots_intern(&s, name);
	}
	cr_expect_eq(s.n, SLOTS_MAX);
	cr_expect_eq(slots_intern(&s, "x.io/another"), SLOT_NONE);
	cr_expect_eq(slots_intern(&s, "x.io/r5"), 5 + SLOTS_FIXED);
	slots_finish(&s);
}
