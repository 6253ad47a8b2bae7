#include "world.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/yaml.h"

json_t *world_yaml(const char *text)
{
	auto_json *docs = NULL;
	struct error err;

	if (yaml_parse_all(text, strlen(text), &docs, &err) < 0)
		cr_assert_fail("%s", err.text);
	cr_assert_eq(json_array_size(docs), 1, "%zu documents", json_array_size(docs));
	return json_incref(json_array_get(docs, 0));
}

static void copy_keys(json_t *to, const json_t *from, const char *const *keys)
{
	for (; *keys; keys++)
		json_object_set(to, *keys, json_object_get(from, *keys));
}

/* --- jobs --------------------------------------------------------------------------------- */

static json_t *container_of_task(const json_t *task)
{
	json_t *c = json_object();
	json_t *ports = json_array(), *port;
	size_t i;

	json_set_str(c, "name", "main");
	json_array_foreach (json_object_get(task, "hostPorts"), i, port)
		json_array_append_new(
			ports, json_pack("{s:O, s:O}", "containerPort", port, "hostPort", port));
	json_object_set_new(c, "ports", ports);
	if (json_object_get(task, "requests"))
		json_object_set_new(
			c, "resources",
			json_pack("{s:O}", "requests", json_object_get(task, "requests")));
	return c;
}

static json_t *task_tree(const json_t *task)
{
	static const char *const pod_keys[] = {"nodeSelector",   "affinity",
					       "tolerations",    "nodeName",
					       "hostNetwork",    "topologySpreadConstraints",
					       "resourceClaims", NULL};
	static const char *const task_keys[] = {"name", "replicas", "minAvailable", NULL};
	json_t *spec = json_object(), *t = json_object();

	copy_keys(spec, task, pod_keys);
	json_object_set_new(spec, "containers", json_pack("[o]", container_of_task(task)));
	copy_keys(t, task, task_keys);
	json_object_set_new(t, "template", json_pack("{s:o}", "spec", spec));
	return t;
}

static json_t *job_tree(const json_t *j)
{
	const char *name = json_str_at(j, "name", NULL), *ns = json_str_at(j, "namespace", NULL);
	const char *queue = json_str_at(j, "queue", NULL), *uid = json_str_at(j, "uid", NULL);
	json_t *tasks = json_array(), *task, *spec = json_object();
	size_t i;

	json_array_foreach (json_object_get(j, "tasks"), i, task)
		json_array_append_new(tasks, task_tree(task));
	json_set_str(spec, "queue", queue ? queue : "default");
	json_object_set_new(spec, "tasks", tasks);
	json_object_set(spec, "placement", json_object_get(j, "placement"));
	return json_pack("{s:{s:s, s:s, s:s}, s:o}", "metadata", "name", name, "namespace",
			 ns ? ns : "default", "uid", uid ? uid : name, "spec", spec);
}

struct job *world_job(const json_t *j)
{
	auto_json *tree = job_tree(j);
	struct job *job;
	struct error err;

	cr_assert_not_null(tree, "a job needs a name");
	if (job_view_tree(tree, &job, &err) < 0)
		cr_assert_fail("%s", err.text);
	job->meta.created_ns = json_int_at(j, 0, "submitted", NULL) * SECOND;
	return job;
}

struct job *world_job_yaml(const char *yaml)
{
	auto_json *j = world_yaml(yaml);

	return world_job(j);
}

/* --- nodes and pods ----------------------------------------------------------------------- */

static void read_amounts(struct arena *a, const json_t *j, struct resource_list *ret)
{
	struct error err;

	if (resource_list_parse(a, j, ret, &err) < 0)
		cr_assert_fail("%s", err.text);
	if (json_is_object(j) && !resource_list_has(ret, "pods"))
		resource_list_set(a, ret, "pods", 110);
}

static void read_labels(struct arena *a, const json_t *j, struct label **ret, size_t *ret_n)
{
	json_t *labels = (json_t *)(uintptr_t)json_at(j, "labels", NULL), *value;
	const char *key;

	*ret = arena_array(a, struct label, json_object_size(labels) + 1);
	*ret_n = 0;
	json_object_foreach (labels, key, value)
		(*ret)[(*ret_n)++] = (struct label){arena_strdup(a, key),
						    arena_strdup(a, json_string_value(value))};
}

struct node *world_node(const json_t *j, int64_t number)
{
	struct node *n = xnew0(struct node);
	const char *name = json_str_at(j, "name", NULL);

	n->tree = json_incref((json_t *)(uintptr_t)j);
	n->meta.name = number < 0 ? arena_strdup(&n->arena, name)
				  : arena_printf(&n->arena, "%s-%lld", name ? name : "node",
						 (long long)number);
	read_labels(&n->arena, j, &n->meta.labels, &n->meta.n_labels);
	n->taints = json_object_get(j, "taints");
	n->unschedulable = json_is_true(json_object_get(j, "unschedulable"));
	n->ready = !json_is_false(json_object_get(j, "ready"));
	read_amounts(&n->arena, json_object_get(j, "allocatable"), &n->allocatable);
	return n;
}

struct pod *world_pod(const json_t *j)
{
	struct pod *p = xnew0(struct pod);
	struct error err;
	json_t *port;
	size_t i;

