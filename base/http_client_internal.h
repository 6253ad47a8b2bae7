/*
 * The client's insides:
 *
 *	http_client.c        a peer: its address, credentials, two pools
 *	http_client_call.c   one call, from libcurl's options to the caller's callbacks
 *	http_client_pool.c   one libcurl multi handle on libuv
 *
 * Callers' functions never run inside libcurl: its callbacks only note what has come and put the
 * call on its pool's ready list, which is worked off when libcurl has returned. So a caller may
 * start, cancel and destroy anything from any callback.
 */
#ifndef BASE_HTTP_CLIENT_INTERNAL_H
#define BASE_HTTP_CLIENT_INTERNAL_H

#include <curl/curl.h>

#include "base/http_client.h"
#include "base/list.h"
#include "base/strbuf.h"

#define CLIENT_CONNECTIONS  16
#define CLIENT_CONNECT_MS   10000L
#define CLIENT_CALL_MS      30000
#define CLIENT_MAX_ANSWER   (64u * 1024 * 1024) /* collected; pages of lists are a tenth */
#define CLIENT_MAX_UPLOAD   (256u * 1024) /* waiting in a call; more is the caller's to hold */
#define CLIENT_IDLE_S       60L           /* below the idle limits of servers */
#define CLIENT_USER_TIMEOUT 20000         /* ms of unanswered bytes until a link is dead */
#define CLIENT_KEEPALIVE    4             /* unanswered probes, 5 s apart, after 15 s of silence */

struct pool {
	struct http_client *client;
	CURLM *multi;
	uv_timer_t timer;
	uv_prepare_t prepare; /* active while libcurl has something to do at once */
	uv_idle_t idle;       /* of streams: active while there is something to deliver */
	CURL **spare;         /* easy handles of calls that went well, to be used again */
	unsigned n_spare, cap_spare;
	unsigned limit, n_active; /* calls that libcurl has; limit 0: none */
	struct list waiting;      /* calls that it has not, in order */
	struct list active;
	struct list ready; /* calls with news for their callers */
	struct list watches;
};

enum { POOL_SHORT, POOL_STREAM, N_POOLS };

struct http_client {
	struct loop *loop;
	char *base_url;
	char *ca_pem, *cert_pem, *key_pem, *token;
	bool insecure;
	bool fresh; /* the next call connects anew */
	bool closing;
	unsigned credentials; /* raised when they change */
	unsigned open_handles;
	struct pool pools[N_POOLS];
};

struct http_call {
	struct list_node link, ready;
	struct pool *pool;
	CURL *easy;
	struct curl_slist *headers;
	struct timer *timer; /* NULL: may last for ever */
	int64_t timeout_ms, last_ms;
	char *method, *path;
	bool stream, safe, active;
	bool alike;           /* its easy handle can be used again */
	unsigned credentials; /* those that it has */
	bool lasting;         /* the time-out is one of silence */

	unsigned sends; /* times that the request was about to be sent */
	int status;     /* 0 until the head is complete */
	struct strbuf in;
	struct strbuf out; /* upload */
	size_t out_at;
	bool upload, out_ended, out_paused;
	bool held, in_paused; /* as the caller wants it; as libcurl was told */

	bool head_due, drain_due; /* news for the caller */
	bool finished, timed_out, too_large;
	CURLcode result;
	char reason[CURL_ERROR_SIZE];

	bool delivering; /* a caller's function is on the stack */
	bool gone;       /* cancelled meanwhile */
	void (*on_head)(struct http_call *call, int status, void *arg);
	void (*on_data)(struct http_call *call, const char *bytes, size_t n, void *arg);
	void (*on_done)(const struct http_answer *answer, void *arg);
	void (*on_drain)(struct http_call *call, void *arg);
	bool (*may_start)(void *arg);
	void *arg;
};

void pool_init(struct pool *p, struct http_client *client, unsigned limit);
void pool_finish(struct pool *p); /* cancels its calls; handles close later */
void pool_add(struct pool *p, struct http_call *call);
void pool_remove(struct pool *p, struct http_call *call);
void pool_deliver(struct pool *p);
CURL *pool_take_spare(struct pool *p); /* NULL: there is none */
void pool_keep_spare(struct pool *p, CURL *take_easy);
void pool_drop_spares(struct pool *p);               /* they have old credentials */
int pool_close_socket(void *pool, curl_socket_t fd); /* what libcurl calls */

void call_ready(struct http_call *call);
void call_deliver(struct http_call *call);
void call_free(struct http_call *call);

void client_handle_gone(struct http_client *c);

#endif
