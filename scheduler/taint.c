#include "scheduler/taint.h"

#include <string.h>

#include "base/json.h"

void taints_parse(struct arena *a, const json_t *array, struct taint **ret, size_t *ret_n)
{
	struct taint *taints = arena_array(a, struct taint, json_array_size(array) + 1);
	size_t n = 0, i;
	json_t *t;

	json_array_foreach (array, i, t) {
		const char *key = json_str_at(t, "key", NULL);
		const char *value = json_str_at(t, "value", NULL);
		const char *effect = json_str_at(t, "effect", NULL);

		if (!key || !effect ||
		    (strcmp(effect, "NoSchedule") != 0 && strcmp(effect, "NoExecute") != 0))
			continue;
		taints[n++] = (struct taint){key, value ? value : "", effect};
	}
	*ret = taints;
	*ret_n = n;
}

void taints_copy(struct arena *a, const json_t *array, struct taint **ret, size_t *ret_n)
{
	taints_parse(a, array, ret, ret_n);
	for (size_t i = 0; i < *ret_n; i++) {
		struct taint *t = &(*ret)[i];

		*t = (struct taint){arena_strdup(a, t->key), arena_strdup(a, t->value),
				    arena_strdup(a, t->effect)};
	}
}

static const char *text_at(struct arena *a, const json_t *j, const char *key)
{
	const char *text = json_str_at(j, key, NULL);

	return text ? arena_strdup(a, text) : "";
}

int tolerations_parse(struct arena *a, const json_t *array, struct toleration **ret, size_t *ret_n,
		      struct error *err)
{
	struct toleration *list = arena_array(a, struct toleration, json_array_size(array) + 1);
	size_t i;
	json_t *t;

	json_array_foreach (array, i, t) {
		const char *op = text_at(a, t, "operator");

		list[i] = (struct toleration){text_at(a, t, "key"), text_at(a, t, "value"),
					      text_at(a, t, "effect"), !strcmp(op, "Exists")};
		if (*op && !list[i].exists && strcmp(op, "Equal") != 0)
			return error_set(err, ERR_INVALID,
					 "tolerations[%zu].operator: \"%.100s\" is not supported "
					 "yet",
					 i, op);
		if (!*list[i].key && !list[i].exists)
			return error_set(err, ERR_INVALID,
					 "tolerations[%zu]: without a key the operator must be "
					 "Exists",
					 i);
	}
	*ret = list;
	*ret_n = json_array_size(array);
	return 0;
}

static bool tolerates(const struct toleration *t, const struct taint *taint)
{
	if (*t->effect && strcmp(t->effect, taint->effect) != 0)
		return false;
	if (*t->key && strcmp(t->key, taint->key) != 0)
		return false;
	return t->exists || !strcmp(t->value, taint->value);
}

const struct taint *taints_repel(const struct taint *taints, size_t n_taints,
				 const struct toleration *tolerations, size_t n_tolerations)
{
	for (size_t i = 0; i < n_taints; i++) {
		size_t k = 0;

		while (k < n_tolerations && !tolerates(&tolerations[k], &taints[i]))
			k++;
		if (k == n_tolerations)
			return &taints[i];
	}
	return NULL;
}

void taint_say(const struct taint *t, struct strbuf *out)
{
	strbuf_addf(out, "taint %s%s%s:%s is not tolerated", t->key, *t->value ? "=" : "", t->value,
		    t->effect);
}
