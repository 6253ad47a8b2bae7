#include "fedctl/amounts.h"

#include <string.h>

#include "api/quantity.h"
#include "base/json.h"

int amounts_parse(const char *text, json_t **ret, struct error *err)
{
	auto_json *amounts = json_object();

	while (*text) {
		size_t n = strcspn(text, ","), equals = strcspn(text, "=");
		auto_xfree char *name = xstrndup(text, equals < n ? equals : n);
		auto_xfree char *amount =
			xstrndup(text + equals + 1, equals < n ? n - equals - 1 : 0);
		struct quantity q;

		if (equals >= n || !equals)
			return error_set(err, ERR_BAD_REQUEST,
					 "\"%s\" is not RESOURCE=AMOUNT,... like cpu=4,memory=8Gi",
					 text);
		if (quantity_parse(amount, &q, err))
			return error_prefix(err, "%s", name);
		if (q.nano < 0)
			return error_set(err, ERR_BAD_REQUEST, "%s: %s is less than 0", name,
					 amount);
		json_set_str(amounts, name, amount);
		text += n + (text[n] == ',');
	}
	*ret = take_ptr(amounts);
	return 0;
}
