/* A store in front of another that counts, delays, fails and ends what passes through it. */
#ifndef TESTS_STORE_PROXY_H
#define TESTS_STORE_PROXY_H

#include "store/store.h"

struct proxy;

struct proxy *proxy_create(struct store *inner); /* does not own it */
void proxy_destroy(struct proxy *p);
struct store *proxy_store(struct proxy *p);
int proxy_ranges(const struct proxy *p);               /* asked so far */
void proxy_hold_ranges(struct proxy *p, bool held);    /* keeps them until called with false */
void proxy_break_ranges(struct proxy *p, bool broken); /* asks for a revision that is not there */
void proxy_expire_watches(struct proxy *p);            /* ends them with EXPIRED */

#endif
