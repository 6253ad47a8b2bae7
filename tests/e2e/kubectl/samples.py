"""One small object of each kind, what `kubectl get` prints of it, and what may be changed in it."""
import copy
import dataclasses
import functools
import subprocess

from harness import paths


@dataclasses.dataclass
class Sample:
    """plural.group is how kubectl names the kind; columns and wide are headers as printed."""
    plural: str
    kind: str
    api_version: str
    body: dict
    columns: str
    wide: str = ""
    short: str = ""
    core: bool = False
    namespaced: bool = True
    change: dict = None  # a merge patch that puts a 7 somewhere; None: only metadata may change
    explain: str = "metadata.name"

    @property
    def group(self):
        return self.api_version.rpartition("/")[0]

    @property
    def resource(self):
        return self.plural + ("." + self.group if self.group else "")

    @property
    def words(self):
        """All that a person may type for it."""
        return [self.plural, self.kind.lower(), self.resource, *self.short.split()]

    def path(self, ns, name=None):
        """The REST path of the collection, or of one object."""
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        where = f"/namespaces/{ns}" if self.namespaced else ""
        return f"{root}{where}/{self.plural}" + (f"/{name}" if name else "")

    def manifest(self, name, ns="default", **meta):
        meta = {"name": name, **({"namespace": ns} if self.namespaced else {}), **meta}
        made = {"apiVersion": self.api_version, "kind": self.kind, "metadata": meta,
                **copy.deepcopy(self.body)}
        if self.kind == "Event":
            made["regarding" if self.group else "involvedObject"]["namespace"] = ns
        if self.kind == "CertificateSigningRequest":
            made["spec"]["request"] = certificate_request()
        return made

    def __repr__(self):
        return self.resource


@functools.lru_cache(maxsize=None)
def certificate_request():
    """A PEM request in base64."""
    made = subprocess.run(
        [paths.system_tool("openssl"), "req", "-new", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=somebody", "-keyout",
         "/dev/null"], check=True, capture_output=True).stdout
    return subprocess.run(["base64", "-w0"], input=made, check=True,
                          capture_output=True).stdout.decode()


POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "image"}]}
# Every field is written out, so that applying the file again changes nothing.
TASK = {"name": "w", "replicas": 1, "maxRetry": 3, "template": {"spec": POD}}

JOB = Sample(
    "jobs", "Job", "batch.volcano.sh/v1alpha1", {"spec": {"tasks": [TASK]}},
    "NAME STATUS MINAVAILABLE RUNNING CLUSTER AGE", "QUEUE", "vcjob vj",
    change={"spec": {"maxRetry": 7}}, explain="spec.placement.alternatives")
QUEUE = Sample(
    "queues", "Queue", "scheduling.volcano.sh/v1beta1", {"spec": {"capability": {"cpu": "2"}}},
    "NAME STATE RUNNING WAITING AGE", short="q", namespaced=False,
    change={"spec": {"capability": {"cpu": "7"}}}, explain="spec.capability")
CLUSTER = Sample(
    "clusters", "Cluster", "federator.dev/v1alpha1", {"spec": {"accepted": False}},
    "NAME ACCEPTED READY TAINTS NODES VERSION AGE", short="cl", namespaced=False,
    change={"spec": {"taints": [{"key": "a", "value": "7", "effect": "NoSchedule"}]}},
    explain="spec.taints")
DATASET = Sample(
    "datasets", "DataSet", "federator.dev/v1alpha1", {"spec": {"size": "1Gi", "version": "1"}},
    "NAME SIZE VERSION AGE", short="ds", namespaced=False,
    change={"spec": {"size": "7Gi"}}, explain="replicas")
PLACEMENT = Sample(
    "placements", "Placement", "federator.dev/v1alpha1",
    {"spec": {"job": {"namespace": "default", "name": "j", "uid": "u"}, "generation": 1}},
    "NAME JOB GENERATION DESIRED STATE REASON AGE", "NODES", "pl",
    change={"spec": {"generation": 7}}, explain="status.nearestMiss")
