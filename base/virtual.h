/*
 * An environment of its own time: nothing happens but what falls due while it is moved on, and the
 * same seed gives the same run. For simulation and for tests; it is no part of a running daemon.
 */
#ifndef BASE_VIRTUAL_H
#define BASE_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "base/mem.h"

struct virtual_env;

/* wall_ns: the wall clock at the start; the boot-time clock starts at 0. */
struct virtual_env *virtual_env_create(uint64_t seed, int64_t wall_ns);
void virtual_env_destroy(struct virtual_env *v); /* asserts that no timer is started */
struct env *virtual_env_seam(struct virtual_env *v);

/* Moves both clocks, firing each timer at the instant it is due. */
void virtual_env_advance(struct virtual_env *v, int64_t ms);
/* Moves to the next timer and fires all that are due then; false when none is started. */
bool virtual_env_step(struct virtual_env *v);
/* A wall clock that was set: the boot-time clock and the timers do not see it. */
void virtual_env_shift_wall(struct virtual_env *v, int64_t ms);

DEFINE_CLEANUP(struct virtual_env, virtual_env_destroy)

#endif
