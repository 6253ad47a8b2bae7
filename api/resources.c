/* Lists of resource amounts: reading, arithmetic that saturates, printing. */
#include "api/resources.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "api/quantity.h"

static bool is_cpu(const char *name)
{
	return !strcmp(name, "cpu");
}

/* Resources that people count in bytes. */
static bool is_bytes(const char *name)
{
	return !strcmp(name, "memory") || !strcmp(name, "ephemeral-storage") ||
	       !strcmp(name, "storage") || !strncmp(name, "hugepages-", strlen("hugepages-"));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct resource *)a)->name, ((const struct resource *)b)->name);
}

static int parse_amount(const char *name, const json_t *value, int64_t *ret, struct error *err)
{
	struct quantity q;

	if (quantity_parse_json(value, &q, err) < 0)
		return error_prefix(err, "%s", name);
	if (q.nano < 0)
		return error_set(err, ERR_INVALID, "%s: must be at least 0", name);
	*ret = is_cpu(name) ? quantity_milli(q) : quantity_value(q);
	return 0;
}

int resource_list_parse(struct arena *a, const json_t *object, struct resource_list *ret,
			struct error *err)
{
	struct resource_list l = {0};
	const char *name;
	json_t *value;

	if (object && !json_is_object(object) && !json_is_null(object))
		return error_set(err, ERR_INVALID, "resource amounts must be an object");
	if (json_object_size(object) > RESOURCE_NAMES_MAX)
		return error_set(err, ERR_INVALID, "at most %d resources, not %zu",
				 RESOURCE_NAMES_MAX, json_object_size(object));
	l.items = arena_array(a, struct resource, json_object_size(object));
	json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
		struct resource *r = &l.items[l.n];

		if (parse_amount(name, value, &r->amount, err) < 0)
			return -1;
		r->name = arena_strdup(a, name);
		l.n++;
	}
	if (l.n > 1)
		qsort(l.items, l.n, sizeof(*l.items), compare_names);
	*ret = l;
	return 0;
}

/* Index of the first item whose name is not less. */
static size_t lower_bound(const struct resource_list *l, const char *name)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(l->items[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct resource *find(const struct resource_list *l, const char *name)
{
	size_t i = lower_bound(l, name);

	return i < l->n && !strcmp(l->items[i].name, name) ? &l->items[i] : NULL;
}

/* The item of this name, made with amount 0 when it is not there. */
static struct resource *need(struct arena *a, struct resource_list *l, const char *name)
{
	size_t i = lower_bound(l, name);
	struct resource *items;

	if (i < l->n && !strcmp(l->items[i].name, name))
		return &l->items[i];
	items = arena_array(a, struct resource, l->n + 1);
	if (i)
		memcpy(items, l->items, i * sizeof(*items));
	if (i < l->n)
		memcpy(items + i + 1, l->items + i, (l->n - i) * sizeof(*items));
	items[i].name = arena_strdup(a, name);
	l->items = items;
	l->n++;
	return &items[i];
}

int64_t resource_list_get(const struct resource_list *l, const char *name)
{
	const struct resource *r = find(l, name);

	return r ? r->amount : 0;
}

bool resource_list_has(const struct resource_list *l, const char *name)
{
	return find(l, name) != NULL;
}

void resource_list_set(struct arena *a, struct resource_list *l, const char *name, int64_t amount)
{
	need(a, l, name)->amount = amount;
}

static int64_t add_times(int64_t to, int64_t amount, int64_t times)
{
	__int128 v = (__int128)amount * times + to;

	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

void resource_list_add(struct arena *a, struct resource_list *to, const struct resource_list *l,
		       int64_t times)
{
	for (size_t i = 0; i < l->n; i++) {
		struct resource *r = need(a, to, l->items[i].name);

		r->amount = add_times(r->amount, l->items[i].amount, times);
	}
}

void resource_list_max(struct arena *a, struct resource_list *to, const struct resource_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct resource *r = need(a, to, l->items[i].name);

		if (r->amount < l->items[i].amount)
			r->amount = l->items[i].amount;
	}
}

static void format_amount(const char *name, int64_t amount, char out[QUANTITY_SIZE])
{
	struct quantity q =
		is_cpu(name) ? quantity_from_milli(amount) : quantity_from_value(amount);

	quantity_format(q, is_bytes(name), out);
}

void resource_format(const char *name, int64_t amount, struct strbuf *out)
{
	char text[QUANTITY_SIZE];

	format_amount(name, amount, text);
	strbuf_adds(out, text);
}

json_t *resource_list_json(const struct resource_list *l)
{
	json_t *j = json_object();

	for (size_t i = 0; i < l->n; i++) {
		char text[QUANTITY_SIZE];

		format_amount(l->items[i].name, l->items[i].amount, text);
		json_object_set_new(j, l->items[i].name, json_string(text));
	}
	return j;
}
