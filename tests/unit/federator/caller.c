#include "caller.h"

#include <string.h>

#include "base/json.h"
#include "base/pki.h"
#include "base/yaml.h"
#include "kube/client.h"

struct caller {
	struct bed *bed;
	struct kube *kube;
	struct pki_pair pair;
	bool answered;
	int status;
	json_t *body;
	struct strbuf warnings;
};

struct caller *caller_create(struct bed *b, const char *user, const char *group)
{
	struct caller *c = xnew0(struct caller);
	struct hub *hub = bed_hub(b);
	const char *groups[] = {group, NULL};
	const int64_t now = env_wall_ns(hub->env) / 1000000000;
	const struct pki_subject subject = {.user = user,
					    .groups = groups,
					    .not_before_s = now - 60,
					    .not_after_s = now + 3600,
					    .client = true};
	auto_xfree char *url = xasprintf("https://127.0.0.1:%d", server_port(hub->server));

	c->bed = b;
	cr_assert_eq(pki_issue(&hub->state.ca, &subject, &c->pair, NULL), 0);
	c->kube = kube_create(hub->loop, &(struct kube_config){.server = url,
							       .ca_pem = hub->state.ca.cert_pem,
							       .cert_pem = c->pair.cert_pem,
							       .key_pem = c->pair.key_pem});
	return c;
}

void caller_destroy(struct caller *c)
{
	kube_destroy(c->kube);
	pki_pair_finish(&c->pair);
	json_decref(c->body);
	strbuf_finish(&c->warnings);
	free(c);
}

void caller_set_term(struct caller *c, const char *term)
{
	kube_set_header(c->kube, "Federator-Term", term);
}

static void on_answer(const struct kube_answer *a, void *arg)
{
	struct caller *c = arg;

	c->answered = true;
	c->status = a->status;
	json_decref(c->body);
	c->body = json_parse(a->body, a->size, NULL, NULL);
	strbuf_clear(&c->warnings);
	for (size_t i = 0; a->warnings && a->warnings[i]; i++)
		strbuf_addf(&c->warnings, "%s\n", a->warnings[i]);
}

static const char *content_type(const char *method, const json_t *body)
{
	if (strcmp(method, "PATCH"))
		return NULL;
	return json_is_array(body) ? "application/json-patch+json" : "application/merge-patch+json";
}

int caller_call(struct caller *c, const char *method, const char *path, const char *body)
{
	auto_json *docs = NULL;
	auto_xfree char *text = NULL;
	struct error err;

	if (body) {
		cr_assert_eq(yaml_parse_all(body, strlen(body), &docs, &err), 0, "%s: %s", body,
			     err.text);
		text = json_print(json_array_get(docs, 0));
	}
	c->answered = false;
	kube_send(c->kube, &(struct kube_request){
				   .method = method,
				   .path = path,
				   .body = text,
				   .content_type = content_type(method, json_array_get(docs, 0)),
				   .done = on_answer,
				   .arg = c});
	while (!c->answered)
		bed_sleep(c->bed, 1);
	return c->status;
}

const char *caller_warnings(const struct caller *c)
{
	return strbuf_str(&c->warnings);
}

const json_t *caller_body(const struct caller *c)
{
	return c->body;
}
