/* What a container's process gets: its environment and arguments, from the pod. */
#ifndef SANDBOX_PROCESS_H
#define SANDBOX_PROCESS_H

#include <jansson.h>
#include <stdbool.h>

#include "api/status.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

/* By annotation sandbox.federator.dev/runtime: process. */
bool process_is_wanted(const json_t *pod);
/* What such a pod asks for in vain: better said when it is made than by pods that fail. */
void process_check(const json_t *pod, struct causes *causes);

/* "NAME=value" strings, NULL-terminated, freed by strings_free. INVALID names what is missing. */
int process_environment(struct sandbox *s, const json_t *pod, const json_t *container,
			char ***ret_env, struct error *err);
/* command + args with $(NAME) replaced from the environment, as Kubernetes does; freed by
 * strings_free. */
char **process_arguments(const json_t *container, char *const *env);
void strings_free(char **strings);

#endif
