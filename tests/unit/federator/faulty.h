/* A store whose commits of offers can be made to go wrong, and that notes what is asked of it. */
#ifndef TESTS_UNIT_FEDERATOR_FAULTY_H
#define TESTS_UNIT_FEDERATOR_FAULTY_H

#include <criterion/criterion.h>

#include "base/list.h"
#include "base/strbuf.h"
#include "store/store.h"

/* What happens to an offer, which is a commit that writes a Placement. */
enum fate {
	FATE_COMMIT,
	FATE_HOLD,         /* until bed_release() */
	FATE_LOSE,         /* not done; the outcome is not known */
	FATE_LOSE_OUTCOME, /* done; the outcome is not known */
	FATE_FAIL,         /* not done, at once */
};

struct store *faulty_create(struct store *take_real, struct env *env);
void faulty_destroy(struct store *store);
struct store *faulty_real(struct store *store); /* commits there always happen */

void faulty_set_fate(struct store *store, enum fate fate);
void faulty_release(struct store *store);
int faulty_offers(const struct store *store);
void faulty_break(struct store *store, const char *part_of_key);

/* What was asked of the store since the last call, about Jobs, Placements and terms: a line for
 * each transaction, "L Job record Placement=0 -> record Placement -term": what it compares (L: who
 * leads; =0: absence), then what it writes (-: deletes), each in alphabetical order. */
void faulty_trace(struct store *store, struct strbuf *ret);

#endif
