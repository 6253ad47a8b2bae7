#include "fedctl/listing.h"

#include <string.h>

#include "base/json.h"
#include "fedctl/amounts.h"
#include "fedctl/commands.h"
#include "fedctl/output.h"
#include "fedctl/table.h"

#define COLUMNS_MAX 12

const char *listing_name(struct arena *a, const json_t *object, int64_t now_ns)
{
	return json_str_at(object, "metadata", "name", NULL);
}

const char *listing_number(struct arena *a, const json_t *value)
{
	return json_is_integer(value)
		       ? arena_printf(a, "%lld", (long long)json_integer_value(value))
		       : NULL;
}

static void add_amount(const char *name, const json_t *value, struct strbuf *out)
{
	auto_xfree char *text = NULL;

	if (!value)
		return;
	text = json_is_string(value) ? xstrdup(json_string_value(value)) : json_print(value);
	strbuf_addf(out, "%s%s ", out->size ? ", " : "", name);
	amount_write(name, text, out);
}

const char *listing_amounts(struct arena *a, const json_t *amounts)
{
	auto_strbuf out = {0};
	const char *name;
	json_t *value;

	add_amount("cpu", json_object_get(amounts, "cpu"), &out);
	add_amount("memory", json_object_get(amounts, "memory"), &out);
	json_object_foreach ((json_t *)(uintptr_t)amounts, name, value)
		if (strchr(name, '/'))
			add_amount(name, value, &out);
	return out.size ? arena_strdup(a, out.bytes) : NULL;
}

static struct table *make_table(const struct listing_column *columns, size_t *ret_n)
{
	const char *headers[COLUMNS_MAX];
	size_t n = 0;

	for (; columns[n].header; n++)
		headers[n] = columns[n].header;
	*ret_n = n;
	return table_create(headers, n);
}

static void print_rows(struct session *s, json_t *items, const struct listing_column *columns,
		       bool wide)
{
	int64_t now_ns = env_wall_ns(s->env);
	auto_free(table_destroy) struct table *t = NULL;
	auto_strbuf out = {0};
	json_t *item;
	size_t i, n;

	t = make_table(columns, &n);
	table_keep_whole(t, 0);
	json_array_foreach (items, i, item) {
		const char *cells[COLUMNS_MAX];
		struct arena a = {0};

		for (size_t c = 0; c < n; c++)
			cells[c] = columns[c].cell(&a, item, now_ns);
		table_add(t, cells);
		arena_finish(&a);
	}
	table_write(t, wide ? 0 : output_width(), colors_on(stdout), &out);
	print_out(strbuf_str(&out), out.size);
}

int run_listing(struct session *s, const struct kind *kind, const struct listing_column *columns)
{
	enum output form = output_parse(given_text(s->inv, "output"));
	auto_json *items = NULL;
	auto_strbuf out = {0};
	struct error err;

	if (session_list(s, kind, NULL, NULL, &items, &err))
		return session_fail(s, &err);
	if (form > OUTPUT_WIDE) {
		objects_write(items, form, kind, &out);
		print_out(strbuf_str(&out), out.size);
	} else if (!json_array_size(items)) {
		fprintf(stderr, "no %s\n", kind->plural);
	} else {
		print_rows(s, items, columns, form == OUTPUT_WIDE);
	}
	return EXIT_DONE;
}
