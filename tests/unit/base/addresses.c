/* Addresses that people write: where to listen, what to call. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/http_client.h"
#include "base/listen.h"
#include "base/mem.h"

Test(addresses, to_listen_on_are_an_ip_address_and_a_port)
{
	static const struct {
		const char *text, *host;
		int port;
	} good[] = {
		{"127.0.0.1:7443", "127.0.0.1", 7443},
		{"0.0.0.0:1", "0.0.0.0", 1},
		{"[::1]:65535", "::1", 65535},
	};
	static const char *const bad[] = {"",
					  ":7443",
					  "127.0.0.1",
					  "127.0.0.1:",
					  "127.0.0.1:0",
					  "127.0.0.1:65536",
					  "1.2.3.4:x",
					  "127.0.0.1:+7443",
					  "localhost:7443",
					  "[::1]",
					  "[]:1",
					  "127.0.0.1: 7443"};

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct listen l;

		cr_assert_eq(listen_parse(good[i].text, &l, NULL), 0, "%s", good[i].text);
		cr_expect_str_eq(l.host, good[i].host);
		cr_expect_eq(l.port, good[i].port);
		cr_expect_null(listen_mistake(good[i].text));
		listen_finish(&l);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct listen l;
		struct error err = {.text = ""};

		cr_expect_eq(listen_parse(bad[i], &l, &err), -1, "%s", bad[i]);
		cr_expect(strstr(err.text, listen_mistake(bad[i])), "%s", err.text);
	}
}

Test(addresses, to_call_are_urls)
{
	static const char *const good[] = {"https://hub:7443", "http://127.0.0.1:7479",
					   "https://[::1]:7443",
					   "https://hub.example.com/federator", "https://hub"};
	static const char *const bad[] = {"",
					  "hub",
					  "hub:7443",
					  "ftp://hub",
					  "https://",
					  "https://hub:port",
					  "https://hub:70000",
					  "https://hub name",
					  "https://me@hub",
					  "https://hub?x=1",
					  "https://hub#x",
					  "http://a,http://b"};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		cr_expect_null(http_url_mistake(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		cr_expect(http_url_mistake(bad[i]), "%s", bad[i]);
}

Test(addresses, may_be_several_with_commas)
{
	cr_expect_null(http_urls_mistake("http://a:1"));
	cr_expect_null(http_urls_mistake("http://a:1,https://b:2"));
	cr_expect(http_urls_mistake("http://a:1,"));
	cr_expect(http_urls_mistake("http://a:1,b:2"));
	cr_expect(http_urls_mistake(""));
}
