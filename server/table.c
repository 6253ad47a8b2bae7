/* Tables: what `kubectl get` prints, columns by the kind's row. */
#include <inttypes.h>
#include <string.h>

#include "base/encode.h"
#include "server/read.h"
#include "server/write.h"

int table_options_parse(const struct request *r, struct table_options *ret, struct error *err)
{
	static const char *const names[] = {
		[INCLUDE_METADATA] = "Metadata",
		[INCLUDE_NONE] = "None",
		[INCLUDE_OBJECT] = "Object",
	};
	const char *include = request_query(r, "includeObject");

	ret->include = INCLUDE_METADATA;
	if (accept_form(exchange_header(r->pub.x, "Accept"), FORMS_OBJECT, &ret->form, err))
		return -1;
	for (size_t i = 0; include && i < ARRAY_LEN(names); i++) {
		if (!strcmp(include, names[i])) {
			ret->include = (enum include)i;
			return 0;
		}
	}
	if (include)
		return error_set(
			err, ERR_BAD_REQUEST,
			"includeObject: Invalid value: \"%.40s\": must be Metadata, None or "
			"Object",
			include);
	return 0;
}

static const char *meta_version(const struct table_options *o)
{
	return o->form == FORM_TABLE_V1BETA1 ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
}

static void add_column(struct strbuf *out, const char *name, const char *type, const char *format,
		       int priority)
{
	auto_json *j = json_object();

	if (out->bytes[out->size - 1] != '[')
		strbuf_addc(out, ',');
	json_set_str(j, "name", name);
	json_set_str(j, "type", type);
	json_set_str(j, "format", format);
	json_set_str(j, "description", "");
	json_set_int(j, "priority", priority);
	json_write(out, j);
}

static json_t *age_cell(const json_t *object, int64_t now_ns)
{
	const char *created = meta_str(object, "creationTimestamp");
	char text[TIME_SIZE];
	int64_t at;

	if (!created || time_parse(created, &at))
		return json_null();
	duration_format(text, time_between(at, now_ns));
	return json_string(text);
}

/* For kinds whose row has no columns of its own. */
static const struct column plain_columns[] = {{"Age", "date", 0, age_cell}, {NULL}};

static const struct column *columns_of(const struct kind *k)
{
	return k->columns ? k->columns : plain_columns;
}

/* The name comes first, or, where it says nothing to people, last. */
static void add_columns(struct strbuf *out, const struct kind *k)
{
	strbuf_addc(out, '[');
	if (!k->name_wide)
		add_column(out, "Name", "string", "name", 0);
	for (const struct column *c = columns_of(k); c->name; c++)
		add_column(out, c->name, c->type, "", c->priority);
	if (k->name_wide)
		add_column(out, "Name", "string", "name", 1);
	strbuf_addc(out, ']');
}

void table_begin(struct strbuf *out, const struct kind *k, const struct table_options *o,
		 int64_t version, const char *continue_, int64_t remaining, bool columns)
{
	auto_json *metadata = json_object();
	auto_xfree char *text = xasprintf("%" PRId64, version);

	json_set_str(metadata, "resourceVersion", text);
	json_set_str(metadata, "continue", continue_);
	if (remaining > 0)
		json_set_int(metadata, "remainingItemCount", remaining);
	strbuf_addf(out,
		    "{\"kind\":\"Table\",\"apiVersion\":\"%s\",\"metadata\":", meta_version(o));
	json_write(out, metadata);
	strbuf_adds(out, ",\"columnDefinitions\":");
	if (columns)
		add_columns(out, k);
	else
		strbuf_adds(out, "null");
	strbuf_adds(out, ",\"rows\":[");
}

static void add_cells(struct strbuf *out, const struct kind *k, const json_t *object,
		      int64_t now_ns)
{
	auto_json *cells = json_array();
	json_t *name = json_string(meta_str(object, "name"));

	if (!k->name_wide)
		json_array_append_new(cells, name);
	for (const struct column *c = columns_of(k); c->name; c++)
		json_array_append_new(cells, c->cell(object, now_ns));
	if (k->name_wide)
		json_array_append_new(cells, name);
	json_write(out, cells);
}

static void add_row_object(struct strbuf *out, const struct table_options *o, json_t *object)
{
	auto_json *partial = NULL;

	if (o->include == INCLUDE_NONE) {
		strbuf_adds(out, "null");
		return;
	}
	if (o->include == INCLUDE_OBJECT) {
		json_write(out, object);
		return;
	}
	partial = json_object();
	json_set_str(partial, "kind", "PartialObjectMetadata");
	json_set_str(partial, "apiVersion", meta_version(o));
	json_object_set(partial, "metadata", json_object_get(object, "metadata"));
	json_write(out, partial);
}

void table_row(struct strbuf *out, const struct kind *k, const struct table_options *o,
	       const struct doc *d, int64_t version, int64_t now_ns)
{
	auto_json *object = doc_tree(d);

	metadata_set_version(object, version);
	strbuf_adds(out, "{\"cells\":");
	add_cells(out, k, object, now_ns);
	strbuf_adds(out, ",\"object\":");
	add_row_object(out, o, object);
	strbuf_addc(out, '}');
}

void table_end(struct strbuf *out)
{
	strbuf_adds(out, "]}");
}
