#include "member-agent/names.h"

#include <string.h>

#include "base/mem.h"

#define COPY_NAME_KEEPS 40
#define COPY_UID_KEEPS  8

char *pod_name_make(const char *job, const char *task, int32_t index)
{
	return xasprintf("%s-%s-%d", job, task, index);
}

/* A part of a name must not end with a dot. */
char *copy_name_make(const char *name, const char *job_uid)
{
	int n = (int)strnlen(name, COPY_NAME_KEEPS);

	while (n && name[n - 1] == '.')
		n--;
	return xasprintf("%.*s-%.*s", n, name, COPY_UID_KEEPS, job_uid);
}

char *pods_path(const char *ns)
{
	return xasprintf("/api/v1/namespaces/%s/pods", ns);
}

char *twins_path(const char *ns)
{
	return xasprintf("/apis/federator.dev/v1alpha1/namespaces/%s/placements", ns);
}
