/* Columns of Kubernetes' own kinds, as its servers print them. */
#include <ctype.h>
#include <string.h>

#include "api/cells.h"

static json_t *strbuf_cell(struct strbuf *text, const char *otherwise)
{
	return json_string(text->size ? strbuf_str(text) : otherwise);
}

CELL(namespace_status, "status", "phase")

const struct column columns_namespace[] = {
	{"Status", "string", 0, namespace_status},
	COLUMN_AGE,
	{NULL},
};

static json_t *data_count(const json_t *object, int64_t now_ns)
{
	return json_integer((json_int_t)(json_object_size(json_at(object, "data", NULL)) +
					 json_object_size(json_at(object, "binaryData", NULL))));
}

const struct column columns_configmap[] = {
	{"Data", "integer", 0, data_count},
	COLUMN_AGE,
	{NULL},
};

CELL(secret_type, "type")

const struct column columns_secret[] = {
	{"Type", "string", 0, secret_type},
	{"Data", "integer", 0, data_count},
	COLUMN_AGE,
	{NULL},
};

/* "job/example": kind in lower case and name. */
static json_t *reference_cell(const json_t *reference)
{
	const char *kind = json_str_at(reference, "kind", NULL);
	const char *name = json_str_at(reference, "name", NULL);
	auto_strbuf text = {0};

	for (const char *c = kind ? kind : ""; *c; c++)
		strbuf_addc(&text, (char)tolower((unsigned char)*c));
	strbuf_addf(&text, "/%s", name ? name : "");
	return strbuf_cell(&text, "");
}

static json_t *event_last_seen(const json_t *event, int64_t now_ns)
{
	static const char *const fields[] = {"lastTimestamp", "deprecatedLastTimestamp",
					     "eventTime", "firstTimestamp",
					     "deprecatedFirstTimestamp"};
	const char *time = json_str_at(event, "series", "lastObservedTime", NULL);

	for (size_t i = 0; !time && i < ARRAY_LEN(fields); i++)
		time = json_str_at(event, fields[i], NULL);
	return cell_since(time, now_ns);
}

CELL(event_type, "type")
CELL(event_reason, "reason")
CELL(event_message, "message")
CELL(event_note, "note")

static json_t *event_object(const json_t *event, int64_t now_ns)
{
	return reference_cell(json_at(event, "involvedObject", NULL));
}

static json_t *event_regarding(const json_t *event, int64_t now_ns)
{
	return reference_cell(json_at(event, "regarding", NULL));
}

const struct column columns_event[] = {
	{"Last Seen", "string", 0, event_last_seen}, {"Type", "string", 0, event_type},
	{"Reason", "string", 0, event_reason},       {"Object", "string", 0, event_object},
	{"Message", "string", 0, event_message},     {NULL},
};

const struct column columns_event_v1[] = {
	{"Last Seen", "string", 0, event_last_seen}, {"Type", "string", 0, event_type},
	{"Reason", "string", 0, event_reason},       {"Object", "string", 0, event_regarding},
	{"Message", "string", 0, event_note},        {NULL},
};

CELL(lease_holder, "spec", "holderIdentity")

const struct column columns_lease[] = {
	{"Holder", "string", 0, lease_holder},
	COLUMN_AGE,
	{NULL},
};

CELL(priorityclass_value, "value")
CELL(priorityclass_policy, "preemptionPolicy")

static json_t *priorityclass_default(const json_t *class, int64_t now_ns)
{
	return json_boolean(json_is_true(json_at(class, "globalDefault", NULL)));
}

const struct column columns_priorityclass[] = {
	{"Value", "integer", 0, priorityclass_value},
	{"Global-Default", "boolean", 0, priorityclass_default},
	COLUMN_AGE,
	{"PreemptionPolicy", "string", 0, priorityclass_policy},
	{NULL},
};

CELL(csr_signer, "spec", "signerName")
CELL(csr_requestor, "spec", "username")

static json_t *csr_duration(const json_t *csr, int64_t now_ns)
{
	int64_t s = json_int_at(csr, 0, "spec", "expirationSeconds", NULL);

	return s > 0 ? cell_seconds(s) : json_string("<none>");
}

/* "Approved,Issued" and the like; "Pending" while nobody has said anything. */
static json_t *csr_condition(const json_t *csr, int64_t now_ns)
{
	static const char *const types[] = {"Approved", "Denied", "Failed"};
	auto_strbuf text = {0};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (cell_condition(csr, types[i], "type"))
			strbuf_addf(&text, "%s%s", text.size ? "," : "", types[i]);
	if (json_at(csr, "status", "certificate", NULL))
		strbuf_addf(&text, "%sIssued", text.size ? "," : "");
	return strbuf_cell(&text, "Pending");
}

const struct column columns_csr[] = {
	COLUMN_AGE,
	{"SignerName", "string", 0, csr_signer},
	{"Requestor", "string", 0, csr_requestor},
	{"RequestedDuration", "string", 0, csr_duration},
	{"Condition", "string", 0, csr_condition},
	{NULL},
};

static json_t *service_text(const json_t *service, const char *field, const char *otherwise)
{
	const char *text = json_str_at(service, "spec", field, NULL);

	return json_string(text && *text ? text : otherwise);
}

static json_t *service_type(const json_t *service, int64_t now_ns)
{
	return service_text(service, "type", "ClusterIP");
}

static json_t *service_cluster_ip(const json_t *service, int64_t now_ns)
{
	return service_text(service, "clusterIP", "<none>");
}

static json_t *service_external_ip(const json_t *service, int64_t now_ns)
{
	return service_text(service, "externalName", "<none>");
}

static json_t *service_ports(const json_t *service, int64_t now_ns)
{
	const json_t *ports = json_at(service, "spec", "ports", NULL);
	auto_strbuf text = {0};
	size_t i;
	json_t *port;

	json_array_foreach (ports, i, port) {
		const char *protocol = json_str_at(port, "protocol", NULL);

		strbuf_addf(&text, "%s%lld/%s", i ? "," : "",
			    (long long)json_int_at(port, 0, "port", NULL),
			    protocol ? protocol : "TCP");
	}
	return strbuf_cell(&text, "<none>");
}

static json_t *service_selector(const json_t *service, int64_t now_ns)
{
	const json_t *selector = json_at(service, "spec", "selector", NULL);
	auto_strbuf text = {0};
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)selector, key, value)
		strbuf_addf(&text, "%s%s=%s", text.size ? "," : "", key,
			    json_is_string(value) ? json_string_value(value) : "");
	return strbuf_cell(&text, "<none>");
}

const struct column columns_service[] = {
	{"Type", "string", 0, service_type},
	{"Cluster-IP", "string", 0, service_cluster_ip},
	{"External-IP", "string", 0, service_external_ip},
	{"Port(s)", "string", 0, service_ports},
	COLUMN_AGE,
	{"Selector", "string", 1, service_selector},
	{NULL},
};
