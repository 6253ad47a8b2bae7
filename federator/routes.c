#include "federator/routes.h"

#include <string.h>

#include "base/json.h"
#include "federator/controllers.h"
#include "federator/placer.h"

/* True when the request was answered here: this replica does not lead. */
static bool sent_to_leader(struct hub *hub, struct server_request *r)
{
	const char *leader = election_leader(hub->election);
	auto_xfree char *location = NULL;
	struct error err;

	if (controllers_lead_now(hub->controllers))
		return false;
	if (!leader || !strcmp(leader, hub->url)) {
		error_set(&err, ERR_UNAVAILABLE, "no federator leads just now; try again");
		server_respond_error(r, &err, NULL);
		return true;
	}
	location = xasprintf("%s%s", leader, exchange_target(r->x));
	exchange_add_header(r->x, "Location", location);
	exchange_respond(r->x, 307, "text/plain", "", 0);
	return true;
}

static void capacity_body(struct server_request *r, json_t *body, void *arg)
{
	struct hub *hub = arg;
	auto_json *answer = NULL;
	struct error err;

	if (placer_report(hub->placer, r->name, body, &err)) {
		server_respond_error(r, &err, NULL);
		return;
	}
	answer = json_pack("{sI}", "seq", (json_int_t)json_int_at(body, 0, "seq", NULL));
	server_respond(r, 200, answer);
}

void route_capacity(struct server_request *r, void *arg)
{
	struct hub *hub = arg;

	if (!sent_to_leader(hub, r) && !hub_check_term(hub, r))
		server_read_body(r, capacity_body, hub);
}

/* ?utcOffset=3600: seconds that the reader's clock is ahead of UTC, at most a day. */
static int32_t utc_offset(const struct server_request *r)
{
	const char *text = exchange_query(r->x, "utcOffset");
	long offset = text ? strtol(text, NULL, 10) : 0;

	return labs(offset) <= 86400 ? (int32_t)offset : 0;
}

void route_explain(struct server_request *r, void *arg)
{
	struct hub *hub = arg;
	auto_json *job = NULL, *answer = NULL;
	struct error err;

	if (sent_to_leader(hub, r))
		return;
	job = hub_tree(hub, r->kind, r->ns, r->name);
	answer = job ? placer_explain(hub->placer, job, utc_offset(r)) : NULL;
	if (answer) {
		server_respond(r, 200, answer);
		return;
	}
	error_set(&err, ERR_NOT_FOUND,
		  job ? "nothing is known of job \"%s\" yet"
		      : "jobs.batch.volcano.sh \"%s\" not found",
		  r->name);
	server_respond_error(r, &err, NULL);
}
