/*
 * A server that the input plays, on virtual time: each request of a kube client is answered by the
 * next message. A message ends with a NUL; its first byte says what it is:
 *
 *	d         a piece of a stream that goes on
 *	0 to 7    an answer; its status is in the table of wire.c, that of 0 is none: it was lost
 */
#ifndef TESTS_FUZZ_WIRE_H
#define TESTS_FUZZ_WIRE_H

#include <stdint.h>

#include "base/virtual.h"
#include "kube/client.h"

struct wire;

struct wire *wire_create(const uint8_t *bytes, size_t n); /* bytes are borrowed */
void wire_destroy(struct wire *w);                        /* its clients first */
struct kube *wire_connect(struct wire *w);                /* the caller's */
struct env *wire_env(struct wire *w);
/* Gives the next message to the oldest request, and lets a second go by. False: there is none. */
bool wire_step(struct wire *w);

#endif
