/*
 * The table of the start-up, on virtual time: what a runner says and asks for when it finds the
 * member and the owner in a given state. Lists are recorded answers; everything that would change
 * the member is noted and never answered.
 */
#include "member-agent/runner.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/virtual.h"

#define W_MS 30000

struct http_call {
	struct list_node node;
	struct http_call_spec spec;
	char *path;
	bool read;
};

struct stage {
	struct virtual_env *time;
	struct kube *member;
	struct list calls;
	const char *twins, *pods; /* items of the lists */
	struct strbuf asked;      /* "DELETE /path " of what was not a list or a watch */
	struct strbuf said;       /* "Lost:TwinLost " */
	struct owner owner;
	void (*heard)(enum owner_reply reply, struct doc *now, const struct error *err, void *arg);
	void *heard_arg; /* of the word that waits for an answer */
	struct runner *runner;
	bool absent, no_lease;
	size_t orphans_told;
};

/* --- the member --- */

static struct http_call *on_start(void *transport, const struct http_call_spec *spec)
{
	struct stage *s = transport;
	struct http_call *c = xnew0(struct http_call);

	c->spec = *spec;
	c->path = xstrdup(spec->path);
	c->read = !strcmp(spec->method, "GET") && strstr(spec->path, "?limit=");
	if (!c->read && !spec->stream)
		strbuf_addf(&s->asked, "%s %s ", spec->method, spec->path);
	list_push_back(&s->calls, &c->node);
	return c;
}

static void call_free(struct http_call *c)
{
	list_remove(&c->node);
	free(c->path);
	free(c);
}

static void on_cancel(void *transport, struct http_call *call)
{
	call_free(call);
}

static void on_fresh(void *transport)
{
}

static void on_token(void *transport, const char *token)
{
}

static const struct kube_transport_ops ops = {
	.start = on_start,
	.cancel = on_cancel,
	.fresh = on_fresh,
	.set_token = on_token,
	.destroy = on_fresh,
};

static const char *items_of(const struct stage *s, const char *path)
{
	if (strstr(path, "/placements?"))
		return s->twins;
	if (strstr(path, "/pods?"))
		return s->pods;
	return strstr(path, "/nodes?")
		       ? "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\"},\"status\":{"
			 "\"allocatable\":{\"cpu\":\"8\",\"pods\":\"10\"},\"conditions\":[{\"type\":"
			 "\"Ready\",\"status\":\"True\"}]}}"
		       : "";
}

static bool answer_a_list(struct stage *s)
{
	struct http_call *c;

	list_for_each (c, &s->calls, node) {
		auto_xfree char *body = NULL;
		struct http_call_spec spec = c->spec;

		if (!c->read)
			continue;
		body = xasprintf("{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[%s]}",
				 items_of(s, c->path));
		call_free(c);
		spec.on_done(&(struct http_answer){.status = 200,
						   .body = body,
						   .size = strlen(body),
						   .retry_after_s = -1},
			     spec.arg);
		return true;
	}
	return false;
}

/* The oldest request of that beginning; answered, it is gone. */
static struct http_call *find_call(const struct stage *s, const char *begin)
{
	struct http_call *c;

	list_for_each (c, &((struct stage *)(uintptr_t)s)->calls, node) {
		auto_xfree char *line = xasprintf("%s %s", c->spec.method, c->path);

		if (!strncmp(line, begin, strlen(begin)))
			return c;
	}
	return NULL;
}

static void give(struct stage *s, const char *begin, const struct http_answer *answer)
{
	struct http_call *c = find_call(s, begin);
	struct http_call_spec spec;

	cr_assert_not_null(c, "nobody asks %s, but %s", begin, strbuf_str(&s->asked));
	spec = c->spec;
	call_free(c);
	spec.on_done(answer, spec.arg);
	virtual_env_advance(s->time, 10);
}

static void answer(struct stage *s, const char *begin, int status, const char *body)
{
	give(s, begin,
	     &(struct http_answer){
		     .status = status, .body = body, .size = strlen(body), .retry_after_s = -1});
}

/* It was sent, and no answer came. */
static void lose(struct stage *s, const char *begin)
{
	struct http_answer lost = {.body = "", .retry_after_s = -1};

	error_set(&lost.err, ERR_UNKNOWN_OUTCOME, "the connection was cut");
	give(s, begin, &lost);
}

/* A line of the watch of that path. */
static void event(struct stage *s, const char *path, const char *type, const char *object)
{
	auto_xfree char *begin = xasprintf("GET %s?watch", path);
	auto_xfree char *line = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
	struct http_call *c = find_call(s, begin);

	cr_assert_not_null(c);
	c->spec.on_data(c, line, strlen(line), c->spec.arg);
	virtual_env_advance(s->time, 10);
}

