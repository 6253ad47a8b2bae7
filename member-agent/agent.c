/* What the parts of the agent process share, without the process. */
#include "member-agent/agent.h"

#include <string.h>

#include "base/json.h"

bool agent_is_told(const struct kube_answer *answer, const char *cause)
{
	const json_t *causes = json_at(answer->error_details, "causes", NULL), *c;
	size_t i;

	json_array_foreach (causes, i, c) {
		const char *reason = json_str_at(c, "reason", NULL);

		if (reason && !strcmp(reason, cause))
			return true;
	}
	return false;
}

bool agent_is_superseded(const struct kube_answer *answer)
{
	return agent_is_told(answer, "TermSuperseded");
}
