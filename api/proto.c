/*
 * The walker of protobuf bodies: envelope, wire format, and the JSON that a field table makes of
 * a message. Which fields there are is in the tables, proto_*.c.
 */
#include "api/proto.h"

#include <inttypes.h>
#include <string.h>

#include "api/path.h"
#include "api/proto_table.h"
#include "base/encode.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/protobuf.h"

struct decoder {
	struct error *err;
};

static int fail(struct decoder *d, const struct path *at, const char *what)
{
	auto_strbuf path = {0};

	path_write(at, &path);
	return error_set(d->err, ERR_BAD_REQUEST, "protobuf body: %s%s%s", strbuf_str(&path),
			 path.size ? ": " : "", what);
}

static json_t *fail_null(struct decoder *d, const struct path *at, const char *what)
{
	fail(d, at, what);
	return NULL;
}

/* Reads a message whose fields 1 and 2 have the given wires; what is absent stays as it is. */
static bool read_pair(struct sv in, enum pb_wire wire1, struct pb_field *f1, enum pb_wire wire2,
		      struct pb_field *f2)
{
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.number > 2)
			continue;
		if (f.wire != (f.number == 1 ? wire1 : wire2))
			return false;
		*(f.number == 1 ? f1 : f2) = f;
	}
	return !in.n;
}

/* --- values ----------------------------------------------------------------------------------- */

static json_t *text_json(struct decoder *d, const struct path *at, struct sv bytes)
{
	if (!bytes.n)
		return json_string("");
	if (!utf8_valid(bytes.p, bytes.n) || memchr(bytes.p, '\0', bytes.n))
		return fail_null(d, at, "not a text in UTF-8");
	return json_stringn_nocheck(bytes.p, bytes.n);
}

static json_t *base64_json(struct sv bytes)
{
	auto_strbuf text = {0};

	base64_encode(&text, bytes.p, bytes.n);
	return json_string(strbuf_str(&text));
}

/* An empty message is the time that is not set. */
static json_t *time_json(struct decoder *d, const struct path *at, struct sv in, bool micro)
{
	struct pb_field seconds = {0}, nanos = {0};
	char text[TIME_SIZE];
	int64_t s, ns;

	if (!in.n)
		return json_null();
	if (!read_pair(in, PB_VARINT, &seconds, PB_VARINT, &nanos))
		return fail_null(d, at, "malformed time");
	s = (int64_t)seconds.varint;
	if (s > INT64_MAX / 1000000000 - 1 || s < -INT64_MAX / 1000000000 ||
	    nanos.varint > 999999999)
		return fail_null(d, at, "time out of range");
	ns = s * 1000000000 + (int64_t)nanos.varint;
	if (micro)
		time_format_micro(text, ns);
	else
		time_format(text, ns);
	return json_string(text);
}

static json_t *quantity_json(struct decoder *d, const struct path *at, struct sv in)
{
	struct pb_field text = {0}, unused = {0};

	if (!read_pair(in, PB_BYTES, &text, PB_BYTES, &unused))
		return fail_null(d, at, "malformed quantity");
	if (!text.bytes.n)
		return json_string("0");
	return text_json(d, at, text.bytes);
}

static json_t *int_or_string_json(struct decoder *d, const struct path *at, struct sv in)
{
	struct pb_field f, number = {0}, text = {0};
	bool is_text = false;

	while (pb_next(&in, &f)) {
		if (f.number <= 3 && f.wire != (f.number == 3 ? PB_BYTES : PB_VARINT))
			return fail_null(d, at, "malformed number or string");
		if (f.number == 1)
			is_text = f.varint == 1;
		else if (f.number == 2)
			number = f;
		else if (f.number == 3)
			text = f;
	}
	if (in.n)
		return fail_null(d, at, "malformed number or string");
	if (is_text)
		return text_json(d, at, text.bytes);
	return json_integer((int32_t)number.varint);
}

static json_t *strings_json(struct decoder *d, const struct path *at, struct sv in)
{
	auto_json *array = json_array();
	struct pb_field f;

	while (pb_next(&in, &f)) {
		json_t *text;

		if (f.number != 1)
			continue;
		if (f.wire != PB_BYTES)
			return fail_null(d, at, "malformed list of strings");
		text = text_json(d, at, f.bytes);
		if (!text)
			return NULL;
		json_array_append_new(array, text);
	}
	return in.n ? fail_null(d, at, "malformed list of strings") : take_ptr(array);
}

