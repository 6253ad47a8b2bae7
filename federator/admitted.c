#include "federator/admitted.h"

#include <string.h>

#include "base/map.h"

/* Far more than can wait between their admission and their event; some never come that far. */
#define KEPT 1024

struct entry {
	UT_hash_handle hh;
	struct job *job;
};

struct admitted {
	struct entry *entries; /* by uid, oldest first */
};

struct admitted *admitted_create(void)
{
	return xnew0(struct admitted);
}

static struct job *take(struct admitted *a, struct entry *e)
{
	struct job *job = e->job;

	HASH_DEL(a->entries, e);
	free(e);
	return job;
}

void admitted_destroy(struct admitted *a)
{
	if (!a)
		return;
	while (a->entries)
		job_destroy(take(a, a->entries));
	free(a);
}

void admitted_add(struct admitted *a, struct job *take_job)
{
	struct entry *e = xnew0(struct entry);

	if (HASH_COUNT(a->entries) == KEPT)
		job_destroy(take(a, a->entries));
	e->job = take_job;
	HASH_ADD_KEYPTR(hh, a->entries, e->job->meta.uid, strlen(e->job->meta.uid), e);
}

struct job *admitted_take(struct admitted *a, const struct doc *doc, const char *uid)
{
	struct entry *e;
	struct job *job;

	HASH_FIND(hh, a->entries, uid, strlen(uid), e);
	if (!e || doc->revision != doc->create_revision || doc->status_revision)
		return NULL;
	job = take(a, e);
	job->meta.created_revision = doc->create_revision;
	return job;
}
