#include "scheduler/gang.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "scheduler/plugin.h"

static int compare_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void copy_datasets(struct gang *g, const struct job *job)
{
	auto_xfree const char **names = xcalloc(job->n_datasets, sizeof(char *));

	for (size_t i = 0; i < job->n_datasets; i++)
		names[i] = job->datasets[i].name;
	qsort(names, job->n_datasets, sizeof(char *), compare_names);
	g->datasets = xcalloc(job->n_datasets, sizeof(char *));
	for (size_t i = 0; i < job->n_datasets; i++)
		if (!i || strcmp(names[i - 1], names[i]) != 0)
			g->datasets[g->n_datasets++] = xstrdup(names[i]);
}

static void add_expression(struct strbuf *b, const json_t *e)
{
	size_t i;
	json_t *v;

	strbuf_addf(b, "%s%s %s", b->size ? ", " : "", json_str_at(e, "key", NULL),
		    json_str_at(e, "operator", NULL));
	json_array_foreach (json_at(e, "values", NULL), i, v)
		strbuf_addf(b, "%s%s", i ? "|" : " ", json_string_value(v));
}

static char *selector_text(const json_t *selector)
{
	json_t *labels = (json_t *)(uintptr_t)json_at(selector, "matchLabels", NULL);
	struct strbuf b = {.limit = 200};
	const char *key;
	json_t *value, *e;
	size_t i;

	json_object_foreach (labels, key, value)
		strbuf_addf(&b, "%s%s=%s", b.size ? ", " : "", key, json_string_value(value));
	json_array_foreach (json_at(selector, "matchExpressions", NULL), i, e)
		add_expression(&b, e);
	return strbuf_take(&b);
}

static int fill(struct model *m, struct gang *g, const struct job *job, const int32_t *choices,
		struct error *err)
{
	const json_t *selector = json_at(job->tree, "spec", "placement", "clusterSelector", NULL);

	if (selector_from_object(selector, &g->cluster_selector, err) < 0)
		return error_prefix(err, "spec.placement.clusterSelector");
	if (tolerations_parse(&g->arena, job->tolerations, &g->tolerations, &g->n_tolerations,
			      err) < 0)
		return error_prefix(err, "spec.placement");
	if (form_intern(m, job, choices, &g->form, err) < 0)
		return -1;
	g->selector_text = selector_text(selector);
	g->tasks = xcalloc(job->n_tasks, sizeof(char *));
	for (size_t i = 0; i < job->n_tasks; i++)
		g->tasks[i] = xstrdup(job->tasks[i].name);
	copy_datasets(g, job);
	return 0;
}

int gang_create(struct model *m, const struct job *job, int32_t priority, const int32_t *choices,
		struct gang **ret, struct error *err)
{
	struct gang *g = xnew0(struct gang);

	g->uid = xstrdup(job->meta.uid ? job->meta.uid : "");
	g->ns = xstrdup(job->meta.ns ? job->meta.ns : "");
	g->name = xstrdup(job->meta.name ? job->meta.name : "");
	g->queue = xstrdup(job->queue);
	g->priority = priority;
	g->charged = -1;
	g->submitted = (struct submission){job->meta.created_ns, job->meta.created_revision};
	g->link.priority = XXH3_64bits_withSeed(g->uid, strlen(g->uid), map_seed());
	if (fill(m, g, job, choices, err) < 0) {
		gang_destroy(m, g);
		return -1;
	}
	*ret = g;
	return 0;
}

void gang_destroy(struct model *m, struct gang *g)
{
	if (!g)
		return;
	assert(!g->pending);
	for (size_t i = 0; g->tasks && i < g->form->n_tasks; i++)
		free(g->tasks[i]);
	for (size_t i = 0; i < g->n_datasets; i++)
		free(g->datasets[i]);
	free(g->tasks);
	free(g->datasets);
	free(g->selector_text);
	selector_destroy(g->cluster_selector);
	form_unref(m, g->form);
	arena_finish(&g->arena);
	free(g->uid);
	free(g->ns);
	free(g->name);
	free(g->queue);
	free(g);
}

int gang_variant(const struct gang *g, const int32_t *choices)
{
	for (size_t i = 0; i < g->form->n_variants; i++) {
		size_t k = 0;

		while (k < g->form->n_tasks &&
		       g->form->variants[i].parts[k].alternative == choices[k])
			k++;
		if (k == g->form->n_tasks)
			return (int)i;
	}
	return -1;
}

/* --- pending ------------------------------------------------------------------------------ */

#define gang_of(node) container_of(node, struct gang, link)

static inline uint64_t oldest_below(const struct treap_node *n)
{
	return n ? gang_of((struct treap_node *)(uintptr_t)n)->oldest : UINT64_MAX;
}

static inline bool gang_before(const struct treap_node *a, const struct treap_node *b)
{
	return plugins_order(gang_of((struct treap_node *)(uintptr_t)a),
			     gang_of((struct treap_node *)(uintptr_t)b)) < 0;
}

static inline void find_oldest(struct treap_node *n)
{
	uint64_t left = oldest_below(n->left), right = oldest_below(n->right);
	struct gang *g = gang_of(n);

	g->oldest = left < right ? left : right;
	if (g->seen < g->oldest)
		g->oldest = g->seen;
}

DEFINE_TREAP(gang_tree, gang_before, find_oldest)

void pending_add(struct pending *p, struct gang *g)
{
	assert(!g->pending);
	g->seen = 0;
	p->root = gang_tree_insert(p->root, &g->link);
	p->n++;
	g->pending = true;
}

void pending_remove(struct pending *p, struct gang *g)
{
	if (!g->pending)
		return;
	p->root = gang_tree_remove(p->root, &g->link);
	p->n--;
	g->pending = false;
}

static void find_oldest_above(struct treap_node *t, struct treap_node *n)
{
	if (t != n)
		find_oldest_above(gang_before(n, t) ? t->left : t->right, n);
	find_oldest(t);
}

void pending_seen(struct pending *p, struct gang *g, uint64_t version)
{
	g->seen = version;
	if (g->pending)
		find_oldest_above(p->root, &g->link);
}

struct search {
	const struct gang *after;
	uint64_t version;
};

static struct gang *find_next(struct treap_node *t, const struct search *s)
{
	struct gang *found;

	if (oldest_below(t) >= s->version)
		return NULL;
	if (s->after && plugins_order(s->after, gang_of(t)) >= 0)
		return find_next(t->right, s);
	found = find_next(t->left, s);
	if (found)
		return found;
	return gang_of(t)->seen < s->version ? gang_of(t) : find_next(t->right, s);
}

struct gang *pending_next(const struct pending *p, const struct gang *after, uint64_t version)
{
	return find_next(p->root, &(struct search){after, version});
}
