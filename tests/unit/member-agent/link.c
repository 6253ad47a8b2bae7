/* What the link asks of the hub. */
#include "member-agent/link.h"

#include <criterion/criterion.h>

#include "base/json.h"
#include "process.h"

static void on_job(struct doc *job, const struct error *err, void *arg)
{
}

static void on_object(const json_t *object, const struct error *err, void *arg)
{
	snprintf(arg, 20, "%s", json_str_at(object, "kind", NULL));
}

static void on_up(struct agent *a)
{
}

/* A replica that lags would show what the Job refers to as it was, or not at all. */
Test(link, reads_nothing_older_than_the_placement)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct link *l = link_create(&p->agent, on_up);
	struct owner *o = link_owner(l);
	char name[] = "j", ns[] = "x", kind[20] = "";
	struct placement placement = {.job_name = name, .job_ns = ns, .meta = {.version = 77}};

	o->ops->read_job(o, &placement, on_job, NULL);
	cr_expect_str_eq(peer_request(p->hub),
			 "GET /apis/batch.volcano.sh/v1alpha1/namespaces/x/jobs/j"
			 "?resourceVersion=77&resourceVersionMatch=NotOlderThan");
	peer_answer(p->hub, 404, "{}");
	o->ops->read_object(o, &placement, "/api/v1/namespaces/x/secrets/y", on_object, kind);
	cr_expect_str_eq(peer_request(p->hub),
			 "GET /api/v1/namespaces/x/secrets/y"
			 "?resourceVersion=77&resourceVersionMatch=NotOlderThan");
	cr_expect(peer_has_header(p->hub, "Federator-Job: j"));
	peer_answer(p->hub, 200, "{\"kind\":\"Secret\"}");
	cr_expect_str_eq(kind, "Secret");
	link_destroy(l);
}
