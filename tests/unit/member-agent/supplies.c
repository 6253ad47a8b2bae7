/* What pods need beside themselves is seen to before the first of them. */
#include "stage.h"

#include <criterion/criterion.h>

#define COPY_PATH "/api/v1/namespaces/x/configmaps/c-u"
#define TWIN_WITH_COPY                                                                              \
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{\"name\":" \
	"\"u-0-3\",\"namespace\":\"x\",\"uid\":\"t\",\"resourceVersion\":\"3\",\"labels\":{"        \
	"\"federator.dev/uid\":\"u\"}},\"spec\":{\"job\":{\"namespace\":\"x\",\"name\":\"j\","      \
	"\"uid\":\"u\"},\"part\":0,\"generation\":3,\"work\":{\"minAvailable\":1,\"maxRetry\":0,"   \
	"\"copies\":[{\"kind\":\"ConfigMap\",\"name\":\"c\"}],\"tasks\":[{\"name\":\"w\","          \
	"\"replicas\":1,\"template\":{\"spec\":{\"containers\":[]}}}]}}}"

/* Nothing else happens that would make the run look again. */
Test(supplies, are_looked_for_in_the_turn_that_finds_the_twin)
{
	struct stage s = {.twins = TWIN_WITH_COPY, .pods = ""};

	stage_start(&s, true);
	stage_offer(&s, 3, "Go", "Claimed", "cu");
	runner_placements_synced(s.runner);
	virtual_env_advance(s.time, 10);
	cr_expect(stage_awaits(&s, "GET " COPY_PATH), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}
