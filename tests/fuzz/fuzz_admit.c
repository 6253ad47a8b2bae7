/* Jobs that every check lets pass, before a federation of two clusters: one can be decided on and
 * explained, whatever it asks for. */
#include <assert.h>
#include <string.h>

#include "api/kind.h"
#include "api/schema.h"
#include "base/json.h"
#include "scheduler/fleet.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void add_cluster(struct fleet *f, const char *name, const char *gpu)
{
	auto_free(cluster_destroy) struct cluster *view = NULL;
	auto_free(doc_unref) struct doc *doc = NULL;
	auto_xfree char *text = xasprintf(
		"{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"labels\":{\"region\":\"eu\"}},"
		"\"spec\":{\"accepted\":true},\"status\":{\"conditions\":[{\"type\":\"Ready\","
		"\"status\":\"True\"}],\"capacityShapes\":[{\"labels\":{\"a\":\"b\"},\"amounts\":{"
		"\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"%s},\"count\":3}]}}",
		name, name, gpu);

	doc = doc_create(name, text, strlen(text));
	assert(!cluster_view(doc, &view, NULL));
	fleet_cluster_set(f, view);
	fleet_report(f, name, 1, true, view->capacity, view->n_capacity);
}

static void explain(struct fleet *f, const char *uid)
{
	auto_free(explain_destroy) struct explain *e = fleet_explain(f, uid, 0);
	auto_strbuf text = {0};

	assert(e);
	if (!e->placed)
		explain_text(e, 0, 0, &text);
	json_decref(explain_json(e));
}

static void decide(struct fleet *f, const struct job *job)
{
	struct fleet_decision d;
	enum fleet_fit fit;
	auto_strbuf text = {0};
	struct error err;

	if (fleet_fits(f, job, &fit, &text, &err)) {
		assert(*err.text && fleet_submit(f, job, 0, 1, &err));
		return;
	}
	assert(!fleet_submit(f, job, 0, 1, &err));
	fleet_session_begin(f, 0);
	while (fleet_session_next(f, &d))
		assert(fit == FLEET_MAY_FIT || d.wait != WAIT_NONE);
	fleet_session_end(f);
	explain(f, job->meta.uid);
	assert(!fleet_fault(f));
}

static void try_job(json_t *object)
{
	auto_free(job_destroy) struct job *job = NULL;
	const struct kind *k = kind_find("batch.volcano.sh", "jobs");
	struct fleet *f = fleet_create();
	struct causes causes = {0};

	add_cluster(f, "a", "");
	add_cluster(f, "b", ",\"nvidia.com/gpu\":\"2\"");
	schema_prune(kind_schema(k), object, NULL, NULL);
	kind_default(k, object);
	kind_validate(k, object, NULL, &causes);
	if (!causes.n && json_str_at(object, "metadata", "uid", NULL) &&
	    !job_view_tree(object, &job, NULL))
		decide(f, job);
	causes_finish(&causes);
	fleet_destroy(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_json *object = json_parse((const char *)bytes, n, NULL, NULL);

	if (json_is_object(object))
		try_job(object);
	return 0;
}
