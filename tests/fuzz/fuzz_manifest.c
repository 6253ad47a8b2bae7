/* Files that people give to fedctl: each object that is taken has a kind and a place to go to, and
 * a file with a mistake in it adds nothing. */
#include <assert.h>

#include "fedctl/manifest.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct manifest *m)
{
	assert(m->kind && json_is_object(m->object));
	assert(!m->ns == !m->kind->namespaced);
}

static void add(const char *text, size_t n, bool given)
{
	struct manifests all = {0};
	struct error err;

	if (manifests_add(&all, "file", text, n, "default", given, &err))
		assert(!all.n && *err.text);
	for (size_t i = 0; i < all.n; i++)
		check(&all.items[i]);
	manifests_check_twice(&all, &err);
	manifests_finish(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *text = text_of(bytes, n);

	add(text, strlen(text), false);
	add(text, strlen(text), true);
	return 0;
}
