/* What etcd says, as it was seen to say it, and what it is asked: messages of its rpc.proto. */
#ifndef TESTS_STORE_MESSAGES_H
#define TESTS_STORE_MESSAGES_H

#include "base/scan.h"
#include "base/strbuf.h"

/* A key with its value, or an event that put it. */
struct said_key {
	const char *key;
	int64_t revision;
	const char *value; /* NULL: a deletion */
	int index;         /* in front of it, in its envelope */
	char format;       /* likewise */
};

#define SAID_KEYS 4

/* Of a watch. One of a revision alone is a progress note. */
struct said {
	int64_t revision;
	bool created, canceled, fragment;
	int64_t compact_revision;
	const char *reason;
	struct said_key events[SAID_KEYS]; /* up to one without a key */
};

void say_watch(struct strbuf *out, const struct said *m);
void say_range(struct strbuf *out, int64_t revision, bool more, const struct said_key *keys,
	       size_t n);
void say_txn(struct strbuf *out, int64_t revision, size_t puts); /* that has succeeded */

/* A field of a message: its number, its bytes; 0, none, when it is not there. */
int64_t message_number(struct sv message, unsigned field);
struct sv message_part(struct sv message, unsigned field);

#endif
