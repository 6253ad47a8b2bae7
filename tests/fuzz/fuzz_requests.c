/* What a hub writes on the line to an agent: every line that asks something is answered. The agent
 * knows no pod, so that each answer is a refusal. */
#include <stdlib.h>

#include "member-agent/agent.h"
#include "member-agent/requests.h"
#include "member-agent/runner.h"
#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What the process does otherwise: nothing here comes to that. */
struct kube *agent_connect(struct agent *a, const struct kube_config *config)
{
	abort();
}

void agent_deposed(struct agent *a, const char *why)
{
	abort();
}

void agent_stop(struct agent *a, int exit_code, const char *why)
{
	abort();
}

static struct runner *start_runner(struct agent *a)
{
	const struct runner_config config = {
		.cluster = "c", .own_namespace = "federator-system", .shutout_wait_ms = 1000};
	static struct owner nobody;

	return runner_create(a->env, a->member, &nobody, &config, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct wire *hub = wire_create(bytes, n), *member = wire_create(bytes, 0);
	char name[] = "c";
	struct agent a = {.settings = {.name = name},
			  .env = wire_env(hub),
			  .hub = wire_connect(hub),
			  .member = wire_connect(member)};

	a.runner = start_runner(&a);
	a.requests = requests_create(&a);
	while (wire_step(hub))
		;
	requests_destroy(a.requests);
	runner_destroy(a.runner);
	kube_destroy(a.hub);
	kube_destroy(a.member);
	wire_destroy(member);
	wire_destroy(hub);
	return 0;
}
