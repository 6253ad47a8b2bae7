/* One answer to one question: how does this job stand. Reads, prints, ends. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "member-agent/standalone_internal.h"

static struct local_job *find_named(const struct standalone *s)
{
	struct local_job *j, *tmp;

	HASH_ITER (hh, s->by_uid, j, tmp)
		if (j->doc && !strcmp(j->ns, s->explain_ns) && !strcmp(j->name, s->explain_name))
			return j;
	return NULL;
}

static void add_attempt(const json_t *attempt, struct strbuf *out)
{
	static const char *const keys[] = {"how", "nodes", "reason", "message"};

	strbuf_addf(out, "Attempt %lld", (long long)json_int_at(attempt, 0, "generation", NULL));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *text = json_str_at(attempt, keys[i], NULL);

		if (text)
			strbuf_addf(out, "  %s", text);
	}
	strbuf_addc(out, '\n');
}

/* It does not wait: where it is, and what became of its attempts. */
static void add_history(const json_t *job, struct strbuf *out)
{
	const char *phase = json_str_at(job, "status", "state", "phase", NULL);
	const char *message = json_str_at(job, "status", "state", "message", NULL);
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL), *a;
	size_t i;

	strbuf_addf(out, "%s is %s%s%s\n", json_str_at(job, "metadata", "name", NULL),
		    phase ? phase : "not begun", message ? ": " : "", message ? message : "");
	json_array_foreach (attempts, i, a)
		add_attempt(a, out);
}

/* A reason that the scheduling core does not know: the Job itself, or the cluster's own rules. */
static void add_pending(const json_t *job, struct strbuf *out)
{
	const json_t *pending = json_at(job, "status", "pending", NULL);
	const char *code = json_str_at(pending, "code", NULL);
	const char *detail = json_str_at(pending, "detail", NULL);

	if (code)
		strbuf_addf(out, "\n%s  %s\n", code, detail ? detail : "");
}

static void add_job(struct local_job *j, struct strbuf *out)
{
	struct standalone *s = j->alone;
	auto_json *stored = json_parse_foreign(j->doc->bytes, j->doc->size, NULL);
	auto_free(explain_destroy) struct explain *e = NULL;

	if (j->state != LOCAL_WAITING) {
		add_history(j->tree ? j->tree : stored, out);
		add_pending(j->tree ? j->tree : stored, out);
		return;
	}
	e = site_explain(standalone_site(s), j->gang);
	explain_text(e, env_wall_ns(s->agent->env), 0, out);
	if (e->code == WAIT_NONE)
		add_pending(stored, out);
}

void standalone_explain(struct standalone *s)
{
	struct local_job *j = find_named(s);
	auto_strbuf text = {0};

	if (!j) {
		strbuf_addf(&text, "there is no job \"%s\" in namespace \"%s\"", s->explain_name,
			    s->explain_ns);
		agent_stop(s->agent, 1, strbuf_str(&text));
		return;
	}
	add_job(j, &text);
	fputs(strbuf_str(&text), stdout);
	agent_stop(s->agent, 0, "explained");
}
