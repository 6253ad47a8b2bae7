/* Preferences among clusters where the gang fits. */
#include <inttypes.h>
#include <string.h>

#include "scheduler/explain.h"
#include "scheduler/plugin.h"

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* --- locality: fewest bytes to move ------------------------------------------------------- */

static int prefer_local(const struct cluster_option *a, const struct cluster_option *b)
{
	return compare(a->bytes, b->bytes);
}

static void say_local(const struct cluster_option *won, const struct cluster_option *next,
		      size_t n_fit, size_t n_all, struct strbuf *out)
{
	strbuf_adds(out, "data: ");
	explain_bytes(won->bytes, out);
	strbuf_addf(out, " to move; %s would move ", next->name);
	explain_bytes(next->bytes, out);
}

static void say_lost_local(const struct cluster_option *lost, struct strbuf *out)
{
	strbuf_adds(out, "would move ");
	explain_bytes(lost->bytes, out);
}

const struct plugin plugin_locality = {
	.name = "locality", .prefer = prefer_local, .say = say_local, .say_lost = say_lost_local};

/* --- alternatives: in the order written --------------------------------------------------- */

static int prefer_first(const struct cluster_option *a, const struct cluster_option *b)
{
	return a->variant == b->variant ? 0 : a->variant < b->variant ? -1 : 1;
}

static void say_first(const struct cluster_option *won, const struct cluster_option *next,
		      size_t n_fit, size_t n_all, struct strbuf *out)
{
	strbuf_addf(out, "alternative %zu; %s has room for alternative %zu only", won->variant + 1,
		    next->name, next->variant + 1);
}

static void say_lost_first(const struct cluster_option *lost, struct strbuf *out)
{
	strbuf_addf(out, "room for alternative %zu only", lost->variant + 1);
}

const struct plugin plugin_alternatives = {.name = "alternatives",
					   .prefer = prefer_first,
					   .say = say_first,
					   .say_lost = say_lost_first};

/* --- waste and spread --------------------------------------------------------------------- */

static int prefer_thrifty(const struct cluster_option *a, const struct cluster_option *b)
{
	return compare(a->waste, b->waste);
}

static void say_thrifty(const struct cluster_option *won, const struct cluster_option *next,
			size_t n_fit, size_t n_all, struct strbuf *out)
{
	strbuf_addf(out, "fits in %zu of %zu clusters; least waste on %s", n_fit, n_all, won->name);
}

static void say_lost_thrifty(const struct cluster_option *lost, struct strbuf *out)
{
	strbuf_addf(out, "would leave %" PRId64 " devices beside it unused", lost->waste);
}

const struct plugin plugin_waste = {.name = "waste",
				    .prefer = prefer_thrifty,
				    .say = say_thrifty,
				    .say_lost = say_lost_thrifty};

/* free / capacity, without a division */
static int prefer_spacious(const struct cluster_option *a, const struct cluster_option *b)
{
	__int128 x = (__int128)a->free * b->capacity, y = (__int128)b->free * a->capacity;

	return (x < y) - (x > y);
}

static void say_lost_spacious(const struct cluster_option *lost, struct strbuf *out)
{
	strbuf_adds(out, "would be fuller afterwards");
}

const struct plugin plugin_spread = {.name = "spread",
				     .prefer = prefer_spacious,
				     .say = say_thrifty,
				     .say_lost = say_lost_spacious};

static int prefer_name(const struct cluster_option *a, const struct cluster_option *b)
{
	return strcmp(a->name, b->name);
}

static void say_name(const struct cluster_option *won, const struct cluster_option *next,
		     size_t n_fit, size_t n_all, struct strbuf *out)
{
	strbuf_addf(out, "fits in %zu of %zu clusters; %s is as good and comes later by name",
		    n_fit, n_all, next->name);
}

static void say_lost_name(const struct cluster_option *lost, struct strbuf *out)
{
	strbuf_adds(out, "as good, later by name");
}

const struct plugin plugin_by_name = {
	.name = "name", .prefer = prefer_name, .say = say_name, .say_lost = say_lost_name};
