/*
 * Data sets: how many bytes a gang would read from afar in each cluster.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet_internal.h"
#include "scheduler/saturate.h"

#define MILLIONTHS 1000000

static void dataset_free(struct fleet *f, struct fleet_dataset *d)
{
	HASH_DEL(f->datasets, d);
	arena_finish(&d->arena);
	free(d->name);
	free(d);
}

const struct fleet_dataset *fleet_dataset_find(const struct fleet *f, const char *name)
{
	struct fleet_dataset *d;

	HASH_FIND_STR(f->datasets, name, d);
	return d;
}

void fleet_dataset_remove(struct fleet *f, const char *name)
{
	struct fleet_dataset *d;

	f->version++;
	HASH_FIND_STR(f->datasets, name, d);
	if (d)
		dataset_free(f, d);
}

void fleet_dataset_set(struct fleet *f, const struct dataset *from)
{
	struct fleet_dataset *d = xnew0(struct fleet_dataset);

	fleet_dataset_remove(f, from->meta.name);
	d->name = xstrdup(from->meta.name);
	d->size_bytes = from->size_bytes;
	d->replicas = arena_array(&d->arena, struct dataset_replica, from->n_replicas + 1);
	d->n_replicas = from->n_replicas;
	for (size_t i = 0; i < from->n_replicas; i++) {
		d->replicas[i] = from->replicas[i];
		d->replicas[i].cluster = arena_strdup(&d->arena, from->replicas[i].cluster);
	}
	HASH_ADD_KEYPTR(hh, f->datasets, d->name, strlen(d->name), d);
}

void fleet_datasets_finish(struct fleet *f)
{
	struct fleet_dataset *d, *next;

	HASH_ITER (hh, f->datasets, d, next)
		dataset_free(f, d);
}

/* size * (1 - completeness), rounded up. */
static int64_t missing(const struct fleet_dataset *d, const char *cluster)
{
	int64_t best = 0;

	for (size_t i = 0; i < d->n_replicas; i++)
		if (!strcmp(d->replicas[i].cluster, cluster) &&
		    d->replicas[i].completeness_millionths > best)
			best = d->replicas[i].completeness_millionths;
	if (best > MILLIONTHS)
		best = MILLIONTHS;
	return (int64_t)(((__int128)d->size_bytes * (MILLIONTHS - best) + MILLIONTHS - 1) /
			 MILLIONTHS);
}

int64_t fleet_bytes_missing(const struct fleet *f, const struct gang *g, const char *cluster)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->n_datasets; i++) {
		const struct fleet_dataset *d = fleet_dataset_find(f, g->datasets[i]);
		int64_t more = d ? missing(d, cluster) : 0;

		sum = saturating_add(sum, more);
	}
	return sum;
}
