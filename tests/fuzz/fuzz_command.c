/* Command lines of fedctl, a word a line: what is taken can be asked for, whatever it was. */
#include <assert.h>

#include "fedctl/amounts.h"
#include "fedctl/command.h"
#include "fedctl/targets.h"
#include "text.h"

#define WORDS 24

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ask(const struct invocation *inv, const struct option *o)
{
	const char *text = given_text(inv, o->name);

	assert(text || !given_truth(inv, o->name));
	if (!text)
		assert(given_number(inv, o->name, -7) == -7);
	else
		assert(strlen(text) < SIZE_MAX); /* reads all of it */
}

static void ask_all(const struct invocation *inv)
{
	for (const struct option *o = inv->command->options; o && o->name; o++)
		ask(inv, o);
	for (const struct option *o = global_options; o->name; o++)
		ask(inv, o);
}

static void read_targets(const struct invocation *inv)
{
	struct targets t;
	json_t *amounts;

	if (inv->n_args && !targets_parse(inv->args, inv->n_args, &t, NULL)) {
		assert(t.n && t.items[0].kind);
		targets_finish(&t);
	}
	for (size_t i = 0; i < inv->n_args; i++)
		if (!amounts_parse(inv->args[i], &amounts, NULL))
			json_decref(amounts);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *text = text_of(bytes, n);
	char *words[WORDS + 2] = {xstrdup("fedctl")};
	size_t count = 1 + text_lines(text, words + 1, WORDS);
	struct invocation inv;
	struct error err;

	if (invocation_parse((int)count, words, &inv, &err)) {
		assert(err.code == ERR_BAD_REQUEST && *err.text);
	} else {
		ask_all(&inv);
		read_targets(&inv);
		invocation_finish(&inv);
	}
	text_lines_free(words, count);
	return 0;
}
