/*
 * A server that the input plays, on virtual time: the requests of kube clients are answered by its
 * messages. A message ends with a NUL; its first byte says what it is:
 *
 *	0 to 7     an answer of the oldest request, of a stream when there is no other; its status
 *is in the table of wire.c, that of 0 is none: it was lost d          a piece of the oldest stream
 *	N, P, T    a piece of the watch of nodes, of pods, of placements (twins)
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
/* Delivers the next message, if anybody asks, and lets a second go by. False: there is none. */
bool wire_step(struct wire *w);
/* The kind of the next message is not one of the above: takes it. Else NULL; the caller frees. */
char *wire_take_other(struct wire *w);

#endif
