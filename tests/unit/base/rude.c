#include "rude.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_complete(const char *text)
{
	const char *end = strstr(text, "\r\n\r\n");
	const char *length = strcasestr(text, "content-length:");

	if (!end)
		return false;
	if (strcasestr(text, "transfer-encoding: chunked"))
		return strstr(end, "\r\n0\r\n\r\n") || strstr(end, "\r\n\r\n0\r\n\r\n");
	return !length || length > end || strlen(end + 4) >= strtoul(length + 15, NULL, 10);
}

static bool read_request(struct rude *r, int fd)
{
	size_t used = 0;

	r->last_request[0] = '\0';
	while (!is_complete(r->last_request)) {
		ssize_t n = recv(fd, r->last_request + used, sizeof(r->last_request) - 1 - used, 0);

		if (n <= 0)
			return false;
		used += (size_t)n;
		r->last_request[used] = '\0';
	}
	r->n_requests++;
	return true;
}

static void wait_for_end(int fd)
{
	char buf[4096];

	while (recv(fd, buf, sizeof(buf), 0) > 0)
		;
}

static bool step_is(const char *step, const char *name)
{
	return !strcmp(step, name);
}

static void serve(struct rude *r, int fd, const char *const *steps)
{
	for (; *steps; steps++) {
		if (step_is(*steps, RUDE_REFUSE) || step_is(*steps, RUDE_CLOSE))
			return;
		if (!read_request(r, fd) || step_is(*steps, RUDE_CUT))
			return;
		if (!step_is(*steps, RUDE_HUSH))
			send(fd, *steps, strlen(*steps), MSG_NOSIGNAL);
	}
	wait_for_end(fd);
}

static void rude_main(void *arg)
{
	struct rude *r = arg;

	for (unsigned i = 0; i < r->n_connections; i++) {
		int fd = accept(r->fd, NULL, NULL);

		if (fd < 0)
			return;
		serve(r, fd, r->book[i]);
		close(fd);
	}
}

void rude_init(struct rude *r, const char *const (*book)[4], unsigned n_connections)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t n = sizeof(address);

	*r = (struct rude){.book = book, .n_connections = n_connections};
	r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_eq(bind(r->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(r->fd, 16), 0);
	cr_assert_eq(getsockname(r->fd, (struct sockaddr *)&address, &n), 0);
	r->port = ntohs(address.sin_port);
	uv_thread_create(&r->thread, rude_main, r);
}

void rude_finish(struct rude *r)
{
	shutdown(r->fd, SHUT_RDWR); /* wakes a thread that waits for a connection */
	uv_thread_join(&r->thread);
	close(r->fd);
}
