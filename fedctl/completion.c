/*
 * completion: what makes shells complete. The scripts ask `fedctl __complete` for the words that
 * may come next, so that the table and the federator are asked and no script repeats them.
 */
#include <string.h>

#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/output.h"
#include "fedctl/session.h"

#define NAMES_TIMEOUT_MS 2000
#define NAMES_MAX        200

static const char bash_script[] =
	"_fedctl() {\n"
	"    local IFS=$'\\n'\n"
	"    COMPREPLY=($(compgen -W \"$(fedctl __complete -- "
	"\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
	"}\n"
	"complete -o default -F _fedctl fedctl\n";

static const char zsh_script[] =
	"#compdef fedctl\n"
	"_fedctl() {\n"
	"    local -a found\n"
	"    found=(${(f)\"$(fedctl __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
	"    if (( $#found )); then compadd -- $found; else _files; fi\n"
	"}\n"
	"compdef _fedctl fedctl\n"
	/* As a file in fpath it is the function's body when it is called first. */
	"if [[ $funcstack[1] = _fedctl ]]; then _fedctl; fi\n";

static const char fish_script[] =
	"function __fedctl_complete\n"
	"    set -l before (commandline -opc)\n"
	"    set -l typed (commandline -ct)\n"
	"    set -l found (fedctl __complete -- $before[2..-1] $typed 2>/dev/null)\n"
	"    if set -q found[1]\n"
	"        printf %s\\\\n $found\n"
	"    else\n"
	"        __fish_complete_path $typed\n"
	"    end\n"
	"end\n"
	"complete -c fedctl -f -a '(__fedctl_complete)'\n";

static const struct {
	const char *shell, *script;
} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

int run_completion(struct session *s)
{
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		if (strcmp(scripts[i].shell, s->inv->args[0]) != 0)
			continue;
		print_out(scripts[i].script, strlen(scripts[i].script));
		return EXIT_DONE;
	}
	error_set(&err, ERR_BAD_REQUEST, "completion is for bash, zsh and fish, not for \"%s\"",
		  s->inv->args[0]);
	return usage_fail(&err);
}

/* --- the words that may come next --- */

static void offer(const char *word, const char *typed, struct strbuf *out)
{
	if (!strncmp(word, typed, strlen(typed)))
		strbuf_addf(out, "%s\n", word);
}

static void offer_options(const struct option *options, const char *typed, struct strbuf *out)
{
	for (; options && options->name; options++) {
		auto_xfree char *word = xasprintf("--%s", options->name);

		offer(word, typed, out);
	}
}

/* The next word of every path that begins with the words; the same one is offered once. */
static void offer_commands(const char *const *words, size_t n, const char *typed,
			   struct strbuf *out)
{
	auto_strbuf begin = {0}, last = {0};

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&begin, "%s ", words[i]);
	for (size_t i = 0; i < commands_count; i++) {
		const char *path = commands[i].path;
		auto_xfree char *next = NULL;

		if (!commands[i].summary || strncmp(path, strbuf_str(&begin), begin.size) != 0)
			continue;
		path += begin.size;
		next = xstrndup(path, strcspn(path, " "));
		if (!strcmp(next, strbuf_str(&last)))
			continue;
		offer(next, typed, out);
		strbuf_clear(&last);
		strbuf_adds(&last, next);
	}
}

static void offer_kinds(const char *typed, struct strbuf *out)
{
	for (size_t i = 0; i < kinds_count; i++)
		offer(kinds[i]->plural, typed, out);
}

/* Those that the option takes: "a|b|c". */
static void offer_values(const struct command *c, const struct option *o, const char *typed,
			 struct strbuf *out)
{
	bool is_output = !strcmp(o->name, "output") && c;

	for (const char *p = is_output ? c->outputs : o->words; p && *p; p += strspn(p, "|")) {
		size_t n = strcspn(p, "|");
		auto_xfree char *word = xstrndup(p, n);

		offer(word, typed, out);
		p += n;
	}
}

/* Names that the federator has, each behind the prefix; none when it does not answer soon. */
static void offer_names(const struct session *unopened, const struct kind *kind, const char *prefix,
			const char *typed, struct strbuf *out)
{
	auto_json *page = NULL;
	auto_strbuf path = {0};
	struct session s;
	struct error err;
	json_t *item;
	size_t i;

	if (session_open(&s, unopened->inv, &err))
		return;
	object_path(kind, s.ns, NULL, &path);
	strbuf_addf(&path, "?limit=%d", NAMES_MAX);
	if (!session_call(&s, &(struct call){.path = path.bytes, .timeout_ms = NAMES_TIMEOUT_MS},
			  &page, &err))
		json_array_foreach (json_object_get(page, "items"), i, item) {
			auto_xfree char *word = xasprintf(
				"%s%s", prefix, json_str_at(item, "metadata", "name", NULL));

			offer(word, typed, out);
		}
	session_close(&s);
}

/* Words that are neither options nor their values. Returns how many; out has room for n. */
static size_t arguments_of(const struct command *c, const char *const *words, size_t n,
			   const char **out)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (option_awaiting(c, words[i]))
			i++;
		else if (*words[i] != '-')
			out[found++] = words[i];
	}
	return found;
}

/* "job/x": the kind stands in the word itself. */
static void offer_named(const struct session *s, const char *typed, struct strbuf *out)
{
	size_t n = strcspn(typed, "/");
	auto_xfree char *word = xstrndup(typed, n), *prefix = xstrndup(typed, n + 1);
	const struct kind *kind = kind_find_typed(word);

	if (kind)
		offer_names(s, kind, prefix, typed, out);
}

static void offer_arguments(const struct session *s, const struct command *c,
			    const char *const *args, size_t n, const char *typed,
			    struct strbuf *out)
{
	const struct kind *kind = NULL;

	if (strchr(typed, '/') && (c->argument == ARGUMENT_KIND || c->argument == ARGUMENT_JOB))
		offer_named(s, typed, out);
	else if (c->argument == ARGUMENT_KIND && !n)
		offer_kinds(typed, out);
	else if (c->argument == ARGUMENT_KIND)
		kind = kind_find_typed(args[0]);
	else if (c->argument == ARGUMENT_JOB)
		kind = kind_find_typed("jobs");
	else if (c->argument == ARGUMENT_CLUSTER)
		kind = kind_find_typed("clusters");
	if (kind && n < c->max_args)
		offer_names(s, kind, "", typed, out);
}

/* The words are those of the line, the one under the cursor last. */
int run_complete(struct session *s)
{
	const char *const *words = s->inv->args;
	size_t n = s->inv->n_args ? s->inv->n_args - 1 : 0, used = 0;
	const char *typed = s->inv->n_args ? words[n] : "";
	const struct command *c = command_find(words, n, &used);
	const struct option *o = n > used ? option_awaiting(c, words[n - 1]) : NULL;
	auto_xfree const char **args = xcalloc(n + 1, sizeof(*args));
	auto_strbuf out = {0};

	if (o) {
		offer_values(c, o, typed, &out);
	} else if (*typed == '-') {
		offer_options(c ? c->options : NULL, typed, &out);
		offer_options(global_options, typed, &out);
	} else if (c && c->summary) {
		n = arguments_of(c, words + used, n - used, args);
		offer_arguments(s, c, args, n, typed, &out);
	} else {
		offer_commands(words, n, typed, &out);
	}
	print_out(strbuf_str(&out), out.size);
	return EXIT_DONE;
}
