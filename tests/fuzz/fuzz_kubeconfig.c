/* Kubeconfigs: what is taken names a server. No file that one names can be opened meanwhile. */
#include <assert.h>
#include <sys/resource.h>

#include "kube/client.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void allow_files(rlim_t open_files)
{
	struct rlimit limit;

	assert(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = open_files;
	assert(!setrlimit(RLIMIT_NOFILE, &limit));
}

static void read_config(const char *text, size_t n, const char *context)
{
	struct kube_config config = {0};
	struct error err;

	if (kube_config_parse("dir/config", text, n, context, &config, &err)) {
		assert(*err.text && !config.server && !config.token && !config.key_pem);
		return;
	}
	assert(config.server);
	kube_config_finish(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *text = text_of(bytes, n);
	struct rlimit before;

	assert(!getrlimit(RLIMIT_NOFILE, &before));
	allow_files(0);
	read_config(text, strlen(text), NULL);
	read_config(text, strlen(text), "b");
	allow_files(before.rlim_cur);
	return 0;
}
