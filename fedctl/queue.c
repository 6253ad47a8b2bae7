/* queue: makes and lists queues. */
#include <string.h>

#include "base/json.h"
#include "fedctl/amounts.h"
#include "fedctl/columns.h"
#include "fedctl/commands.h"
#include "fedctl/listing.h"
#include "fedctl/output.h"
#include "fedctl/session.h"

static int queue_object(const struct invocation *inv, json_t **ret, struct error *err)
{
	const char *capability = given_text(inv, "capability");
	auto_json *queue =
		json_pack("{ss,ss,s{ss},s{}}", "apiVersion", "scheduling.volcano.sh/v1beta1",
			  "kind", "Queue", "metadata", "name", inv->args[0], "spec");
	json_t *spec = json_object_get(queue, "spec"), *amounts;

	if (capability) {
		if (amounts_parse(capability, &amounts, err))
			return error_prefix(err, "--capability");
		json_object_set_new(spec, "capability", amounts);
	}
	if (given_truth(inv, "closed"))
		json_object_set_new(spec, "closed", json_true());
	*ret = take_ptr(queue);
	return 0;
}

int run_queue_create(struct session *s)
{
	auto_strbuf path = {0};
	const struct kind *queues = kind_find_typed("queues");
	enum output form = output_parse(given_text(s->inv, "output"));
	auto_json *queue = NULL, *made = NULL;
	auto_xfree char *line = NULL;
	struct error err;

	if (queue_object(s->inv, &queue, &err))
		return usage_fail(&err);
	object_path(queues, NULL, NULL, &path);
	strbuf_adds(&path, "?fieldManager=fedctl");
	if (session_call(s, &(struct call){"POST", path.bytes, queue}, &made, &err)) {
		if (err.code == ERR_ALREADY_EXISTS)
			error_set(&err, ERR_ALREADY_EXISTS,
				  "queue \"%s\" is there already; to change it: kubectl edit queue "
				  "%s, or fedctl submit with a file",
				  s->inv->args[0], s->inv->args[0]);
		return session_fail(s, &err);
	}
	line = xasprintf("queue %s created\n", s->inv->args[0]);
	outcome_print(line, made, form, queues);
	return EXIT_DONE;
}

/* --- list --- */

static const char *queue_state(struct arena *a, const json_t *queue, int64_t now_ns)
{
	return json_is_true(json_at(queue, "spec", "closed", NULL)) ? "Closed" : "Open";
}

static const char *queue_ceiling(struct arena *a, const json_t *queue, int64_t now_ns)
{
	return column_amounts(a, json_at(queue, "spec", "capability", NULL));
}

static const char *queue_used(struct arena *a, const json_t *queue, int64_t now_ns)
{
	return column_amounts(a, json_at(queue, "status", "allocated", NULL));
}

static const char *queue_running(struct arena *a, const json_t *queue, int64_t now_ns)
{
	return column_number(a, json_at(queue, "status", "running", NULL));
}

static const char *queue_waiting(struct arena *a, const json_t *queue, int64_t now_ns)
{
	return column_number(a, json_at(queue, "status", "pending", NULL));
}

int run_queue_list(struct session *s)
{
	static const struct layout_column columns[] = {
		{"QUEUE", column_name},
		{"STATE", queue_state},
		{"RUNNING", queue_running},
		{"WAITING", queue_waiting},
		{"CEILING", queue_ceiling},
		{"USED", queue_used},
		{NULL},
	};

	return listing_run_columns(s, kind_find_typed("queues"), columns);
}
