#include "api/views.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "views_check.h"

static struct queue *queue_of(const char *bytes)
{
	auto_doc *d = make_doc(bytes);
	struct error err = {0};
	struct queue *q = NULL;

	cr_assert_eq(queue_view(d, &q, &err), 0, "%s", err.text);
	return q;
}

Test(views, read_queues)
{
	auto_free(queue_destroy) struct queue *plain = queue_of("{\"metadata\":{\"name\":\"q\"}}");
	auto_free(queue_destroy) struct queue *closed =
		queue_of("{\"metadata\":{\"name\":\"q\"},\"spec\":{\"closed\":true,"
			 "\"capability\":{\"cpu\":\"64\"}},\"status\":{\"state\":\"Closed\"}}");

	cr_expect(plain->open);
	cr_expect_str_eq(plain->state, "");
	cr_expect(!plain->has_capability);
	cr_expect_eq(plain->capability.n, 0);
	cr_expect(!closed->open);
	cr_expect_str_eq(closed->state, "Closed");
	cr_expect(closed->has_capability);
	cr_expect_eq(resource_list_get(&closed->capability, "cpu"), 64000);
	queue_destroy(NULL);
}

Test(views, read_data_sets)
{
	auto_doc *d =
		make_doc("{\"metadata\":{\"name\":\"imagenet\"},\"spec\":{\"size\":\"150Gi\"},"
			 "\"replicas\":[{\"cluster\":\"arm\"},{\"cluster\":\"gpu\","
			 "\"completeness\":\"0.25\"},{\"cluster\":\"large\",\"completeness\":"
			 "\"0.000001\"}]}");
	auto_free(dataset_destroy) struct dataset *s = NULL;

	cr_assert_eq(dataset_view(d, &s, NULL), 0);
	cr_expect_str_eq(s->meta.name, "imagenet");
	cr_expect_eq(s->size_bytes, 161061273600);
	cr_expect_eq(s->n_replicas, 3);
	cr_expect_str_eq(s->replicas[0].cluster, "arm");
	cr_expect_eq(s->replicas[0].completeness_millionths, 1000000);
	cr_expect_eq(s->replicas[1].completeness_millionths, 250000);
	cr_expect_eq(s->replicas[2].completeness_millionths, 1);
	dataset_destroy(NULL);
}

Test(views, of_a_data_set_name_the_amount_that_is_none)
{
	static const char *const values[] = {"\"much\"", "-1", "{}"};

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		auto_xfree char *bytes =
			xasprintf("{\"metadata\":{\"name\":\"d\"},\"replicas\":[{\"cluster\":\"a\","
				  "\"completeness\":%s}]}",
				  values[i]);
		auto_doc *d = make_doc(bytes);
		struct dataset *s = NULL;
		struct error err = {0};

		cr_expect_eq(dataset_view(d, &s, &err), -1, "%s", values[i]);
		cr_expect_eq(err.code, ERR_INVALID);
		cr_expect(!strncmp(err.text, "replicas[0].completeness: ", 26), "%s", err.text);
		cr_expect_null(s);
	}
}