static int decode_message(struct decoder *d, const struct proto_field *fields, struct sv in,
			  const struct path *at, json_t *into);

/* A message that comes in two parts is one: the later part is read into the earlier. */
static json_t *message_json(struct decoder *d, const struct path *at,
			    const struct proto_field *fields, struct sv in, json_t *earlier)
{
	auto_json *object = json_is_object(earlier) ? json_incref(earlier) : json_object();

	return decode_message(d, fields, in, at, object) < 0 ? NULL : take_ptr(object);
}

static enum pb_wire wire_of(enum proto_type type)
{
	return type == P_BOOL || type == P_INT ? PB_VARINT : PB_BYTES;
}

/* NULL on failure. earlier: what the field holds already, or NULL. */
static json_t *value_json(struct decoder *d, const struct path *at, const struct proto_field *field,
			  const struct pb_field *f, json_t *earlier)
{
	enum proto_type type = (enum proto_type)(field->type & P_TYPE);

	if (f->wire != wire_of(type))
		return fail_null(d, at, "another wire type than the field has");
	switch (type) {
	case P_BOOL:
		return json_boolean(f->varint != 0);
	case P_INT:
		return json_integer((json_int_t)f->varint);
	case P_STRING:
		return text_json(d, at, f->bytes);
	case P_BYTES:
		return base64_json(f->bytes);
	case P_STRINGS:
		return strings_json(d, at, f->bytes);
	case P_TIME:
	case P_MICRO_TIME:
		return time_json(d, at, f->bytes, type == P_MICRO_TIME);
	case P_QUANTITY:
		return quantity_json(d, at, f->bytes);
	case P_INT_OR_STRING:
		return int_or_string_json(d, at, f->bytes);
	default:
		return message_json(d, at, field->message, f->bytes, earlier);
	}
}

/* --- fields ----------------------------------------------------------------------------------- */

/* The array or object under name, made when it is not there. */
static json_t *need(json_t *into, const char *name, json_t *(*make)(void))
{
	json_t *found = json_object_get(into, name);

	if (!found) {
		found = make();
		json_object_set_new(into, name, found);
	}
	return found;
}

/* Numbers of a list may come packed: many in one field. */
static int add_packed(struct decoder *d, const struct path *at, const struct proto_field *field,
		      struct sv in, json_t *array)
{
	struct pb_field f = {.wire = PB_VARINT};

	while (pb_next_varint(&in, &f.varint))
		json_array_append_new(array, value_json(d, at, field, &f, NULL));
	return in.n ? fail(d, at, "malformed packed numbers") : 0;
}

static int add_element(struct decoder *d, const struct path *at, const struct proto_field *field,
		       const struct pb_field *f, json_t *into)
{
	json_t *array = need(into, field->name, json_array);
	const struct path *here = PATH_INDEX(at, json_array_size(array));
	json_t *value;

	if (f->wire == PB_BYTES && wire_of((enum proto_type)(field->type & P_TYPE)) == PB_VARINT)
		return add_packed(d, at, field, f->bytes, array);
	value = value_json(d, here, field, f, NULL);
	return value ? json_array_append_new(array, value) : -1;
}

/* An entry is a message {1: key, 2: value}; absent ones are empty. */
static int add_entry(struct decoder *d, const struct path *at, const struct proto_field *field,
		     const struct pb_field *f, json_t *into)
{
	json_t *object = need(into, field->name, json_object);
	struct pb_field key = {0}, value = {.wire = PB_BYTES};
	auto_json *text = NULL;
	json_t *v;

	if (f->wire != PB_BYTES || !read_pair(f->bytes, PB_BYTES, &key, PB_BYTES, &value))
		return fail(d, at, "malformed map entry");
	text = text_json(d, at, key.bytes);
	if (!text)
		return -1;
	v = value_json(d, PATH_KEY(at, json_string_value(text)), field, &value, NULL);
	return v ? json_object_set_new_nocheck(object, json_string_value(text), v) : -1;
}

static bool is_zero(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_STRING:
		return json_string_length(v) == 0;
	case JSON_INTEGER:
		return json_integer_value(v) == 0;
	case JSON_OBJECT:
		return json_object_size(v) == 0;
	default:
		return json_is_false(v);
	}
}

static int set_value(struct decoder *d, const struct path *at, const struct proto_field *field,
		     const struct pb_field *f, json_t *into)
{
	json_t *v = value_json(d, at, field, f, json_object_get(into, field->name));

	if (!v)
		return -1;
	if (!json_is_null(v) && (field->type & P_KEEP || !is_zero(v)))
		return json_object_set_new(into, field->name, v);
	json_decref(v);
	json_object_del(into, field->name);
	return 0;
}

