/* Every decoder of encode.h: what it takes must survive being encoded again. */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/encode.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_base64(const char *text, size_t n)
{
	auto_strbuf decoded = {0}, encoded = {0};

	if (base64_decode(&decoded, text, n))
		return;
	base64_encode(&encoded, decoded.bytes, decoded.size);
	assert(encoded.size == n && !memcmp(strbuf_str(&encoded), text, n));
}

static void check_percent(const char *text, size_t n)
{
	auto_strbuf decoded = {0}, encoded = {0}, again = {0};

	if (percent_decode(&decoded, text, n, true))
		return;
	percent_encode(&encoded, strbuf_str(&decoded));
	assert(!percent_decode(&again, strbuf_str(&encoded), encoded.size, false));
	assert(again.size == decoded.size && !strcmp(strbuf_str(&again), strbuf_str(&decoded)));
}

static void check_time(const char *text)
{
	char formatted[TIME_SIZE];
	int64_t ns, again;

	if (time_parse(text, &ns))
		return;
	time_format_micro(formatted, ns);
	assert(!time_parse(formatted, &again));
	assert(again <= ns && ns - again < 1000);
}

static void check_duration(const char *text)
{
	char formatted[TIME_SIZE];
	int64_t ns;

	if (!duration_parse(text, &ns))
		duration_format(formatted, ns);
}

static void check_utf8(const char *text, size_t n)
{
	json_t *judge = json_stringn(text, n);

	assert(utf8_valid(text, n) == (judge != NULL));
	json_decref(judge);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *text = xstrndup((const char *)bytes, n);

	check_base64((const char *)bytes, n);
	check_percent((const char *)bytes, n);
	check_time(text);
	check_duration(text);
	check_utf8((const char *)bytes, n);
	return 0;
}
