/* DELETE of one object: at once, or by a deletionTimestamp when something still holds it. */
#include <inttypes.h>
#include <string.h>

#include "base/encode.h"
#include "server/options.h"
#include "server/write.h"

/* --- options, of body and query --- */

struct option_type {
	const char *name;
	json_type type;
};

/* What is of another type would be taken for absent, and a precondition must not be. */
static int check_types(const json_t *body, struct error *err)
{
	static const struct option_type types[] = {
		{"gracePeriodSeconds", JSON_INTEGER},
		{"propagationPolicy", JSON_STRING},
		{"preconditions", JSON_OBJECT},
		{"dryRun", JSON_ARRAY},
		{"kind", JSON_STRING},
	};
	const json_t *orphan = json_object_get(body, "orphanDependents");
	const char *kind = json_str_at(body, "kind", NULL);

	if (body && !json_is_object(body))
		return error_set(err, ERR_BAD_REQUEST, "the body must be a DeleteOptions object");
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const json_t *value = json_object_get(body, types[i].name);

		if (value && !json_is_null(value) && json_typeof(value) != types[i].type)
			return error_set(err, ERR_BAD_REQUEST,
					 "DeleteOptions.%s is not of the right type",
					 types[i].name);
	}
	if (orphan && !json_is_boolean(orphan) && !json_is_null(orphan))
		return error_set(err, ERR_BAD_REQUEST,
				 "DeleteOptions.orphanDependents is not of the right type");
	if (kind && *kind && strcmp(kind, "DeleteOptions") != 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "the body must be a DeleteOptions object, not a %.60s", kind);
	return 0;
}

/* What is not done yet is refused, not taken for something else. */
static void check_policy(struct request *r, const json_t *body)
{
	const char *said = json_str_at(body, "propagationPolicy", NULL);
	const char *policy = said ? said : request_query(r, "propagationPolicy");
	auto_xfree char *quoted = policy ? xasprintf("\"%.40s\"", policy) : NULL;
	const json_t *orphan = json_object_get(body, "orphanDependents");

	if (json_is_true(orphan))
		option_wrong(r, CAUSE_NOT_SUPPORTED, "orphanDependents", "true",
			     "supported values: \"false\"");
	if (json_is_boolean(orphan) && policy)
		option_wrong(r, CAUSE_INVALID, "propagationPolicy", quoted,
			     "orphanDependents and deletionPropagation cannot be both set");
	else if (policy && strcmp(policy, "Background") != 0)
		option_wrong(r, CAUSE_NOT_SUPPORTED, "propagationPolicy", quoted,
			     "supported values: \"Background\"");
}

/* Below 0 is 1, as Kubernetes has it. */
static int parse_grace(const struct request *r, const json_t *body, int64_t *ret, struct error *err)
{
	const json_t *said = json_object_get(body, "gracePeriodSeconds");

	*ret = json_is_integer(said) ? json_integer_value(said) : -1;
	if (!json_is_integer(said)) {
		if (!request_query(r, "gracePeriodSeconds"))
			return 0;
		if (option_int(r, "gracePeriodSeconds", ret, err))
			return -1;
	}
	if (*ret < 0)
		*ret = 1;
	return 0;
}

static void parse_dry_run(struct request *r, const json_t *body, bool *ret)
{
	const json_t *list = json_object_get(body, "dryRun");
	const char *value = json_string_value(json_array_get(list, 0));

	option_dry_run(r, ret);
	if (!json_array_size(list))
		return;
	*ret = true;
	if (json_array_size(list) != 1 || !value || strcmp(value, "All") != 0)
		option_wrong(r, CAUSE_NOT_SUPPORTED, "dryRun", NULL, "supported values: \"All\"");
}

int delete_options_parse(struct request *r, const json_t *body, struct delete_options *ret,
			 bool *ret_dry_run, struct error *err)
{
	if (check_types(body, err) || parse_grace(r, body, &ret->grace_s, err))
		return -1;
	check_policy(r, body);
	parse_dry_run(r, body, ret_dry_run);
	ret->uid = json_str_at(body, "preconditions", "uid", NULL);
	ret->version = json_str_at(body, "preconditions", "resourceVersion", NULL);
	return options_check(r, err);
}