static bool was_asked(const struct stage *s, const char *text)
{
	return strstr(strbuf_str(&s->asked), text) != NULL;
}

/* --- the owner --- */

static struct stage *stage_of(struct owner *o)
{
	return container_of(o, struct stage, owner);
}

static void on_say(struct owner *o, const struct doc *placement, const json_t *status,
		   void (*done)(enum owner_reply reply, struct doc *now, const struct error *err,
				void *arg),
		   void *arg)
{
	const char *reason = json_str_at(status, "reason", NULL);

	stage_of(o)->heard = done;
	stage_of(o)->heard_arg = arg;
	strbuf_addf(&stage_of(o)->said, "%s:%s ", json_str_at(status, "state", NULL),
		    reason ? reason : "");
}

static void on_read_job(struct owner *o, const struct placement *p,
			void (*done)(struct doc *job, const struct error *err, void *arg),
			void *arg)
{
	strbuf_adds(&stage_of(o)->asked, "job ");
}

static void on_read_object(struct owner *o, const struct placement *p, const char *path,
			   void (*done)(const json_t *object, const struct error *err, void *arg),
			   void *arg)
{
	strbuf_adds(&stage_of(o)->asked, "object ");
}

static bool on_is_absent(struct owner *o, const char *name, int64_t claim_version)
{
	return stage_of(o)->absent;
}

static void on_forget_calls(struct owner *o, void *arg)
{
}

static const struct owner_ops owner_ops = {
	.say = on_say,
	.read_job = on_read_job,
	.read_object = on_read_object,
	.is_absent = on_is_absent,
	.forget_calls = on_forget_calls,
};

/* --- a stage --- */

static void on_orphans(void *arg)
{
	((struct stage *)arg)->orphans_told++;
}

static void stage_start(struct stage *s, bool clean)
{
	struct runner_config config = {
		.cluster = "c",
		.own_namespace = "federator-system",
		.shutout_wait_ms = W_MS,
		.keep_pods_ms = 600000,
		.journal_keep_ms = 600000,
		.predecessor_left_cleanly = clean,
		.predecessor_unknown = s->no_lease,
	};

	s->time = virtual_env_create(1, 0);
	list_init(&s->calls);
	s->member = kube_create_with(virtual_env_seam(s->time), &ops, s);
	s->owner.ops = &owner_ops;
	s->runner =
		runner_create(virtual_env_seam(s->time), s->member, &s->owner, &config, NULL, NULL);
	runner_set_identity(s->runner, "cu", 0);
	runner_on_orphans(s->runner, on_orphans, s);
	while (answer_a_list(s))
		;
	cr_assert(runner_is_ready(s->runner));
}

static void stage_end(struct stage *s)
{
	runner_destroy(s->runner);
	kube_destroy(s->member);
	cr_expect(list_empty(&s->calls), "a call outlives the runner");
	virtual_env_destroy(s->time);
	strbuf_finish(&s->asked);
	strbuf_finish(&s->said);
}

static void offer(struct stage *s, const char *desired, const char *state, const char *cluster)
{
	auto_xfree char *bytes = xasprintf(
		"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{"
		"\"name\":\"u-0-3\",\"namespace\":\"cluster-c\"},\"spec\":{\"job\":{\"namespace\":"
		"\"x\",\"name\":\"j\",\"uid\":\"u\"},\"part\":0,\"generation\":3,\"incarnation\":0,"
		"\"clusterUID\":\"%s\",\"desired\":\"%s\",\"protocol\":1},\"status\":{\"state\":"
		"\"%s\"}}",
		cluster, desired, state);
	auto_free(doc_unref) struct doc *doc = doc_create("u-0-3", bytes, strlen(bytes));

	doc->version = 5;
	runner_placement_changed(s->runner, doc, NULL);
}

