#include "process.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct process *process_of(struct agent *a)
{
	return container_of(a, struct process, agent);
}

void agent_stop(struct agent *a, int exit_code, const char *why)
{
	struct process *p = process_of(a);

	p->stopped++;
	p->exit_code = exit_code;
	snprintf(p->why, sizeof(p->why), "%s", why);
}

void agent_deposed(struct agent *a, const char *why)
{
	struct process *p = process_of(a);

	/* The first one would have ended it. */
	if (!p->deposed++)
		p->deposed_why = xstrdup(why);
}

struct kube *agent_connect(struct agent *a, const struct kube_config *config)
{
	struct process *p = process_of(a);

	p->connected++;
	free(p->elsewhere_url);
	p->elsewhere_url = xstrdup(config->server);
	return peer_connect(p->elsewhere);
}

struct process *process_create(void)
{
	struct process *p = xnew0(struct process);

	p->member = peer_create();
	p->hub = peer_create();
	p->elsewhere = peer_create();
	p->agent.settings.name = xstrdup("gpu");
	p->agent.settings.hub = xstrdup("https://hub:7443");
	p->agent.env = virtual_env_seam(peer_time(p->member));
	p->agent.member = peer_client(p->member);
	p->agent.hub = peer_client(p->hub);
	return p;
}

void process_destroy(struct process *p)
{
	if (!p)
		return;
	peer_destroy(p->elsewhere);
	peer_destroy(p->hub);
	peer_destroy(p->member);
	identity_finish(&p->agent.identity);
	free(p->agent.settings.name);
	free(p->agent.settings.hub);
	free(p->agent.term);
	free(p->agent.member_uid);
	free(p->agent.hub_cluster);
	free(p->elsewhere_url);
	free(p->deposed_why);
	free(p);
}

void process_advance(struct process *p, int64_t ms)
{
	virtual_env_advance(peer_time(p->member), ms);
	virtual_env_advance(peer_time(p->hub), ms);
	virtual_env_advance(peer_time(p->elsewhere), ms);
}

/* Each test is a process of its own. */
void process_keep_log(void)
{
	int fd = memfd_create("log", 0);

	cr_assert(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

size_t process_logged(const char *text)
{
	static char log[65536];
	ssize_t n = pread(STDERR_FILENO, log, sizeof(log) - 1, 0);
	size_t times = 0;

	cr_assert(n >= 0);
	log[n] = '\0';
	for (const char *at = log; (at = strstr(at, text)); at++)
		times++;
	return times;
}
