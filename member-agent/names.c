#include "member-agent/names.h"

#include <string.h>

#include "base/mem.h"

#define COPY_NAME_KEEPS 40
#define COPY_UID_KEEPS  8

char *pod_name_make(const char *job, const char *task, int32_t index)
{
	return xasprintf("%s-%s-%d", job, task, index);
}

char *copy_name_make(const char *name, const char *job_uid)
{
	return xasprintf("%.*s-%.*s", COPY_NAME_KEEPS, name, COPY_UID_KEEPS, job_uid);
}

char *pods_path(const char *ns)
{
	return xasprintf("/api/v1/namespaces/%s/pods", ns);
}

char *twins_path(const char *ns)
{
	return xasprintf("/apis/federator.dev/v1alpha1/namespaces/%s/placements", ns);
}