/* --- one try --- */

static int check_precondition(const struct write *w, const char *what, const char *want,
			      const char *is, const char *perhaps, struct error *err)
{
	auto_strbuf resource = {0};

	if (!want || !strcmp(want, is))
		return 0;
	kind_resource_name(w->pub.kind, &resource);
	return error_set(err, ERR_CONFLICT,
			 "Operation cannot be fulfilled on %s \"%s\": the %s in the precondition "
			 "(%.60s) does not match the %s in record (%s). The object might have been "
			 "%s",
			 strbuf_str(&resource), w->pub.name, what, want, what, is, perhaps);
}

static int check_preconditions(const struct write *w, struct error *err)
{
	const char *uid = meta_str(w->old, "uid");

	if (check_precondition(w, "UID", w->del.uid, uid ? uid : "", "deleted and then recreated",
			       err) ||
	    check_precondition(w, "ResourceVersion", w->del.version,
			       meta_str(w->old, "resourceVersion"), "modified", err))
		return -1;
	return 0;
}

static int64_t grace_now(const struct write *w)
{
	int64_t (*grace_s)(const json_t *object, int64_t asked) = w->kind->grace_s;
	int64_t wanted = grace_s ? grace_s(w->old, w->del.grace_s) : 0;
	int64_t left = json_int_at(w->old, 0, "metadata", "deletionGracePeriodSeconds", NULL);

	/* who has begun to die cannot be given more time */
	return metadata_is_dying(w->old) && left < wanted ? left : wanted;
}

static void set_dying(struct write *w, int64_t grace)
{
	json_t *metadata = json_object_get(w->pub.object, "metadata");
	int64_t now = env_wall_ns(w->server->env);
	char text[TIME_SIZE];

	if (metadata_is_dying(w->old) &&
	    json_int_at(metadata, 0, "deletionGracePeriodSeconds", NULL) <= grace)
		return;
	time_format(text, now + grace * 1000000000);
	json_set_str(metadata, "deletionTimestamp", text);
	if (!is_namespace(w->pub.kind)) /* it goes when it is empty */
		json_set_int(metadata, "deletionGracePeriodSeconds", grace);
	if (w->pub.kind->has_generation && !metadata_is_dying(w->old))
		json_set_int(metadata, "generation",
			     json_int_at(w->old, 0, "metadata", "generation", NULL) + 1);
	if (is_namespace(w->pub.kind))
		json_set_str(json_object_need(w->pub.object, "status"), "phase", "Terminating");
}

static int check_kept(const struct write *w, struct error *err)
{
	if (!is_namespace(w->pub.kind) || !namespace_is_kept(w->server, w->pub.name))
		return 0;
	return error_set(err, ERR_FORBIDDEN,
			 "namespaces \"%s\" is forbidden: this namespace may not be deleted",
			 w->pub.name);
}

static bool is_held(const struct write *w, int64_t grace)
{
	return grace || metadata_has_finalizers(w->pub.object) ||
	       (is_namespace(w->pub.kind) && !w->emptied);
}

int delete_prepare(struct write *w, struct error *err)
{
	int64_t grace;

	if (write_load(w, err) || check_kept(w, err) || check_preconditions(w, err))
		return -1;
	w->pub.names_version = w->del.version != NULL;
	w->pub.object = json_deep_copy(w->old);
	grace = grace_now(w);
	set_dying(w, grace);
	if (object_admit(w, err) || write_extend(w, err))
		return -1;
	if (is_held(w, grace) && !w->pub.remove)
		return object_put(w, err);
	object_remove(w);
	return 0;
}

/* --- the request --- */

static void delete_body(struct server_request *pub, json_t *body, void *arg)
{
	struct request *r = request_of(pub);
	struct write *w = write_create(r->server, r, r->kind, WRITE_DELETE, r->pub.ns, r->pub.name,
				       json_incref(body));
	struct error err;

	w->done = write_respond;
	if (delete_options_parse(r, body, &w->del, &w->pub.dry_run, &err))
		write_refuse(w, &err);
	else
		write_run(w);
}

void delete_run(struct request *r)
{
	server_read_body(&r->pub, delete_body, NULL);
}
