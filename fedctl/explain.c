/* explain: why a job waits, or where it ran and why. The federator answers; this prints. */
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/output.h"
#include "fedctl/session.h"
#include "fedctl/targets.h"

/* Seconds that this machine's clock shows ahead of UTC. */
static long utc_offset(void)
{
	time_t now = time(NULL);
	struct tm local;

	return localtime_r(&now, &local) ? local.tm_gmtoff : 0;
}

static int explain(struct session *s, const char *name, struct error *err)
{
	const struct kind *jobs = kind_find_typed("jobs");
	enum output form = output_parse(given_text(s->inv, "output"));
	auto_json *answer = NULL, *job = NULL;
	auto_strbuf path = {0}, out = {0};
	const char *text;

	if (session_get(s, jobs, s->ns, name, &job, err))
		return -1;
	object_path(jobs, s->ns, name, &path);
	strbuf_addf(&path, "/explain?utcOffset=%ld", utc_offset());
	if (session_call(s, &(struct call){.path = path.bytes}, &answer, err))
		return -1;
	text = json_str_at(answer, "text", NULL);
	if (form != OUTPUT_TABLE)
		object_write(answer, form, jobs, &out);
	else
		strbuf_adds(&out, text ? text : "");
	if (out.size && out.bytes[out.size - 1] != '\n')
		strbuf_addc(&out, '\n');
	print_out(strbuf_str(&out), out.size);
	return 0;
}

int run_explain(struct session *s)
{
	struct targets t;
	struct error err;
	int rc;

	if (targets_parse_of(kind_find_typed("jobs"), s->inv->args, 1, &t, &err))
		return usage_fail(&err);
	rc = explain(s, t.items[0].name, &err) ? session_fail(s, &err) : EXIT_DONE;
	targets_finish(&t);
	return rc;
}