static int decode_field(struct decoder *d, const struct path *at, const struct proto_field *field,
			const struct pb_field *f, json_t *into)
{
	const struct path *here = PATH_FIELD(at, field->name);

	if (field->type & P_INLINE && f->wire == PB_BYTES)
		return decode_message(d, field->message, f->bytes, at, into);
	if (field->type & P_LIST)
		return add_element(d, here, field, f, into);
	if (field->type & P_MAP)
		return add_entry(d, here, field, f, into);
	return set_value(d, here, field, f, into);
}

static const struct proto_field *find_field(const struct proto_field *fields, unsigned number)
{
	for (; fields->number; fields++)
		if (fields->number == number)
			return fields;
	return NULL;
}

static int decode_message(struct decoder *d, const struct proto_field *fields, struct sv in,
			  const struct path *at, json_t *into)
{
	struct pb_field f;

	while (pb_next(&in, &f)) {
		const struct proto_field *field = find_field(fields, f.number);

		if (field && decode_field(d, at, field, &f, into) < 0)
			return -1;
	}
	return in.n ? fail(d, at, "malformed") : 0;
}

/* --- the envelope ----------------------------------------------------------------------------- */

static const struct {
	const char *api_version; /* NULL: any, the options have none of their own */
	const char *kind;
	const struct proto_field *fields;
} kinds_read[] = {
	{NULL, "DeleteOptions", proto_delete_options},
	{"v1", "Namespace", proto_namespace},
	{"v1", "ConfigMap", proto_config_map},
	{"v1", "Secret", proto_secret},
	{"v1", "Event", proto_event},
	{"v1", "Service", proto_service},
	{"v1", "Pod", proto_pod},
	{"v1", "Binding", proto_binding},
	{"coordination.k8s.io/v1", "Lease", proto_lease},
	{"events.k8s.io/v1", "Event", proto_events_event},
	{"scheduling.k8s.io/v1", "PriorityClass", proto_priority_class},
	{"certificates.k8s.io/v1", "CertificateSigningRequest", proto_certificate_signing_request},
};

static const struct proto_field *find_kind(const char *api_version, const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds_read); i++)
		if (!strcmp(kinds_read[i].kind, kind) &&
		    (!kinds_read[i].api_version || !strcmp(kinds_read[i].api_version, api_version)))
			return kinds_read[i].fields;
	return NULL;
}

static const struct proto_field type_meta[] = {
	{1, "apiVersion", P_STRING | P_KEEP},
	{2, "kind", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field envelope[] = {
	{1, "", P_MESSAGE | P_INLINE, type_meta},
	{3, "contentEncoding", P_STRING},
	P_END,
};

/* Field 2 of the envelope: the object; empty when absent. */
static struct sv find_object(struct sv in)
{
	struct sv object = {0};
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.number == 2 && f.wire == PB_BYTES)
			object = f.bytes;
	return object;
}

static const struct proto_field *read_type(struct decoder *d, struct sv in, json_t *into)
{
	const struct proto_field *fields;
	const char *version, *kind;

	if (decode_message(d, envelope, in, NULL, into) < 0)
		return NULL;
	version = json_str_at(into, "apiVersion", NULL);
	kind = json_str_at(into, "kind", NULL);
	fields = version && kind && !json_object_get(into, "contentEncoding")
			 ? find_kind(version, kind)
			 : NULL;
	if (!fields)
		error_set(d->err, ERR_UNSUPPORTED_MEDIA,
			  "protobuf of %.100s %.100s is not read here; send JSON",
			  version ? version : "", kind ? kind : "");
	return fields;
}

int proto_decode(const void *bytes, size_t n, json_t **ret, struct error *err)
{
	static const char magic[4] = {'k', '8', 's', '\0'};
	auto_json *object = json_object();
	struct decoder d = {.err = err};
	const struct proto_field *fields;
	struct sv in;

	if (n < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "protobuf body: does not begin as Kubernetes' bodies do");
	in = (struct sv){(const char *)bytes + sizeof(magic), n - sizeof(magic)};
	fields = read_type(&d, in, object);
	if (!fields || decode_message(&d, fields, find_object(in), NULL, object) < 0)
		return -1;
	*ret = take_ptr(object);
	return 0;
}
