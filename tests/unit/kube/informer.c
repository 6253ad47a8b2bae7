#include "kube/informer.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "peer.h"

struct told {
	struct strbuf
		text; /* "+a=1 " added, "~a=2 " changed, "-a " gone, "! " ill, "ok ", "synced " */
};

static void on_changed(struct doc *doc, struct doc *prev, void *arg)
{
	struct told *t = arg;

	if (!doc)
		strbuf_addf(&t->text, "-%s ", prev->key);
	else
		strbuf_addf(&t->text, "%c%s=%lld ", prev ? '~' : '+', doc->key,
			    (long long)doc->version);
}

static void on_synced(void *arg)
{
	strbuf_adds(&((struct told *)arg)->text, "synced ");
}

static void on_health(bool ok, const struct error *err, void *arg)
{
	strbuf_adds(&((struct told *)arg)->text, ok ? "ok " : "! ");
}

static void on_put_off(const struct error *why, void *arg)
{
	cr_expect_eq(why->code, ERR_UNAVAILABLE);
	strbuf_adds(&((struct told *)arg)->text, "put off ");
}

static struct informer *start(struct peer *p, struct told *t, bool absent_is_empty)
{
	return informer_create(peer_client(p), virtual_env_seam(peer_time(p)),
			       &(struct informer_config){.path = "/api/v1/pods",
							 .selector = "labelSelector=a%3Db",
							 .absent_is_empty = absent_is_empty,
							 .changed = on_changed,
							 .synced = on_synced,
							 .health = on_health,
							 .put_off = on_put_off,
							 .arg = t});
}

static void expect_told(struct told *t, const char *text)
{
	cr_expect_str_eq(strbuf_str(&t->text), text);
	strbuf_clear(&t->text);
}

static void end(struct informer *i, struct told *t)
{
	informer_destroy(i);
	strbuf_finish(&t->text);
}

#define OBJECT(name, version)                                                                      \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"resourceVersion\":\"" version \
	"\"}}"
#define LIST(version, more, items)                                                                 \
	"{\"metadata\":{\"resourceVersion\":\"" version "\"" more "},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

/* That is no failure yet, but whoever waits for the list may be told why it takes long. */
Test(informer, tells_that_the_server_asks_to_come_again)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	peer_answer_later(p, 503, 1);
	virtual_env_advance(peer_time(p), 1000);
	peer_answer_later(p, 503, 1);
	expect_told(&t, "put off put off ");
	virtual_env_advance(peer_time(p), 1000);
	peer_answer(p, 200, LIST("9", "", ""));
	expect_told(&t, "ok synced ");
	end(i, &t);
}

Test(informer, lists_page_by_page_then_watches_from_the_version_of_the_list)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	cr_expect_str_eq(peer_request(p), "GET /api/v1/pods?limit=500&labelSelector=a%3Db");
	peer_answer(p, 200, LIST("9", ",\"continue\":\"next\"", OBJECT("a", "1")));
	cr_expect_str_eq(peer_request(p),
			 "GET /api/v1/pods?limit=500&labelSelector=a%3Db&continue=next");
	expect_told(&t, "+ns/a=1 ");
	peer_answer(p, 200, LIST("9", "", OBJECT("b", "2")));
	expect_told(&t, "+ns/b=2 ok synced ");
	cr_expect(
		strstr(peer_request(p), "watch=true&allowWatchBookmarks=true&resourceVersion=9&"));
	cr_expect_eq(informer_version(i), 9);
	end(i, &t);
}

Test(informer, events_cut_anywhere_are_told_in_order)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);
	const char *line = EVENT("ADDED", OBJECT("a", "10"));

	peer_answer(p, 200, LIST("9", "", ""));
	strbuf_clear(&t.text);
	for (const char *c = line; *c; c++) {
		char piece[2] = {*c, '\0'};

		peer_stream(p, piece);
	}
	expect_told(&t, "+ns/a=10 ");
	peer_stream(p, EVENT("MODIFIED", OBJECT("a", "11")) EVENT("DELETED", OBJECT("a", "12"))
			       EVENT("BOOKMARK", OBJECT("", "20")));
	expect_told(&t, "~ns/a=11 -ns/a ");
	cr_expect_eq(informer_version(i), 20);
	end(i, &t);
}

Test(informer, a_watch_that_ends_goes_on_from_the_last_version)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	peer_answer(p, 200, LIST("9", "", ""));
	peer_stream(p, EVENT("ADDED", OBJECT("a", "10")));
	peer_answer(p, 200, "");
	cr_expect(strstr(peer_request(p), "resourceVersion=10&"));
	peer_lose(p, ERR_UNKNOWN_OUTCOME);
	virtual_env_advance(peer_time(p), 2000);
	cr_expect(strstr(peer_request(p), "resourceVersion=10&"));
	end(i, &t);
}

