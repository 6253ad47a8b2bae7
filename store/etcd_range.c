/* Ranges: by pages, so that no answer grows past what the client takes. */
#include "store/etcd.h"

#define PAGE 500
/* With this much read, a caller with a limit gets fewer items and is told that there are more. */
#define ENOUGH_BYTES (16u * 1024 * 1024)

struct range {
	struct etcd_request request;
	char *prefix, *after;
	size_t limit; /* 0: none */
	size_t page;  /* items asked for at once; halved when the answer was too large */
	int64_t revision, asked;
	void (*done)(const struct store_item *items, size_t n, bool more, int64_t revision,
		     const struct error *err, void *arg);
	struct arena arena;
	struct store_item *items;
	size_t n, cap, bytes;
};

static void range_send(struct range *r);

static void range_destroy(struct etcd_request *request)
{
	struct range *r = container_of(request, struct range, request);

	arena_finish(&r->arena);
	free(r->items);
	free(r->prefix);
	free(r->after);
	free(r);
}

static void range_fail(struct range *r, const struct error *err)
{
	struct error unavailable;

	/* nothing was to be changed, so the outcome is known: there is none */
	if (err->code == ERR_UNKNOWN_OUTCOME) {
		error_set(&unavailable, ERR_UNAVAILABLE, "%s", err->text);
		err = &unavailable;
	}
	etcd_request_answered(&r->request);
	r->done(NULL, 0, false, 0, err, r->request.arg);
	range_destroy(&r->request);
}

static void range_finish(struct range *r, bool more)
{
	etcd_request_answered(&r->request);
	r->done(r->items, r->n, more, r->revision, NULL, r->request.arg);
	range_destroy(&r->request);
}

static int range_add_items(struct range *r, const struct etcd_items *items, struct error *err)
{
	for (size_t i = 0; i < items->n; i++) {
		struct store_item *item;
		int64_t index;

		GROW(r->items, r->n, r->cap);
		item = &r->items[r->n];
		if (etcd_item_open(r->request.etcd->packer, &items->items[i], &r->arena, item,
				   &index, err))
			return -1;
		item->version = version_of(item->revision, index);
		r->bytes += item->size;
		r->n++;
	}
	return 0;
}

static void range_next_page(struct range *r)
{
	free(r->after);
	r->after = xstrdup(r->items[r->n - 1].key);
	range_send(r);
}

static void range_take(struct range *r, struct sv message)
{
	struct etcd_range_answer answer;
	struct error err;
	int bad;

	if (etcd_read_range(message, &answer, &err)) {
		range_fail(r, &err);
		return;
	}
	etcd_revision_told(r->request.etcd, answer.revision, r->asked);
	if (!r->revision)
		r->revision = answer.revision;
	bad = range_add_items(r, &answer.items, &err);
	free(answer.items.items);
	if (bad)
		range_fail(r, &err);
	else if (!answer.more || !answer.items.n)
		range_finish(r, false);
	else if (r->limit && (r->n >= r->limit || r->bytes >= ENOUGH_BYTES))
		range_finish(r, true);
	else
		range_next_page(r);
}

static void on_range(enum etcd_verdict verdict, struct sv message, const struct error *err,
		     void *arg)
{
	struct range *r = arg;

	r->request.call = NULL;
	if (verdict == ETCD_DONE) {
		range_take(r, message);
	} else if (err->code == ERR_TOO_LARGE && r->page > 1) {
		r->page /= 2;
		range_send(r);
	} else {
		range_fail(r, err);
	}
}

static void range_send(struct range *r)
{
	struct etcd *e = r->request.etcd;
	size_t limit = r->page;
	struct strbuf message = {0};

	if (r->limit && r->limit - r->n < limit)
		limit = r->limit - r->n;
	etcd_write_range(&message, r->prefix, r->after, limit, r->revision);
	r->asked = e->revision;
	r->request.call =
		etcd_call_start(e, &(struct etcd_call_spec){.method = "/etcdserverpb.KV/Range",
							    .message = &message,
							    .repeatable = true,
							    .done = on_range,
							    .arg = r});
}

void etcd_range(struct store *s, const char *prefix, const char *after, size_t limit,
		int64_t revision,
		void (*done)(const struct store_item *items, size_t n, bool more, int64_t revision,
			     const struct error *err, void *arg),
		void *arg)
{
	struct range *r = xnew0(struct range);

	r->prefix = xstrdup(prefix);
	r->after = after ? xstrdup(after) : NULL;
	r->limit = limit;
	r->page = PAGE;
	r->revision = revision;
	r->done = done;
	etcd_request_init(etcd_of(s), &r->request, arg, range_destroy);
	range_send(r);
}
