/* Names with more than one address. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grpc_stage.h"

/* No name of this machine is sure to have two addresses: two.test has 127.0.0.2 and 127.0.0.1. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	int r;

	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	if (!node || strcmp(node, "two.test"))
		return real(node, service, hints, ret);
	r = real("127.0.0.2", service, hints, ret);
	return r ? r : real("127.0.0.1", service, hints, &(*ret)->ai_next);
}

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	return fd;
}

/* Listens on 127.0.0.2 and has no room for one more, so that the kernel says nothing to who comes.
 */
static void be_silent(int port, int fds[4])
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = inet_addr("127.0.0.2")};

	for (int i = 0; i < 4; i++)
		fds[i] = open_socket();
	cr_assert_eq(bind(fds[0], (const struct sockaddr *)&at, sizeof(at)), 0);
	cr_assert_eq(listen(fds[0], 0), 0);
	for (int i = 1; i < 4; i++)
		connect(fds[i], (const struct sockaddr *)&at, sizeof(at));
}

static void call_two(struct stage *s, int port)
{
	auto_xfree char *url = xasprintf("http://two.test:%d", port);
	struct told o;

	stage_connect(s, &(struct grpc_client_config){.url = url});
	s->script = stage_echo;
	stage_call(s, (struct grpc_call_spec){.timeout_ms = 6000}, &o);
	expect_message(&o, "request");
	told_finish(&o);
}

static int stage_port(const struct stage *s)
{
	return (int)strtol(strrchr(grpc_server_url(s->server), ':') + 1, NULL, 10);
}

Test(grpc_client_addresses, one_that_refuses)
{
	struct stage s;

	stage_init(&s, (struct grpc_server_config){0});
	call_two(&s, stage_port(&s));
	stage_finish(&s);
}

Test(grpc_client_addresses, one_that_does_not_answer)
{
	struct stage s;
	int fds[4];

	stage_init(&s, (struct grpc_server_config){0});
	be_silent(stage_port(&s), fds);
	call_two(&s, stage_port(&s));
	stage_finish(&s);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
}
