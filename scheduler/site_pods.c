/*
 * Pods and bookings of a site: who takes what on which node.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/site_internal.h"

/* "uid/task/index", in the buffer when it is large enough: this is on the way of every placement.
 */
struct key_text {
	char *text;
	char buffer[160];
};

static char *put(char *to, const char *from)
{
	size_t n = strlen(from);

	memcpy(to, from, n);
	return to + n;
}

static char *put_number(char *to, int32_t number)
{
	char digits[12];
	size_t n = 0;
	uint32_t v = (uint32_t)number;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digits[--n];
	return to;
}

static void key_text_init(struct key_text *k, const struct site_key *key)
{
	size_t need = strlen(key->uid) + strlen(key->task) + 16;
	char *to = k->text = need <= sizeof(k->buffer) ? k->buffer : xmalloc(need);

	to = put(to, key->uid);
	*to++ = '/';
	to = put(to, key->task);
	*to++ = '/';
	*put_number(to, key->index) = 0;
}

static void key_text_finish(struct key_text *k)
{
	if (k->text != k->buffer)
		free(k->text);
}

/* --- tenants ------------------------------------------------------------------------------ */

static void tenant_leave(struct site *s, struct tenant *t)
{
	struct site_node *n = t->node;

	list_remove(&t->on_node);
	t->node = NULL;
	site_touch(s, n);
	site_drop_if_unused(s, n);
}

/* The caller says whether n's groups must be settled for it. */
static void tenant_move(struct site *s, struct tenant *t, struct site_node *n)
{
	if (t->node == n)
		return;
	if (t->node)
		tenant_leave(s, t);
	t->node = n;
	list_push_back(&n->tenants, &t->on_node);
}

static void tenant_load(struct site *s, struct tenant *t, struct load *take_load)
{
	if (t->load == take_load) {
		load_unref(&s->model, take_load);
		return;
	}
	load_unref(&s->model, t->load);
	t->load = take_load;
	if (t->node)
		site_touch(s, t->node);
}

static struct tenant *tenant_need(struct tenant **all, const char *id)
{
	size_t n = strlen(id);
	struct tenant *t;
	unsigned hash;

	HASH_VALUE(id, n, hash);
	HASH_FIND_BYHASHVALUE(hh, *all, id, n, hash, t);
	if (t)
		return t;
	t = xcalloc(1, sizeof(*t) + n + 1);
	memcpy(t->id, id, n);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, *all, t->id, n, hash, t);
	return t;
}

static void tenant_destroy(struct site *s, struct tenant **all, struct tenant *t)
{
	HASH_DEL(*all, t);
	if (t->node)
		tenant_leave(s, t);
	load_unref(&s->model, t->load);
	free(t);
}

static bool tenant_remove(struct site *s, struct tenant **all, const char *id)
{
	struct tenant *t;

	HASH_FIND_STR(*all, id, t);
	if (t)
		tenant_destroy(s, all, t);
	return t != NULL;
}

void site_pods_finish(struct site *s)
{
	struct tenant *t, *next;

	HASH_ITER (hh, s->pods, t, next)
		tenant_destroy(s, &s->pods, t);
	HASH_ITER (hh, s->bookings, t, next)
		tenant_destroy(s, &s->bookings, t);
}

/* --- pods --------------------------------------------------------------------------------- */

static bool is_terminal(const struct pod *p)
{
	return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
}

void site_pod_set(struct site *s, const struct pod *p, const struct site_key *key)
{
	const char *node = p->node ? p->node : p->nominated_node;
	struct site_node *n;
	struct tenant *t;

	if (is_terminal(p) || !node) {
		tenant_remove(s, &s->pods, p->meta.uid);
		return;
	}
	t = tenant_need(&s->pods, p->meta.uid);
	tenant_load(s, t, load_intern(&s->model, &p->request, p->host_ports, p->n_host_ports));
	n = site_need_node(s, node);
	if (t->node != n)
		site_touch(s, n);
	tenant_move(s, t, n);
	if (key && p->node && !p->meta.deleted_ns)
		site_release(s, key);
}

void site_pod_remove(struct site *s, const char *pod_uid)
{
	tenant_remove(s, &s->pods, pod_uid);
}

/* --- bookings ----------------------------------------------------------------------------- */

void site_book_load(struct site *s, const struct site_key *key, struct site_node *n,
		    struct load *take_load)
{
	struct key_text id;
	struct tenant *t;

	key_text_init(&id, key);
	t = tenant_need(&s->bookings, id.text);
	key_text_finish(&id);
	tenant_load(s, t, take_load);
	tenant_move(s, t, n);
}

void site_book(struct site *s, const struct site_key *key, const char *node,
	       const struct resource_list *request, const int32_t *ports, size_t n_ports)
{
	struct site_node *n = site_need_node(s, node);

	site_book_load(s, key, n, load_intern(&s->model, request, ports, n_ports));
	site_touch(s, n);
}

bool site_release(struct site *s, const struct site_key *key)
{
	struct key_text id;
	bool was;

	key_text_init(&id, key);
	was = tenant_remove(s, &s->bookings, id.text);
	key_text_finish(&id);
	return was;
}

size_t site_release_gang(struct site *s, const char *uid)
{
	size_t n = 0, length = strlen(uid);
	struct tenant *t, *next;

	HASH_ITER (hh, s->bookings, t, next) {
		if (strncmp(t->id, uid, length) != 0 || t->id[length] != '/')
			continue;
		tenant_destroy(s, &s->bookings, t);
		n++;
	}
	return n;
}
