/*
 * A runner on a stage, on virtual time. Lists of the member are recorded answers; what would change
 * it is noted, and answered when the test says so. The owner notes words, and hears when told.
 */
#ifndef TEST_STAGE_H
#define TEST_STAGE_H

#include "base/list.h"
#include "base/virtual.h"
#include "member-agent/runner.h"

#define W_MS 30000
#define HUB  "sha256:ab/c" /* whom it listens to, as ANNOTATION_HUB */

struct stage {
	struct virtual_env *time;
	struct kube *member;
	struct list calls;
	const char *twins, *pods; /* items of the lists */
	struct strbuf asked;      /* "DELETE /path " of what was not a list or a watch */
	struct strbuf said;       /* "Lost:TwinLost " */
	struct strbuf counts;     /* of the word that was said last, as JSON */
	struct strbuf message;    /* of that word */
	struct owner owner;
	struct runner *runner;
	bool absent, no_lease;
	int64_t absent_since; /* the claim's version that absence was last asked for with */
	int64_t retries;      /* of the word that was said last; -1: none */
	int64_t version;      /* of the newest Placement */
	size_t orphans_told;
	/* the word that was said last */
	void (*said_done)(enum owner_reply reply, struct doc *now, const struct error *err,
			  void *arg);
	void *said_arg;
	void (*job_done)(struct doc *job, const struct error *err, void *arg);
	void *job_arg;
};

void stage_start(struct stage *s, bool clean);
/* After a clean predecessor, with Placement u-0-3 in that state, to be run. */
void stage_begin(struct stage *s, const char *state);
void stage_end(struct stage *s);
/* Placement u-0-<generation>, in a version of its own. */
void stage_offer(struct stage *s, int generation, const char *desired, const char *state,
		 const char *cluster);
void stage_take_back(struct stage *s, int generation); /* deletes it */
/* The same of another job: v-0-1, of JOB_OF("k", "v"). */
void stage_offer_another(struct stage *s);
/* Answers the oldest request under way whose "METHOD /path" begins so; status 0: the line was cut
 * after it was sent. Asserts that there is one. */
void stage_answer(struct stage *s, const char *request, int status, const char *body);
/* It could not be sent at all. */
void stage_refuse(struct stage *s, const char *request);
bool stage_awaits(const struct stage *s, const char *request);
const char *stage_body(const struct stage *s, const char *request); /* of the oldest */
/* A line of the watch of a collection ("/api/v1/pods"). */
void stage_watch(struct stage *s, const char *collection, const char *type, const char *object);
/* The owner answers the last word. */
void stage_hear(struct stage *s, enum owner_reply reply);
void stage_give_job(struct stage *s, const char *job); /* to whom asked for it last */
void stage_forget(struct stage *s);                    /* what was asked and said up to now */

/* meta: more members of metadata, each with a comma behind it; more: of the twin, with one before.
 */
#define TWIN_WITH(cluster, meta, max_retry, tasks, more)                                            \
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{\"name\":" \
	"\"u-0-3\",\"namespace\":\"x\",\"uid\":\"t\",\"resourceVersion\":\"3\"," meta               \
	"\"labels\":{"                                                                              \
	"\"federator.dev/uid\":\"u\"},\"finalizers\":[\"federator.dev/forget\"]},\"spec\":{"        \
	"\"job\":{\"namespace\":\"x\",\"name\":\"j\",\"uid\":\"u\"},\"part\":0,\"generation\":3,"   \
	"\"incarnation\":0,\"clusterUID\":\"" cluster "\",\"work\":{\"minAvailable\":1,"            \
	"\"maxRetry\":" max_retry ",\"tasks\":" tasks "}}" more "}"
#define TWIN_BY(cluster, meta, tasks) TWIN_WITH(cluster, meta, "0", tasks, "")
#define TWIN_OF(tasks)                TWIN_BY("cu", "", tasks)
#define ONE_TASK                      "[{\"name\":\"w\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[]}}}]"
#define TWO_PODS                      "[{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[]}}}]"
#define TWIN                          TWIN_OF(ONE_TASK)
#define OWNED_BY(twin)                                                                             \
	"\"ownerReferences\":[{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\","  \
	"\"name\":\"" twin "\",\"uid\":\"t\",\"controller\":true}]"
#define POD_AT(index, version, status)                                                             \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"j-w-" index              \
	"\",\"namespace\":\"x\",\"uid\":\"p" index "\",\"resourceVersion\":\"" version             \
	"\"," OWNED_BY("u-0-3") ",\"labels\":{\"federator.dev/uid\":\"u\","                        \
				"\"federator.dev/part\":\"0\",\"federator.dev/generation\":\"3\"," \
				"\"federator.dev/restart\":\"0\",\"volcano.sh/task-spec\":\"w\","  \
				"\"volcano.sh/task-index\":\"" index                               \
				"\"}},\"spec\":{\"nodeName\":\"n\",\"containers\":[]},"            \
				"\"status\":" status "}"
#define POD_IS(index, version, phase) POD_AT(index, version, "{\"phase\":\"" phase "\"}")
#define POD(phase)                    POD_IS("0", "4", phase)  /* listed */
#define MADE(phase)                   POD_IS("0", "11", phase) /* since */

/* NULL: as the agent makes it, in its first try. */
struct stage_pod {
	const char *name, *version, *job_uid, *generation, *restart, *phase;
	const char *meta; /* members of metadata; NULL: owned by the twin */
};
char *stage_pod_make(const struct stage_pod *p); /* the caller's */

#define JOB_OF(name, uid)                                                                          \
	"{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":"   \
	"\"" name "\",\"namespace\":\"x\",\"uid\":\"" uid                                          \
	"\"},\"spec\":{\"minAvailable\":1,\"maxRetry\":0,"                                         \
	"\"queue\":\"default\",\"tasks\":[{\"name\":\"w\",\"replicas\":1,\"template\":{\"spec\":{" \
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}}]}}"
#define JOB JOB_OF("j", "u")
/* What a dry run answers. */
#define DRY_POD                                                                                    \
	"{\"metadata\":{\"name\":\"d\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{" \
	"\"requests\":{\"cpu\":\"3\"}}}]}}"

#endif