#define TWIN_OF(replicas)                                                                               \
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{\"name\":"     \
	"\"u-0-3\",\"namespace\":\"x\",\"uid\":\"t\",\"resourceVersion\":\"3\",\"labels\":{"            \
	"\"federator.dev/uid\":\"u\"},\"finalizers\":[\"federator.dev/forget\"]},\"spec\":{"            \
	"\"job\":{\"namespace\":\"x\",\"name\":\"j\",\"uid\":\"u\"},\"part\":0,\"generation\":3,"       \
	"\"work\":{\"minAvailable\":1,\"maxRetry\":0,\"tasks\":[{\"name\":\"w\",\"replicas\":" replicas \
	","                                                                                             \
	"\"template\":{\"spec\":{\"containers\":[]}}}]}}}"
#define TWIN TWIN_OF("1")
#define POD_IS(index, version, meta, phase)                                                        \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"j-w-" index              \
	"\",\"namespace\":"                                                                        \
	"\"x\",\"uid\":\"p" index "\",\"resourceVersion\":\"" version "\"," meta "\"labels\":{"    \
	"\"federator.dev/uid\":\"u\","                                                             \
	"\"federator.dev/part\":\"0\",\"federator.dev/generation\":\"3\","                         \
	"\"federator.dev/restart\":\"0\",\"volcano.sh/task-spec\":\"w\","                          \
	"\"volcano.sh/task-index\":\"" index                                                       \
	"\"}},\"spec\":{\"nodeName\":\"n\",\"containers\":[]},"                                    \
	"\"status\":{\"phase\":\"" phase "\"}}"
#define POD(phase) POD_IS("0", "4", "", phase)

/* What is asked and said at once, and what by the time that W is over. */
Test(runner, a_start_does_what_the_table_says)
{
	static const struct {
		const char *what, *desired, *state, *cluster, *twins, *pods;
		const char *asked, *said, *said_after_w;
	} cases[] = {
		{"offered", "Go", "", "cu", "", "", "job ", "", ""},
		{"offered, but a twin is there", "Go", "", "cu", TWIN, POD("Running"), "", "", ""},
		{"claimed, no twin", "Go", "Claimed", "cu", "", "", "job ", "", ""},
		{"ran, nothing left", "Go", "Running", "cu", "", "", "", "", "Lost:TwinLost "},
		{"ended while nobody looked", "Go", "Running", "cu", TWIN, POD("Succeeded"), "", "",
		 "Done: "},
		{"runs", "Go", "Claimed", "cu", TWIN, POD("Running"), "", "Running: ", "Running: "},
		{"release before the claim", "Release", "", "cu", "", "", "", "Refused:Released ",
		 "Refused:Released "},
		{"release of nothing", "Release", "Claimed", "cu", "", "", "", "",
		 "Released:Released "},
		{"release, all had ended", "Release", "Running", "cu", TWIN, POD("Succeeded"), "",
		 "", "Done: "},
		{"a word of a newer version", "Pause", "", "cu", "", "", "", "", ""},
		{"of another cluster", "Go", "", "other", "", "", "", "", ""},
		{"of another cluster, running here", "Release", "Running", "other", TWIN,
		 POD("Running"), "", "", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = cases[i].twins, .pods = cases[i].pods};

		stage_start(&s, false);
		offer(&s, cases[i].desired, cases[i].state, cases[i].cluster);
		runner_placements_synced(s.runner);
		virtual_env_advance(s.time, 100);
		cr_expect_str_eq(strbuf_str(&s.asked), cases[i].asked, "%s: asked %s",
				 cases[i].what, strbuf_str(&s.asked));
		cr_expect_str_eq(strbuf_str(&s.said), cases[i].said, "%s: said %s", cases[i].what,
				 strbuf_str(&s.said));
		virtual_env_advance(s.time, W_MS + 1000);
		cr_expect_str_eq(strbuf_str(&s.said), cases[i].said_after_w, "%s: said %s",
				 cases[i].what, strbuf_str(&s.said));
		stage_end(&s);
	}
}

Test(runner, nothing_waits_when_the_predecessor_left_cleanly)
{
	struct stage s = {.twins = "", .pods = ""};

	stage_start(&s, true);
	offer(&s, "Go", "Running", "cu");
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 100);
	cr_expect_str_eq(strbuf_str(&s.said), "Lost:TwinLost ");
	stage_end(&s);
}

/* Somebody may have removed the Lease of one who writes yet. */
Test(runner, without_a_lease_nothing_waits_only_where_there_is_nothing)
{
	static const struct {
		const char *what, *state, *twins, *pods;
		bool shut_in;
	} cases[] = {
		{"nothing", "", "", "", false},
		{"a twin", "Claimed", TWIN, "", true},
		{"a pod", "", "", POD("Running"), true},
		{"a claim", "Claimed", "", "", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s = {.twins = cases[i].twins, .pods = cases[i].pods, .no_lease = true};

		stage_start(&s, false);
		cr_expect(runner_is_shut_in(s.runner), "before the owner's list");
		offer(&s, "Go", cases[i].state, "cu");
		runner_placements_synced(s.runner);
		cr_expect_eq(runner_is_shut_in(s.runner), cases[i].shut_in, "%s", cases[i].what);
		stage_end(&s);
	}
}

Test(runner, nothing_happens_before_all_placements_are_known)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = true};

	stage_start(&s, true);
	virtual_env_advance(s.time, 4000);
	cr_expect_str_eq(strbuf_str(&s.asked), "");
	stage_end(&s);
}

