/*
 * A leading hub in this process, on a memory store whose commits of offers can be made to go
 * wrong. Everything happens while the test waits.
 */
#ifndef TESTS_UNIT_FEDERATOR_BED_H
#define TESTS_UNIT_FEDERATOR_BED_H

#include "faulty.h"
#include "federator/hub.h"

struct bed;

struct bed *bed_create(void); /* leads, with the queue "default"; no cluster has joined */
/* The same, but of an old view: what is stored comes into the cache after bed_show(). */
struct bed *bed_create_behind(void);
void bed_show(struct bed *b);
void bed_destroy(struct bed *b);
struct hub *bed_hub(struct bed *b);

void bed_fate(struct bed *b, enum fate fate); /* of all offers from now on */
void bed_release(struct bed *b);              /* those that are held; FATE_COMMIT from now on */
int bed_offers(const struct bed *b);          /* how many were committed or tried */

/* See faulty_trace(). */
void bed_trace(struct bed *b, struct strbuf *ret);

/* Commits that write a key with this in it fail; NULL: none. */
void bed_break(struct bed *b, const char *part_of_key);

/* Stores YAML as the object; a job's status apart when it has one. */
void bed_put(struct bed *b, const char *plural, const char *yaml);
void bed_put_in(struct bed *b, const char *plural, const char *ns, const char *yaml);
/* A cluster that is heard, with so many free nodes of four CPUs in report `seq`. */
void bed_cluster(struct bed *b, const char *name);
void bed_report(struct bed *b, const char *cluster, int64_t seq, int64_t nodes);

/* Turns the loop until the job's phase is so, or fails the test. */
void bed_wait_phase(struct bed *b, const char *job, const char *phase);
/* The same for a member of status.pending. */
void bed_wait_pending(struct bed *b, const char *job, const char *code);
/* The same for a part of its detail. */
void bed_wait_detail(struct bed *b, const char *job, const char *text);
void bed_sleep(struct bed *b, int64_t ms);
/* Another replica led for a moment; this one begins anew. */
void bed_lead_anew(struct bed *b);
json_t *bed_job(struct bed *b, const char *job);       /* the caller's */
json_t *bed_placement(struct bed *b, const char *job); /* of the present attempt; the caller's */
const char *bed_phase(struct bed *b, const char *job); /* of the record; "" when there is none */

#endif
