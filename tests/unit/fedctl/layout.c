#include "fedctl/layout.h"

#include <criterion/criterion.h>

#include "base/encode.h"
#include "base/json.h"
#include "fedctl/columns.h"

static void add(const struct layout *l, struct table *t, const char *json)
{
	auto_json *object = json_loads(json, 0, NULL);
	int64_t now_ns;

	cr_assert_not_null(object);
	cr_assert_eq(time_parse("2026-01-01T03:00:12Z", &now_ns), 0);
	layout_add(l, t, object, now_ns);
}

static const char running[] =
	"{\"metadata\":{\"name\":\"train\",\"namespace\":\"ml\",\"creationTimestamp\":"
	"\"2026-01-01T00:00:00Z\"},\"spec\":{\"queue\":\"nlp\",\"tasks\":[{\"replicas\":8}]},"
	"\"status\":{\"state\":{\"phase\":\"Running\"},\"running\":8,\"dispatch\":{\"parts\":["
	"{\"cluster\":\"gpu-eu\"}],\"attempts\":[{\"generation\":1,\"startedAt\":"
	"\"2026-01-01T00:00:12Z\",\"nodes\":\"n-0 to n-7\"}]}}}";
static const char waiting[] =
	"{\"metadata\":{\"name\":\"sweep\",\"namespace\":\"ml\",\"creationTimestamp\":"
	"\"2026-01-01T02:19:12Z\"},\"spec\":{\"queue\":\"ml\",\"tasks\":[{\"replicas\":16}]},"
	"\"status\":{\"state\":{\"phase\":\"Pending\"},\"pending\":{\"detail\":\"quota of ml\"}}}";
static const char queue[] = "{\"metadata\":{\"name\":\"ml\",\"creationTimestamp\":"
			    "\"2026-01-01T00:00:12Z\"},\"status\":{"
			    "\"state\":\"Open\",\"running\":7,\"pending\":22}}";

static void expect(struct table *t, const char *expected)
{
	auto_strbuf out = {0};

	table_write(t, 100, false, &out);
	cr_expect_str_eq(out.bytes, expected, "got:\n%s", out.bytes);
}

Test(layout, lists_jobs)
{
	const struct layout l = {.kind = kind_find_typed("jobs"), .namespaces = true};
	auto_free(table_destroy) struct table *t = layout_table(&l);

	add(&l, t, running);
	add(&l, t, waiting);
	expect(t, "NAMESPACE  NAME   QUEUE  PHASE    CLUSTER  TASKS  WAITED  RAN  WHY WAITING\n"
		  "ml         train  nlp    Running  gpu-eu   8/8    12s     3h\n"
		  "ml         sweep  ml     Pending           0/16   41m          quota of ml\n");
}

Test(layout, lists_jobs_widely_with_absolute_times)
{
	const struct layout l = {.kind = kind_find_typed("jobs"), .wide = true};
	auto_free(table_destroy) struct table *t = layout_table(&l);
	auto_strbuf out = {0};

	add(&l, t, running);
	table_write(t, 0, false, &out);
	cr_expect_str_eq(out.bytes,
			 "NAME   QUEUE  PHASE    CLUSTER  TASKS  SUBMITTED             STARTED"
			 "               NODES\n"
			 "train  nlp    Running  gpu-eu   8/8    2026-01-01T00:00:00Z  "
			 "2026-01-01T00:00:12Z  n-0 to n-7\n",
			 "got:\n%s", out.bytes);
}

static const char *nothing_to_say(struct arena *a, const json_t *object, int64_t now_ns)
{
	return NULL;
}

Test(layout, lists_by_the_columns_of_a_command_where_it_has_some)
{
	static const struct layout_column columns[] = {
		{"JOB", column_name}, {"STATE", nothing_to_say}, {"AGAIN", column_name}, {NULL}};
	const struct layout l = {
		.kind = kind_find_typed("jobs"), .columns = columns, .growing = true};
	auto_free(table_destroy) struct table *t = layout_table(&l);
	auto_json *gone = json_loads(running, 0, NULL);

	add(&l, t, running);
	layout_add_deleted(&l, t, gone);
	expect(t, "JOB    STATE    AGAIN\n"
		  "train           train\n"
		  "train  Deleted\n");
}

Test(layout, lists_other_kinds_by_their_columns)
{
	const struct layout l = {.kind = kind_find_typed("queues")};
	auto_free(table_destroy) struct table *t = layout_table(&l);

	add(&l, t, queue);
	expect(t, "NAME  STATE  RUNNING  WAITING  AGE\n"
		  "ml    Open   7        22       3h\n");
}

Test(layout, tells_of_what_is_gone)
{
	const struct layout l = {.kind = kind_find_typed("jobs"), .namespaces = true};
	auto_free(table_destroy) struct table *t = layout_table(&l);
	auto_json *job = json_loads(running, 0, NULL);

	layout_add_deleted(&l, t, job);
	expect(t, "NAMESPACE  NAME   PHASE\n"
		  "ml         train  Deleted\n");
}