/* A live attempt without a Placement is told of, and left alone. */
Test(runner, an_orphan_is_not_touched)
{
	struct stage s = {.twins = TWIN, .pods = POD("Running"), .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 4000);
	cr_expect_eq(runner_orphans(s.runner), 1);
	cr_expect_eq(s.orphans_told, 1);
	cr_expect_str_eq(strbuf_str(&s.asked), "POST /api/v1/namespaces/x/events?timeout=20000ms ");
	stage_end(&s);
}

/* Absent from an old view means nothing: neither an orphan nor forgotten. */
Test(runner, an_old_view_ends_nothing)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = false};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 4000);
	cr_expect_eq(runner_orphans(s.runner), 0);
	cr_expect_str_eq(strbuf_str(&s.asked), "");
	stage_end(&s);
}

/* The journal has it before the twin goes. */
Test(runner, what_is_over_is_written_down_before_it_is_forgotten)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded"), .absent = true};

	stage_start(&s, true);
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 5500);
	cr_expect_not_null(strstr(strbuf_str(&s.asked), "POST /api/v1/namespaces/federator-system/"
							"configmaps "));
	cr_expect_null(strstr(strbuf_str(&s.asked), "DELETE"));
	stage_end(&s);
}

/* --- pods that are being made --- */

#define PODS      "/api/v1/namespaces/x/pods"
#define DRY_RUN   "POST " PODS "?dryRun=All"
#define MAKE      "POST " PODS "?timeout="
#define READ(pod) "GET " PODS "/" pod
#define STATUS(code, reason, text)                                                                 \
	"{\"kind\":\"Status\",\"code\":" #code ",\"reason\":\"" reason "\",\"message\":\"" text    \
	"\",\"details\":{\"kind\":\"pods\"}}"
#define NOT_FOUND STATUS(404, "NotFound", "no")
#define DENIED                                                                                     \
	STATUS(403, "Forbidden",                                                                   \
	       "pods is forbidden: User \\\"a\\\" cannot create resource \\\"pods\\\" in API "     \
	       "group \\\"\\\" in the namespace \\\"x\\\"")

/* Claimed, with its twin; the POST of the pod is on its way. */
static void stage_making(struct stage *s)
{
	stage_start(s, true);
	offer(s, "Go", "Claimed", "cu");
	runner_placements_synced(s->runner);
	virtual_env_advance(s->time, 100);
	answer(s, DRY_RUN, 201, POD(""));
	cr_assert_not_null(find_call(s, MAKE), "asked %s", strbuf_str(&s->asked));
}

/* Who is told "released" starts the job elsewhere. */
Test(runner, no_last_word_is_said_while_a_pod_is_being_made)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	offer(&s, "Release", "Claimed", "cu");
	virtual_env_advance(s.time, 5000);
	cr_expect_str_eq(strbuf_str(&s.said), "");
	answer(&s, MAKE, 201, POD_IS("0", "20", "", "Pending"));
	cr_expect(was_asked(&s, "DELETE " PODS "/j-w-0?"), "asked %s", strbuf_str(&s.asked));
	cr_expect_str_eq(strbuf_str(&s.said), "");
	event(&s, "/api/v1/pods", "ADDED", POD_IS("0", "20", "", "Pending"));
	event(&s, "/api/v1/pods", "DELETED", POD_IS("0", "21", "", "Pending"));
	cr_expect_str_eq(strbuf_str(&s.said), "Released:Released ");
	stage_end(&s);
}

/* It was not there when it was looked for, and may come yet. */
Test(runner, a_post_without_an_answer_holds_the_last_word_back_for_w)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	lose(&s, MAKE);
	offer(&s, "Release", "Claimed", "cu");
	answer(&s, READ("j-w-0"), 404, NOT_FOUND);
	virtual_env_advance(s.time, W_MS - 1000);
	cr_expect_null(find_call(&s, MAKE), "what nobody wants is not made");
	cr_expect_str_eq(strbuf_str(&s.said), "");
	virtual_env_advance(s.time, 2000);
	cr_expect_str_eq(strbuf_str(&s.said), "Released:Released ");
	stage_end(&s);
}

