/*
 * Every flag collects the text of its strongest source first; the values are converted and stored
 * only when all of them are right.
 */
#include "base/flags.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/closest.h"
#include "base/encode.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/pki.h"
#include "base/strbuf.h"
#include "base/yaml.h"

#define NS_PER_MS    1000000
#define NAME_SIZE    100 /* of the name of an environment variable */
#define HELP_COLUMN  30
#define CONFIG_FLAG  "config"
#define HELP_FLAG    "help"
#define VERSION_FLAG "version"

/* The text given for one flag, and where. */
struct given {
	char *text; /* NULL: nowhere */
	char *source;
};

/* What the text means, by the type of its flag. */
union meaning {
	int64_t number;
	bool truth;
};

/* Where texts come from, the weakest first. */
enum layer { LAYER_INITIAL, LAYER_FILE, LAYER_ENVIRONMENT, LAYER_ARGUMENTS, LAYERS };

struct parse {
	const struct flag_set *set;
	struct given *layers[LAYERS]; /* one given for each flag */
	char *config;                 /* path */
	struct error *err;
};

static void give(struct parse *p, enum layer layer, size_t flag, const char *text,
		 char *take_source)
{
	struct given *g = &p->layers[layer][flag];

	free(g->text);
	free(g->source);
	g->text = xstrdup(text);
	g->source = take_source;
}

static struct given *strongest(struct parse *p, size_t flag)
{
	int layer = LAYERS - 1;

	while (layer && !p->layers[layer][flag].text)
		layer--;
	return &p->layers[layer][flag];
}

static size_t flag_find(const struct flag_set *set, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (strlen(set->flags[i].name) == n && !memcmp(set->flags[i].name, name, n))
			break;
	return i;
}

/* --- what is said of mistakes --- */

int flag_fail_unknown(const char *word, size_t n, const char *meant, const char *help,
		      struct error *err)
{
	if (meant)
		return error_set(err, ERR_BAD_REQUEST,
				 "unknown flag \"%.*s\"; did you mean \"%s%s\"?", (int)n, word,
				 *word == '-' ? "--" : "", meant);
	return error_set(err, ERR_BAD_REQUEST, "unknown flag \"%.*s\"; see: %s --help", (int)n,
			 word, help);
}

int flag_fail_no_value(const char *name, const char *metavar, struct error *err)
{
	return error_set(err, ERR_BAD_REQUEST, "--%s needs a value: %s", name, metavar);
}

int flag_fail_value(const char *name, struct error *err)
{
	return error_set(err, ERR_BAD_REQUEST, "--%s takes no value", name);
}

bool flag_words_have(const char *words, const char *word, size_t n)
{
	for (;;) {
		size_t length = strcspn(words, "|");

		if (length == n && !memcmp(words, word, n))
			return true;
		if (!words[length])
			return false;
		words += length + 1;
	}
}

/* The word is that of a flag: of n bytes, with its dashes, or a key of the file. */
static int fail_unknown(const struct parse *p, const char *word, size_t n)
{
	size_t dashes = strspn(word, "-") < n ? strspn(word, "-") : n;
	struct closest c;

	closest_init(&c, word + dashes, n - dashes);
	for (size_t i = 0; i < p->set->n; i++)
		closest_offer(&c, p->set->flags[i].name);
	closest_offer(&c, CONFIG_FLAG);
	closest_offer(&c, HELP_FLAG);
	closest_offer(&c, VERSION_FLAG);
	return flag_fail_unknown(word, n, c.best, p->set->program, p->err);
}

/* --- sources --- */

