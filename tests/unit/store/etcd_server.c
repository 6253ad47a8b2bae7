#include "tests/unit/store/etcd_server.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

struct etcd_server {
	char *dir, *client_url, *peer_url, *health_url;
	int port; /* that answers /health without TLS */
	bool tls;
	int alive; /* closed when this process ends, however it does */
	pid_t janitor;
	pid_t pid;
};

static int free_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)));
	cr_assert(!getsockname(fd, (struct sockaddr *)&at, &size));
	close(fd);
	return ntohs(at.sin_port);
}

static bool answers(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = htons((uint16_t)port)};
	static const char request[] = "GET /health HTTP/1.0\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[4096] = "";
	size_t n = 0;
	ssize_t got;

	if (!connect(fd, (struct sockaddr *)&at, sizeof(at)) &&
	    write(fd, request, strlen(request)) > 0)
		while (n < sizeof(answer) - 1 &&
		       (got = read(fd, answer + n, sizeof(answer) - 1 - n)) > 0)
			n += (size_t)got;
	close(fd);
	return strstr(answer, "\"health\":\"true\"") != NULL;
}

#define MAX_ARGS 40

static void add_args(char **args, const char *const *more)
{
	size_t n = 0;

	while (args[n])
		n++;
	for (; *more; more++) {
		cr_assert_lt(n, MAX_ARGS);
		args[n++] = xstrdup(*more);
	}
}

static char *file_of(const struct etcd_server *e, const char *name)
{
	return xasprintf("%s.%s", e->dir, name);
}

static void exec_etcd(const struct etcd_server *e)
{
	const char *program = getenv("FEDERATOR_ETCD");
	char *args[MAX_ARGS + 1] = {0};
	int fd = open(file_of(e, "log"), O_WRONLY | O_CREAT | O_APPEND, 0600);

	add_args(args, (const char *const[]){
			       "etcd", "--data-dir", e->dir, "--listen-client-urls", e->client_url,
			       "--advertise-client-urls", e->client_url, "--listen-peer-urls",
			       e->peer_url, "--initial-advertise-peer-urls", e->peer_url,
			       "--initial-cluster", xasprintf("default=%s", e->peer_url),
			       "--logger", "zap", NULL});
	if (e->tls)
		add_args(args, (const char *const[]){
				       "--listen-metrics-urls", e->health_url, "--client-cert-auth",
				       "--trusted-ca-file", file_of(e, "ca"), "--cert-file",
				       file_of(e, "cert"), "--key-file", file_of(e, "key"), NULL});
	dup2(fd, 1);
	dup2(fd, 2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(program ? program : "/usr/bin/etcd", args);
	_exit(127);
}

void etcd_server_restart(struct etcd_server *e)
{
	e->pid = fork();
	cr_assert(e->pid >= 0);
	if (!e->pid)
		exec_etcd(e);
}

void etcd_server_wait(struct etcd_server *e)
{
	for (int i = 0; i < 3000; i++) {
		if (answers(e->port))
			return;
		cr_assert(!waitpid(e->pid, NULL, WNOHANG), "etcd ended, see %s.log", e->dir);
		usleep(10000);
	}
	cr_assert_fail("etcd did not answer within 30 s, see %s.log", e->dir);
}

static void remove_tree(const char *path)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/rm", "rm", "-rf", path, NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

/* Removes the data when the test's process has ended; the log of a failed test stays. */
static void start_janitor(struct etcd_server *e)
{
	int ends[2];
	char byte;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	e->janitor = fork();
	cr_assert(e->janitor >= 0);
	if (!e->janitor) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) > 0)
			;
		remove_tree(e->dir);
		_exit(0);
	}
	close(ends[0]);
	e->alive = ends[1];
}

static struct etcd_server *server_create(bool tls)
{
	struct etcd_server *e = xnew0(struct etcd_server);
	int port = free_port();

	e->tls = tls;
	e->dir = xstrdup(access("/dev/shm", W_OK) ? "/tmp/test-store-XXXXXX"
						  : "/dev/shm/test-store-XXXXXX");
	cr_assert(mkdtemp(e->dir));
	e->port = tls ? free_port() : port;
	e->client_url = xasprintf("http%s://127.0.0.1:%d", tls ? "s" : "", port);
	e->peer_url = xasprintf("http://127.0.0.1:%d", free_port());
	e->health_url = xasprintf("http://127.0.0.1:%d", e->port);
	start_janitor(e);
	return e;
}

struct etcd_server *etcd_server_start(void)
{
	struct etcd_server *e = server_create(false);

	etcd_server_restart(e);
	etcd_server_wait(e);
	return e;
}

static void write_file(const struct etcd_server *e, const char *name, const char *text)
{
	auto_xfree char *path = file_of(e, name);

	cr_assert_eq(file_write(path, text, strlen(text), 0600, NULL), 0);
}

/* etcd's gateway is a client of its own server, with the server's certificate. */
struct etcd_server *etcd_server_start_tls(const struct pki_pair *ca)
{
	static const char *const hosts[] = {"127.0.0.1", NULL};
	const struct pki_subject subject = {.user = "etcd",
					    .hosts = hosts,
					    .not_before_s = time(NULL) - 60,
					    .not_after_s = time(NULL) + 3600,
					    .server = true,
					    .client = true};
	struct etcd_server *e = server_create(true);
	struct pki_pair own;

	cr_assert_eq(pki_issue(ca, &subject, &own, NULL), 0);
	write_file(e, "ca", ca->cert_pem);
	write_file(e, "cert", own.cert_pem);
	write_file(e, "key", own.key_pem);
	pki_pair_finish(&own);
	etcd_server_restart(e);
	etcd_server_wait(e);
	return e;
}

void etcd_server_kill(struct etcd_server *e)
{
	if (e->pid <= 0)
		return;
	kill(e->pid, SIGKILL);
	waitpid(e->pid, NULL, 0);
	e->pid = 0;
}

void etcd_server_wipe(struct etcd_server *e)
{
	remove_tree(e->dir);
	mkdir(e->dir, 0700);
}

static void remove_file(const struct etcd_server *e, const char *name)
{
	auto_xfree char *path = file_of(e, name);

	unlink(path);
}

void etcd_server_stop(struct etcd_server *e)
{
	if (!e)
		return;
	etcd_server_kill(e);
	close(e->alive);
	waitpid(e->janitor, NULL, 0);
	remove_file(e, "log");
	remove_file(e, "ca");
	remove_file(e, "cert");
	remove_file(e, "key");
	free(e->dir);
	free(e->health_url);
	free(e->client_url);
	free(e->peer_url);
	free(e);
}

const char *etcd_server_url(const struct etcd_server *e)
{
	return e->client_url;
}

pid_t etcd_server_pid(const struct etcd_server *e)
{
	return e->pid;
}

void etcd_server_put(struct etcd_server *e, const char *key, const char *value)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setenv("ETCDCTL_API", "3", 1);
		execlp("etcdctl", "etcdctl", "--endpoints", e->client_url, "put", key, value, NULL);
		_exit(127);
	}
	cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "etcdctl put: %d", status);
}
