#include "scheduler/node_class.h"

#include <criterion/criterion.h>
#include <string.h>

Test(node_class, equal_content_is_one_class)
{
	struct node_classes all = {0};
	struct label ab[] = {{"b", "2"}, {"a", "1"}}, ba[] = {{"a", "0"}, {"b", "2"}, {"a", "1"}};
	struct taint t[] = {{"k", "", "NoSchedule"}, {"k", "", "NoExecute"}};
	struct taint twice[] = {t[1], t[0], t[1]};
	struct node_class *one = node_class_intern(&all, ab, 2, t, 2);
	struct node_class *two = node_class_intern(&all, ba, 3, twice, 3);
	struct node_class *plain = node_class_intern(&all, ab, 2, NULL, 0);
	int id = one->id;

	cr_expect_eq(one, two);
	cr_expect_neq(one, plain);
	cr_expect_str_eq(node_class_label(one, "a"), "1");
	cr_expect_null(node_class_label(one, "c"));
	cr_expect_eq(json_array_size(one->taints_json), 2);
	cr_expect_null(plain->taints_json);
	node_class_unref(&all, one);
	node_class_unref(&all, two);
	cr_expect_eq(all.live, 1);
	one = node_class_intern(&all, NULL, 0, NULL, 0);
	cr_expect_eq(one->id, id, "ids are used again");
	cr_expect(one->serial > plain->serial, "serials are not");
	node_class_unref(&all, one);
	node_class_unref(&all, plain);
	node_class_unref(&all, NULL);
	node_classes_finish(&all);
}

Test(node_class, only_taints_that_keep_pods_away)
{
	json_t *array =
		json_pack("[{s:s, s:s, s:s}, {s:s, s:s}, {s:s, s:s}, {s:s}, s]", "key", "a",
			  "value", "v", "effect", "NoSchedule", "key", "b", "effect", "NoExecute",
			  "key", "c", "effect", "PreferNoSchedule", "key", "d", "text");
	struct arena a = {0};
	struct taint *t;
	size_t n;

	taints_parse(&a, array, &t, &n);
	cr_assert_eq(n, 2);
	cr_expect_str_eq(t[0].value, "v");
	cr_expect_str_eq(t[1].value, "");
	cr_expect_str_eq(t[1].effect, "NoExecute");
	taints_parse(&a, NULL, &t, &n);
	cr_expect_eq(n, 0);
	arena_finish(&a);
	json_decref(array);
}
