/*
 * Hash maps: uthash with a seeded XXH3, so that keys from outside cannot be chosen to collide.
 * Iteration (HASH_ITER) follows insertion order. Include this, never uthash.h itself.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "base/mem.h"

uint64_t map_seed(void); /* one per process; FEDERATOR_SEED fixes it */

#define HASH_FUNCTION(key, len, hashv)                                                             \
	((hashv) = (unsigned)XXH3_64bits_withSeed((key), (len), map_seed()))
#define uthash_malloc(size) xmalloc(size)
#include <uthash.h>

#endif