static void env_name(const struct flag_set *set, const char *flag, char out[NAME_SIZE])
{
	int n = snprintf(out, NAME_SIZE, "%s_%s", set->program, flag);

	assert(n < NAME_SIZE);
	for (char *c = out; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

/* An empty variable counts as unset: that is how charts and unit files leave one out. */
static void read_environment(struct parse *p)
{
	char name[NAME_SIZE];
	const char *text;

	for (size_t i = 0; i < p->set->n; i++) {
		env_name(p->set, p->set->flags[i].name, name);
		text = getenv(name);
		if (text && *text)
			give(p, LAYER_ENVIRONMENT, i, text, xstrdup(name));
	}
	env_name(p->set, CONFIG_FLAG, name);
	text = getenv(name);
	if (text && *text && !p->config)
		p->config = xstrdup(text);
}

static int read_member(struct parse *p, const char *key, const json_t *value)
{
	size_t i = flag_find(p->set, key, strlen(key));
	auto_xfree char *text = NULL;

	if (i == p->set->n)
		return fail_unknown(p, key, strlen(key));
	if (json_is_object(value) || json_is_array(value) || json_is_null(value))
		return error_set(p->err, ERR_BAD_REQUEST, "%s must be a single value", key);
	text = json_is_string(value) ? xstrdup(json_string_value(value)) : json_print(value);
	give(p, LAYER_FILE, i, text, xasprintf("%s: %s", p->config, key));
	return 0;
}

static int read_config_text(struct parse *p, const char *text, size_t n)
{
	auto_json *docs = NULL;
	const json_t *settings;
	const char *key;
	json_t *value;

	if (yaml_parse_all(text, n, &docs, p->err))
		return -1;
	if (json_array_size(docs) == 0)
		return 0;
	settings = json_array_get(docs, 0);
	if (json_array_size(docs) > 1 || !json_is_object(settings))
		return error_set(p->err, ERR_BAD_REQUEST, "must be one mapping of flags to values");
	json_object_foreach ((json_t *)(uintptr_t)settings, key, value)
		if (read_member(p, key, value))
			return -1;
	return 0;
}

static int read_config(struct parse *p)
{
	auto_xfree char *text = NULL;
	size_t n;

	if (!p->config)
		return 0;
	if (file_read(p->config, &text, &n, p->err)) {
		if (p->err)
			p->err->code = ERR_BAD_REQUEST;
		return -1;
	}
	return read_config_text(p, text, n) ? error_prefix(p->err, "%s", p->config) : 0;
}

static bool is_word(const char *name, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(name, word, n);
}

/* One argument, and perhaps the one behind it. Returns how many were used, -1 on failure. */
static int read_argument(struct parse *p, char **args, int left)
{
	const char *name = args[0] + 2, *equals = strchr(args[0], '='), *text;
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	size_t i = flag_find(p->set, name, n);
	bool config = is_word(name, n, CONFIG_FLAG);
	bool alone = !config && i < p->set->n && p->set->flags[i].type == FLAG_BOOL;

	if (is_word(name, n, HELP_FLAG) || is_word(name, n, VERSION_FLAG))
		return flag_fail_value(is_word(name, n, HELP_FLAG) ? HELP_FLAG : VERSION_FLAG,
				       p->err);
	if (i == p->set->n && !config)
		return fail_unknown(p, args[0], n + 2);
	if (!equals && !alone && left < 2)
		return flag_fail_no_value(name, config ? "FILE" : p->set->flags[i].metavar, p->err);
	text = equals ? equals + 1 : alone ? "true" : args[1];
	if (config) {
		free(p->config);
		p->config = xstrdup(text);
	} else {
		give(p, LAYER_ARGUMENTS, i, text, xasprintf("--%.*s", (int)n, name));
	}
	return equals || alone ? 1 : 2;
}

static int read_arguments(struct parse *p, int argc, char **argv)
{
	for (int i = 1; i < argc;) {
		int used;

		if (argv[i][0] != '-' || !strcmp(argv[i], "-") || !strcmp(argv[i], "--"))
			return error_set(p->err, ERR_BAD_REQUEST,
					 "unexpected argument \"%s\"; see: %s --help", argv[i],
					 p->set->program);
		if (argv[i][1] != '-')
			return fail_unknown(p, argv[i], strcspn(argv[i], "="));
		used = read_argument(p, argv + i, argc - i);
		if (used < 0)
			return -1;
		i += used;
	}
	return 0;
}

/* --- values --- */

static int milliseconds_of(const char *text, int64_t *ret)
{
	int64_t ns;

	if (duration_parse(text, &ns) || ns < 0 || ns % NS_PER_MS)
		return -1;
	*ret = ns / NS_PER_MS;
	return 0;
}

static int truth_of(const char *text, bool *ret)
{
	bool truth = !strcmp(text, "true");

	if (!truth && strcmp(text, "false") != 0)
		return -1;
	*ret = truth;
	return 0;
}

/* What a text that its flag's type cannot take should have been; NULL: it can. */
static const char *convert(const struct flag *flag, const char *text, union meaning *ret)
{
	switch (flag->type) {
	case FLAG_INT:
		return int64_parse(text, &ret->number) ? "a whole number" : NULL;
	case FLAG_DURATION:
		return milliseconds_of(text, &ret->number) ? FLAG_DURATION_WANTED : NULL;
	case FLAG_BOOL:
		return truth_of(text, &ret->truth) ? FLAG_BOOL_WANTED : NULL;
	case FLAG_CHOICE:
	case FLAG_STRING:
		break;
	}
	return NULL;
}

static int check(const struct flag *flag, const struct given *g, union meaning *ret,
		 struct error *err)
{
	const char *wanted = convert(flag, g->text, ret), *mistake;

	if (wanted)
		return error_set(err, ERR_BAD_REQUEST, "%s: \"%s\" is not %s", g->source, g->text,
				 wanted);
	if (flag->type == FLAG_CHOICE && !flag_words_have(flag->metavar, g->text, strlen(g->text)))
		return error_set(err, ERR_BAD_REQUEST, "%s: \"%s\" is none of %s", g->source,
				 g->text, flag->metavar);
	mistake = flag->mistake ? flag->mistake(g->text) : NULL;
	return mistake ? error_set(err, ERR_BAD_REQUEST, "%s: \"%s\" %s", g->source, g->text,
				   mistake)
		       : 0;
}

static void *value_of(const struct flag *flag, void *settings)
{
	return (char *)settings + flag->at;
}

static void store(const struct flag *flag, struct given *g, const union meaning *meaning,
		  void *value)
{
	switch (flag->type) {
	case FLAG_STRING:
	case FLAG_CHOICE:
		*(char **)value = take_ptr(g->text);
		break;
	case FLAG_INT:
	case FLAG_DURATION:
		*(int64_t *)value = meaning->number;
		break;
	case FLAG_BOOL:
		*(bool *)value = meaning->truth;
		break;
	}
}

static int store_all(struct parse *p, void *settings)
{
	const struct flag_set *set = p->set;
	auto_xfree union meaning *meanings = xcalloc(set->n, sizeof(*meanings));

	for (size_t i = 0; i < set->n; i++) {
		const struct given *g = strongest(p, i);

		if (g->text && check(&set->flags[i], g, &meanings[i], p->err))
			return -1;
		if (set->flags[i].required && (!g->text || !*g->text))
			return error_set(p->err, ERR_BAD_REQUEST,
					 "--%s is required; see: %s --help", set->flags[i].name,
					 set->program);
	}
	for (size_t i = 0; i < set->n; i++)
		store(&set->flags[i], strongest(p, i), &meanings[i],
		      value_of(&set->flags[i], settings));
	return 0;
}

static void give_initials(struct parse *p)
{
	for (size_t i = 0; i < p->set->n; i++) {
		const struct flag *flag = &p->set->flags[i];

		if (flag->initial)
			give(p, LAYER_INITIAL, i, flag->initial, xasprintf("--%s", flag->name));
	}
}

/* The path of the file may come from the other two, so it is read last. */
static int read_sources(struct parse *p, int argc, char **argv)
{
	give_initials(p);
	if (read_arguments(p, argc, argv))
		return -1;
	read_environment(p);
	return read_config(p);
}

static void parse_init(struct parse *p, const struct flag_set *set, struct error *err)
{
	*p = (struct parse){.set = set, .err = err};
	for (int layer = 0; layer < LAYERS; layer++)
		p->layers[layer] = xcalloc(set->n, sizeof(*p->layers[layer]));
}

static void parse_finish(struct parse *p)
{
	for (int layer = 0; layer < LAYERS; layer++) {
		for (size_t i = 0; i < p->set->n; i++) {
			free(p->layers[layer][i].text);
			free(p->layers[layer][i].source);
		}
		free(p->layers[layer]);
	}
	free(p->config);
}

static void print_flag(const struct flag_set *set, const char *name, const char *metavar,
		       const char *initial, const char *help)
{
	char variable[NAME_SIZE];
	int used = printf("  --%s%s%s", name, metavar ? " " : "", metavar ? metavar : "");

	env_name(set, name, variable);
	if (used >= HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	else
		printf("%*s", HELP_COLUMN - used, "");
	printf("%s", help);
	if (initial && *initial)
		printf(" (default %s)", initial);
	printf(" [%s]\n", variable);
}

static void print_help(const struct flag_set *set)
{
	printf("%s\n\nFlags, also as environment variables [in brackets]:\n", set->summary);
	for (size_t i = 0; i < set->n; i++) {
		const struct flag *flag = &set->flags[i];

		print_flag(set, flag->name, flag->type == FLAG_BOOL ? NULL : flag->metavar,
			   flag->initial, flag->help);
	}
	print_flag(set, CONFIG_FLAG, "FILE", NULL,
		   "YAML file whose keys are the names of these flags");
	printf("  %-*s%s\n  %-*s%s\n", HELP_COLUMN - 2, "-h, --" HELP_FLAG, "print this",
	       HELP_COLUMN - 2, "--" VERSION_FLAG, "print the version");
}

static bool has_argument(int argc, char **argv, const char *wanted)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], wanted))
			return true;
	return false;
}

int flags_parse(const struct flag_set *set, void *settings, int argc, char **argv,
		struct error *err)
{
	struct parse p;
	int rc;

	if (has_argument(argc, argv, "--" HELP_FLAG) || has_argument(argc, argv, "-h")) {
		print_help(set);
		return 1;
	}
	if (has_argument(argc, argv, "--" VERSION_FLAG)) {
		printf("%s %s\n", set->program, FEDERATOR_VERSION);
		return 1;
	}
	parse_init(&p, set, err);
	rc = read_sources(&p, argc, argv);
	if (!rc)
		rc = store_all(&p, settings);
	parse_finish(&p);
	return rc;
}

void flags_finish(const struct flag_set *set, void *settings)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct flag *flag = &set->flags[i];

		if (flag->type == FLAG_STRING || flag->type == FLAG_CHOICE)
			free(take_ptr(*(char **)value_of(flag, settings)));
	}
}
