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
		if (json_object_get(amounts, name))
			return error_set(err, ERR_BAD_REQUEST, "%s is there twice", name);
		json_set_str(amounts, name, amount);
		text += n + (text[n] == ',');
	}
	*ret = take_ptr(amounts);
	return 0;
}

#define NANO_PER_TENTH 100000000
#define NANO_PER_ONE   1000000000

static void write_tenths(__int128 tenths, struct strbuf *out)
{
	strbuf_addf(out, "%lld", (long long)(tenths / 10));
	if (tenths % 10)
		strbuf_addf(out, ".%d", (int)(tenths % 10));
}

static void write_bytes(struct quantity q, struct strbuf *out)
{
	static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	__int128 nano = q.nano;
	size_t unit = 0;

	while (nano / NANO_PER_ONE >= 1024 && unit + 1 < ARRAY_LEN(units)) {
		nano /= 1024;
		unit++;
	}
	write_tenths(unit ? nano / NANO_PER_TENTH : nano / NANO_PER_ONE * 10, out);
	strbuf_adds(out, units[unit]);
}

void amount_write(const char *resource, const char *quantity, struct strbuf *out)
{
	bool cpu = !strcmp(resource, "cpu"), memory = !strcmp(resource, "memory");
	struct quantity q;

	if ((!cpu && !memory) || quantity_parse(quantity, &q, NULL) || q.nano < 0)
		strbuf_adds(out, quantity);
	else if (memory)
		write_bytes(q, out);
	else if (q.nano >= NANO_PER_TENTH || !q.nano)
		write_tenths(q.nano / NANO_PER_TENTH, out);
	else
		strbuf_addf(out, "%lldm", (long long)quantity_milli(q));
}
