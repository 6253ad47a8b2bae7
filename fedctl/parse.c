/* The words of a command line to an invocation, by the table. */
#include <assert.h>
#include <string.h>

#include "api/kind.h"
#include "base/closest.h"
#include "base/encode.h"
#include "base/flags.h"
#include "base/mem.h"
#include "fedctl/command.h"

/* --- which command --- */

/* How many of the words the path is, when they begin with it; else 0. */
static size_t words_used(const char *path, const char *const *words, size_t n)
{
	size_t used = 0;

	while (*path) {
		size_t length = strcspn(path, " ");

		if (used == n || strlen(words[used]) != length ||
		    memcmp(words[used], path, length) != 0)
			return 0;
		used++;
		path += length + (path[length] == ' ');
	}
	return used;
}

const struct command *command_find(const char *const *words, size_t n, size_t *ret_used)
{
	const struct command *best = NULL;
	size_t best_used = 0;

	for (size_t i = 0; i < commands_count; i++) {
		size_t used = words_used(commands[i].path, words, n);

		if (used <= best_used)
			continue;
		best = &commands[i];
		best_used = used;
	}
	if (best)
		*ret_used = best_used;
	return best;
}

/* Puts the n-th word of the path into out, when the path begins with the words before it. */
static bool next_word(const char *path, const char *const *words, size_t n, char out[32])
{
	size_t length;

	for (size_t i = 0; i < n; i++) {
		length = strcspn(path, " ");
		if (strlen(words[i]) != length || memcmp(words[i], path, length) != 0 ||
		    !path[length])
			return false;
		path += length + 1;
	}
	length = strcspn(path, " ");
	assert(length < 32);
	memcpy(out, path, length);
	out[length] = '\0';
	return true;
}

static void join(const char *const *words, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "%s%s", i ? " " : "", words[i]);
}

/* No command is spelled so: says what was meant, by the longest beginning that is right. */
static int fail_unknown_command(const char *const *words, size_t n, struct error *err)
{
	char names[64][32];
	size_t n_names = 0, right = 0;
	auto_strbuf group = {0};
	struct closest c;

	for (char first[32]; right < n; right++) {
		bool any = false;

		for (size_t i = 0; i < commands_count && !any; i++)
			any = next_word(commands[i].path, words, right + 1, first);
		if (!any)
			break;
	}
	join(words, right, &group);
	if (right == n)
		return error_set(err, ERR_BAD_REQUEST, "%s does nothing alone; see: fedctl help %s",
				 strbuf_str(&group), strbuf_str(&group));
	closest_init(&c, words[right], strlen(words[right]));
	for (size_t i = 0; i < commands_count && n_names < ARRAY_LEN(names); i++)
		if (commands[i].summary &&
		    next_word(commands[i].path, words, right, names[n_names]))
			closest_offer(&c, names[n_names++]);
	if (!right && kind_find_typed(words[0]))
		error_set(err, ERR_BAD_REQUEST,
			  "unknown command \"%s\"; to list them: fedctl get %s", words[0],
			  words[0]);
	else if (c.best)
		error_set(err, ERR_BAD_REQUEST,
			  "unknown command \"%s%s%s\"; did you mean \"%s%s%s\"?",
			  strbuf_str(&group), right ? " " : "", words[right], strbuf_str(&group),
			  right ? " " : "", c.best);
	else
		error_set(err, ERR_BAD_REQUEST, "unknown command \"%s%s%s\"; see: fedctl help",
			  strbuf_str(&group), right ? " " : "", words[right]);
	return -1;
}

/* --- options --- */

static const struct option *find_in(const struct option *options, const char *name, size_t n,
				    char letter)
{
	for (; options && options->name; options++) {
		if (letter && options->letter == letter)
			return options;
		if (!letter && strlen(options->name) == n && !memcmp(options->name, name, n))
			return options;
	}
	return NULL;
}

/* A command's own options stand before the global ones of the same name. */
static const struct option *find_option(const struct command *command, const char *name, size_t n,
					char letter)
{
	const struct option *o = command ? find_in(command->options, name, n, letter) : NULL;

	return o ? o : find_in(global_options, name, n, letter);
}

const struct option *option_awaiting(const struct command *command, const char *word)
{
	const struct option *o = NULL;

	if (word[0] == '-' && word[1] == '-')
		o = find_option(command, word + 2, strlen(word + 2), 0);
	else if (word[0] == '-' && word[1] && !word[2])
		o = find_option(command, NULL, 0, word[1]);
	return o && o->type != OPTION_TRUTH ? o : NULL;
}

