#include "api/path.h"

#include <stdarg.h>

#include "base/json.h"
#include "base/mem.h"

void path_write(const struct path *p, struct strbuf *out)
{
	if (!p)
		return;
	path_write(p->up, out);
	if (p->field)
		strbuf_addf(out, "%s%s", out->size ? "." : "", p->field);
	else if (p->key)
		strbuf_addf(out, "[%s]", p->key);
	else
		strbuf_addf(out, "[%zu]", p->index);
}

/* Containers by the name of their type: causes are for reading. */
static char *value_text(const json_t *value)
{
	if (!value)
		return NULL;
	if (json_is_object(value))
		return xstrdup("\"object\"");
	if (json_is_array(value))
		return xstrdup("\"array\"");
	return json_print(value);
}

void causes_add_at(struct causes *c, enum cause_type type, const struct path *at,
		   const json_t *value, const char *detail, ...)
{
	auto_xfree char *text = value_text(value);
	auto_strbuf field = {0}, why = {0};
	va_list ap;

	path_write(at, &field);
	va_start(ap, detail);
	strbuf_vaddf(&why, detail, ap);
	va_end(ap);
	causes_add(c, type, strbuf_str(&field), text, "%s", strbuf_str(&why));
}
