/* Writes of this process itself, through the same pipeline as everybody's. */
#include <string.h>

#include "server/write.h"

struct change {
	void (*done)(const json_t *object, const struct error *err, void *arg);
	void *arg;
};

static const enum write_op types[] = {
	[SERVER_CREATE] = WRITE_CREATE,
	[SERVER_UPDATE] = WRITE_PATCH,
	[SERVER_DELETE] = WRITE_DELETE,
};

static const struct server_kind *find_kind(const struct server *s, const struct kind *k)
{
	for (size_t i = 0; i < s->profile->n_kinds; i++)
		if (s->profile->kinds[i].kind == k)
			return &s->profile->kinds[i];
	return NULL;
}

static void change_done(struct write *w, const struct error *err)
{
	const struct change *c = w->arg;

	if (c->done)
		c->done(err ? NULL : w->pub.object, err, c->arg);
}

static void change_run(void *arg)
{
	write_run(arg);
}

void server_change(struct server *s, const struct server_change *change,
		   void (*done)(const json_t *object, const struct error *err, void *arg),
		   void *arg)
{
	const struct server_kind *sk = find_kind(s, change->kind);
	struct change *c;
	struct write *w;

	assert(sk);
	w = write_create(s, NULL, sk, types[change->op], change->ns, change->name,
			 change->body ? json_deep_copy(change->body) : NULL);
	c = arena_new(&w->arena, struct change);
	*c = (struct change){done, arg};
	w->pub.subresource = change->subresource ? "status" : "";
	w->patch_type = change->patch;
	w->del.uid = arena_strdup(&w->arena, change->uid);
	w->del.grace_s = change->grace_s;
	w->done = change_done;
	w->arg = c;
	loop_defer(s->loop, change_run, w);
}
