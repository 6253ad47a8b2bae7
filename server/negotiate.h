/* What a client sends and what it takes: media types to forms, bodies to trees. */
#ifndef SERVER_NEGOTIATE_H
#define SERVER_NEGOTIATE_H

#include "base/error.h"
#include "base/json.h"

enum form {
	FORM_JSON,
	FORM_TABLE_V1,
	FORM_TABLE_V1BETA1,
	FORM_DISCOVERY_V2,
	FORM_DISCOVERY_V2BETA1
};
/* The first form of the Accept header that is among the allowed (a bit per form). -1:
 * NOT_ACCEPTABLE. */
int accept_form(const char *accept, unsigned allowed, enum form *ret, struct error *err);
#define FORMS_OBJECT (1u << FORM_JSON | 1u << FORM_TABLE_V1 | 1u << FORM_TABLE_V1BETA1)

enum body_type { BODY_JSON, BODY_YAML, BODY_PROTOBUF };
int body_type_parse(const char *content_type, enum body_type *ret, struct error *err);
/* Bytes of a request's body to a tree that the caller owns; NULL with success when empty. */
int body_parse(enum body_type type, const char *bytes, size_t n, json_t **ret, char **ret_duplicate,
	       struct error *err);

#endif