static int fail_unknown_option(const struct command *command, const char *word, size_t n,
			       struct error *err)
{
	const struct option *lists[] = {command->options, global_options};
	size_t dashes = strspn(word, "-") < n ? strspn(word, "-") : n;
	bool top = !strcmp(command->path, "help");
	auto_xfree char *help = xasprintf("fedctl%s%s", top ? "" : " ", top ? "" : command->path);
	struct closest c;

	closest_init(&c, word + dashes, n - dashes);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const struct option *o = lists[i]; o && o->name; o++)
			closest_offer(&c, o->name);
	closest_offer(&c, "help");
	return flag_fail_unknown(word, n, c.best, help, err);
}

static int check_value(const struct option *o, const char *text, struct given *ret,
		       struct error *err)
{
	struct given g = {.option = o, .text = text};
	const char *wanted = NULL;

	if (o->words && !flag_words_have(o->words, text, strlen(text)))
		return error_set(err, ERR_BAD_REQUEST, "--%s: \"%s\" is none of %s", o->name, text,
				 o->words);
	if (o->type == OPTION_NUMBER && (int64_parse(text, &g.number) || g.number < 0))
		wanted = "a whole number, 0 or more";
	else if (o->type == OPTION_DURATION && (duration_parse(text, &g.number) || g.number <= 0))
		wanted = FLAG_DURATION_WANTED;
	else if (o->type == OPTION_TRUTH && !flag_words_have("true|false", text, strlen(text)))
		wanted = FLAG_BOOL_WANTED;
	if (wanted)
		return error_set(err, ERR_BAD_REQUEST, "--%s: \"%s\" is not %s", o->name, text,
				 wanted);
	*ret = g;
	return 0;
}

static int give(struct invocation *inv, const struct option *o, const char *text, struct error *err)
{
	struct given g;

	if (check_value(o, text, &g, err))
		return -1;
	GROW(inv->given, inv->n_given, inv->cap_given);
	inv->given[inv->n_given++] = g;
	return 0;
}

#define HELP    "--help"
#define VERSION "--version"

static bool asks(const char *word, size_t n, const char *what)
{
	return n == strlen(what) && !memcmp(word, what, n);
}

/* What a word gives to an option, else the next word. Returns how many were used, -1 on failure. */
static int give_value(struct invocation *inv, const struct option *o, const char *value,
		      char **words, int left, struct error *err)
{
	bool alone = o->type == OPTION_TRUTH;

	if (!value && !alone && left < 2)
		return flag_fail_no_value(o->name, o->metavar, err);
	if (give(inv, o, value ? value : alone ? "true" : words[1], err))
		return -1;
	return value || alone ? 1 : 2;
}

static int read_name(struct invocation *inv, char **words, int left, struct error *err)
{
	const char *word = words[0];
	size_t n = strcspn(word, "=");
	const struct option *o;

	if (asks(word, n, HELP) || asks(word, n, VERSION))
		return flag_fail_value(asks(word, n, HELP) ? "help" : "version", err);
	o = find_option(inv->command, word + 2, n - 2, 0);
	if (!o)
		return fail_unknown_option(inv->command, word, n, err);
	return give_value(inv, o, word[n] ? word + n + 1 : NULL, words, left, err);
}

static int fail_unknown_letter(const struct command *command, const char *letter, struct error *err)
{
	auto_xfree char *word = xasprintf("-%s", letter);

	return fail_unknown_option(command, word, strlen(word), err);
}

/* -fA is -f -A; behind a letter that takes a value, the rest of the word is that value. */
static int read_letters(struct invocation *inv, char **words, int left, struct error *err)
{
	for (const char *letter = words[0] + 1;; letter++) {
		const struct option *o = find_option(inv->command, letter, 0, *letter);
		const char *rest = letter + 1;

		if (!o)
			return fail_unknown_letter(inv->command, letter, err);
		if (o->type != OPTION_TRUTH || !*rest || *rest == '=')
			return give_value(inv, o, *rest ? rest + (*rest == '=') : NULL, words, left,
					  err);
		if (give(inv, o, "true", err))
			return -1;
	}
}

/* Returns how many words were used, -1 on failure. Values are borrowed from them. */
static int read_flag(struct invocation *inv, char **words, int left, struct error *err)
{
	if (words[0][1] == '-')
		return read_name(inv, words, left, err);
	return read_letters(inv, words, left, err);
}

/* --- the whole line --- */

static bool is_flag(const char *word)
{
	return word[0] == '-' && word[1];
}

