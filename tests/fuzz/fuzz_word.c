/* An agent's word: any status of its Placement that the schema takes, at each state that the
 * Placement may be in. The Job's status that follows is one that its own schema takes. */
#include <assert.h>

#include "api/kind.h"
#include "api/schema.h"
#include "base/json.h"
#include "lifecycle/record.h"

#define NOW_NS INT64_C(1800000000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char job_text[] =
	"{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\","
	"\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{\"queue\":\"default\",\"minAvailable\":1,"
	"\"tasks\":[{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":"
	"\"c\",\"image\":\"i\"}]}}}]},\"status\":{\"dispatch\":{\"phase\":\"Confirmed\",\"n\":1,"
	"\"parts\":[{\"cluster\":\"a\",\"clusterUID\":\"c\",\"generation\":1}],\"attempts\":[{"
	"\"generation\":1,\"cluster\":\"a\"}]}}}";
static const char placement_text[] =
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{\"name\":"
	"\"u-0-1\",\"namespace\":\"cluster-a\"},\"spec\":{\"job\":{\"namespace\":\"n\",\"name\":\"j\","
	"\"uid\":\"u\"},\"part\":0,\"generation\":1,\"incarnation\":0,\"clusterUID\":\"c\",\"desired\":"
	"\"Go\",\"size\":{\"seq\":1,\"tasks\":[{\"name\":\"w\",\"replicas\":2}]}}}";

static bool is_valid(json_t *object)
{
	const struct kind *k = kind_find_by_name(json_str_at(object, "apiVersion", NULL),
						 json_str_at(object, "kind", NULL));
	struct causes causes = {0};
	bool valid;

	schema_prune(kind_schema(k), object, NULL, NULL);
	kind_default(k, object);
	kind_validate(k, object, NULL, &causes);
	valid = !causes.n;
	causes_finish(&causes);
	return valid;
}

static void check_status(json_t *job, json_t *take_status)
{
	json_object_set_new(job, "status", take_status);
	assert(is_valid(job));
}

/* The words follow each other as they stand in the input. */
static void say(json_t *job, json_t **placement, json_t *status)
{
	auto_json *after = json_deep_copy(*placement);
	json_t *job_status = NULL;
	struct error err;
	bool last = false;

	json_object_set(after, "status", status);
	if (!is_valid(after))
		return;
	if (record_answer(job, *placement, after, NOW_NS, &job_status, &last, &err)) {
		assert(*err.text);
		return;
	}
	if (job_status)
		check_status(job, job_status);
	json_decref(*placement);
	*placement = take_ptr(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_json *words = json_parse((const char *)bytes, n, NULL, NULL);
	auto_json *job = json_parse(job_text, sizeof(job_text) - 1, NULL, NULL);
	auto_json *placement = json_parse(placement_text, sizeof(placement_text) - 1, NULL, NULL);
	json_t *word;
	size_t i;

	json_array_foreach (words, i, word)
		say(job, &placement, word);
	return 0;
}
