/*
 * Words that documents of this house often have: where a value and this text agree, its packed form
 * points here. What is likeliest stands last, since a short way back costs fewer bits.
 *
 * Values in etcd can be opened with this very text only. It is never edited: better words are
 * another text, and another format beside those of before.
 */
#include "store/envelope.h"

const char envelope_dictionary[] =
	/* what people write into pod templates */
	"\"labels\":{\"annotations\":{\"volumeMounts\":[{\"mountPath\":\"/\"nodeSelector\":{"
	"\"tolerations\":[{\"key\":\"env\":[{\"name\":\"value\":\"\"args\":[\"-c\","
	/* a Placement */
	"\"kind\":\"Placement\"-0-1\",\"namespace\":\"cluster-\"spec\":{\"job\":{\"part\":0,"
	"\"specHash\":\"\"incarnation\":0,\"clusterUID\":\"\",\"desired\":\"Go\","
	"\"size\":{\"seq\":1,\"tasks\":[{\"retries\":0,\"protocol\":1},"
	"\"status\":{\"state\":\"Running\",\"counts\":{\"nodes\":\"\"retries\":0,"
	"\"capacitySeq\":"
	/* the status of a Job */
	"{\"state\":{\"phase\":\"Completed\",\"lastTransitionTime\":\"\","
	"\"message\":\"1 of 1 pods succeeded\"},\"conditions\":[{\"type\":\"Pending\","
	"\"status\":\"False\",\"lastTransitionTime\":\"\"},{\"type\":\"Running\","
	"\"status\":\"True\",\"\"}],\"minAvailable\":1,\"dispatch\":{\"phase\":\"Ended\","
	"\"n\":1,\"parts\":[{\"cluster\":\"\",\"clusterUID\":\"\",\"generation\":1}],"
	"\"attempts\":[{\"generation\":1,\"cluster\":\"\","
	"\"why\":\"fits in 1 of 1 clusters; least waste on \","
	"\"runnersUp\":[{\"startedAt\":\"\"nodes\":\"\"how\":\"Done\","
	"\"message\":\"endedAt\":\"\"}],\"capacitySeq\":4294967299},"
	"\"pending\":{\"code\":\"\",\"detail\":\"\",\"since\":\"pending\":0,\"running\":1,"
	"\"succeeded\":0,\"failed\":0,"
	"\"taskStatusCount\":{\"\":{\"phase\":{\"Succeeded\":1}}}}"
	/* a Job */
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"batch.volcano.sh/v1alpha1\","
	"\"kind\":\"Job\",\"metadata\":{\"name\":\"\",\"namespace\":\"default\",\"uid\":\"\","
	"\"creationTimestamp\":\"2026-11-30T00:00:00Z\",\"generation\":1,"
	"\"finalizers\":[\"federator.dev/release\"]},\"spec\":{\"schedulerName\":\"volcano\","
	"\"minAvailable\":1,\"tasks\":[{\"name\":\"\",\"replicas\":1,"
	"\"template\":{\"spec\":{\"containers\":[{\"name\":\"\",\"image\":\"\","
	"\"command\":[\"\",\"resources\":{\"requests\":{\"limits\":{\"nvidia.com/gpu\":1,"
	"\"cpu\":1,\"memory\":\"1Gi\"}}}],\"restartPolicy\":\"Never\"}},\"maxRetry\":3,"
	"\"replicas\":1}],\"maxRetry\":3,\"queue\":\"default\"}}";

_Static_assert(sizeof(envelope_dictionary) == ENVELOPE_DICTIONARY_SIZE + 1, "it is never edited");
