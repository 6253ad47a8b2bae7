/*
 * Load for the benches: N clients, each one request at a time on a connection of its own, until M
 * requests were answered. Each client connects before the time is taken, as clients that stay do.
 * Prints one JSON line.
 *
 *	load hub URL KUBECONFIG CLIENTS COUNT PREFIX TEMPLATE    POST jobs, named PREFIX-<i>
 *	load raw URL -          CLIENTS COUNT PREFIX TEMPLATE    puts of the same bytes into etcd
 *
 * TEMPLATE is a file: a Job as JSON in which @NAME@ stands for its name.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/encode.h"
#include "base/http_client.h"
#include "base/mem.h"
#include "base/pki.h"
#include "kube/client.h"

struct load {
	struct loop *loop;
	struct http_client *client;
	bool raw;
	const char *prefix;
	char *template_;
	size_t clients, connected;
	size_t count, sent, done, failed;
	int64_t began_ns, began_cpu_us;
	char first_error[200];
};

static int64_t cpu_us(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000) +
	       used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static char *replace_name(const char *template_, const char *name)
{
	const char *at = strstr(template_, "@NAME@");
	struct strbuf out = {0};

	strbuf_add(&out, template_, (size_t)(at - template_));
	strbuf_adds(&out, name);
	strbuf_adds(&out, at + strlen("@NAME@"));
	return strbuf_take(&out);
}

static char *raw_body(const char *name, const char *job)
{
	auto_xfree char *key = xasprintf("/raw/%s", name);
	struct strbuf out = {0};

	strbuf_adds(&out, "{\"key\":\"");
	base64_encode(&out, key, strlen(key));
	strbuf_adds(&out, "\",\"value\":\"");
	base64_encode(&out, job, strlen(job));
	strbuf_adds(&out, "\"}");
	return strbuf_take(&out);
}

static void send_next(struct load *l);

static void note_failure(struct load *l, const struct http_answer *a)
{
	if (a->status != 200 && a->status != 201 && !l->failed++)
		snprintf(l->first_error, sizeof(l->first_error), "%d %.150s", a->status,
			 a->status ? a->body : a->err.text);
}

static void on_done(const struct http_answer *a, void *arg)
{
	struct load *l = arg;

	l->done++;
	note_failure(l, a);
	if (l->done == l->count)
		loop_stop(l->loop);
	else
		send_next(l);
}

static void send_next(struct load *l)
{
	auto_xfree char *name = NULL, *job = NULL, *body = NULL;
	struct http_call_spec spec = {
		.method = "POST", .content_type = "application/json", .on_done = on_done, .arg = l};

	if (l->sent == l->count)
		return;
	name = xasprintf("%s-%zu", l->prefix, l->sent++);
	job = replace_name(l->template_, name);
	if (l->raw)
		body = raw_body(name, job);
	spec.path =
		l->raw ? "/v3/kv/put" : "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
	spec.body = body ? body : job;
	spec.body_size = strlen(spec.body);
	http_call_start(l->client, &spec);
}

static void on_connected(const struct http_answer *a, void *arg)
{
	struct load *l = arg;

	note_failure(l, a);
	if (++l->connected < l->clients)
		return;
	l->began_ns = env_mono_ns(loop_env(l->loop));
	l->began_cpu_us = cpu_us();
	for (size_t i = 0; i < l->clients; i++)
		send_next(l);
}

static void connect_all(struct load *l)
{
	const struct http_call_spec spec = {.method = "GET",
					    .path = l->raw ? "/health" : "/readyz",
					    .on_done = on_connected,
					    .arg = l};

	for (size_t i = 0; i < l->clients; i++)
		http_call_start(l->client, &spec);
}

static int open_client(struct load *l, const char *url, const char *kubeconfig, struct error *err)
{
	struct http_client_config config = {.base_url = url, .max_connections = (int)l->clients};
	struct kube_config kube = {0};

	if (!l->raw && kube_config_read(kubeconfig, NULL, &kube, err))
		return -1;
	config.ca_pem = kube.ca_pem;
	config.cert_pem = kube.cert_pem;
	config.key_pem = kube.key_pem;
	l->client = http_client_create(l->loop, &config);
	kube_config_finish(&kube);
	return 0;
}

int main(int argc, char **argv)
{
	struct load l = {0};
	struct error err;
	size_t n;

	if (argc != 8) {
		fprintf(stderr, "usage: see the head of load.c\n");
		return 2;
	}
	l.loop = loop_create();
	l.raw = !strcmp(argv[1], "raw");
	l.clients = (size_t)strtol(argv[4], NULL, 10);
	l.count = (size_t)strtol(argv[5], NULL, 10);
	l.prefix = argv[6];
	if (file_read(argv[7], &l.template_, &n, &err) || open_client(&l, argv[2], argv[3], &err)) {
		fprintf(stderr, "load: %s\n", err.text);
		return 1;
	}
	connect_all(&l);
	loop_run(l.loop);
	printf("{\"seconds\": %.6f, \"cpu_us\": %lld, \"failed\": %zu}\n",
	       (double)(env_mono_ns(loop_env(l.loop)) - l.began_ns) / 1e9,
	       (long long)(cpu_us() - l.began_cpu_us), l.failed);
	if (l.failed)
		fprintf(stderr, "load: %s\n", l.first_error);
	free(l.template_);
	return l.failed != 0;
}