	p->tree = json_incref((json_t *)(uintptr_t)j);
	p->meta.uid = json_str_at(j, "uid", NULL);
	p->node = json_str_at(j, "node", NULL);
	p->nominated_node = json_str_at(j, "nominated", NULL);
	p->phase = json_is_true(json_object_get(j, "ended")) ? POD_SUCCEEDED : POD_RUNNING;
	p->meta.deleted_ns = json_is_true(json_object_get(j, "ending")) ? SECOND : 0;
	if (resource_list_parse(&p->arena, json_object_get(j, "requests"), &p->request, &err) < 0)
		cr_assert_fail("%s", err.text);
	resource_list_set(&p->arena, &p->request, "pods", 1);
	p->host_ports = arena_array(&p->arena, int32_t,
				    json_array_size(json_object_get(j, "hostPorts")) + 1);
	json_array_foreach (json_object_get(j, "hostPorts"), i, port)
		p->host_ports[p->n_host_ports++] = (int32_t)json_integer_value(port);
	return p;
}

/* --- clusters ----------------------------------------------------------------------------- */

struct queue *world_queue(const json_t *j)
{
	struct queue *q = xnew0(struct queue);
	struct error err;

	q->meta.name = arena_strdup(&q->arena, json_str_at(j, "name", NULL));
	q->open = !json_is_true(json_object_get(j, "closed"));
	q->has_capability = json_object_get(j, "capability") != NULL;
	if (resource_list_parse(&q->arena, json_object_get(j, "capability"), &q->capability, &err) <
	    0)
		cr_assert_fail("%s", err.text);
	return q;
}

/* Shapes of the `nodes` of a cluster: empty, or what `free` leaves of each. */
static struct shape *read_shapes(struct arena *a, const json_t *nodes, bool free_ones,
				 size_t *ret_n)
{
	struct shape *shapes = arena_array(a, struct shape, json_array_size(nodes) + 1);
	size_t i;
	json_t *n;

	json_array_foreach (nodes, i, n) {
		struct shape *s = &shapes[i];
		struct resource_list left = {0};
		struct error err;

		read_labels(a, n, &s->labels, &s->n_labels);
		s->taints = json_object_get(n, "taints");
		s->count = json_int_at(n, 1, "count", NULL);
		read_amounts(a, json_object_get(n, "allocatable"), &s->amounts);
		if (!free_ones)
			continue;
		if (resource_list_parse(a, json_object_get(n, "free"), &left, &err) < 0)
			cr_assert_fail("%s", err.text);
		for (size_t k = 0; k < left.n; k++)
			resource_list_set(a, &s->amounts, left.items[k].name, left.items[k].amount);
	}
	*ret_n = json_array_size(nodes);
	return shapes;
}

void world_add_cluster(struct fleet *f, const json_t *j)
{
	struct cluster c = {.tree = json_object()};
	const char *name = json_str_at(j, "name", NULL);
	const json_t *nodes = json_object_get(j, "nodes");
	bool reported = !json_is_false(json_object_get(j, "reported"));
	struct shape *shapes;
	size_t n;

	json_object_set_new(c.tree, "spec", json_object());
	json_object_set(json_object_get(c.tree, "spec"), "namespaces",
			json_object_get(j, "namespaces"));
	c.meta.name = name;
	read_labels(&c.arena, j, &c.meta.labels, &c.meta.n_labels);
	c.accepted = !json_is_false(json_object_get(j, "accepted"));
	c.ready = !json_is_false(json_object_get(j, "ready"));
	c.cordoned = json_is_true(json_object_get(j, "cordoned"));
	c.taints = json_object_get(j, "taints");
	c.reported = reported;
	c.capacity = read_shapes(&c.arena, nodes, false, &c.n_capacity);
	fleet_cluster_set(f, &c);
	shapes = read_shapes(&c.arena, nodes, true, &n);
	if (reported)
		cr_assert(fleet_report(f, name, json_int_at(j, 1, "seq", NULL), true, shapes, n));
	arena_finish(&c.arena);
	json_decref(c.tree);
}

void world_add_dataset(struct fleet *f, const json_t *j)
{
	auto_json *amounts = json_pack("{s:O}", "memory", json_object_get(j, "size"));
	json_t *replicas = json_object_get(j, "replicas"), *percent;
	struct resource_list size = {0};
	struct dataset d = {0};
	const char *key;
	struct error err;

	if (resource_list_parse(&d.arena, amounts, &size, &err) < 0)
		cr_assert_fail("%s", err.text);
	d.meta.name = json_str_at(j, "name", NULL);
	d.size_bytes = resource_list_get(&size, "memory");
	d.replicas = arena_array(&d.arena, struct dataset_replica, json_object_size(replicas) + 1);
	json_object_foreach (replicas, key, percent)
		d.replicas[d.n_replicas++] =
			(struct dataset_replica){key, json_integer_value(percent) * 10000};
	fleet_dataset_set(f, &d);
	arena_finish(&d.arena);
}

/* --- decisions ---------------------------------------------------------------------------- */

static json_t *placed_json(const struct fleet_decision *d)
{
	json_t *j = json_object(), *alternatives = json_object(), *others = json_object();

	json_set_str(j, "cluster", d->cluster);
	json_set_str(j, "why", d->why);
	for (size_t i = 0; i < d->n_choices; i++)
		json_set_int(alternatives, d->choices[i].task, d->choices[i].alternative);
	for (size_t i = 0; i < d->n_runners_up; i++)
		json_set_str(others, d->runners_up[i].cluster, d->runners_up[i].why);
	json_object_set_new(j, "alternatives", alternatives);
	json_object_set_new(j, "runnersUp", others);
	json_set_int(j, "generation", d->generation);
	return j;
}

json_t *world_decide(struct fleet *f, int64_t now_ns)
{
	struct fleet_decision d;
	json_t *all = json_object();

	fleet_session_begin(f, now_ns);
	while (fleet_session_next(f, &d))
		json_object_set_new(all, d.name,
				    d.wait == WAIT_NONE
					    ? placed_json(&d)
					    : json_pack("{s:s}", "waits", wait_code_name(d.wait)));
	fleet_session_end(f);
	return all;
}