Test(runner, a_post_that_turns_out_to_have_been_carried_out_holds_nothing_back)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	lose(&s, MAKE);
	answer(&s, READ("j-w-0"), 200, POD_IS("0", "20", "", "Pending"));
	event(&s, "/api/v1/pods", "ADDED", POD_IS("0", "21", "", "Succeeded"));
	cr_expect_str_eq(strbuf_str(&s.said), "Done: ");
	stage_end(&s);
}

/* For how long until it is granted: the seconds in which every create is denied. */
static void deny_for(struct stage *s, int seconds)
{
	for (int i = 0; i < seconds * 10; i++) {
		if (find_call(s, MAKE))
			answer(s, MAKE, 403, DENIED);
		virtual_env_advance(s->time, 100);
	}
}

static void wait_making(struct stage *s)
{
	for (int i = 0; i < 600 && !find_call(s, MAKE); i++)
		virtual_env_advance(s->time, 100);
	cr_assert_not_null(find_call(s, MAKE), "asked %s", strbuf_str(&s->asked));
}

static void stage_one_of_two_runs(struct stage *s)
{
	stage_start(s, true);
	offer(s, "Go", "Running", "cu");
	runner_placements_synced(s->runner);
	virtual_env_advance(s->time, 100);
	answer(s, DRY_RUN, 201, POD(""));
	strbuf_clear(&s->said);
}

/* An apiserver that has just started may know nobody's rights. */
Test(runner, rights_that_lack_for_a_moment_are_waited_for)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	deny_for(&s, 5);
	wait_making(&s);
	answer(&s, MAKE, 201, POD_IS("0", "20", "", "Running"));
	cr_expect_str_eq(strbuf_str(&s.said), "Running: ");
	cr_expect_not(was_asked(&s, "DELETE"));
	stage_end(&s);
}

Test(runner, rights_that_lack_for_long_give_back_what_has_not_begun)
{
	struct stage s = {.twins = TWIN, .pods = ""};

	stage_making(&s);
	deny_for(&s, 15);
	answer(&s, "PATCH /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3/status", 200,
	       TWIN);
	cr_expect_str_eq(strbuf_str(&s.said), "Released:Forbidden ");
	stage_end(&s);
}

Test(runner, rights_that_lack_end_nothing_that_runs)
{
	struct stage s = {.twins = TWIN_OF("2"), .pods = POD("Running")};

	stage_one_of_two_runs(&s);
	deny_for(&s, 60);
	cr_expect_not(was_asked(&s, "DELETE"));
	if (s.heard)
		s.heard(OWNER_LATER, NULL, NULL, s.heard_arg);
	s.heard = NULL;
	strbuf_clear(&s.said);
	deny_for(&s, 30);
	cr_expect(strstr(strbuf_str(&s.said), "Running:Forbidden"), "said %s", strbuf_str(&s.said));
	wait_making(&s);
	answer(&s, MAKE, 201, POD_IS("1", "20", "", "Running"));
	cr_expect_not(was_asked(&s, "DELETE"));
	stage_end(&s);
}

/* What the member's own policy refuses is no matter of time. */
Test(runner, a_quota_that_is_used_up_gives_the_attempt_back)
{
	struct stage s = {.twins = TWIN_OF("2"), .pods = POD("Running")};

	stage_one_of_two_runs(&s);
	answer(&s, MAKE, 403,
	       STATUS(403, "Forbidden", "pods \\\"j-w-1\\\" is forbidden: exceeded quota: q"));
	answer(&s, READ("j-w-1"), 404, NOT_FOUND);
	answer(&s, "PATCH /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3/status", 200,
	       TWIN_OF("2"));
	cr_expect(was_asked(&s, "DELETE " PODS "/j-w-0?"), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

/* --- after the last word --- */

/* The object of a pod that ended says that it runs: it stays ended, and is forgotten in its time.
 */
Test(runner, a_pod_that_ended_does_not_keep_its_twin_by_running_again)
{
	struct stage s = {.twins = TWIN, .pods = POD("Succeeded")};

	stage_start(&s, true);
	offer(&s, "Go", "Running", "cu");
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 100);
	cr_assert_str_eq(strbuf_str(&s.said), "Done: ");
	s.absent = true;
	s.heard(OWNER_OK, NULL, NULL, s.heard_arg);
	event(&s, "/api/v1/pods", "MODIFIED", POD_IS("0", "20", "", "Running"));
	cr_expect_eq(runner_orphans(s.runner), 0);
	virtual_env_advance(s.time, 610000);
	answer(&s, "POST /api/v1/namespaces/federator-system/configmaps", 201, "{}");
	cr_expect(
		was_asked(&s, "DELETE /apis/federator.dev/v1alpha1/namespaces/x/placements/u-0-3?"),
		"asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}
