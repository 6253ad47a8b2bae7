#include "base/map.h"

#include <sys/random.h>
#include <uv.h>

static uv_once_t seed_once = UV_ONCE_INIT;
static uint64_t seed;

static void seed_make(void)
{
	const char *text = getenv("FEDERATOR_SEED");

	if (text && *text)
		seed = strtoull(text, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
}

uint64_t map_seed(void)
{
	uv_once(&seed_once, seed_make);
	return seed;
}
