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

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Bytes that are still to be read. */
struct input {
	const uint8_t *at, *end;
};

/* One field as it lies on the wire. */
struct wire_field {
	unsigned number;
	enum wire wire;
	uint64_t varint;    /* WIRE_VARINT */
	struct input bytes; /* WIRE_BYTES */
};

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

/* --- the wire format -------------------------------------------------------------------------- */

static bool read_varint(struct input *in, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		uint8_t byte = *in->at++;

		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool skip(struct input *in, size_t n)
{
	if ((size_t)(in->end - in->at) < n)
		return false;
	in->at += n;
	return true;
}

static bool read_bytes(struct input *in, struct input *ret)
{
	uint64_t n;

	if (!read_varint(in, &n) || n > (size_t)(in->end - in->at))
		return false;
	*ret = (struct input){in->at, in->at + n};
	in->at += n;
	return true;
}

static bool read_payload(struct input *in, struct wire_field *f)
{
	switch (f->wire) {
	case WIRE_VARINT:
		return read_varint(in, &f->varint);
	case WIRE_BYTES:
		return read_bytes(in, &f->bytes);
	case WIRE_FIXED64:
		return skip(in, 8);
	case WIRE_FIXED32:
		return skip(in, 4);
	}
	return false; /* groups: Kubernetes has none */
}

static bool read_field(struct input *in, struct wire_field *ret)
{
	uint64_t tag;

	if (!read_varint(in, &tag) || tag >> 3 == 0 || tag >> 32)
		return false;
	*ret = (struct wire_field){.number = (unsigned)(tag >> 3), .wire = (enum wire)(tag & 7)};
	return read_payload(in, ret);
}

/* Reads a message whose fields 1 and 2 have the given wires; what is absent stays as it is. */
static bool read_pair(struct input in, enum wire wire1, struct wire_field *f1, enum wire wire2,
		      struct wire_field *f2)
{
	struct wire_field f;

	while (in.at < in.end) {
		if (!read_field(&in, &f))
			return false;
		if (f.number > 2)
			continue;
		if (f.wire != (f.number == 1 ? wire1 : wire2))
			return false;
		*(f.number == 1 ? f1 : f2) = f;
	}
	return true;
}

/* --- values ----------------------------------------------------------------------------------- */

static json_t *text_json(struct decoder *d, const struct path *at, struct input bytes)
{
	const char *text = (const char *)bytes.at;
	size_t n = (size_t)(bytes.end - bytes.at);

	if (!n)
		return json_string("");
	if (!utf8_valid(text, n) || memchr(text, '\0', n))
		return fail_null(d, at, "not a text in UTF-8");
	return json_stringn_nocheck(text, n);
}

static json_t *base64_json(struct input bytes)
{
	auto_strbuf text = {0};

	base64_encode(&text, bytes.at, (size_t)(bytes.end - bytes.at));
	return json_string(strbuf_str(&text));
}

/* An empty message is the time that is not set. */
static json_t *time_json(struct decoder *d, const struct path *at, struct input in, bool micro)
{
	struct wire_field seconds = {0}, nanos = {0};
	char text[TIME_SIZE];
	int64_t s, ns;

	if (in.at == in.end)
		return json_null();
	if (!read_pair(in, WIRE_VARINT, &seconds, WIRE_VARINT, &nanos))
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

static json_t *quantity_json(struct decoder *d, const struct path *at, struct input in)
{
	struct wire_field text = {0}, unused = {0};

	if (!read_pair(in, WIRE_BYTES, &text, WIRE_BYTES, &unused))
		return fail_null(d, at, "malformed quantity");
	if (text.bytes.at == text.bytes.end)
		return json_string("0");
	return text_json(d, at, text.bytes);
}

static json_t *int_or_string_json(struct decoder *d, const struct path *at, struct input in)
{
	struct wire_field f, number = {0}, text = {0};
	bool is_text = false;

	while (in.at < in.end) {
		if (!read_field(&in, &f) || (f.number <= 3 && f.wire != (f.number == 3 ? 2 : 0)))
			return fail_null(d, at, "malformed number or string");
		if (f.number == 1)
			is_text = f.varint == 1;
		else if (f.number == 2)
			number = f;
		else if (f.number == 3)
			text = f;
	}
	if (is_text)
		return text_json(d, at, text.bytes);
	return json_integer((int32_t)number.varint);
}

static json_t *strings_json(struct decoder *d, const struct path *at, struct input in)
{
	auto_json *array = json_array();
	struct wire_field f;

	while (in.at < in.end) {
		json_t *text;

		if (!read_field(&in, &f) || (f.number == 1 && f.wire != WIRE_BYTES))
			return fail_null(d, at, "malformed list of strings");
		if (f.number != 1)
			continue;
		text = text_json(d, at, f.bytes);
		if (!text)
			return NULL;
		json_array_append_new(array, text);
	}
	return take_ptr(array);
}

static int decode_message(struct decoder *d, const struct proto_field *fields, struct input in,
			  const struct path *at, json_t *into);

/* A message that comes in two parts is one: the later part is read into the earlier. */
static json_t *message_json(struct decoder *d, const struct path *at,
			    const struct proto_field *fields, struct input in, json_t *earlier)
{
	auto_json *object = json_is_object(earlier) ? json_incref(earlier) : json_object();

	return decode_message(d, fields, in, at, object) < 0 ? NULL : take_ptr(object);
}

static enum wire wire_of(enum proto_type type)
{
	return type == P_BOOL || type == P_INT ? WIRE_VARINT : WIRE_BYTES;
}

/* NULL on failure. earlier: what the field holds already, or NULL. */
static json_t *value_json(struct decoder *d, const struct path *at, const struct proto_field *field,
			  const struct wire_field *f, json_t *earlier)
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
		      struct input in, json_t *array)
{
	struct wire_field f = {.wire = WIRE_VARINT};

	while (in.at < in.end) {
		if (!read_varint(&in, &f.varint))
			return fail(d, at, "malformed packed numbers");
		json_array_append_new(array, value_json(d, at, field, &f, NULL));
	}
	return 0;
}

static int add_element(struct decoder *d, const struct path *at, const struct proto_field *field,
		       const struct wire_field *f, json_t *into)
{
	json_t *array = need(into, field->name, json_array);
	const struct path *here = PATH_INDEX(at, json_array_size(array));
	json_t *value;

	if (f->wire == WIRE_BYTES &&
	    wire_of((enum proto_type)(field->type & P_TYPE)) == WIRE_VARINT)
		return add_packed(d, at, field, f->bytes, array);
	value = value_json(d, here, field, f, NULL);
	return value ? json_array_append_new(array, value) : -1;
}

/* An entry is a message {1: key, 2: value}; absent ones are empty. */
static int add_entry(struct decoder *d, const struct path *at, const struct proto_field *field,
		     const struct wire_field *f, json_t *into)
{
	json_t *object = need(into, field->name, json_object);
	struct wire_field key = {0}, value = {.wire = WIRE_BYTES};
	auto_json *text = NULL;
	json_t *v;

	if (f->wire != WIRE_BYTES || !read_pair(f->bytes, WIRE_BYTES, &key, WIRE_BYTES, &value))
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
		     const struct wire_field *f, json_t *into)
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
			const struct wire_field *f, json_t *into)
{
	const struct path *here = PATH_FIELD(at, field->name);

	if (field->type & P_INLINE && f->wire == WIRE_BYTES)
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

static int decode_message(struct decoder *d, const struct proto_field *fields, struct input in,
			  const struct path *at, json_t *into)
{
	while (in.at < in.end) {
		const struct proto_field *field;
		struct wire_field f;

		if (!read_field(&in, &f))
			return fail(d, at, "malformed");
		field = find_field(fields, f.number);
		if (field && decode_field(d, at, field, &f, into) < 0)
			return -1;
	}
	return 0;
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
static struct input find_object(struct input in)
{
	struct input object = {in.end, in.end};
	struct wire_field f;

	while (in.at < in.end && read_field(&in, &f))
		if (f.number == 2 && f.wire == WIRE_BYTES)
			object = f.bytes;
	return object;
}

static const struct proto_field *read_type(struct decoder *d, struct input in, json_t *into)
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
	struct input in = {bytes, (const uint8_t *)bytes + n};
	auto_json *object = json_object();
	struct decoder d = {.err = err};
	const struct proto_field *fields;

	if (n < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "protobuf body: does not begin as Kubernetes' bodies do");
	in.at += sizeof(magic);
	fields = read_type(&d, in, object);
	if (!fields || decode_message(&d, fields, find_object(in), NULL, object) < 0)
		return -1;
	*ret = take_ptr(object);
	return 0;
}
