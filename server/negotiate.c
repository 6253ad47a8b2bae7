/* What a client sends and what it takes: media types to forms, bodies to trees. */
#include <string.h>
#include <strings.h>

#include "api/proto.h"
#include "base/yaml.h"
#include "server/negotiate.h"

/* One media range of an Accept header; texts are cut at their size. */
struct media {
	char type[64];
	char as[40], group[40], version[16];
};

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t");
}

/* Copies up to one of the stop characters, without trailing space; returns where it stopped. */
static const char *take_until(const char *p, const char *stop, char *out, size_t size)
{
	size_t n = strcspn(p, stop);
	const char *next = p + n;

	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	if (n >= size)
		n = size - 1;
	memcpy(out, p, n);
	out[n] = '\0';
	return next;
}

static const char *media_parameter(const char *p, struct media *m)
{
	char name[16], value[64];

	p = take_until(skip_space(p), "=;,", name, sizeof(name));
	value[0] = '\0';
	if (*p == '=')
		p = take_until(p + 1, ";,", value, sizeof(value));
	if (!strcmp(name, "as"))
		snprintf(m->as, sizeof(m->as), "%.39s", value);
	else if (!strcmp(name, "g"))
		snprintf(m->group, sizeof(m->group), "%.39s", value);
	else if (!strcmp(name, "v"))
		snprintf(m->version, sizeof(m->version), "%.15s", value);
	return p;
}

/* The range at p; returns where the next one begins, NULL after the last. */
static const char *media_next(const char *p, struct media *m)
{
	*m = (struct media){0};
	p = take_until(skip_space(p), ";,", m->type, sizeof(m->type));
	while (*p == ';')
		p = media_parameter(p + 1, m);
	return *p == ',' ? p + 1 : NULL;
}

static const struct {
	enum form form;
	const char *as, *group, *version; /* NULL: any */
} forms[] = {
	{FORM_JSON, "", NULL, NULL},
	{FORM_TABLE_V1, "Table", "meta.k8s.io", "v1"},
	{FORM_TABLE_V1BETA1, "Table", "meta.k8s.io", "v1beta1"},
	{FORM_DISCOVERY_V2, "APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2"},
	{FORM_DISCOVERY_V2BETA1, "APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1"},
	/* whole objects satisfy those who ask for their metadata */
	{FORM_JSON, "PartialObjectMetadata", "meta.k8s.io", NULL},
	{FORM_JSON, "PartialObjectMetadataList", "meta.k8s.io", NULL},
};

static bool is_json_range(const char *type)
{
	return !strcmp(type, "application/json") || !strcmp(type, "application/*") ||
	       !strcmp(type, "*/*");
}

static bool media_form(const struct media *m, unsigned allowed, enum form *ret)
{
	if (!is_json_range(m->type))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (strcmp(m->as, forms[i].as) != 0 ||
		    (forms[i].group && strcmp(m->group, forms[i].group) != 0) ||
		    (forms[i].version && strcmp(m->version, forms[i].version) != 0))
			continue;
		if (!(allowed & 1u << forms[i].form))
			return false;
		*ret = forms[i].form;
		return true;
	}
	return false;
}

int accept_form(const char *accept, unsigned allowed, enum form *ret, struct error *err)
{
	struct media m;

	if (!accept || !*accept) {
		*ret = FORM_JSON;
		return 0;
	}
	for (const char *p = accept; p;) {
		p = media_next(p, &m);
		if (media_form(&m, allowed, ret))
			return 0;
	}
	return error_set(err, ERR_NOT_ACCEPTABLE,
			 "only the following media types are accepted: application/json");
}

int body_type_parse(const char *content_type, enum body_type *ret, struct error *err)
{
	static const struct {
		const char *name;
		enum body_type type;
	} types[] = {
		{"", BODY_JSON}, /* a body that says nothing of itself is JSON */
		{"application/json", BODY_JSON},
		{"application/yaml", BODY_YAML},
		{"application/vnd.kubernetes.protobuf", BODY_PROTOBUF},
	};
	struct media m;

	media_next(content_type ? content_type : "", &m);
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (!strcasecmp(m.type, types[i].name)) {
			*ret = types[i].type;
			return 0;
		}
	}
	return error_set(err, ERR_UNSUPPORTED_MEDIA,
			 "the body of the request was in an unknown format - accepted media types "
			 "include: application/json, application/yaml, "
			 "application/vnd.kubernetes.protobuf");
}

static int yaml_body(const char *bytes, size_t n, json_t **ret, char **ret_duplicate,
		     struct error *err)
{
	auto_json *docs = NULL;
	auto_xfree char *text = NULL;

	if (yaml_parse_all(bytes, n, &docs, err))
		return -1;
	if (json_array_size(docs) != 1)
		return error_set(err, ERR_BAD_REQUEST,
				 "the body must be one YAML document, not %zu",
				 json_array_size(docs));
	/* once more as JSON, for the limits that hold there */
	text = json_print(json_array_get(docs, 0));
	*ret = json_parse(text, strlen(text), ret_duplicate, err);
	return *ret ? 0 : -1;
}

int body_parse(enum body_type type, const char *bytes, size_t n, json_t **ret, char **ret_duplicate,
	       struct error *err)
{
	*ret = NULL;
	if (!n)
		return 0;
	if (type == BODY_PROTOBUF)
		return proto_decode(bytes, n, ret, err);
	if (type == BODY_YAML)
		return yaml_body(bytes, n, ret, ret_duplicate, err);
	*ret = json_parse(bytes, n, ret_duplicate, err);
	return *ret ? 0 : -1;
}
