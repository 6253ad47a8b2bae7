/* What a container's process gets: its environment and arguments, from the pod. */
#ifndef SANDBOX_PROCESS_H
#define SANDBOX_PROCESS_H

#include <jansson.h>

#include "base/error.h"
#include "sandbox/sandbox.h"

/* "NAME=value" strings, NULL-terminated, freed by strings_free. INVALID names what is missing. */
int process_environment(struct sandbox *s, const json_t *pod, const json_t *container,
			char ***ret_env, struct error *err);
/* command + args with $(NAME) replaced from the environment, as Kubernetes does. */
int process_arguments(const json_t *container, char *const *env, char ***ret_argv,
		      struct error *err);
void strings_free(char **strings);

#endif
