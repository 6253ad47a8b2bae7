/*
 * All that an agent's runner hears: its member's lists, watches and answers (wire.h), and of its
 * owner "O{...}" a Placement, "S0" to "S3" what became of the word it said, "J{...}" a Job that it
 * asked for. Nothing may crash it or outlive it, and it says one word at a time.
 */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "kube/object.h"
#include "member-agent/runner.h"
#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct scene {
	struct owner owner;
	struct wire *wire;
	struct kube *member;
	struct runner *runner;
	bool synced;
	void (*said)(enum owner_reply reply, struct doc *now, const struct error *err, void *arg);
	void (*read)(struct doc *job, const struct error *err, void *arg);
	void *said_arg, *read_arg;
};

static struct scene *scene_of(struct owner *o)
{
	return container_of(o, struct scene, owner);
}

/* --- the owner --- */

static void on_say(struct owner *o, const struct doc *placement, const json_t *status,
		   void (*done)(enum owner_reply reply, struct doc *now, const struct error *err,
				void *arg),
		   void *arg)
{
	struct scene *s = scene_of(o);

	assert(json_is_string(json_object_get(status, "state")));
	s->said = done;
	s->said_arg = arg;
}

static void on_read_job(struct owner *o, const struct placement *p,
			void (*done)(struct doc *job, const struct error *err, void *arg),
			void *arg)
{
	struct scene *s = scene_of(o);

	s->read = done;
	s->read_arg = arg;
}

static void on_read_object(struct owner *o, const struct placement *p, const char *path,
			   void (*done)(const json_t *object, const struct error *err, void *arg),
			   void *arg)
{
}

static bool on_is_absent(struct owner *o, const char *name, int64_t claim_version)
{
	return claim_version % 2;
}

static void on_forget_calls(struct owner *o, void *arg)
{
	struct scene *s = scene_of(o);

	if (s->said_arg == arg)
		s->said = NULL;
	if (s->read_arg == arg)
		s->read = NULL;
}

static const struct owner_ops owner_ops = {
	.say = on_say,
	.read_job = on_read_job,
	.read_object = on_read_object,
	.is_absent = on_is_absent,
	.forget_calls = on_forget_calls,
};

/* As an informer gives it: checked, and not deep. NULL: it would not have. */
static struct doc *doc_of(const char *text)
{
	const struct sv object = {text, strlen(text)};
	auto_json *tree = json_parse_foreign(object.p, object.n, NULL);

	return tree && object_is_shallow(object) ? object_doc(object, NULL) : NULL;
}

static void answer_word(struct scene *s, enum owner_reply reply)
{
	void (*said)(enum owner_reply reply, struct doc * now, const struct error *err, void *arg) =
		take_ptr(s->said);
	struct error err;

	error_set(&err, ERR_NOT_FOUND, "it is not there");
	if (said)
		said(reply, NULL, reply == OWNER_OK ? NULL : &err, s->said_arg);
}

static void answer_job(struct scene *s, struct doc *job)
{
	void (*done)(struct doc * job, const struct error *err, void *arg) = take_ptr(s->read);
	struct error err;

	error_set(&err, ERR_NOT_FOUND, "it is not there");
	if (done)
		done(job, job ? NULL : &err, s->read_arg);
}

static void hear_owner(struct scene *s, const char *message)
{
	auto_free(doc_unref) struct doc *doc = doc_of(message + 1);

	if (*message == 'O' && doc)
		runner_placement_changed(s->runner, doc, NULL);
	else if (*message == 'S')
		answer_word(s, (enum owner_reply)(message[1] & 3));
	else if (*message == 'J')
		answer_job(s, doc);
}

/* --- the scene --- */

static void scene_begin(struct scene *s, const uint8_t *bytes, size_t n)
{
	const struct runner_config config = {.cluster = "c",
					     .own_namespace = "federator-system",
					     .shutout_wait_ms = 3000,
					     .keep_pods_ms = 5000,
					     .journal_keep_ms = 5000,
					     .predecessor_left_cleanly = n % 2};

	*s = (struct scene){.owner.ops = &owner_ops, .wire = wire_create(bytes, n)};
	s->member = wire_connect(s->wire);
	s->runner = runner_create(wire_env(s->wire), s->member, &s->owner, &config, NULL, NULL);
	runner_set_term(s->runner, 1);
	runner_set_identity(s->runner, "cu", NULL, 0);
}

static void scene_end(struct scene *s)
{
	runner_destroy(s->runner);
	kube_destroy(s->member);
	wire_destroy(s->wire);
}

static void sync_placements(struct scene *s)
{
	if (!s->synced && runner_is_ready(s->runner))
		runner_placements_synced(s->runner);
	s->synced = runner_is_ready(s->runner);
}

static bool step(struct scene *s)
{
	auto_xfree char *message = wire_take_other(s->wire);

	sync_placements(s);
	if (!message)
		return wire_step(s->wire);
	if (s->synced)
		hear_owner(s, message);
	return true;
}

static void report(struct runner *r)
{
	struct capacity_report report = runner_report(r);

	json_decref(report.shapes);
	json_decref(report.capacity);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct scene s;

	log_set_level(LOG_ERROR);
	scene_begin(&s, bytes, n);
	while (step(&s))
		;
	if (runner_is_ready(s.runner))
		report(s.runner);
	scene_end(&s);
	return 0;
}
