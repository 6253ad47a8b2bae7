#include "api/doc.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "base/json.h"

static struct doc *make(const char *bytes, int64_t version)
{
	struct doc *d = doc_create("/federator//configmaps/ns/x", bytes, strlen(bytes));

	d->version = version;
	return d;
}

static void check_written(const char *bytes, int64_t version, const char *want)
{
	auto_free(doc_unref) struct doc *d = make(bytes, version);
	auto_strbuf out = {0};

	doc_write(&out, d);
	cr_expect_str_eq(strbuf_str(&out), want);
}

Test(doc, splices_the_version_into_the_bytes)
{
	check_written(
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\"}}", 7,
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
		"\"resourceVersion\":\"7\",\"name\":\"x\"}}");
	check_written("{\"metadata\":{},\"data\":{}}", 281474976710657,
		      "{\"metadata\":{\"resourceVersion\":\"281474976710657\"},\"data\":{}}");
	check_written("{\"metadata\": { \n },\"a\":1}", 1,
		      "{\"metadata\": {\"resourceVersion\":\"1\" \n },\"a\":1}");
	/* only metadata at the top is meant */
	check_written("{\"spec\":{\"metadata\":{\"a\":1}},\"metadata\":{\"n\":\"{\"}}", 2,
		      "{\"spec\":{\"metadata\":{\"a\":1}},"
		      "\"metadata\":{\"resourceVersion\":\"2\",\"n\":\"{\"}}");
}

Test(doc, keeps_key_and_bytes_for_every_owner)
{
	char bytes[] = "{\"metadata\":{}}";
	struct doc *d = doc_create("/k", bytes, strlen(bytes));
	struct doc *second = doc_ref(d);

	memset(bytes, 'x', strlen(bytes));
	cr_expect_eq(second, d);
	doc_unref(d);
	cr_expect_str_eq(second->key, "/k");
	cr_expect_str_eq(second->bytes, "{\"metadata\":{}}");
	cr_expect_eq(second->size, strlen("{\"metadata\":{}}"));
	doc_unref(second);
	doc_unref(NULL);
}

Test(doc, gives_a_tree_of_its_own)
{
	auto_free(doc_unref) struct doc *d =
		make("{\"metadata\":{\"name\":\"x\"},\"data\":{\"n\":0.1}}", 42);
	auto_json *first = doc_tree(d);
	auto_json *second = doc_tree(d);

	cr_expect_str_eq(json_str_at(first, "metadata", "resourceVersion", NULL), "42");
	cr_expect_str_eq(json_str_at(first, "metadata", "name", NULL), "x");
	json_object_clear(first);
	cr_expect_eq(json_object_size(second), 2);
	cr_expect(!strstr(d->bytes, "resourceVersion"));
}

static void check_joined(const char *main_bytes, const char *status, const char *want)
{
	auto_free(doc_unref) struct doc *d = make(main_bytes, 9);
	auto_free(doc_unref) struct doc *joined = NULL;
	auto_strbuf out = {0};

	d->revision = 5;
	d->create_revision = 3;
	joined = doc_join(d, status, strlen(status));
	cr_expect_str_eq(joined->bytes, want);
	cr_expect_eq(joined->size, strlen(want));
	cr_expect_str_eq(joined->key, d->key);
	cr_expect_eq(joined->version, 9);
	cr_expect_eq(joined->revision, 5);
	cr_expect_eq(joined->create_revision, 3);
	doc_write(&out, joined);
	cr_expect(strstr(strbuf_str(&out), "\"resourceVersion\":\"9\""));
}

Test(doc, joins_a_status_kept_apart)
{
	check_joined("{\"kind\":\"Job\",\"metadata\":{\"name\":\"x\"},\"spec\":{\"a\":[1,{}]}}",
		     "{\"state\":{}}",
		     "{\"kind\":\"Job\",\"metadata\":{\"name\":\"x\"},\"spec\":{\"a\":[1,{}]},"
		     "\"status\":{\"state\":{}}}");
	/* whatever the main document says of status is not believed */
	check_joined("{\"status\":{\"old\":1},\"metadata\":{\"name\":\"x\"},\"z\":\"\\\"\"}", "{}",
		     "{\"metadata\":{\"name\":\"x\"},\"z\":\"\\\"\",\"status\":{}}");
	check_joined("{\"metadata\":{\"status\":{\"a\":1}}}", "{\"b\":2}",
		     "{\"metadata\":{\"status\":{\"a\":1}},\"status\":{\"b\":2}}");
}

/* An API server takes other nesting than we do; to hold its bytes is no reason to end. */
Test(doc, holds_bytes_that_are_nested_deep)
{
	auto_strbuf bytes = {0};
	struct doc *d;

	strbuf_adds(&bytes, "{\"a\":");
	for (int i = 0; i < 200; i++)
		strbuf_addc(&bytes, '[');
	for (int i = 0; i < 200; i++)
		strbuf_addc(&bytes, ']');
	strbuf_adds(&bytes, ",\"metadata\":{}}");
	d = make(strbuf_str(&bytes), 1);
	cr_expect_str_eq(d->bytes + d->splice, "}}");
	doc_unref(d);
}

Test(doc, refuses_bytes_without_metadata, .signal = SIGABRT)
{
	doc_unref(make("{\"kind\":\"ConfigMap\"}", 1));
}
