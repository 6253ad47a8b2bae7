/* What the client makes of peers that fail, and of callers that change their minds. */
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"
#include "outcome.h"
#include "rude.h"

#define OK_EMPTY "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define CHUNKED  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static struct http_client *plain_client(struct loop *loop, int port)
{
	auto_xfree char *url = xasprintf("http://127.0.0.1:%d", port);

	return http_client_create(loop, &(struct http_client_config){.base_url = url});
}

/* --- what a lost call may have done --- */

static void expect_end(const char *text, const char *end)
{
	size_t n = strlen(text), m = end ? strlen(end) : 0;

	cr_expect(!end || (n >= m && !strcmp(text + n - m, end)), "%s", text);
}

struct loss {
	const char *steps[2][4]; /* of two connections */
	struct http_call_spec spec;
	int status; /* 0: code counts */
	enum error_code code;
	unsigned requests;
	const char *text; /* how the error ends; NULL: whatever */
};

static const struct loss losses[] = {
	{{{RUDE_CUT}}, {.method = "POST"}, 0, ERR_UNKNOWN_OUTCOME, 1, ": the connection broke off"},
	{{{RUDE_CUT}}, {.method = "GET"}, 0, ERR_UNKNOWN_OUTCOME, 1},
	{{{RUDE_CUT}}, {.stream = true}, 0, ERR_UNKNOWN_OUTCOME, 1},
	{{{RUDE_REFUSE}}, {.method = "POST"}, 0, ERR_UNKNOWN_OUTCOME, 0},
	{{{RUDE_HUSH}},
	 {.method = "POST", .timeout_ms = 50},
	 0,
	 ERR_TIMEOUT,
	 1,
	 ": no answer within 50 ms"},
	{{{RUDE_HUSH}},
	 {.method = "GET", .timeout_ms = 1000},
	 0,
	 ERR_TIMEOUT,
	 1,
	 ": no answer within 1 s"},
	{{{RUDE_HUSH}}, {.stream = true, .timeout_ms = 50}, 0, ERR_TIMEOUT, 1},
	{{{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", RUDE_CLOSE}},
	 {.method = "GET"},
	 0,
	 ERR_UNKNOWN_OUTCOME,
	 1,
	 ": the connection broke off"},
	{{{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"}},
	 {.method = "PUT", .timeout_ms = 50},
	 0,
	 ERR_TIMEOUT,
	 1},
	{{{CHUNKED "5\r\nabc", RUDE_CLOSE}},
	 {.stream = true},
	 0,
	 ERR_UNKNOWN_OUTCOME,
	 1,
	 ": the connection broke off"},
	{{{CHUNKED "5\r\nabcde\r\n", RUDE_CLOSE}}, {.stream = true}, 0, ERR_UNKNOWN_OUTCOME, 1},
	{{{CHUNKED "5\r\nabcde\r\n"}}, {.stream = true, .timeout_ms = 50}, 0, ERR_TIMEOUT, 1},
	{{{CHUNKED "5\r\nabcde\r\n0\r\n\r\n"}}, {.stream = true}, 200, 0, 1},
	{{{"HTTP/1.1 200 OK\r\n\r\nuntil the end", RUDE_CLOSE}}, {.method = "GET"}, 200, 0, 1},
	{{{"HTTP/1.1 100 Continue\r\n\r\n" OK_EMPTY}}, {.stream = true}, 200, 0, 1},
	{{{"gibberish\r\n\r\n", RUDE_CLOSE}},
	 {.method = "POST"},
	 0,
	 ERR_UNKNOWN_OUTCOME,
	 1,
	 ": what came back is not HTTP"},
};

static void expect_loss(const struct loss *l, const struct http_answer *a)
{
	cr_expect_eq(a->status, l->status, "%td", l - losses);
	if (l->status)
		return;
	cr_expect_eq(a->err.code, l->code, "%td: %s", l - losses, a->err.text);
	cr_expect(strstr(a->err.text, "http://127.0.0.1:"));
	expect_end(a->err.text, l->text);
}

Test(http_client_faults, tells_what_may_have_happened)
{
	for (size_t i = 0; i < ARRAY_LEN(losses); i++) {
		struct loop *loop = loop_create();
		struct outcome o = {0};
		struct http_client *c;
		struct rude r;

		rude_init(&r, losses[i].steps, 1);
		c = plain_client(loop, r.port);
		outcome_call(loop, c, losses[i].spec, &o);
		expect_loss(&losses[i], &o.answer);
		http_client_destroy(c);
		loop_run(loop);
		loop_destroy(loop);
		rude_finish(&r);
		cr_expect_eq(r.n_requests, losses[i].requests, "%zu", i);
		outcome_finish(&o);
	}
}

/* libcurl sends a request again when a connection that it reused dies. */
Test(http_client_faults, never_sends_a_write_twice)
{
	static const struct {
		struct http_call_spec spec;
		bool again;
	} cases[] = {
		{{.method = "POST", .body = "x", .body_size = 1}, false},
		{{.method = "POST"}, false},
		{{.method = "PUT", .body = "x", .body_size = 1}, false},
		{{.method = "DELETE"}, false},
		{{.method = "GET"}, true},
	};
	static const char *const book[2][4] = {{OK_EMPTY, RUDE_CUT}, {OK_EMPTY}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct loop *loop = loop_create();
		struct outcome o = {0};
		struct http_client *c;
		struct rude r;

		rude_init(&r, book, 2);
		c = plain_client(loop, r.port);
		outcome_call(loop, c, (struct http_call_spec){.path = "/first"}, &o);
		cr_assert_eq(o.answer.status, 200);
		outcome_call(loop, c, cases[i].spec, &o);
		cr_expect_eq(o.answer.status, cases[i].again ? 200 : 0, "%zu", i);
		if (!cases[i].again)
			cr_expect_eq(o.answer.err.code, ERR_UNKNOWN_OUTCOME, "%s",
				     o.answer.err.text);
		http_client_destroy(c);
		loop_run(loop);
		loop_destroy(loop);
		rude_finish(&r);
		cr_expect_eq(r.n_requests, cases[i].again ? 3 : 2, "%zu: %u", i, r.n_requests);
		outcome_finish(&o);
	}
}

static int free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t n = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(fd, (struct sockaddr *)&address, sizeof(address));
	getsockname(fd, (struct sockaddr *)&address, &n);
	close(fd);
	return ntohs(address.sin_port);
}

static void expect_unreachable(struct loop *loop, const char *url, const char *ca_pem,
			       int64_t timeout_ms, const char *saying)
{
	struct http_client_config config = {.base_url = url, .ca_pem = ca_pem};
	struct http_client *c = http_client_create(loop, &config);
	struct outcome o = {0};

	for (int stream = 0; stream < 2; stream++) {
		struct http_call_spec spec = {.stream = stream, .timeout_ms = timeout_ms};

		outcome_call(loop, c, spec, &o);
		cr_expect_eq(o.answer.status, 0);
		cr_expect_eq(o.answer.err.code, ERR_UNREACHABLE, "%s: %s", url, o.answer.err.text);
		cr_expect_eq(o.heads, 0);
	}
	if (saying)
		cr_expect(strstr(o.answer.err.text, saying), "%s: %s", url, o.answer.err.text);
	outcome_finish(&o);
	http_client_destroy(c);
}

static void no_handler(struct exchange *x, void *arg)
{
	(void)x;
	(void)arg;
	cr_assert_fail("a request was sent");
}

Test(http_client_faults, says_when_nothing_was_sent)
{
	static const char *const hush[2][4] = {{RUDE_HUSH}, {RUDE_HUSH}};
	auto_xfree char *refused = xasprintf("http://127.0.0.1:%d", free_port());
	auto_xfree char *wrong_ca = NULL, *wrong_host = NULL, *no_greeting = NULL;
	struct pki_pair other;
	struct net net;
	struct rude r;

	net_init(&net, no_handler, NULL);
	cr_assert_eq(pki_make_ca("other", people_now_s() - 60, people_now_s() + 60, &other, NULL),
		     0);
	wrong_ca = xasprintf("https://localhost:%d", net.port);
	wrong_host = xasprintf("https://127.0.0.2:%d", net.port);
	expect_unreachable(net.loop, refused, NULL, 0, ": Connection refused");
	expect_unreachable(net.loop, wrong_ca, other.cert_pem, 0, NULL);
	expect_unreachable(net.loop, wrong_ca, NULL, 0, NULL);
	expect_unreachable(net.loop, wrong_host, net.people.ca.cert_pem, 0, NULL);
	expect_unreachable(net.loop, "http://no.such.host.invalid", NULL, 0, NULL);
	/* Its TCP says welcome, its TLS nothing. */
	rude_init(&r, hush, 2);
	no_greeting = xasprintf("https://127.0.0.1:%d", r.port);
	expect_unreachable(net.loop, no_greeting, net.people.ca.cert_pem, 50, NULL);
	net_finish(&net);
	rude_finish(&r);
	pki_pair_finish(&other);
}

static void stuff(struct exchange *x, void *arg)
{
	static const size_t n = 1 << 20;
	auto_xfree char *bytes = xcalloc(1, n);

	exchange_begin(x, 200, NULL);
	for (int i = 0; i < 65; i++)
		exchange_write(x, bytes, n);
	exchange_end(x);
}

Test(http_client_faults, refuses_an_answer_that_is_too_large)
{
	struct http_client_config config = {0};
	auto_xfree char *url = NULL;
	struct http_client *c;
	struct outcome o = {0};
	struct net net;

	net_init(&net, stuff, NULL);
	url = xasprintf("https://localhost:%d", net.port);
	config.base_url = url;
	config.insecure = true;
	c = http_client_create(net.loop, &config);
	outcome_call(net.loop, c, (struct http_call_spec){0}, &o);
	cr_expect_eq(o.answer.status, 0);
	cr_expect_eq(o.answer.err.code, ERR_TOO_LARGE, "%s", o.answer.err.text);
	outcome_call(net.loop, c, (struct http_call_spec){.stream = true}, &o);
	cr_expect_eq(o.answer.status, 200, "a stream may be longer");
	cr_expect_eq(o.data.size, 65 << 20);
	outcome_finish(&o);
	http_client_destroy(c);
	net_finish(&net);
}

/* --- callers that change their minds --- */

/* Each case does one thing to the call, or its client, from one of its callbacks. */
enum moment { ON_START, ON_HEAD, ON_DATA, ON_DRAIN, ON_DONE, ON_OTHER };
enum deed { CANCEL, CANCEL_OTHER, DESTROY, START };

struct fickle {
	struct outcome o; /* first: it is the callbacks' arg */
	enum moment moment;
	enum deed deed;
	struct http_client *client;
	struct http_call *call, *other;
	struct outcome other_outcome, new_outcome;
	unsigned before, done;
};

static void do_it(struct fickle *f, enum moment now)
{
	if (f->moment != now || f->done++)
		return;
	f->before = f->o.heads + f->o.pieces;
	if (f->deed == CANCEL)
		http_call_cancel(f->call);
	else if (f->deed == CANCEL_OTHER)
		http_call_cancel(f->other);
	else if (f->deed == DESTROY)
		http_client_destroy(f->client);
	else
		outcome_start(f->client, (struct http_call_spec){.path = "/new"}, &f->new_outcome);
}

static void fickle_head(struct http_call *call, int status, void *arg)
{
	struct fickle *f = arg;

	f->o.heads++;
	do_it(f, ON_HEAD);
}

static void fickle_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct fickle *f = arg;

	f->o.pieces++;
	do_it(f, ON_DATA);
}

static void fickle_drain(struct http_call *call, void *arg)
{
	struct fickle *f = arg;

	do_it(f, ON_DRAIN);
	if (f->done)
		return;
	http_call_send_end(call);
}

static void fickle_done(const struct http_answer *answer, void *arg)
{
	struct fickle *f = arg;

	f->o.dones++;
	do_it(f, ON_DONE);
}

static void serve_fickle(struct exchange *x, void *arg)
{
	exchange_begin(x, 200, NULL);
	exchange_write(x, "data", 4);
	if (strcmp(exchange_path(x), "/hold") != 0)
		exchange_end(x);
}

static void fickle_case(struct net *net, enum moment moment, enum deed deed)
{
	auto_xfree char *url = xasprintf("https://localhost:%d", net->port);
	struct http_client_config config = {.base_url = url, .insecure = true};
	struct fickle f = {.moment = moment, .deed = deed};
	struct http_call_spec spec = {.method = "POST",
				      .stream = true,
				      .upload = moment == ON_DRAIN,
				      .on_head = fickle_head,
				      .on_data = fickle_data,
				      .on_drain = fickle_drain,
				      .on_done = fickle_done};
	struct outcome last = {0};

	f.client = http_client_create(net->loop, &config);
	f.other = outcome_start(f.client, (struct http_call_spec){.path = "/hold", .stream = true},
				&f.other_outcome);
	f.call = outcome_start(f.client, spec, &f.o);
	if (moment == ON_DRAIN)
		http_call_send(f.call, "x", 1);
	do_it(&f, ON_START);
	/* Two round trips of another client give the rest its time. */
	struct http_client *witness = http_client_create(net->loop, &config);

	for (int i = 0; i < 2; i++)
		outcome_call(net->loop, witness, (struct http_call_spec){0}, &last);
	while (!f.done || (deed == START && !f.new_outcome.dones))
		outcome_call(net->loop, witness, (struct http_call_spec){0}, &last);
	if (deed == CANCEL || deed == DESTROY) {
		cr_expect_eq(f.o.heads + f.o.pieces, f.before, "called after the end");
		cr_expect_eq(f.o.dones, moment == ON_DONE);
	}
	if (deed != DESTROY)
		http_client_destroy(f.client);
	http_client_destroy(witness);
	cr_expect_eq(f.other_outcome.dones, 0);
	outcome_finish(&f.other_outcome);
	outcome_finish(&f.new_outcome);
	outcome_finish(&last);
}

Test(http_client_faults, lets_callers_do_anything_from_any_callback)
{
	static const struct {
		enum moment moment;
		enum deed deed;
	} cases[] = {
		{ON_START, CANCEL},       {ON_START, CANCEL_OTHER}, {ON_START, DESTROY},
		{ON_HEAD, CANCEL},        {ON_HEAD, CANCEL_OTHER},  {ON_HEAD, DESTROY},
		{ON_HEAD, START},         {ON_DATA, CANCEL},        {ON_DATA, CANCEL_OTHER},
		{ON_DATA, DESTROY},       {ON_DATA, START},         {ON_DRAIN, CANCEL},
		{ON_DRAIN, CANCEL_OTHER}, {ON_DRAIN, DESTROY},      {ON_DRAIN, START},
		{ON_DONE, CANCEL},        {ON_DONE, CANCEL_OTHER},  {ON_DONE, DESTROY},
		{ON_DONE, START},
	};
	struct net net;

	net_init(&net, serve_fickle, NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		fickle_case(&net, cases[i].moment, cases[i].deed);
	net_finish(&net);
}

static void hold(struct exchange *x, void *arg)
{
	(void)x;
	(void)arg;
}

/* Those that wait for a connection too. */
Test(http_client_faults, cancels_calls_before_they_have_begun)
{
	enum { CALLS = 10 };
	struct http_client_config config = {.insecure = true, .max_connections = 2};
	struct http_call *calls[CALLS];
	struct outcome o[CALLS] = {0};
	auto_xfree char *url = NULL;
	unsigned left = 1;
	struct net net;

	net_init(&net, hold, NULL);
	url = xasprintf("https://localhost:%d", net.port);
	config.base_url = url;
	struct http_client *c = http_client_create(net.loop, &config);

	for (int i = 0; i < CALLS; i++) {
		o[i].loop = net.loop;
		calls[i] = outcome_start(c, (struct http_call_spec){.timeout_ms = 500}, &o[i]);
	}
	for (int i = CALLS - 1; i > 2; i--)
		http_call_cancel(calls[i]);
	o[2].left = &left;
	loop_run(net.loop);
	cr_expect_eq(o[0].answer.err.code, ERR_TIMEOUT);
	cr_expect_eq(o[2].answer.err.code, ERR_UNREACHABLE, "it never had a connection");
	for (int i = 3; i < CALLS; i++)
		cr_expect_eq(o[i].dones, 0);
	for (int i = 0; i < CALLS; i++)
		outcome_finish(&o[i]);
	http_client_destroy(c);
	net_finish(&net);
}
