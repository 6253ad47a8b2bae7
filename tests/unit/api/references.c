#include "api/references.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"

static const char job_text[] =
	"{\"spec\":{\"tasks\":[{\"template\":{\"spec\":{"
	"\"imagePullSecrets\":[{\"name\":\"pull\"}],"
	"\"initContainers\":[{\"envFrom\":[{\"configMapRef\":{\"name\":\"init-env\"}}]}],"
	"\"containers\":[{\"env\":["
	"{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s1\",\"key\":\"k\"}}},"
	"{\"name\":\"B\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"c1\",\"key\":\"k\"}}},"
	"{\"name\":\"C\",\"value\":\"plain\"}]}],"
	"\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"c2\",\"optional\":true}},"
	"{\"name\":\"w\",\"secret\":{\"secretName\":\"s2\"}},"
	"{\"name\":\"x\",\"projected\":{\"sources\":[{\"secret\":{\"name\":\"s3\"}},"
	"{\"configMap\":{\"name\":\"c3\"}}]}}]}}}]}}";

static void collect(enum reference_kind kind, json_t *holder, const char *key, bool optional,
		    void *arg)
{
	strbuf_addf(arg, "%c:%s%s ", kind == REFERENCE_SECRET ? 's' : 'c',
		    json_string_value(json_object_get(holder, key)), optional ? "?" : "");
}

Test(references, every_place_of_a_template_is_visited)
{
	auto_json *job = json_parse(job_text, strlen(job_text), NULL, NULL);
	json_t *task = json_array_get(json_at(job, "spec", "tasks", NULL), 0);
	auto_strbuf out = {0};

	references_each(json_object_get(json_object_get(task, "template"), "spec"), collect, &out);
	cr_expect_str_eq(strbuf_str(&out), "c:init-env s:s1 c:c1 c:c2? s:s2 s:s3 c:c3 s:pull ");
}

Test(references, a_job_refers_by_kind_and_name)
{
	auto_json *job = json_parse(job_text, strlen(job_text), NULL, NULL);

	cr_expect(job_refers_to(job, REFERENCE_SECRET, "s2"));
	cr_expect(job_refers_to(job, REFERENCE_CONFIGMAP, "c3"));
	cr_expect_not(job_refers_to(job, REFERENCE_CONFIGMAP, "s2"));
	cr_expect_not(job_refers_to(job, REFERENCE_SECRET, "k"));
}
