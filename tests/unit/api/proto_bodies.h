/*
 * Bodies as clients of Kubernetes send them, in hex, and the objects that they stand for. Those of
 * kubectl were recorded from its versions 1.32 and 1.36, which send the same; the others were
 * encoded by the client library of 1.36.
 */
#ifndef TESTS_UNIT_API_PROTO_BODIES_H
#define TESTS_UNIT_API_PROTO_BODIES_H

static const struct {
	const char *what, *hex, *json;
} bodies[] = {
	{"kubectl create namespace",
	 "6b3873000a0f0a02763112094e616d657370616365121f0a170a076d6c2d7465616d12001a0022"
	 "002a0032003800420012001a020a001a002200",
	 "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"ml-team"
	 "\"}}"},
	{"kubectl create configmap",
	 "6b3873000a0f0a0276311209436f6e6669674d6170125d0a1c0a05747261696e12001a076d6c2d"
	 "7465616d22002a0032003800420012090a05656d7074791200120c0a0665706f63687312023130"
	 "12130a056e6f746573120a65696e730a7a7765690a1a0f0a077765696768747312040001fffe1a"
	 "002200",
	 "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"train\""
	 ",\"namespace\":\"ml-team\"},\"data\":{\"empty\":\"\",\"epochs\":\"10\",\"notes"
	 "\":\"eins\\nzwei\\n\"},\"binaryData\":{\"weights\":\"AAH//g==\"}}"},
	{"kubectl create secret generic",
	 "6b3873000a0c0a0276311206536563726574123b0a1b0a046b65797312001a076d6c2d7465616d"
	 "22002a00320038004200120b0a0372617712040001fffe120d0a047573657212056d617269611a"
	 "001a002200",
	 "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"keys\",\"n"
	 "amespace\":\"ml-team\"},\"data\":{\"raw\":\"AAH//g==\",\"user\":\"bWFyaWE=\"}}"},
	{"kubectl create secret docker-registry",
	 "6b3873000a0c0a0276311206536563726574129c010a1a0a0372656712001a076d6c2d7465616d"
	 "22002a00320038004200125e0a112e646f636b6572636f6e6669676a736f6e12497b2261757468"
	 "73223a7b22722e6578616d706c652e636f6d223a7b22757365726e616d65223a2275222c227061"
	 "7373776f7264223a2270222c2261757468223a2264547077227d7d7d1a1e6b756265726e657465"
	 "732e696f2f646f636b6572636f6e6669676a736f6e1a002200",
	 "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"reg\",\"na"
	 "mespace\":\"ml-team\"},\"data\":{\".dockerconfigjson\":\"eyJhdXRocyI6eyJyLmV4Y"
	 "W1wbGUuY29tIjp7InVzZXJuYW1lIjoidSIsInBhc3N3b3JkIjoicCIsImF1dGgiOiJkVHB3In19fQ="
	 "=\"},\"type\":\"kubernetes.io/dockerconfigjson\"}"},
	{"kubectl create service clusterip",
	 "6b3873000a0d0a02763112075365727669636512700a260a0377656212001a076d6c2d7465616d"
	 "22002a003200380042005a0a0a03617070120377656212420a1b0a0738302d3830383012035443"
	 "5018502207080010903f1a002800120a0a0361707012037765621a002209436c75737465724950"
	 "3a00420052005a00600068001a020a001a002200",
	 "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\",\"n"
	 "amespace\":\"ml-team\",\"labels\":{\"app\":\"web\"}},\"spec\":{\"ports\":[{\"n"
	 "ame\":\"80-8080\",\"protocol\":\"TCP\",\"port\":80,\"targetPort\":8080}],\"sel"
	 "ector\":{\"app\":\"web\"},\"type\":\"ClusterIP\"}}"},
	{"kubectl create service nodeport",
	 "6b3873000a0d0a02763112075365727669636512750a240a026e7012001a076d6c2d7465616d22"
	 "002a003200380042005a090a0361707012026e7012490a240a093434332d687474707312035443"
	 "5018bb03220b080110001a05687474707328ebed0112090a0361707012026e701a0022084e6f64"
	 "65506f72743a00420052005a00600068001a020a001a002200",
	 "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"np\",\"na"
	 "mespace\":\"ml-team\",\"labels\":{\"app\":\"np\"}},\"spec\":{\"ports\":[{\"nam"
	 "e\":\"443-https\",\"protocol\":\"TCP\",\"port\":443,\"targetPort\":\"https\","
	 "\"nodePort\":30443}],\"selector\":{\"app\":\"np\"},\"type\":\"NodePort\"}}"},
	{"kubectl create priorityclass",
	 "6b3873000a250a147363686564756c696e672e6b38732e696f2f7631120d5072696f7269747943"
	 "6c617373123d0a140a046869676812001a0022002a0032003800420010e8071800220a73686f72"
	 "74206a6f62732a14507265656d70744c6f7765725072696f726974791a002200",
	 "{\"kind\":\"PriorityClass\",\"apiVersion\":\"scheduling.k8s.io/v1\",\"metadata"
	 "\":{\"name\":\"high\"},\"value\":1000,\"description\":\"short jobs\",\"preempt"
	 "ionPolicy\":\"PreemptLowerPriority\"}"},
	{"kubectl create priorityclass, negative",
	 "6b3873000a250a147363686564756c696e672e6b38732e696f2f7631120d5072696f7269747943"
	 "6c617373122b0a130a036c6f7712001a0022002a0032003800420010fbffffffffffffffff0118"
	 "0122002a054e657665721a002200",
	 "{\"kind\":\"PriorityClass\",\"apiVersion\":\"scheduling.k8s.io/v1\",\"metadata"
	 "\":{\"name\":\"low\"},\"value\":-5,\"globalDefault\":true,\"preemptionPolicy\""
	 ":\"Never\"}"},
	{"kubectl certificate approve",
	 "6b3873000a330a166365727469666963617465732e6b38732e696f2f7631121943657274696669"
	 "636174655369676e696e675265717565737412b7020a570a096770752d6167656e7412001a0022"
	 "002a2439643063366237652d376230652d346134332d396630612d316332643365346635613662"
	 "32023431380042080886cab1d80610005a0e0a07636c7573746572120367707512750a0a2d2d2d"
	 "2d2d424547494e121473797374656d3a626f6f7473747261703a6162631a00221473797374656d"
	 "3a626f6f747374726170706572732a0b636c69656e74206175746832100a0673636f7065731206"
	 "0a01610a01623a15666564657261746f722e6465762f636c75737465724080ceda031a650a630a"
	 "08417070726f766564120e4b75626563746c417070726f76651a35546869732043535220776173"
	 "20617070726f766564206279206b75626563746c20636572746966696361746520617070726f76"
	 "652e220808bfdeb1d80610002a003204547275651a002200",
	 "{\"kind\":\"CertificateSigningRequest\",\"apiVersion\":\"certificates.k8s.io/v"
	 "1\",\"metadata\":{\"name\":\"gpu-agent\",\"uid\":\"9d0c6b7e-7b0e-4a43-9f0a-1c2"
	 "d3e4f5a6b\",\"resourceVersion\":\"41\",\"creationTimestamp\":\"2026-11-29T17:4"
	 "6:46Z\",\"labels\":{\"cluster\":\"gpu\"}},\"spec\":{\"request\":\"LS0tLS1CRUdJ"
	 "Tg==\",\"signerName\":\"federator.dev/cluster\",\"usages\":[\"client auth\"],"
	 "\"username\":\"system:bootstrap:abc\",\"groups\":[\"system:bootstrappers\"],\""
	 "extra\":{\"scopes\":[\"a\",\"b\"]},\"expirationSeconds\":7776000},\"status\":{"
	 "\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\",\"reason\":\"Kubect"
	 "lApprove\",\"message\":\"This CSR was approved by kubectl certificate approve."
	 "\",\"lastUpdateTime\":\"2026-11-29T18:30:23Z\"}]}}"},
	{"a Pod with most of what people write",
	 "6b3873000a090a0276311203506f641289090ad0010a0e747261696e2d776f726b65722d301206"
	 "747261696e2d1a026d6c22002a003200380042005a0c0a036170701205747261696e5a1a0a1576"
	 "6f6c63616e6f2e73682f7461736b2d696e64657812013062090a05656d707479120062260a2173"
	 "616e64626f782e666564657261746f722e6465762f72756e2d7365636f6e64731201336a340a09"
	 "506c6163656d656e741a05752d302d312204376631632a16666564657261746f722e6465762f76"
	 "31616c70686131300138007215666564657261746f722e6465762f6f7574636f6d651296060a0f"
	 "0a0773637261746368120412020a000a180a0373686d1211120f0a064d656d6f727912050a0331"
	 "47690a1e0a0363666712179a01140a050a0363666712080a0161120161180018a4030a260a0361"
	 "6c6c121fd2011c0a0a0a080a060a046b6579730a0e220c0a0010901c1a05746f6b656e0a130a05"
	 "636c61696d120a52080a0464617461100012db020a046d61696e1207747261696e3a321a067079"
	 "74686f6e1a08747261696e2e707922042d2d6c722203302e312a022f7732140a046874747010a0"
	 "8d0118903f22035443502a003a060a01411201313a190a014212001a1222100a060a046b657973"
	 "12047573657218003a090a05454d505459120042440a0a0a0363707512030a01340a0f0a066d65"
	 "6d6f727912050a033847690a150a0e6e76696469612e636f6d2f67707512030a0131120e0a0363"
	 "707512070a05313530306d4a190a077363726174636810001a082f73637261746368220032004a"
	 "120a0363666710011a042f636667220161320052190a0d1a0b0a07080010903f1a001200100018"
	 "002000280030035a2a0a1e121c0a062f7265616479120a080110001a04687474701a0022044854"
	 "5450100018002005280030006a0072007a090a051203414c4c10008001008801009001019a010d"
	 "0a02505f12070a050a03636667a201001a054e65766572200028901c32003a1b0a126b75626572"
	 "6e657465732e696f2f617263681205616d64363442004a0052076c617267652d33580160006800"
	 "720f10e80718012001200220e0a71228008201008a01009201290a270a250a230a100a047a6f6e"
	 "651202496e1a01611a01620a0f0a05636f726573120247741a0231359a0109666564657261746f"
	 "72a201380a0570726f78791203703a312a00420f120d0a0363707512060a043130306d6a007200"
	 "800100880100900100a20100c20106416c77617973a80100b2011b0a0367707512064578697374"
	 "731a00220a4e6f5363686564756c65b201350a1c6e6f64652e6b756265726e657465732e696f2f"
	 "6e6f742d726561647912064578697374731a0022094e6f457865637574652800c20100c801f6ff"
	 "ffffffffffffff011a9a010a0752756e6e696e6712200a055265616479120546616c73651a0022"
	 "080886cab1d80610002a00320038001a0022002a0032003a080880cab1d806100042460a046d61"
	 "696e12291a27080010001a09436f6d706c6574656422002a080881cab1d806100032080884cab1"
	 "d80610003a001a00200028003207747261696e3a323a00420048004a005a00620a0a0831302e30"
	 "2e302e3772008801001a002200",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"train-worker-"
	 "0\",\"namespace\":\"ml\",\"generateName\":\"train-\",\"labels\":{\"app\":\"tra"
	 "in\",\"volcano.sh/task-index\":\"0\"},\"annotations\":{\"sandbox.federator.dev"
	 "/run-seconds\":\"3\",\"empty\":\"\"},\"ownerReferences\":[{\"apiVersion\":\"fe"
	 "derator.dev/v1alpha1\",\"kind\":\"Placement\",\"name\":\"u-0-1\",\"uid\":\"7f1"
	 "c\",\"controller\":true,\"blockOwnerDeletion\":false}],\"finalizers\":[\"feder"
	 "ator.dev/outcome\"]},\"spec\":{\"nodeName\":\"large-3\",\"restartPolicy\":\"Ne"
	 "ver\",\"terminationGracePeriodSeconds\":0,\"activeDeadlineSeconds\":3600,\"aut"
	 "omountServiceAccountToken\":false,\"nodeSelector\":{\"kubernetes.io/arch\":\"a"
	 "md64\"},\"schedulerName\":\"federator\",\"priority\":-10,\"hostNetwork\":true,"
	 "\"tolerations\":[{\"key\":\"gpu\",\"operator\":\"Exists\",\"effect\":\"NoSched"
	 "ule\"},{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"eff"
	 "ect\":\"NoExecute\",\"tolerationSeconds\":0}],\"affinity\":{\"nodeAffinity\":{"
	 "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\""
	 "matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\",\""
	 "b\"]},{\"key\":\"cores\",\"operator\":\"Gt\",\"values\":[\"15\"]}]}]}}},\"secu"
	 "rityContext\":{\"runAsUser\":1000,\"runAsNonRoot\":true,\"supplementalGroups\""
	 ":[1,2,300000],\"fsGroup\":0},\"initContainers\":[{\"name\":\"proxy\",\"image\""
	 ":\"p:1\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"1"
	 "00m\"}}}],\"containers\":[{\"name\":\"main\",\"image\":\"train:2\",\"command\""
	 ":[\"python\",\"train.py\"],\"args\":[\"--lr\",\"0.1\"],\"workingDir\":\"/w\","
	 "\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\",\"valueFrom\":{\"sec"
	 "retKeyRef\":{\"name\":\"keys\",\"key\":\"user\",\"optional\":false}}},{\"name"
	 "\":\"EMPTY\"}],\"envFrom\":[{\"prefix\":\"P_\",\"configMapRef\":{\"name\":\"cf"
	 "g\"}}],\"ports\":[{\"name\":\"http\",\"containerPort\":8080,\"hostPort\":18080"
	 ",\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":\"4\",\"memory\":\""
	 "8Gi\",\"nvidia.com/gpu\":\"1\"},\"requests\":{\"cpu\":\"1500m\"}},\"volumeMoun"
	 "ts\":[{\"name\":\"scratch\",\"mountPath\":\"/scratch\"},{\"name\":\"cfg\",\"mo"
	 "untPath\":\"/cfg\",\"readOnly\":true,\"subPath\":\"a\"}],\"readinessProbe\":{"
	 "\"httpGet\":{\"path\":\"/ready\",\"port\":\"http\",\"scheme\":\"HTTP\"},\"peri"
	 "odSeconds\":5},\"livenessProbe\":{\"tcpSocket\":{\"port\":8080},\"failureThres"
	 "hold\":3},\"securityContext\":{\"privileged\":false,\"capabilities\":{\"drop\""
	 ":[\"ALL\"]}},\"tty\":true}],\"volumes\":[{\"name\":\"scratch\",\"emptyDir\":{}"
	 "},{\"name\":\"shm\",\"emptyDir\":{\"medium\":\"Memory\",\"sizeLimit\":\"1Gi\"}"
	 "},{\"name\":\"cfg\",\"configMap\":{\"name\":\"cfg\",\"items\":[{\"key\":\"a\","
	 "\"path\":\"a\",\"mode\":0}],\"defaultMode\":420}},{\"name\":\"all\",\"projecte"
	 "d\":{\"sources\":[{\"secret\":{\"name\":\"keys\"}},{\"serviceAccountToken\":{"
	 "\"path\":\"token\",\"expirationSeconds\":3600}}]}},{\"name\":\"claim\",\"persi"
	 "stentVolumeClaim\":{\"claimName\":\"data\"}}]},\"status\":{\"phase\":\"Running"
	 "\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"lastTransitionTi"
	 "me\":\"2026-11-29T17:46:46Z\"}],\"startTime\":\"2026-11-29T17:46:40Z\",\"podIP"
	 "s\":[{\"ip\":\"10.0.0.7\"}],\"containerStatuses\":[{\"name\":\"main\",\"state"
	 "\":{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\",\"startedAt\":\"20"
	 "26-11-29T17:46:41Z\",\"finishedAt\":\"2026-11-29T17:46:44Z\"}},\"ready\":false"
	 ",\"restartCount\":0,\"image\":\"train:2\",\"imageID\":\"\",\"started\":false}]"
	 "}}"},
	{"a Lease",
	 "6b3873000a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c656173651262"
	 "0a320a0367707512001a10666564657261746f722d73797374656d22002a00320f323831343734"
	 "39373637313036353738004200122c0a0e6d656d6265722d6167656e742d3010281a0b08a5ebdc"
	 "ca06108094ef3a22090886cab1d80610e80728001a002200",
	 "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\""
	 "name\":\"gpu\",\"namespace\":\"federator-system\",\"resourceVersion\":\"281474"
	 "976710657\"},\"spec\":{\"holderIdentity\":\"member-agent-0\",\"leaseDurationSe"
	 "conds\":40,\"acquireTime\":\"2026-01-02T03:04:05.123456Z\",\"renewTime\":\"202"
	 "6-11-29T17:46:46.000001Z\",\"leaseTransitions\":0}}"},
	{"a Lease that is given up, before 1970",
	 "6b3873000a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c65617365123c"
	 "0a230a0367707512001a10666564657261746f722d73797374656d22002a003200380042001215"
	 "0a00221108ffffffffffffffffff011080cab5ee011a002200",
	 "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\""
	 "name\":\"gpu\",\"namespace\":\"federator-system\"},\"spec\":{\"holderIdentity"
	 "\":\"\",\"renewTime\":\"1969-12-31T23:59:59.500000Z\"}}"},
	{"an Event of core",
	 "6b3873000a0b0a02763112054576656e7412a4010a160a04782e313712001a026d6c22002a0032"
	 "0038004200122c0a03506f6412026d6c1a01782201752a02763132003a15737065632e636f6e74"
	 "61696e6572737b6d61696e7d1a095363686564756c65642218706c61636564206f6e206c617267"
	 "652d3320e28093206f6b2a110a0c6d656d6265722d6167656e7412016832080886cab1d8061000"
	 "3a080887cab1d806100040024a064e6f726d616c5200620072007a001a002200",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"x.17\",\"na"
	 "mespace\":\"ml\"},\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"ml\",\""
	 "name\":\"x\",\"uid\":\"u\",\"apiVersion\":\"v1\",\"fieldPath\":\"spec.containe"
	 "rs{main}\"},\"reason\":\"Scheduled\",\"message\":\"placed on large-3 – ok\",\""
	 "source\":{\"component\":\"member-agent\",\"host\":\"h\"},\"firstTimestamp\":\""
	 "2026-11-29T17:46:46Z\",\"lastTimestamp\":\"2026-11-29T17:46:47Z\",\"count\":2,"
	 "\"type\":\"Normal\",\"reportingComponent\":\"\",\"reportingInstance\":\"\"}"},
	{"an Event of events.k8s.io",
	 "6b3873000a190a106576656e74732e6b38732e696f2f763112054576656e7412a8010a160a0479"
	 "2e313812001a026d6c22002a00320038004200120b0886cab1d8061080e59a771a0c0803120808"
	 "88cab1d80610002213666564657261746f722e6465762f6167656e742a03612d30320742696e64"
	 "696e673a075374617274656442140a034a6f6212026d6c1a017922002a0032003a004a140a044e"
	 "6f646512001a026e3122002a0032003a005207737461727465645a064e6f726d616c62040a0012"
	 "006a00720078001a002200",
	 "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"name\""
	 ":\"y.18\",\"namespace\":\"ml\"},\"eventTime\":\"2026-11-29T17:46:46.250000Z\","
	 "\"series\":{\"count\":3,\"lastObservedTime\":\"2026-11-29T17:46:48.000000Z\"},"
	 "\"reportingController\":\"federator.dev/agent\",\"reportingInstance\":\"a-0\","
	 "\"action\":\"Binding\",\"reason\":\"Started\",\"regarding\":{\"kind\":\"Job\","
	 "\"namespace\":\"ml\",\"name\":\"y\"},\"related\":{\"kind\":\"Node\",\"name\":"
	 "\"n1\"},\"note\":\"started\",\"type\":\"Normal\"}"},
	{"a Binding",
	 "6b3873000a0d0a027631120742696e64696e6712330a160a017012001a026d6c22002a03752d31"
	 "32003800420012190a044e6f646512001a076c617267652d3322002a0032003a001a002200",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\",\"nam"
	 "espace\":\"ml\",\"uid\":\"u-1\"},\"target\":{\"kind\":\"Node\",\"name\":\"larg"
	 "e-3\"}}"},
	{"DeleteOptions",
	 "6b3873000a130a027631120d44656c6574654f7074696f6e73121d080012080a03752d31120137"
	 "220a4261636b67726f756e642a03416c6c1a002200",
	 "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":0,\"p"
	 "reconditions\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\"},\"propagationPolicy"
	 "\":\"Background\",\"dryRun\":[\"All\"]}"},
	{"DeleteOptions without options",
	 "6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200",
	 "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}"},
	{"a Namespace with managedFields, which are dropped",
	 "6b3873000a0f0a02763112094e616d65737061636512770a580a036f6c6412001a0022002a0032"
	 "00380042004a080886cab1d806100050008a01360a076b75626563746c12065570646174651a02"
	 "763132084669656c647356313a130a117b22663a6d65746164617461223a7b7d7d4200120c0a0a"
	 "6b756265726e657465731a0d0a0b5465726d696e6174696e671a002200",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"old\","
	 "\"deletionTimestamp\":\"2026-11-29T17:46:46Z\",\"deletionGracePeriodSeconds\":"
	 "0},\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Terminat"
	 "ing\"}}"},
	{"a ConfigMap with a false that is written",
	 "6b3873000a0f0a0276311209436f6e6669674d617012200a120a016312001a016422002a003200"
	 "3800420012080a02c3bc1202c3b620001a002200",
	 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"n"
	 "amespace\":\"d\"},\"data\":{\"ü\":\"ö\"},\"immutable\":false}"},
};

#endif
