/* get: objects as tables, documents or names, once or as they change. */
#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/listing.h"
#include "fedctl/output.h"
#include "fedctl/targets.h"

/* One kind of those that are named. */
static int get_kind(struct session *s, const struct target *targets, size_t n, bool below,
		    json_t *list)
{
	struct listing l = listing_begin(s, targets[0].kind);

	if (given_truth(s->inv, "all-namespaces")) {
		l.ns = NULL;
		l.layout.namespaces = targets[0].kind->namespaced;
	}
	l.selector = given_text(s->inv, "selector");
	l.below = below;
	l.list = list;
	return listing_run(&l, targets, n);
}

static int check(const struct session *s, const struct targets *t, struct error *err)
{
	bool several = t->items[0].kind != t->items[t->n - 1].kind;

	if (t->items[0].name && given_truth(s->inv, "all-namespaces"))
		return error_set(err, ERR_BAD_REQUEST, "a name and -A do not go together");
	if (t->items[0].name && given_text(s->inv, "selector"))
		return error_set(err, ERR_BAD_REQUEST, "a name and -l do not go together");
	if (several && given_truth(s->inv, "watch"))
		return error_set(err, ERR_BAD_REQUEST, "only one kind can be watched at a time");
	return 0;
}

static size_t same_kind(const struct targets *t, size_t i)
{
	size_t n = 1;

	while (i + n < t->n && t->items[i + n].kind == t->items[i].kind)
		n++;
	return n;
}

/* Kind by kind: tables one below the other, names line by line, documents as one List. */
static int get_targets(struct session *s, const struct targets *t)
{
	enum output output = output_parse(given_text(s->inv, "output"));
	bool together = same_kind(t, 0) < t->n && output_is_document(output);
	auto_json *list = together ? json_array() : NULL;
	auto_strbuf out = {0};
	int rc = EXIT_DONE;

	for (size_t i = 0, n; i < t->n && rc != EXIT_UNREACHABLE; i += n) {
		int one;

		n = same_kind(t, i);
		one = get_kind(s, t->items + i, n, i > 0, list);
		rc = one ? one : rc;
	}
	if (list) {
		objects_write(list, output, NULL, &out);
		print_out(out.bytes, out.size);
	}
	return rc;
}

int run_get(struct session *s)
{
	struct targets t;
	struct error err;
	int rc;

	if (targets_parse(s->inv->args, s->inv->n_args, &t, &err))
		return usage_fail(&err);
	rc = check(s, &t, &err) ? usage_fail(&err) : get_targets(s, &t);
	targets_finish(&t);
	return rc;
}
