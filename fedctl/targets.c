#include "fedctl/targets.h"

#include <string.h>

#include "base/closest.h"

void targets_finish(struct targets *t)
{
	free(t->items);
	*t = (struct targets){0};
}

static void add(struct targets *t, const struct kind *kind, const char *name)
{
	GROW(t->items, t->n, t->cap);
	t->items[t->n++] = (struct target){kind, name};
}

static int find_kind(const char *word, size_t n, const struct kind **ret, struct error *err)
{
	auto_xfree char *text = xstrndup(word, n);
	struct closest c;

	*ret = kind_find_typed(text);
	if (*ret)
		return 0;
	closest_init(&c, text, strcspn(text, "."));
	for (size_t i = 0; i < kinds_count; i++) {
		closest_offer(&c, kinds[i]->plural);
		closest_offer(&c, kinds[i]->singular);
	}
	if (c.best)
		return error_set(err, ERR_BAD_REQUEST,
				 "there is no kind \"%s\"; did you mean \"%s\"?", text, c.best);
	return error_set(err, ERR_BAD_REQUEST,
			 "there is no kind \"%s\"; to name an object: KIND/NAME, like job/%s", text,
			 text);
}

/* "KIND/NAME". */
static int add_pair(struct targets *t, const char *arg, struct error *err)
{
	const char *slash = strchr(arg, '/');
	const struct kind *kind;

	if (!slash || !slash[1] || strchr(slash + 1, '/'))
		return error_set(err, ERR_BAD_REQUEST, "\"%s\" is not KIND/NAME", arg);
	if (find_kind(arg, (size_t)(slash - arg), &kind, err))
		return -1;
	add(t, kind, slash + 1);
	return 0;
}

/* "jobs,queues", each with all names. */
static int add_kinds(struct targets *t, const char *list, const char *const *names, size_t n,
		     struct error *err)
{
	for (;;) {
		size_t length = strcspn(list, ",");
		const struct kind *kind;

		if (find_kind(list, length, &kind, err))
			return -1;
		for (size_t i = 0; i < n; i++)
			add(t, kind, names[i]);
		if (!n)
			add(t, kind, NULL);
		if (!list[length])
			return 0;
		list += length + 1;
	}
}

static int parse(const char *const *args, size_t n, struct targets *t, struct error *err)
{
	if (!strchr(args[0], '/'))
		return add_kinds(t, args[0], args + 1, n - 1, err);
	for (size_t i = 0; i < n; i++)
		if (add_pair(t, args[i], err))
			return -1;
	return 0;
}

static int parse_of(const struct kind *kind, const char *const *args, size_t n, struct targets *t,
		    struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!strchr(args[i], '/'))
			add(t, kind, args[i]);
		else if (add_pair(t, args[i], err))
			return -1;
		if (t->items[i].kind != kind)
			return error_set(err, ERR_BAD_REQUEST, "\"%s\" is no %s", args[i],
					 kind->singular);
	}
	return 0;
}

/* A name with a slash, or of dots alone, would reach another path of the server. */
static int check_names(const struct targets *t, struct error *err)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *name = t->items[i].name;

		if (name && (strchr(name, '/') || !name[strspn(name, ".")]))
			return error_set(err, ERR_BAD_REQUEST, "\"%s\" is not a name", name);
	}
	return 0;
}

static int finish(int rc, struct targets *t, struct targets *ret, struct error *err)
{
	if (rc || check_names(t, err)) {
		targets_finish(t);
		return -1;
	}
	*ret = *t;
	return 0;
}

int targets_parse(const char *const *args, size_t n, struct targets *ret, struct error *err)
{
	struct targets t = {0};

	return finish(parse(args, n, &t, err), &t, ret, err);
}

int targets_parse_of(const struct kind *kind, const char *const *args, size_t n,
		     struct targets *ret, struct error *err)
{
	struct targets t = {0};

	return finish(parse_of(kind, args, n, &t, err), &t, ret, err);
}
