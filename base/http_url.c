/* Addresses that people write. */
#include <curl/curl.h>
#include <string.h>

#include "base/http_client.h"
#include "base/mem.h"

static bool has_part(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;

	curl_free(text);
	return has;
}

static bool has_scheme(CURLU *url, const char *scheme)
{
	char *text = NULL;
	bool has = curl_url_get(url, CURLUPART_SCHEME, &text, 0) == CURLUE_OK && text &&
		   !strcmp(text, scheme);

	curl_free(text);
	return has;
}

static const char *mistake_of(CURLU *url, const char *text)
{
	if (curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
		return "is not a URL: http:// or https://, a host and perhaps a port";
	if (!has_scheme(url, "http") && !has_scheme(url, "https"))
		return "begins neither with https:// nor with http://";
	if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_QUERY) ||
	    has_part(url, CURLUPART_FRAGMENT))
		return "has more than https://, host, port and path";
	return NULL;
}

const char *http_url_mistake(const char *text)
{
	CURLU *url = curl_url();
	const char *mistake = mistake_of(url, text);

	curl_url_cleanup(url);
	return mistake;
}

const char *http_urls_mistake(const char *text)
{
	const char *mistake = NULL;

	while (!mistake) {
		size_t n = strcspn(text, ",");
		auto_xfree char *one = xstrndup(text, n);

		mistake = http_url_mistake(one);
		if (!text[n])
			break;
		text += n + 1;
	}
	return mistake;
}
