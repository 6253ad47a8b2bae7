/* An etcd that wants TLS and a certificate. */
#include <time.h>

#include "tests/unit/store/bed.h"
#include "tests/unit/store/etcd_server.h"

static void make_ca(struct pki_pair *ca)
{
	struct error err;

	cr_assert_eq(pki_make_ca("test", time(NULL) - 60, time(NULL) + 3600, ca, &err), 0, "%s",
		     err.text);
}

static void make_client(const struct pki_pair *ca, struct pki_pair *client)
{
	static const char *const groups[] = {"federator", NULL};
	const struct pki_subject subject = {.user = "",
					    .groups = groups,
					    .not_before_s = time(NULL) - 60,
					    .not_after_s = time(NULL) + 3600,
					    .client = true};
	struct error err;

	cr_assert_eq(pki_issue(ca, &subject, client, &err), 0, "%s", err.text);
}

static void connect_as(struct bed *bed, const struct pki_pair *ca, const struct pki_pair *client)
{
	const struct store_etcd_config config = {.endpoints = etcd_server_url(bed->etcd),
						 .ca_pem = ca->cert_pem,
						 .cert_pem = client ? client->cert_pem : NULL,
						 .key_pem = client ? client->key_pem : NULL};

	store_destroy(bed->store);
	bed->store = store_etcd_create(bed->loop, &config, NULL);
}

static void assert_shut_out(struct bed *bed)
{
	const struct store_write w = write_of(STORE_PREFIX "a", "x");
	struct commit c;

	commit_now(bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
	cr_assert(c.outcome == STORE_FAILED && c.err.code == ERR_UNAVAILABLE, "%d: %s", c.outcome,
		  c.err.text);
}

Test(tls_etcd, serves_whom_it_knows)
{
	struct bed bed = {.loop = loop_create()};
	struct pki_pair ca, other, client;
	struct tape t;

	make_ca(&ca);
	make_ca(&other);
	make_client(&ca, &client);
	bed.etcd = etcd_server_start_tls(&ca);
	connect_as(&bed, &ca, &client);
	tape_start(&t, bed.store, STORE_PREFIX, 0);
	put_now(&bed, STORE_PREFIX "a", "1");
	tape_wait(&bed, &t, 1);
	assert_value(&bed, STORE_PREFIX "a", "1");
	tape_finish(&t);
	connect_as(&bed, &other, &client);
	assert_shut_out(&bed);
	pki_pair_finish(&ca);
	pki_pair_finish(&other);
	pki_pair_finish(&client);
	bed_finish(&bed);
}

/* With TLS 1.3 a server refuses only after the client believes that it is connected and has sent
 * its request, so the outcome cannot be known to be none. */
Test(tls_etcd, refuses_who_has_no_certificate)
{
	const struct store_write w = write_of(STORE_PREFIX "a", "x");
	struct bed bed = {.loop = loop_create()};
	struct pki_pair ca;
	struct commit c;
	struct page p;

	make_ca(&ca);
	bed.etcd = etcd_server_start_tls(&ca);
	connect_as(&bed, &ca, NULL);
	commit_now(&bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
	cr_assert(c.outcome == STORE_FAILED || c.outcome == STORE_UNKNOWN);
	range_now(&bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert(p.failed && p.err.code == ERR_UNAVAILABLE, "%s", p.err.text);
	page_finish(&p);
	pki_pair_finish(&ca);
	bed_finish(&bed);
}

Test(tls, certificates_that_are_none_are_refused_at_once)
{
	static const char url[] = "https://127.0.0.1:1";
	struct loop *loop = loop_create();
	struct pki_pair ca, client;
	struct error err;

	make_ca(&ca);
	make_client(&ca, &client);
	cr_assert_not(store_etcd_create(
		loop, &(struct store_etcd_config){.endpoints = url, .ca_pem = "rubbish"}, &err));
	cr_assert_str_eq(err.text, "etcd at https://127.0.0.1:1: authority: no certificate in it");
	cr_assert_not(store_etcd_create(loop,
					&(struct store_etcd_config){.endpoints = url,
								    .ca_pem = ca.cert_pem,
								    .cert_pem = client.cert_pem,
								    .key_pem = ca.key_pem},
					&err));
	cr_assert(strstr(err.text, "key"), "%s", err.text);
	pki_pair_finish(&ca);
	pki_pair_finish(&client);
	loop_destroy(loop);
}