static bool is_help(const char *word)
{
	return !strcmp(word, HELP) || !strcmp(word, "-h");
}

static bool is_version(const char *word)
{
	return !strcmp(word, VERSION);
}

/* Before "--", behind which all is arguments. */
static bool has_word(int argc, char **argv, bool (*is)(const char *word))
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (is(argv[i]))
			return true;
	return false;
}

/* Words that are neither flags nor values of global flags, up to the first "--": enough to find
 * the command by, which then says what its own flags are. */
static size_t plain_words(int argc, char **argv, const char **out)
{
	size_t n = 0;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!is_flag(argv[i]))
			out[n++] = argv[i];
		else if (option_awaiting(NULL, argv[i]))
			i++;
	}
	return n;
}

static int check_args(const struct invocation *inv, struct error *err)
{
	const struct command *c = inv->command;

	if (inv->n_args < c->min_args)
		return error_set(err, ERR_BAD_REQUEST, "%s needs %s; see: fedctl %s --help",
				 c->path, c->args, c->path);
	if (inv->n_args > c->max_args)
		return error_set(err, ERR_BAD_REQUEST,
				 "%s: \"%s\" is too much; see: fedctl %s --help", c->path,
				 inv->args[c->max_args], c->path);
	return 0;
}

static int check_output(const struct invocation *inv, struct error *err)
{
	const char *output = given_text(inv, "output"), *outputs = inv->command->outputs;

	if (!output)
		return 0;
	if (!outputs)
		return error_set(err, ERR_BAD_REQUEST, "%s has no -o", inv->command->path);
	if (!flag_words_have(outputs, output, strlen(output)))
		return error_set(err, ERR_BAD_REQUEST, "-o: \"%s\" is none of %s", output, outputs);
	return 0;
}

static int read_words(struct invocation *inv, int argc, char **argv, size_t skip, struct error *err)
{
	bool flags = true;

	for (int i = 1; i < argc;) {
		int used = 1;

		if (flags && !strcmp(argv[i], "--"))
			flags = false;
		else if (flags && (is_help(argv[i]) || is_version(argv[i])))
			;
		else if (flags && is_flag(argv[i]))
			used = read_flag(inv, argv + i, argc - i, err);
		else if (skip)
			skip--;
		else
			inv->args[inv->n_args++] = argv[i];
		if (used < 0)
			return -1;
		i += used;
	}
	return check_args(inv, err) || check_output(inv, err) ? -1 : 0;
}

int invocation_parse(int argc, char **argv, struct invocation *ret, struct error *err)
{
	static const char *const help[] = {"help"};
	struct invocation inv = {.help = has_word(argc, argv, is_help),
				 .version = has_word(argc, argv, is_version)};
	auto_xfree const char **plain = xcalloc((size_t)argc + 1, sizeof(*plain));
	size_t n = plain_words(argc, argv, plain), used = 0;

	inv.command = command_find(n ? plain : help, n ? n : 1, &used);
	if (!n)
		used = 0;
	if (!inv.command && inv.help) { /* of a group of commands */
		inv.command = command_find(help, 1, &used);
		used = 0;
	}
	if (!inv.command)
		return fail_unknown_command(plain, n, err);
	inv.args = xcalloc((size_t)argc + 1, sizeof(*inv.args));
	if (read_words(&inv, argc, argv, used, err) && !inv.help && !inv.version) {
		invocation_finish(&inv);
		return -1;
	}
	*ret = inv;
	return 0;
}

void invocation_finish(struct invocation *inv)
{
	free(inv->args);
	free(inv->given);
	*inv = (struct invocation){0};
}

/* --- what was given --- */

/* The last one counts, so that an alias can be overruled. */
static const struct given *find_given(const struct invocation *inv, const char *name)
{
	const struct option *o = find_option(inv->command, name, strlen(name), 0);

	assert(o);
	for (size_t i = inv->n_given; i-- > 0;)
		if (inv->given[i].option == o)
			return &inv->given[i];
	return NULL;
}

const char *given_text(const struct invocation *inv, const char *option)
{
	const struct given *g = find_given(inv, option);

	return g ? g->text : NULL;
}

bool given_truth(const struct invocation *inv, const char *option)
{
	const struct given *g = find_given(inv, option);

	return g && !strcmp(g->text, "true");
}

int64_t given_number(const struct invocation *inv, const char *option, int64_t otherwise)
{
	const struct given *g = find_given(inv, option);

	return g ? g->number : otherwise;
}

int64_t given_ns(const struct invocation *inv, const char *option, int64_t otherwise)
{
	return given_number(inv, option, otherwise);
}
