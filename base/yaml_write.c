/* The writer, on libyaml's emitter. */
#include "base/yaml.h"

#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "base/json.h"
#include "base/yaml_scalar.h"

static void emit(yaml_emitter_t *e, yaml_event_t *event)
{
	/* fails only on text that is not UTF-8, which no tree holds */
	int ok = yaml_emitter_emit(e, event);

	assert(ok);
}

static yaml_scalar_style_t style_of(const char *text, size_t n)
{
	if (memchr(text, '\n', n))
		return YAML_LITERAL_SCALAR_STYLE;
	return yaml_scalar_ambiguous(text, n) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
					      : YAML_PLAIN_SCALAR_STYLE;
}

static void emit_scalar(yaml_emitter_t *e, const char *text, size_t n, yaml_scalar_style_t style)
{
	yaml_event_t event;
	int ok = yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)n,
					      1, 1, style);

	assert(ok);
	emit(e, &event);
}

static void emit_string(yaml_emitter_t *e, const char *text, size_t n)
{
	emit_scalar(e, text, n, style_of(text, n));
}

static void emit_value(yaml_emitter_t *e, const json_t *j);

static void emit_array(yaml_emitter_t *e, const json_t *j)
{
	yaml_event_t event;
	json_t *item;
	size_t i;

	yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
	emit(e, &event);
	json_array_foreach (j, i, item)
		emit_value(e, item);
	yaml_sequence_end_event_initialize(&event);
	emit(e, &event);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **sorted_keys(const json_t *object)
{
	const char **keys = xcalloc(json_object_size(object), sizeof(*keys));
	const char *key;
	json_t *value;
	size_t n = 0;

	json_object_foreach ((json_t *)(uintptr_t)object, key, value)
		keys[n++] = key;
	qsort(keys, n, sizeof(*keys), compare_keys);
	return keys;
}

static void emit_object(yaml_emitter_t *e, const json_t *j)
{
	auto_xfree const char **keys = sorted_keys(j);
	yaml_event_t event;

	yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
	emit(e, &event);
	for (size_t i = 0; i < json_object_size(j); i++) {
		emit_string(e, keys[i], strlen(keys[i]));
		emit_value(e, json_object_get(j, keys[i]));
	}
	yaml_mapping_end_event_initialize(&event);
	emit(e, &event);
}

static void emit_value(yaml_emitter_t *e, const json_t *j)
{
	auto_xfree char *text = NULL;

	if (json_is_object(j)) {
		emit_object(e, j);
	} else if (json_is_array(j)) {
		emit_array(e, j);
	} else if (json_is_string(j)) {
		emit_string(e, json_string_value(j), json_string_length(j));
	} else {
		text = json_print(j);
		emit_scalar(e, text, strlen(text), YAML_PLAIN_SCALAR_STYLE);
	}
}

static int on_write(void *arg, unsigned char *bytes, size_t n)
{
	strbuf_add(arg, bytes, n);
	return 1;
}

static void emit_stream(yaml_emitter_t *e, struct strbuf *out, const json_t *j)
{
	yaml_event_t event;
	size_t end;

	yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
	emit(e, &event);
	yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
	emit(e, &event);
	emit_value(e, j);
	yaml_emitter_flush(e);
	end = out->size;
	yaml_document_end_event_initialize(&event, 1);
	emit(e, &event);
	yaml_stream_end_event_initialize(&event);
	emit(e, &event);
	/* libyaml closes a document that holds a |+ block anywhere; nobody else does */
	if (out->size >= end + 4 && !memcmp(out->bytes + out->size - 4, "...\n", 4))
		strbuf_shrink(out, out->size - 4);
}

void yaml_write(struct strbuf *out, const json_t *j)
{
	yaml_emitter_t e;

	if (!yaml_emitter_initialize(&e))
		abort();
	yaml_emitter_set_output(&e, on_write, out);
	yaml_emitter_set_unicode(&e, 1);
	yaml_emitter_set_width(&e, -1);
	emit_stream(&e, out, j);
	yaml_emitter_delete(&e);
}
