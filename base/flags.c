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

#define NS_PER_MS   1000000
#define NAME_SIZE   100 /* of the name of an environment variable */
#define HELP_COLUMN 30
#define CONFIG_FLAG "config"

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

static const char *closest_flag(const struct flag_set *set, const char *name, size_t n)
{
	struct closest c;

	closest_init(&c, name, n);
	for (size_t i = 0; i < set->n; i++)
		closest_offer(&c, set->flags[i].name);
	closest_offer(&c, CONFIG_FLAG);
	return c.best;
}

static int fail_unknown(const struct parse *p, const char *dashes, const char *name, size_t n)
{
	const char *closest = closest_flag(p->set, name, n);

	if (closest)
		return error_set(p->err, ERR_BAD_REQUEST,
				 "unknown flag \"%s%.*s\", did you mean \"%s%s\"?", dashes, (int)n,
				 name, dashes, closest);
	return error_set(p->err, ERR_BAD_REQUEST, "unknown flag \"%s%.*s\", see %s --help", dashes,
			 (int)n, name, p->set->program);
}

static void env_name(const struct flag_set *set, const char *flag, char out[NAME_SIZE])
{
	int n = snprintf(out, NAME_SIZE, "%s_%s", set->env_prefix, flag);

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
		return fail_unknown(p, "", key, strlen(key));
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

/* One argument, and perhaps the one behind it. Returns how many were used, -1 on failure. */
static int read_argument(struct parse *p, char **args, int left)
{
	const char *name = args[0] + 2, *equals = strchr(args[0], '='), *text;
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	size_t i = flag_find(p->set, name, n);
	bool config = n == strlen(CONFIG_FLAG) && !memcmp(name, CONFIG_FLAG, n);
	bool alone = !config && i < p->set->n && p->set->flags[i].type == FLAG_BOOL;

	if (i == p->set->n && !config)
		return fail_unknown(p, "--", name, n);
	if (!equals && !alone && left < 2)
		return error_set(p->err, ERR_BAD_REQUEST, "--%s needs a value", name);
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

		if (strncmp(argv[i], "--", 2) || !argv[i][2])
			return error_set(p->err, ERR_BAD_REQUEST, "unexpected argument \"%s\"",
					 argv[i]);
		used = read_argument(p, argv + i, argc - i);
		if (used < 0)
			return -1;
		i += used;
	}
	return 0;
}

static int number_of(const char *text, int64_t *ret)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || isspace((unsigned char)*text))
		return -1;
	*ret = value;
	return 0;
}

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

static int convert(const struct flag *flag, const struct given *g, union meaning *ret,
		   struct error *err)
{
	const char *wanted = NULL;

	if (flag->type == FLAG_INT && number_of(g->text, &ret->number))
		wanted = "a whole number";
	else if (flag->type == FLAG_DURATION && milliseconds_of(g->text, &ret->number))
		wanted = "a duration like 1h30m, 90s or 250ms";
	else if (flag->type == FLAG_BOOL && truth_of(g->text, &ret->truth))
		wanted = "true or false";
	return !wanted ? 0
		       : error_set(err, ERR_BAD_REQUEST, "%s: \"%s\" is not %s", g->source, g->text,
				   wanted);
}

static void store(const struct flag *flag, struct given *g, const union meaning *meaning)
{
	switch (flag->type) {
	case FLAG_STRING:
		*(char **)flag->value = take_ptr(g->text);
		break;
	case FLAG_INT:
	case FLAG_DURATION:
		*(int64_t *)flag->value = meaning->number;
		break;
	case FLAG_BOOL:
		*(bool *)flag->value = meaning->truth;
		break;
	}
}

static int store_all(struct parse *p)
{
	const struct flag_set *set = p->set;
	auto_xfree union meaning *meanings = xcalloc(set->n, sizeof(*meanings));

	for (size_t i = 0; i < set->n; i++) {
		const struct given *g = strongest(p, i);

		if (g->text && convert(&set->flags[i], g, &meanings[i], p->err))
			return -1;
	}
	for (size_t i = 0; i < set->n; i++)
		store(&set->flags[i], strongest(p, i), &meanings[i]);
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
	printf("  %-*s%s\n  %-*s%s\n", HELP_COLUMN - 2, "--help", "print this", HELP_COLUMN - 2,
	       "--version", "print the version");
}

static bool has_argument(int argc, char **argv, const char *wanted)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], wanted))
			return true;
	return false;
}

int flags_parse(const struct flag_set *set, int argc, char **argv, struct error *err)
{
	struct parse p;
	int rc;

	if (has_argument(argc, argv, "--help")) {
		print_help(set);
		return 1;
	}
	if (has_argument(argc, argv, "--version")) {
		printf("%s %s\n", set->program, FEDERATOR_VERSION);
		return 1;
	}
	parse_init(&p, set, err);
	rc = read_sources(&p, argc, argv);
	if (!rc)
		rc = store_all(&p);
	parse_finish(&p);
	return rc;
}

void flags_finish(const struct flag_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->flags[i].type != FLAG_STRING)
			continue;
		free(*(char **)set->flags[i].value);
		*(char **)set->flags[i].value = NULL;
	}
}
