/* Certificates and requests for them, in PEM: what can be read is somebody's. */
#include <assert.h>

#include "base/pki.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_identity(struct pki_identity *id)
{
	assert(id->user && id->groups);
	for (size_t i = 0; id->groups[i]; i++)
		assert(strlen(id->groups[i]) < SIZE_MAX);
	pki_identity_finish(id);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *text = text_of(bytes, n);
	struct pki_identity id = {0};
	int64_t not_after_s;
	char hash[72];

	if (!pki_read_csr(text, &id, NULL))
		check_identity(&id);
	if (!pki_read_cert(text, &id, &not_after_s, NULL))
		check_identity(&id);
	if (!pki_cert_hash(text, hash, NULL))
		assert(strlen(hash) == strlen("sha256:") + 64);
	return 0;
}
