/* What pods need beside themselves is seen to before the first of them. */
#include "stage.h"

#include <criterion/criterion.h>
#include <string.h>

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

	stage_begin(&s, "Claimed");
	virtual_env_advance(s.time, 10);
	cr_expect(stage_awaits(&s, "GET " COPY_PATH), "asked %s", strbuf_str(&s.asked));
	stage_end(&s);
}

#define SERVICES "/api/v1/namespaces/x/services"
#define TWIN_WITH_SERVICE                                                                          \
	TWIN_OF("[{\"name\":\"w\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[]}}}],"   \
		"\"plugins\":{\"svc\":[]}")
#define OLD_SERVICE                                                                                \
	"{\"kind\":\"Service\",\"metadata\":{\"name\":\"j\",\"namespace\":\"x\",\"uid\":\"s\","    \
	"\"labels\":{\"federator.dev/uid\":\"u\"},\"finalizers\":[\"example.com/audit\"]}}"
#define EXISTS                                                                                     \
	"{\"kind\":\"Status\",\"code\":409,\"reason\":\"AlreadyExists\",\"message\":\"it is\"}"

/* What others hold on to does not go for us, and the job could begin elsewhere. */
Test(supplies, an_earlier_one_that_does_not_go_is_waited_for_half_a_minute)
{
	struct stage s = {.twins = TWIN_WITH_SERVICE, .pods = ""};
	int tries = 0;

	stage_begin(&s, "Claimed");
	virtual_env_advance(s.time, 10);
	stage_answer(&s, "GET " SERVICES "/j", 404, "{}");
	stage_answer(&s, "GET /api/v1/namespaces/x/configmaps/j-svc", 404, "{}");
	for (; !stage_awaits(&s, "PATCH") && tries < 100; tries++) {
		virtual_env_advance(s.time, 1000);
		if (!stage_awaits(&s, "POST " SERVICES))
			continue;
		stage_answer(&s, "POST " SERVICES, 409, EXISTS);
		stage_answer(&s, "GET " SERVICES "/j", 200, OLD_SERVICE);
		if (stage_awaits(&s, "DELETE " SERVICES "/j"))
			stage_answer(&s, "DELETE " SERVICES "/j", 200, "{}");
	}
	cr_expect(tries > 25 && tries < 40, "given up after %d s", tries);
	stage_answer(&s, "PATCH", 200, "{}");
	virtual_env_advance(s.time, 100);
	cr_expect_str_eq(strbuf_str(&s.said), "Released:NameTaken ");
	stage_end(&s);
}
