/* get: objects as tables, documents or names, once or as they change. */
#include <string.h>

#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/follow.h"
#include "fedctl/layout.h"
#include "fedctl/output.h"
#include "fedctl/targets.h"

struct get {
	struct session *session;
	enum output output;
	const char *ns; /* NULL: of all */
	const char *selector;
	bool below; /* a table stands above */
	struct layout layout;
	json_t *list; /* of several kinds that are printed together; else NULL */
	/* watching */
	struct table *table;
	bool synced, broken, done;
};

static bool print_table(struct table *t, enum output output)
{
	auto_strbuf out = {0};

	table_write(t, output == OUTPUT_WIDE ? 0 : output_width(), colors_on(stdout), &out);
	return print_out(strbuf_str(&out), out.size);
}

static void print_none(const struct get *g)
{
	if (g->layout.kind->namespaced && g->ns)
		fprintf(stderr, "no %s in namespace %s\n", g->layout.kind->plural, g->ns);
	else
		fprintf(stderr, "no %s\n", g->layout.kind->plural);
}

/* whole: the items are all that was asked of the kind, not one named object. */
static void print_items(struct get *g, json_t *items, bool whole)
{
	auto_free(table_destroy) struct table *t = NULL;
	auto_strbuf out = {0};
	json_t *item;
	size_t i;

	if (g->list) {
		json_array_extend(g->list, items);
		return;
	}
	if (g->output > OUTPUT_WIDE) {
		if (whole || json_array_size(items) != 1)
			objects_write(items, g->output, g->layout.kind, &out);
		else
			object_write(json_array_get(items, 0), g->output, g->layout.kind, &out);
		print_out(strbuf_str(&out), out.size);
		return;
	}
	if (!json_array_size(items)) {
		print_none(g);
		return;
	}
	if (g->below)
		print_out("\n", 1);
	t = layout_table(&g->layout);
	json_array_foreach (items, i, item)
		layout_add(&g->layout, t, item, env_wall_ns(g->session->env));
	print_table(t, g->output);
}

/* --- once --- */

static int get_all(struct get *g)
{
	auto_json *items = NULL;
	struct error err;

	if (session_list(g->session, g->layout.kind, g->ns, g->selector, &items, &err))
		return session_fail(g->session, &err);
	print_items(g, items, true);
	return EXIT_DONE;
}

/* Those that are there are printed, the others complained of. */
static int get_named(struct get *g, const struct target *targets, size_t n)
{
	auto_json *items = json_array();
	int rc = EXIT_DONE;

	for (size_t i = 0; i < n; i++) {
		json_t *object;
		struct error err;

		if (session_get(g->session, g->layout.kind, g->ns, targets[i].name, &object, &err))
			rc = session_fail(g->session, &err);
		else
			json_array_append_new(items, object);
		if (exit_is_silence(rc))
			return rc;
	}
	if (json_array_size(items))
		print_items(g, items, false);
	return rc;
}

/* --- as they change --- */

static void print_change(struct get *g, const json_t *object, const json_t *prev)
{
	auto_strbuf out = {0};

	if (g->output > OUTPUT_WIDE) {
		object_write(object ? object : prev, g->output, g->layout.kind, &out);
		g->broken = !print_out(strbuf_str(&out), out.size);
		return;
	}
	if (object)
		layout_add(&g->layout, g->table, object, env_wall_ns(g->session->env));
	else
		layout_add_deleted(&g->layout, g->table, prev);
	if (g->synced)
		g->broken = !print_table(g->table, g->output);
}

static void on_changed(const json_t *object, const json_t *prev, void *arg)
{
	struct get *g = arg;

	print_change(g, object, prev);
	if (g->broken)
		session_wake(g->session, &g->done);
}

static void on_synced(void *arg)
{
	struct get *g = arg;

	g->synced = true;
	if (g->output <= OUTPUT_WIDE)
		g->broken = !print_table(g->table, g->output);
	if (g->broken)
		session_wake(g->session, &g->done);
}

static int watch(struct get *g, const char *const *names, size_t n)
{
	auto_free(table_destroy) struct table *t = layout_table(&g->layout);
	auto_free(follow_destroy) struct follow *f = NULL;
	const struct error *failure;

	g->table = t;
	f = follow_create(g->session, &(struct follow_config){.kind = g->layout.kind,
							      .ns = g->ns,
							      .selector = g->selector,
							      .names = names,
							      .n_names = n,
							      .changed = on_changed,
							      .synced = on_synced,
							      .arg = g,
							      .done = &g->done});
	session_wait(g->session, &g->done);
	failure = follow_failed(f);
	return failure ? session_fail(g->session, failure) : EXIT_DONE;
}

/* A name that is not there is an error, as it is without --watch. */
static int watch_targets(struct get *g, const struct target *targets, size_t n)
{
	auto_xfree const char **names = xcalloc(n, sizeof(*names));

	for (size_t i = 0; i < n && targets[i].name; i++) {
		auto_json *object = NULL;
		struct error err;

		if (session_get(g->session, g->layout.kind, g->ns, targets[i].name, &object, &err))
			return session_fail(g->session, &err);
		names[i] = targets[i].name;
	}
	return watch(g, names[0] ? names : NULL, names[0] ? n : 0);
}

/* --- both --- */

static int get_kind(struct session *s, const struct target *targets, size_t n, bool below,
		    json_t *list)
{
	bool everywhere = given_truth(s->inv, "all-namespaces");
	struct get g = {
		.session = s,
		.output = output_parse(given_text(s->inv, "output")),
		.ns = everywhere ? NULL : s->ns,
		.selector = given_text(s->inv, "selector"),
		.below = below,
		.list = list,
		.layout = {.kind = targets[0].kind,
			   .namespaces = everywhere && targets[0].kind->namespaced},
	};

	g.layout.wide = g.output == OUTPUT_WIDE;
	g.layout.growing = given_truth(s->inv, "watch");
	if (g.layout.growing)
		return watch_targets(&g, targets, n);
	return targets[0].name ? get_named(&g, targets, n) : get_all(&g);
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
	bool together = same_kind(t, 0) < t->n && (output == OUTPUT_JSON || output == OUTPUT_YAML);
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