Test(informer, an_expired_version_lists_anew_and_tells_the_differences)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	peer_answer(p, 200,
		    LIST("9", "", OBJECT("a", "1") "," OBJECT("b", "2") "," OBJECT("c", "3")));
	strbuf_clear(&t.text);
	peer_stream(p, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","
		       "\"message\":\"too old\",\"reason\":\"Expired\",\"code\":410}}\n");
	peer_answer(p, 200, "");
	virtual_env_advance(peer_time(p), 1000);
	cr_expect(strstr(peer_request(p), "GET /api/v1/pods?limit=500"));
	peer_answer(p, 200,
		    LIST("30", "", OBJECT("a", "1") "," OBJECT("b", "22") "," OBJECT("d", "4")));
	expect_told(&t, "~ns/b=22 +ns/d=4 -ns/c ");
	end(i, &t);
}

/* The server goes on as if nothing had happened: what came after a line that makes no sense is lost
 * unless it is listed. */
Test(informer, a_line_that_is_no_event_is_made_up_for_by_a_list)
{
	static const char *const lines[] = {
		"<html>\n",
		"{\"type\":\"ADDED\"}\n",
		EVENT("ADDED", "{\"metadata\":{\"name\":\"no-version\"}}"),
	};

	for (size_t n = 0; n < ARRAY_LEN(lines); n++) {
		auto_free(peer_destroy) struct peer *p = peer_create();
		struct told t = {0};
		struct informer *i = start(p, &t, false);

		peer_answer(p, 200, LIST("9", "", ""));
		strbuf_clear(&t.text);
		peer_stream(p, lines[n]);
		peer_stream(p, EVENT("ADDED", OBJECT("a", "11")));
		virtual_env_advance(peer_time(p), 3000);
		cr_assert_eq(peer_waiting(p), 1, "case %zu", n);
		cr_expect(strstr(peer_request(p), "GET /api/v1/pods?limit=500"), "case %zu", n);
		peer_answer(p, 200, LIST("12", "", OBJECT("a", "11")));
		expect_told(&t, "! +ns/a=11 ok ");
		end(i, &t);
	}
}

Test(informer, an_error_that_the_server_does_not_end_with_is_ended_here)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	peer_answer(p, 200, LIST("9", "", ""));
	peer_stream(p, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","
		       "\"message\":\"etcd\",\"reason\":\"InternalError\",\"code\":500}}\n");
	virtual_env_advance(peer_time(p), 3000);
	cr_assert_eq(peer_waiting(p), 1);
	cr_expect(
		strstr(peer_request(p), "watch=true&allowWatchBookmarks=true&resourceVersion=9&"));
	end(i, &t);
}

Test(informer, silence_is_no_proof_that_nothing_happened)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	peer_answer(p, 200, LIST("9", "", ""));
	peer_lose(p, ERR_TIMEOUT);
	virtual_env_advance(peer_time(p), 1000);
	cr_expect(strstr(peer_request(p), "GET /api/v1/pods?limit=500"));
	end(i, &t);
}

Test(informer, a_server_that_is_away_is_told_once_and_asked_ever_less_often)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);
	int asked = 0;

	for (int second = 0; second < 120; second++) {
		if (peer_waiting(p)) {
			asked++;
			peer_lose(p, ERR_UNREACHABLE);
		}
		virtual_env_advance(peer_time(p), 1000);
	}
	expect_told(&t, "! ");
	cr_expect(asked >= 20 && asked <= 32, "asked %d times in two minutes", asked);
	while (!peer_waiting(p))
		virtual_env_advance(peer_time(p), 1000);
	peer_answer(p, 200, LIST("9", "", ""));
	expect_told(&t, "ok synced ");
	end(i, &t);
}

Test(informer, a_kind_that_is_not_served_is_empty_where_that_is_allowed)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, true);

	peer_answer(p, 404, "404 page not found");
	expect_told(&t, "ok synced ");
	virtual_env_advance(peer_time(p), 30000);
	peer_answer(p, 200, LIST("5", "", OBJECT("a", "1")));
	expect_told(&t, "+ns/a=1 ");
	end(i, &t);
}

Test(informer, elsewhere_a_404_is_asked_again)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	peer_answer(p, 404, "404 page not found");
	cr_expect_not(informer_is_synced(i));
	virtual_env_advance(peer_time(p), 2000);
	peer_answer(p, 200, LIST("5", "", ""));
	cr_expect(informer_is_synced(i));
	end(i, &t);
}

