/* What the parts of the agent process share, without the process. */
#include "member-agent/agent.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"

bool agent_has_news(char **told, const char *what)
{
	bool news = !*told || strcmp(*told, what) != 0;

	free(*told);
	*told = xstrdup(what);
	return news;
}

char *agent_awaits_acceptance(const struct agent *a)
{
	return xasprintf("the hub has to accept it: fedctl cluster accept %s", a->settings.name);
}

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

void agent_cluster_gone(struct agent *a)
{
	const struct settings *s = &a->settings;

	if (a->forgotten)
		return;
	a->forgotten = true;
	log_error(
		"agent",
		"the hub at %s has no cluster %s any more: somebody deleted it; what runs here "
		"goes on, and nothing new comes; to join it again, end this agent, delete %s%s, "
		"on the hub: kubectl delete csr %s, and start it with a new token: fedctl cluster "
		"token create %s",
		s->hub, s->name, s->state ? "what it keeps in " : "the Secret ",
		s->state ? s->state : AGENT_NAMESPACE "/member-agent", s->name, s->name);
}

void agent_cluster_there(struct agent *a)
{
	if (a->forgotten)
		log_info("agent", "the hub has cluster %s again", a->settings.name);
	a->forgotten = false;
}

int64_t agent_pace_ms(const struct agent *a, int64_t ms)
{
	return a->forgotten && ms < AGENT_FORGOTTEN_MS ? AGENT_FORGOTTEN_MS : ms;
}
