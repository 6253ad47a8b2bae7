/*
 * Load for the benches: N clients, each one request at a time on a connection of its own, until M
 * requests were answered. Prints one JSON line.
 *
 *	load hub URL KUBECONFIG CLIENTS COUNT PREFIX TEMPLATE    POST jobs, named PREFIX-<i>
 *	load raw URL -          CLIENTS COUNT PREFIX TEMPLATE    puts of the same bytes into etcd
 *
 * TEMPLATE is a file: a Job as JSON in which @NAME@ stands for its name.
 */
#include <stdio.h>
#include <string.h>

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
	size_t count, sent, done, failed;
	char first_error[200];
};

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

static void on_done(const struct http_answer *a, void *arg)
{
	struct load *l = arg;

	l->done++;
	if (a->status != 200 && a->status != 201 && !l->failed++)
		snprintf(l->first_error, sizeof(l->first_error), "%d %.150s", a->status,
			 a->status ? a->body : a->err.text);
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

static int open_client(struct load *l, const char *url, const char *kubeconfig, int clients,
		       struct error *err)
{
	struct http_client_config config = {.base_url = url, .max_connections = clients};
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
	int64_t began;
	long clients;
	size_t n;

	if (argc != 8) {
		fprintf(stderr, "usage: see the head of load.c\n");
		return 2;
	}
	l.loop = loop_create();
	l.raw = !strcmp(argv[1], "raw");
	clients = strtol(argv[4], NULL, 10);
	l.count = (size_t)strtol(argv[5], NULL, 10);
	l.prefix = argv[6];
	if (file_read(argv[7], &l.template_, &n, &err) ||
	    open_client(&l, argv[2], argv[3], (int)clients, &err)) {
		fprintf(stderr, "load: %s\n", err.text);
		return 1;
	}
	began = env_mono_ns(loop_env(l.loop));
	for (long i = 0; i < clients; i++)
		send_next(&l);
	loop_run(l.loop);
	printf("{\"seconds\": %.6f, \"failed\": %zu, \"error\": \"%s\"}\n",
	       (double)(env_mono_ns(loop_env(l.loop)) - began) / 1e9, l.failed,
	       l.failed ? "see stderr" : "");
	if (l.failed)
		fprintf(stderr, "load: %s\n", l.first_error);
	free(l.template_);
	return l.failed != 0;
}
