#include "fedctl/listing.h"

#include "base/json.h"
#include "fedctl/follow.h"

struct watching {
	const struct listing *listing;
	struct table *table;
	bool synced, done;
};

static bool for_people(const struct listing *l)
{
	return l->output <= OUTPUT_WIDE;
}

static bool print_table(struct table *t, enum output output)
{
	auto_strbuf out = {0};

	table_write(t, output == OUTPUT_WIDE ? 0 : output_width(), colors_on(stdout), &out);
	return print_out(strbuf_str(&out), out.size);
}

static void print_none(const struct listing *l)
{
	if (l->layout.kind->namespaced && l->ns)
		fprintf(stderr, "no %s in namespace %s\n", l->layout.kind->plural, l->ns);
	else
		fprintf(stderr, "no %s\n", l->layout.kind->plural);
}

static void print_rows(const struct listing *l, json_t *items)
{
	auto_free(table_destroy) struct table *t = NULL;
	json_t *item;
	size_t i;

	if (!json_array_size(items)) {
		print_none(l);
		return;
	}
	if (l->below)
		print_out("\n", 1);
	t = layout_table(&l->layout);
	json_array_foreach (items, i, item)
		layout_add(&l->layout, t, item, env_wall_ns(l->session->env));
	print_table(t, l->output);
}

/* whole: the items are all that was asked of the kind, not one named object. */
static void print_items(const struct listing *l, json_t *items, bool whole)
{
	auto_strbuf out = {0};

	if (l->list) {
		json_array_extend(l->list, items);
		return;
	}
	if (for_people(l)) {
		print_rows(l, items);
		return;
	}
	if (whole || json_array_size(items) != 1)
		objects_write(items, l->output, l->layout.kind, &out);
	else
		object_write(json_array_get(items, 0), l->output, l->layout.kind, &out);
	print_out(strbuf_str(&out), out.size);
}

/* --- once --- */

static int print_all(const struct listing *l)
{
	auto_json *items = NULL;
	struct error err;

	if (session_list(l->session, l->layout.kind, l->ns, l->selector, &items, &err))
		return session_fail(l->session, &err);
	print_items(l, items, true);
	return EXIT_DONE;
}

/* Those that are there are printed, the others complained of. */
static int print_named(const struct listing *l, const struct target *targets, size_t n)
{
	auto_json *items = json_array();
	int rc = EXIT_DONE;

	for (size_t i = 0; i < n; i++) {
		json_t *object;
		struct error err;

		if (session_get(l->session, l->layout.kind, l->ns, targets[i].name, &object, &err))
			rc = session_fail(l->session, &err);
		else
			json_array_append_new(items, object);
		if (exit_is_silence(rc))
			return rc;
	}
	if (json_array_size(items))
		print_items(l, items, false);
	return rc;
}

/* --- as they change --- */

static bool print_change(const struct watching *w, const json_t *object, const json_t *prev)
{
	const struct listing *l = w->listing;
	auto_strbuf out = {0};

	if (!for_people(l)) {
		object_write(object ? object : prev, l->output, l->layout.kind, &out);
		return print_out(strbuf_str(&out), out.size);
	}
	if (object)
		layout_add(&l->layout, w->table, object, env_wall_ns(l->session->env));
	else
		layout_add_deleted(&l->layout, w->table, prev);
	return !w->synced || print_table(w->table, l->output);
}

/* printed: somebody reads yet. */
static void end_unless(bool printed, struct watching *w)
{
	if (!printed)
		session_wake(w->listing->session, &w->done);
}

static void on_changed(const json_t *object, const json_t *prev, void *arg)
{
	struct watching *w = arg;

	end_unless(print_change(w, object, prev), w);
}

static void on_synced(void *arg)
{
	struct watching *w = arg;

	w->synced = true;
	if (for_people(w->listing))
		end_unless(print_table(w->table, w->listing->output), w);
}

static int watch(const struct listing *l, const char *const *names, size_t n)
{
	auto_free(table_destroy) struct table *t = layout_table(&l->layout);
	struct watching w = {.listing = l, .table = t};
	auto_free(follow_destroy) struct follow *f = NULL;
	const struct error *failure;

	f = follow_create(l->session, &(struct follow_config){.kind = l->layout.kind,
							      .ns = l->ns,
							      .selector = l->selector,
							      .names = names,
							      .n_names = n,
							      .changed = on_changed,
							      .synced = on_synced,
							      .arg = &w,
							      .done = &w.done});
	session_wait(l->session, &w.done);
	failure = follow_failed(f);
	return failure ? session_fail(l->session, failure) : EXIT_DONE;
}

/* A name that is not there is an error, as it is without --watch. */
static int watch_targets(const struct listing *l, const struct target *targets, size_t n)
{
	auto_xfree const char **names = xcalloc(n, sizeof(*names));

	for (size_t i = 0; i < n && targets[i].name; i++) {
		auto_json *object = NULL;
		struct error err;

		if (session_get(l->session, l->layout.kind, l->ns, targets[i].name, &object, &err))
			return session_fail(l->session, &err);
		names[i] = targets[i].name;
	}
	return watch(l, names[0] ? names : NULL, names[0] ? n : 0);
}

/* --- both --- */

struct listing listing_begin(struct session *s, const struct kind *kind)
{
	struct listing l = {
		.session = s,
		.layout = {.kind = kind, .growing = given_truth(s->inv, "watch")},
		.output = output_parse(given_text(s->inv, "output")),
		.ns = s->ns,
	};

	l.layout.wide = l.output == OUTPUT_WIDE;
	return l;
}

int listing_run(const struct listing *l, const struct target *targets, size_t n)
{
	if (l->layout.growing)
		return watch_targets(l, targets, n);
	return targets[0].name ? print_named(l, targets, n) : print_all(l);
}

int listing_run_columns(struct session *s, const struct kind *kind,
			const struct layout_column *columns)
{
	struct listing l = listing_begin(s, kind);

	l.layout.columns = columns;
	return listing_run(&l, &(struct target){.kind = kind}, 1);
}
