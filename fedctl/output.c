#include "fedctl/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/yaml.h"

#define WIDTH    100
#define INDENT   4
#define ELLIPSIS "\xe2\x80\xa6"

bool colors_on(FILE *f)
{
	const char *no = getenv("NO_COLOR");

	return isatty(fileno(f)) && !(no && *no);
}

size_t output_width(void)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return WIDTH;
	return w.ws_col;
}

/* --- text --- */

/* The bytes of the character at s, and the columns it takes; a byte that begins none is one '?'. */
static size_t next_char(const char *s, size_t *ret_columns)
{
	size_t n = utf8_length(s, strlen(s));
	wchar_t wide;
	int columns;

	*ret_columns = 1;
	if (n <= 1)
		return 1;
	if (mbrtowc(&wide, s, n, &(mbstate_t){0}) != n)
		return n;
	columns = wcwidth(wide);
	*ret_columns = columns < 0 ? 1 : (size_t)columns;
	return n;
}

void clean_text(const char *text, struct strbuf *out)
{
	while (*text) {
		size_t n = utf8_length(text, strlen(text));
		unsigned char c = (unsigned char)*text;
		/* U+0080 to U+009F are controls too. */
		bool control = c < ' ' || c == 0x7f ||
			       (n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0);

		if (!n)
			strbuf_addc(out, '?');
		else if (control)
			strbuf_addc(out, ' ');
		else
			strbuf_add(out, text, n);
		text += n ? n : 1;
	}
}

size_t text_width(const char *text)
{
	size_t width = 0, columns;

	while (*text) {
		text += next_char(text, &columns);
		width += columns;
	}
	return width;
}

void cut_text(const char *text, size_t width, struct strbuf *out)
{
	size_t used = 0, columns;

	if (text_width(text) <= width) {
		strbuf_adds(out, text);
		return;
	}
	while (*text) {
		size_t n = next_char(text, &columns);

		if (used + columns + 1 > width)
			break;
		strbuf_add(out, text, n);
		used += columns;
		text += n;
	}
	if (width)
		strbuf_adds(out, ELLIPSIS);
}

/* --- objects --- */

enum output output_parse(const char *text)
{
	static const char *const names[] = {
		[OUTPUT_WIDE] = "wide",
		[OUTPUT_JSON] = "json",
		[OUTPUT_YAML] = "yaml",
		[OUTPUT_NAME] = "name",
	};

	for (size_t i = OUTPUT_WIDE; text && i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], text))
			return (enum output)i;
	return OUTPUT_TABLE;
}

bool output_is_document(enum output form)
{
	return form == OUTPUT_JSON || form == OUTPUT_YAML;
}

static void add_break(struct strbuf *out, size_t depth)
{
	strbuf_addf(out, "\n%*s", (int)(depth * INDENT), "");
}

/* Compact JSON to lines. Numbers stay as json_write() has them, which a printer of trees loses. */
static void indent_json(const char *json, struct strbuf *out)
{
	size_t depth = 0;

	for (const char *p = json; *p; p++) {
		if (*p == '"') {
			const char *end = p + 1;

			while (*end != '"')
				end += 1 + (*end == '\\');
			strbuf_add(out, p, (size_t)(end + 1 - p));
			p = end;
		} else if ((*p == '{' || *p == '[') && (p[1] == '}' || p[1] == ']')) {
			strbuf_add(out, p++, 2);
		} else if (*p == '{' || *p == '[') {
			strbuf_addc(out, *p);
			add_break(out, ++depth);
		} else if (*p == '}' || *p == ']') {
			add_break(out, --depth);
			strbuf_addc(out, *p);
		} else if (*p == ',') {
			strbuf_addc(out, ',');
			add_break(out, depth);
		} else {
			strbuf_addc(out, *p);
			if (*p == ':')
				strbuf_addc(out, ' ');
		}
	}
	strbuf_addc(out, '\n');
}

static void tree_write(const json_t *tree, enum output form, struct strbuf *out)
{
	auto_xfree char *json = NULL;

	if (form == OUTPUT_YAML) {
		yaml_write(out, tree);
		return;
	}
	json = json_print(tree);
	indent_json(json, out);
}

static void name_write(const json_t *object, const struct kind *kind, struct strbuf *out)
{
	const char *name = json_str_at(object, "metadata", "name", NULL);

	strbuf_addf(out, "%s%s%s/%s\n", kind->singular, *kind->group ? "." : "", kind->group,
		    name ? name : "");
}

/* A shallow copy of the object without what only servers read. */
static json_t *for_people(const json_t *object)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)object);
	const json_t *meta = json_object_get(object, "metadata");

	if (json_object_get(meta, "managedFields")) {
		json_t *shorter = json_copy((json_t *)(uintptr_t)meta);

		json_object_del(shorter, "managedFields");
		json_object_set_new(copy, "metadata", shorter);
	}
	return copy;
}

void object_write(const json_t *object, enum output form, const struct kind *kind,
		  struct strbuf *out)
{
	auto_json *copy = for_people(object);

	if (form == OUTPUT_NAME)
		name_write(object, kind, out);
	else
		tree_write(copy, form, out);
}

void objects_write(json_t *items, enum output form, const struct kind *kind, struct strbuf *out)
{
	auto_json *copies = json_array(), *list = NULL;
	json_t *item;
	size_t i;

	if (form == OUTPUT_NAME) {
		json_array_foreach (items, i, item)
			name_write(item, kind, out);
		return;
	}
	json_array_foreach (items, i, item)
		json_array_append_new(copies, for_people(item));
	list = json_pack("{ss,ss,sO,s{ss}}", "apiVersion", "v1", "kind", "List", "items", copies,
			 "metadata", "resourceVersion", "");
	tree_write(list, form, out);
}

void outcome_print(const char *line, const json_t *object, enum output form,
		   const struct kind *kind)
{
	auto_strbuf out = {0};

	if (form == OUTPUT_TABLE)
		strbuf_adds(&out, line);
	else
		object_write(object, form, kind, &out);
	print_out(out.bytes, out.size);
}

bool print_out(const char *bytes, size_t n)
{
	fwrite(bytes, 1, n, stdout);
	return !fflush(stdout) && !ferror(stdout);
}
