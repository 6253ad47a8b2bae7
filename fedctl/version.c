/* version: of this program and of the federator that it speaks to. */
#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/output.h"
#include "fedctl/session.h"

static int ask(const struct invocation *inv, json_t **ret, struct session *s, struct error *err)
{
	if (session_open(s, inv, err))
		return -1;
	return session_call(s, &(struct call){.path = "/version"}, ret, err);
}

static void print_document(const json_t *server, enum output form)
{
	auto_json *both = json_pack("{s{ss}}", "client", "version", FEDERATOR_VERSION);
	auto_strbuf out = {0};

	if (server)
		json_object_set_new(both, "server", json_deep_copy(server));
	object_write(both, form, NULL, &out);
	print_out(out.bytes, out.size);
}

/* What this program is can be said even where nothing else can. */
int run_version(struct session *unopened)
{
	const struct invocation *inv = unopened->inv;
	static const char client[] = "fedctl     " FEDERATOR_VERSION "\n";
	enum output form = output_parse(given_text(inv, "output"));
	bool plain = form == OUTPUT_TABLE;
	struct session s = {0};
	auto_json *server = NULL;
	struct error err;
	int rc = EXIT_DONE;

	if (plain)
		print_out(client, sizeof(client) - 1);
	if (ask(inv, &server, &s, &err))
		rc = session_fail(&s, &err);
	else if (plain)
		printf("federator  %s at %s\n", json_str_at(server, "gitVersion", NULL),
		       s.config.server);
	if (!plain)
		print_document(server, form);
	if (s.loop)
		session_close(&s);
	return rc;
}
