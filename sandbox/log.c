/* GET pods/X/log: the pod's output so far, and with follow=true what comes until it ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "sandbox/kubelet.h"
#include "sandbox/runtime.h"

#define POLL_MS 100
#define PIECE   65536

struct reader {
	struct sandbox *sandbox;
	struct server_request *request;
	char *uid;
	int fd;
	bool follow;
	struct timer *timer;
};

static void reader_free(struct reader *r)
{
	close(r->fd);
	timer_destroy(r->timer);
	server_request_unref(r->request);
	free(r->uid);
	free(r);
}

static void on_closed(struct server_request *request, void *arg)
{
	reader_free(arg);
}

/* Reads on until nothing is left or the client is behind; true when all was sent. */
static bool send_more(struct reader *r)
{
	char piece[PIECE];
	ssize_t n;

	while ((n = read(r->fd, piece, sizeof(piece))) > 0)
		if (!exchange_write(r->request->x, piece, (size_t)n))
			return false;
	return true;
}

static void on_timer(void *arg)
{
	struct reader *r = arg;
	bool runs = r->follow && kubelet_runs(r->sandbox->kubelet, r->uid);

	if (!r->request->x)
		return;
	if (exchange_queued(r->request->x) > PIECE || !send_more(r) || runs) {
		timer_start(r->timer, POLL_MS);
		return;
	}
	exchange_end(r->request->x);
}

/* Moves to the last `lines` lines of the file. */
static void seek_tail(int fd, long lines)
{
	off_t at = lseek(fd, 0, SEEK_END);
	char c;

	for (long seen = -1; at > 0; at--) {
		if (pread(fd, &c, 1, at - 1) == 1 && c == '\n' && ++seen >= lines)
			break;
	}
	lseek(fd, at, SEEK_SET);
}

static int open_log(struct sandbox *s, const char *uid, struct error *err)
{
	auto_xfree char *path = runtime_log_path(s, uid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 ? fd
		       : error_set(err, ERR_BAD_REQUEST,
				   "the pod has no output yet: its container is not running");
}

/* What is not kept, or not done, is not passed over in silence. */
static int check_options(const struct server_request *request, struct error *err)
{
	static const char *const unserved[] = {"timestamps", "sinceSeconds", "sinceTime",
					       "limitBytes", "previous"};

	for (size_t i = 0; i < ARRAY_LEN(unserved); i++) {
		const char *value = exchange_query(request->x, unserved[i]);

		if (value && strcmp(value, "false") != 0)
			return error_set(err, ERR_BAD_REQUEST,
					 "%s: a sandbox does not serve this option of logs",
					 unserved[i]);
	}
	return 0;
}

void sandbox_log(struct server_request *request, void *arg)
{
	struct sandbox *s = arg;
	const char *follow = exchange_query(request->x, "follow");
	const char *tail = exchange_query(request->x, "tailLines");
	auto_json *pod = NULL;
	auto_strbuf key = {0};
	struct reader *r;
	struct doc *doc;
	struct error err;
	int fd = -1;

	kind_key(request->kind, request->ns, request->name, &key);
	doc = cache_get(s->cache, key.bytes);
	pod = doc ? doc_tree(doc) : NULL;
	if (!pod)
		error_set(&err, ERR_NOT_FOUND, "pods \"%s\" not found", request->name);
	else if (!check_options(request, &err))
		fd = open_log(s, json_str_at(pod, "metadata", "uid", NULL), &err);
	if (fd < 0) {
		server_respond_error(request, &err, NULL);
		return;
	}
	if (tail)
		seek_tail(fd, strtol(tail, NULL, 10));
	r = xnew0(struct reader);
	r->sandbox = s;
	r->request = server_request_ref(request);
	r->uid = xstrdup(json_str_at(pod, "metadata", "uid", NULL));
	r->fd = fd;
	r->follow = follow && !strcmp(follow, "true");
	r->timer = timer_create_in(s->env, on_timer, r);
	server_request_on_close(request, on_closed, r);
	exchange_begin(request->x, 200, "text/plain");
	timer_start(r->timer, 0);
}
