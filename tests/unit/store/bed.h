/*
 * What the tests of the store stand on: a loop, a store, calls that wait for their answer, and
 * tapes that record what a watch gives.
 */
#ifndef TESTS_STORE_BED_H
#define TESTS_STORE_BED_H

#include <criterion/criterion.h>

#include "base/mem.h"
#include "store/store.h"

struct etcd_server;

struct bed {
	struct loop *loop;
	struct store *store;
	struct etcd_server *etcd; /* NULL: memory */
	uint64_t seed;
};

enum backend { BACKEND_MEMORY, BACKEND_ETCD };

void bed_init(struct bed *bed, enum backend backend);
void bed_finish(struct bed *bed);
struct store *bed_another_store(struct bed *bed); /* etcd only; the caller destroys it */

/* Turns the loop until done(arg), and fails the test when that takes longer than 30 s. */
void bed_wait(struct bed *bed, bool (*done)(void *arg), void *arg);
void bed_wait_flag(struct bed *bed, const bool *flag);
void bed_sleep(struct bed *bed, int64_t ms); /* turns the loop for that time */

/* Seeded, the same on every run with FEDERATOR_TEST_SEED; bed_init() prints it. */
uint64_t bed_random(struct bed *bed, uint64_t below);

struct commit {
	bool done;
	enum store_outcome outcome;
	int64_t revision;
	size_t n_writes;
	int64_t versions[STORE_MAX_WRITES];
	struct error err;
};

void commit_start(struct bed *bed, struct commit *c, const struct store_txn *txn);
void commit_now(struct bed *bed, struct commit *c, const struct store_txn *txn);
void commits_wait(struct bed *bed, const struct commit *c, size_t n);
/* One write without a guard that must succeed; the version it got. value NULL: delete. */
int64_t put_now(struct bed *bed, const char *key, const char *value);
/* A write of a string, and guards. */
struct store_write write_of(const char *key, const char *value);
struct store_guard guard_mod(const char *key, int64_t revision);
struct store_guard guard_create(const char *key, int64_t revision);

struct record {
	bool deleted;
	char *key, *value; /* value NUL-terminated behind size bytes; NULL when deleted */
	size_t size;
	int64_t version, revision, create_revision;
};

struct records {
	struct record *items;
	size_t n, cap;
};

void records_add(struct records *r, const struct store_item *item, bool deleted);
void records_finish(struct records *r);

struct page {
	bool done, more, failed;
	int64_t revision;
	struct records records;
	struct error err;
};

void range_start(struct bed *bed, struct page *p, const char *prefix, const char *after,
		 size_t limit, int64_t revision);
void range_now(struct bed *bed, struct page *p, const char *prefix, const char *after, size_t limit,
	       int64_t revision);
void page_finish(struct page *p);
/* The value of a key, or NULL; the caller frees. */
char *get_now(struct bed *bed, const char *key);
void assert_value(struct bed *bed, const char *key, const char *expected); /* NULL: absent */
int64_t revision_now(struct bed *bed);
void compact_now(struct bed *bed, int64_t revision, int expected_code); /* -1: no error */

struct tape {
	struct records records;
	int64_t progress;
	bool ended;
	struct error err;
	struct store_watch *watch;
	struct store *store;
};

void tape_start(struct tape *t, struct store *s, const char *prefix, int64_t after_version);
void tape_wait(struct bed *bed, struct tape *t, size_t n); /* for that many records */
void tape_wait_version(struct bed *bed, struct tape *t, int64_t version);
void tape_wait_end(struct bed *bed, struct tape *t);
void tape_finish(struct tape *t);
bool same_records(const struct record *a, const struct record *b);
void assert_same_records(const struct record *a, const struct record *b, const char *what);

#endif
