/* metadata: the rules that hold for every kind. */
#ifndef API_META_H
#define API_META_H

#include "api/kind.h"
#include "api/path.h"

#define ANNOTATIONS_MAX      (256 * 1024) /* bytes of all names and texts, as Kubernetes */
#define GENERATED_PREFIX_MAX 58           /* characters of generateName that a made name keeps */

/* Name by the kind's rule (or generateName where there is no name yet), labels, annotations,
 * finalizers, owners. Types wrong by the schema are passed over: it has said so. */
void meta_validate(const struct kind *k, const json_t *object, struct causes *causes);

/* Parts of it, for the metadata of templates. */
void meta_check_labels(const json_t *labels, const struct path *at, struct causes *c);
void meta_check_annotations(const json_t *annotations, const struct path *at, struct causes *c);

/* NULL when the name will do, else what is wrong: "must have at most 63 characters". */
const char *name_mistake(enum name_rule rule, const char *name);

#endif
