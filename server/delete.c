/* DELETE of one object: at once, or by a deletionTimestamp when something still holds it. */
#include <inttypes.h>
#include <string.h>

#include "base/encode.h"
#include "server/write.h"

/* --- options, of body and query --- */

static int invalid_option(struct error *err, const char *field, const char *value, const char *why)
{
	return error_set(err, ERR_INVALID,
			 "DeleteOptions.meta.k8s.io \"\" is invalid: %s: %s: \"%.60s\"", field, why,
			 value);
}

/* What is not done yet is refused, not taken for something else. */
static int check_policy(const char *policy, struct error *err)
{
	if (!policy || !strcmp(policy, "Background"))
		return 0;
	return invalid_option(err, "propagationPolicy", policy,
			      "Unsupported value, only Background is supported");
}

static int check_orphan(const json_t *body, struct error *err)
{
	if (!json_is_true(json_object_get(body, "orphanDependents")))
		return 0;
	return invalid_option(err, "orphanDependents", "true",
			      "Unsupported value, only false is supported");
}

static int parse_grace(const struct request *r, const json_t *body, int64_t *ret, struct error *err)
{
	const char *text = request_query(r, "gracePeriodSeconds");
	char *end;

	*ret = json_int_at(body, -1, "gracePeriodSeconds", NULL);
	if (json_is_integer(json_object_get(body, "gracePeriodSeconds"))) {
		if (*ret < 0)
			return invalid_option(err, "gracePeriodSeconds", "",
					      "Invalid value, must not be below 0");
		return 0;
	}
	if (!text)
		return 0;
	*ret = strtoll(text, &end, 10);
	if (*end || *ret < 0)
		return invalid_option(err, "gracePeriodSeconds", text,
				      "Invalid value, must be a number, not below 0");
	return 0;
}

static int parse_dry_run(const struct request *r, const json_t *body, bool *ret, struct error *err)
{
	const json_t *list = json_object_get(body, "dryRun");
	const char *value = json_string_value(json_array_get(list, 0));

	if (request_dry_run(r, ret, err))
		return -1;
	if (!json_array_size(list))
		return 0;
	if (json_array_size(list) != 1 || !value || strcmp(value, "All") != 0)
		return invalid_option(err, "dryRun", value ? value : "",
				      "Unsupported value, only All is supported");
	*ret = true;
	return 0;
}

int delete_options_parse(const struct request *r, const json_t *body, struct delete_options *ret,
			 bool *ret_dry_run, struct error *err)
{
	const char *policy = json_str_at(body, "propagationPolicy", NULL);

	if (body && !json_is_object(body))
		return error_set(err, ERR_BAD_REQUEST, "the body must be a DeleteOptions object");
	if (check_policy(policy ? policy : request_query(r, "propagationPolicy"), err) ||
	    check_orphan(body, err) || parse_grace(r, body, &ret->grace_s, err) ||
	    parse_dry_run(r, body, ret_dry_run, err))
		return -1;
	ret->uid = json_str_at(body, "preconditions", "uid", NULL);
	ret->version = json_str_at(body, "preconditions", "resourceVersion", NULL);
	return 0;
}

/* --- one try --- */

static int check_precondition(const struct write *w, const char *what, const char *want,
			      const char *is, struct error *err)
{
	auto_strbuf resource = {0};

	if (!want || !strcmp(want, is))
		return 0;
	kind_resource_name(w->pub.kind, &resource);
	return error_set(err, ERR_CONFLICT,
			 "Operation cannot be fulfilled on %s \"%s\": the %s in the precondition "
			 "(%.60s) does not match the %s in record (%s). The object might have been "
			 "deleted and then recreated",
			 strbuf_str(&resource), w->pub.name, what, want, what, is);
}

static int check_preconditions(const struct write *w, struct error *err)
{
	const char *uid = meta_str(w->old, "uid");

	if (check_precondition(w, "UID", w->del.uid, uid ? uid : "", err) ||
	    check_precondition(w, "ResourceVersion", w->del.version,
			       meta_str(w->old, "resourceVersion"), err))
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