Test(informer, a_list_must_not_be_older_than_was_asked)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = informer_create(
		peer_client(p), virtual_env_seam(peer_time(p)),
		&(struct informer_config){
			.path = "/x", .min_version = 77, .changed = on_changed, .arg = &t});

	cr_expect_str_eq(peer_request(p), "GET /x?limit=500&resourceVersion=77"
					  "&resourceVersionMatch=NotOlderThan");
	end(i, &t);
}

static struct informer *start_at(struct peer *p, struct told *t, bool may_go_back)
{
	return informer_create(
		peer_client(p), virtual_env_seam(peer_time(p)),
		&(struct informer_config){
			.path = "/x", .may_go_back = may_go_back, .changed = on_changed, .arg = t});
}

#define EXPIRED                                                                                    \
	"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","              \
	"\"message\":\"too old\",\"reason\":\"Expired\",\"code\":410}}\n"

/* Knows a and b at version 20, and lists anew. */
static void relist(struct peer *p, struct told *t)
{
	peer_answer(p, 200, LIST("9", "", OBJECT("a", "1") "," OBJECT("b", "2")));
	peer_stream(p, EVENT("BOOKMARK", OBJECT("", "20")));
	strbuf_clear(&t->text);
	peer_stream(p, EXPIRED);
	peer_answer(p, 200, "");
	virtual_env_advance(peer_time(p), 1000);
	cr_expect_str_eq(peer_request(p), "GET /x?limit=500&resourceVersion=20"
					  "&resourceVersionMatch=NotOlderThan");
}

/* An older list would show b as absent that was only made later. */
Test(informer, a_view_never_goes_back)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start_at(p, &t, false);

	relist(p, &t);
	for (int n = 0; n < 20; n++) {
		if (n % 2)
			peer_answer(p, 504, "Too large resource version: 20, current: 5");
		else
			peer_answer(p, 200, LIST("19", "", OBJECT("a", "1")));
		virtual_env_advance(peer_time(p), 40000);
		cr_expect(strstr(peer_request(p), "resourceVersion=20&"));
	}
	expect_told(&t, "");
	peer_answer(p, 200, LIST("21", "", OBJECT("a", "1")));
	expect_told(&t, "-ns/b ");
	end(i, &t);
}

Test(informer, a_member_that_was_restored_is_believed_in_the_end)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};
	struct informer *i = start_at(p, &t, true);

	relist(p, &t);
	for (int n = 0; n < 5; n++) {
		cr_expect(strstr(peer_request(p), "resourceVersion=20&"), "try %d", n);
		peer_answer(p, 504, "Too large resource version: 20, current: 5");
		virtual_env_advance(peer_time(p), 40000);
	}
	cr_expect_str_eq(peer_request(p), "GET /x?limit=500");
	expect_told(&t, "");
	/* The same version may be another object now. */
	peer_answer(p, 200, LIST("5", "", OBJECT("a", "1")));
	expect_told(&t, "~ns/a=1 -ns/b ");
	cr_expect(strstr(peer_request(p), "resourceVersion=5&"));
	cr_expect_eq(informer_version(i), 5);
	peer_stream(p, EVENT("ADDED", OBJECT("c", "6")) EXPIRED);
	peer_answer(p, 200, "");
	virtual_env_advance(peer_time(p), 1000);
	cr_expect(strstr(peer_request(p), "resourceVersion=6&"), "and from there on");
	end(i, &t);
}

Test(informer, one_object_that_is_nested_too_deep_does_not_hide_the_others)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	auto_strbuf deep = {0}, list = {0};
	struct told t = {0};
	struct informer *i = start(p, &t, false);

	strbuf_adds(&deep, "{\"metadata\":{\"name\":\"deep\",\"resourceVersion\":\"3\"},\"x\":");
	for (int d = 0; d < 100; d++)
		strbuf_addc(&deep, '[');
	for (int d = 0; d < 100; d++)
		strbuf_addc(&deep, ']');
	strbuf_addc(&deep, '}');
	strbuf_addf(&list, LIST("9", "", OBJECT("a", "1") ",%s," OBJECT("b", "2")), deep.bytes);
	peer_answer(p, 200, list.bytes);
	expect_told(&t, "+ns/a=1 +ns/b=2 ok synced ");
	strbuf_clear(&list);
	strbuf_addf(&list, EVENT("ADDED", "%s") EVENT("MODIFIED", OBJECT("a", "4")), deep.bytes);
	peer_stream(p, list.bytes);
	expect_told(&t, "~ns/a=4 ");
	end(i, &t);
}
