/*
 * A real etcd on loopback for one test: /usr/bin/etcd, or what FEDERATOR_ETCD names. It dies with
 * the test's process, however that ends.
 */
#ifndef TESTS_STORE_ETCD_SERVER_H
#define TESTS_STORE_ETCD_SERVER_H

#include <sys/types.h>

#include "base/pki.h"

struct etcd_server;

struct etcd_server *etcd_server_start(void); /* returns when it answers */
/* With TLS, for clients whose certificate is of that CA. */
struct etcd_server *etcd_server_start_tls(const struct pki_pair *ca);
void etcd_server_stop(struct etcd_server *e); /* NULL is fine; its data goes too */
const char *etcd_server_url(const struct etcd_server *e);
pid_t etcd_server_pid(const struct etcd_server *e);
void etcd_server_kill(struct etcd_server *e);    /* SIGKILL; the data stays */
void etcd_server_restart(struct etcd_server *e); /* on the same port and data; does not wait */
void etcd_server_wait(struct etcd_server *e);    /* until it answers */
void etcd_server_wipe(struct etcd_server *e);    /* killed before: forgets its data */

/* A write of another program, as etcdctl's: outside the store's keys, too. */
void etcd_server_put(struct etcd_server *e, const char *key, const char *value);

#endif