NAMESPACE = Sample(
    "namespaces", "Namespace", "v1", {}, "NAME STATUS AGE", short="ns", core=True,
    namespaced=False, explain="status.phase")
CONFIGMAP = Sample(
    "configmaps", "ConfigMap", "v1", {"data": {"a": "1"}}, "NAME DATA AGE", short="cm",
    core=True, change={"data": {"a": "7"}}, explain="data")
SECRET = Sample(
    "secrets", "Secret", "v1", {"type": "Opaque", "data": {"a": "MQ=="}},
    "NAME TYPE DATA AGE", core=True, change={"data": {"a": "Nw=="}}, explain="stringData")
EVENT = Sample(
    "events", "Event", "v1",
    {"involvedObject": {"kind": "Job", "name": "j", "apiVersion": "batch.volcano.sh/v1alpha1"},
     "type": "Normal", "reason": "Tried", "message": "it was tried", "count": 1,
     "lastTimestamp": "2026-01-01T00:00:00Z"},
    "LAST SEEN TYPE REASON OBJECT MESSAGE", "NAME", "ev", core=True,
    change={"count": 7}, explain="involvedObject.name")
EVENT_V1 = Sample(
    "events", "Event", "events.k8s.io/v1",
    {"regarding": {"kind": "Job", "name": "j", "apiVersion": "batch.volcano.sh/v1alpha1"},
     "type": "Normal", "reason": "Tried", "note": "it was tried", "action": "Try",
     "reportingController": "test", "reportingInstance": "test-0",
     "eventTime": "2026-01-01T00:00:00.000000Z"},
    "LAST SEEN TYPE REASON OBJECT MESSAGE", "NAME", core=True, explain="regarding.name")
LEASE = Sample(
    "leases", "Lease", "coordination.k8s.io/v1",
    {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}}, "NAME HOLDER AGE", core=True,
    change={"spec": {"leaseDurationSeconds": 7}}, explain="spec.renewTime")
PRIORITYCLASS = Sample(
    "priorityclasses", "PriorityClass", "scheduling.k8s.io/v1",
    {"value": 10, "description": "a"},
    "NAME VALUE GLOBAL-DEFAULT AGE PREEMPTIONPOLICY", short="pc", core=True, namespaced=False,
    change={"description": "7"}, explain="value")
CSR = Sample(
    "certificatesigningrequests", "CertificateSigningRequest", "certificates.k8s.io/v1",
    {"spec": {"signerName": "example.com/signer", "usages": ["client auth"]}},
    "NAME AGE SIGNERNAME REQUESTOR REQUESTEDDURATION CONDITION", short="csr", core=True,
    namespaced=False, explain="spec.request")
POD_SAMPLE = Sample(
    "pods", "Pod", "v1", {"spec": POD}, "NAME READY STATUS RESTARTS AGE",
    "IP NODE", "po", core=True, explain="spec.nodeName")
NODE = Sample(
    "nodes", "Node", "v1", {"spec": {"unschedulable": True}}, "NAME STATUS ROLES AGE VERSION",
    "INTERNAL-IP EXTERNAL-IP OS-IMAGE KERNEL-VERSION CONTAINER-RUNTIME", "no", core=True,
    namespaced=False, change={"spec": {"podCIDR": "10.0.7.0/24"}}, explain="status.allocatable")
SERVICE = Sample(
    "services", "Service", "v1", {"spec": {"clusterIP": "None", "selector": {"a": "b"}}},
    "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE", "SELECTOR", "svc", core=True,
    change={"spec": {"selector": {"a": "7"}}}, explain="spec.clusterIP")

# What a person may create, by server.
HUB = [NAMESPACE, CONFIGMAP, SECRET, EVENT, EVENT_V1, LEASE, PRIORITYCLASS, CSR, JOB, QUEUE,
       CLUSTER, DATASET]
SANDBOX = [POD_SAMPLE, NODE, SERVICE, PLACEMENT]

# One of each sort, for what does not differ by kind: core and not, in a namespace and not.
EACH_SORT = [CONFIGMAP, NAMESPACE, JOB, QUEUE]
