/*
 * Fault injection at the one commit point of the store and of the Kubernetes client.
 *
 * FEDERATOR_FAULT=exit-before:N | exit-after:N | lose-answer:N, where N counts the writes of this
 * process from 1. Inert when unset; a value that is none of these ends the process with status 2.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>

#define FAULT_EXIT_STATUS 86 /* no clean-up of any kind comes before it, as with SIGKILL */

/* Before a write leaves the process: counts it, and ends the process on exit-before:N. */
void fault_before_write(void);

/* When the answer of a write has come: ends the process on exit-after:N. True on lose-answer:N:
 * the caller must behave as if the line had been cut before the answer (ERR_UNKNOWN_OUTCOME).
 * N names the order of the answers here, the order of the writes above. */
bool fault_after_write(void);

#endif
