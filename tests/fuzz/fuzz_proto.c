/* Protobuf bodies: what is taken is JSON that our own reader takes back. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/proto.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct error err = {0};
	json_t *object = NULL, *again;
	char *text;

	if (proto_decode(bytes, n, &object, &err) < 0) {
		assert(!object && err.text[0]);
		return 0;
	}
	text = json_print(object);
	again = json_parse(text, strlen(text), NULL, &err);
	assert(again && json_equal(again, object));
	assert(json_is_string(json_object_get(object, "kind")));
	json_decref(object);
	json_decref(again);
	free(text);
	return 0;
}
