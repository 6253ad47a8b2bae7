"""A real member cluster on loopback: etcd, kube-apiserver, controller-manager, kwok as nodes."""
import json
import os

from . import paths, stages, wait
from .audit import AuditLog
from .certs import Authority
from .etcd import Etcd
from .nodes import is_ready
from .rest import ApiServer, write_kubeconfig

CONTROLLERS = (
    "garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
    "job-controller", "persistentvolume-binder-controller", "resourcequota-controller",
    "disruption-controller", "pod-garbage-collector-controller", "taint-eviction-controller",
    "resourceclaim-controller", "root-ca-certificate-publisher-controller",
    "persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller",
)

# With these, NoExecute taints evict. No heartbeat of kwok is so late that a node is given up.
EVICTING = ("node-lifecycle-controller",)
EVICTING_FLAGS = ("--node-monitor-grace-period", "24h")

LOG_OF_EVERY_CONTAINER = "2026-01-01T00:00:00.0Z stdout F hello from a simulated container\n"


class MemberCluster(ApiServer):
    """start() is ready in seconds; each process is a Process that tests may kill, stop, restart."""

    def __init__(self, run, name, apiserver_flags=(), evicts=False):
        self.folder = run.dir(name)
        super().__init__(run, name, os.path.join(self.folder, "admin.kubeconfig"))
        ports = run.ports()
        self.port, self._kwok_port = ports.take(), ports.take()
        self.url = f"https://127.0.0.1:{self.port}"
        self.etcd = Etcd(run, f"{name}-etcd", version="3.6", fsync=False)
        self.authority = Authority(run.dir(name, "pki"))
        self.audit = AuditLog(os.path.join(self.folder, "audit.log"))
        self.apiserver = run.process(f"{name}-apiserver", self._apiserver_argv(apiserver_flags))
        self.controller_manager = run.process(f"{name}-controllers", self._controllers_argv(evicts))
        self.kwok = run.process(f"{name}-kwok", self._kwok_argv())
        self._user_kubeconfig("admin")

    def _user_kubeconfig(self, user):
        cert, key = self.authority.issue_client(user, "system:masters")
        path = os.path.join(self.folder, user + ".kubeconfig")
        return write_kubeconfig(path, self.url, self.authority.cert, cert, key)

    def _apiserver_argv(self, more):
        cert, key = self.authority.issue_server("apiserver")
        token_key = self.authority.make_rsa_key("service-accounts.key")
        policy = os.path.join(paths.HERE, "audit-policy.yaml")
        return [
            paths.tool("kube-apiserver"), "--etcd-servers", self.etcd.url,
            "--secure-port", self.port, "--bind-address", "127.0.0.1",
            "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none",
            "--tls-cert-file", cert, "--tls-private-key-file", key,
            "--client-ca-file", self.authority.cert,
            "--service-account-issuer", "https://kubernetes.default.svc",
            "--service-account-key-file", token_key,
            "--service-account-signing-key-file", token_key,
            "--authorization-mode", "Node,RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
            "--kubelet-preferred-address-types", "InternalIP",
            "--shutdown-watch-termination-grace-period", "1s",
            "--disable-admission-plugins", "TaintNodesByCondition",
            "--audit-log-path", self.audit.path, "--audit-policy-file", policy, *more]

    def _controllers_argv(self, evicts):
        controllers = CONTROLLERS + EVICTING if evicts else CONTROLLERS
        return [
            paths.tool("kube-controller-manager"), "--secure-port", "0", "--leader-elect=false",
            "--kubeconfig", self._user_kubeconfig("kube-controller-manager"),
            "--service-account-private-key-file", self.authority.path("service-accounts.key"),
            "--root-ca-file", self.authority.cert,
            "--kube-api-qps", "2000", "--kube-api-burst", "4000",
            "--controllers", ",".join(controllers), *(EVICTING_FLAGS if evicts else ())]

    def _kwok_argv(self):
        cert, key = self.authority.issue_server("kwok")
        container_log = self.run.write(f"{self.name}/container.log", LOG_OF_EVERY_CONTAINER)
        config = self.run.write(f"{self.name}/kwok.yaml", stages.kwok_config(container_log))
        return [
            paths.tool("kwok"), "--kubeconfig", self._user_kubeconfig("kwok"), "--config", config,
            "--manage-all-nodes", "--cidr", "10.64.0.1/16",
            "--node-ip", "127.0.0.1", "--node-port", self._kwok_port,
            "--server-address", f"127.0.0.1:{self._kwok_port}",
            "--tls-cert-file", cert, "--tls-private-key-file", key]

    # life

    def processes(self):
        return [self.etcd.process, self.apiserver, self.controller_manager, self.kwok]

    def start(self):
        self.etcd.process.start()
        self.apiserver.start()
        self.wait_ready()
        self.controller_manager.start()
        self.kwok.start()
        self.wait_for("/api/v1/namespaces/default/serviceaccounts/default", bool, 20)
        return self

    def end(self):
        for process in reversed(self.processes()):
            process.end()

    def wait_ready(self, timeout=60.0):
        def ready():
            self.apiserver.assert_alive()
            return self.is_ready()
        wait.until(ready, timeout, what=f"kube-apiserver of {self.name} to be ready")

    # contents

    def add_nodes(self, shape, first=0, timeout=20.0):
        """Makes the nodes <cluster>-<first>... and waits until they are Ready; returns names."""
        names = [f"{self.name}-{first + i}" for i in range(shape.count)]
        for name in names:
            self.must("POST", "/api/v1/nodes", shape.node(name))

        def all_ready():
            ready = {n["metadata"]["name"] for n in self.items("/api/v1/nodes") if is_ready(n)}
            missing = set(names) - ready
            assert not missing, f"not Ready: {sorted(missing)}"
            return True
        wait.until(all_ready, timeout, what=f"{shape.count} nodes of {self.name} to be Ready")
        return names

    def pods(self, namespace=None, selector=""):
        where = f"namespaces/{namespace}/pods" if namespace else "pods"
        return self.items(f"/api/v1/{where}?labelSelector={selector}")

    def make_namespace(self, name):
        """Creates it and waits for the account that pods need."""
        self.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        self.wait_for(f"/api/v1/namespaces/{name}/serviceaccounts/default", bool)
        return name

    def service_account_kubeconfig(self, role_file, name="member-agent",
                                   namespace="federator-system"):
        """A kubeconfig with exactly the rights of a manifest's roles.

        The manifest is applied; every ClusterRole and Role in it is bound to the account.
        """
        self._make_account(namespace, name)
        for role in self._apply(role_file):
            if role["kind"] in ("ClusterRole", "Role"):
                self._bind(role, namespace, name)
        token = self.must(
            "POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
             "spec": {"expirationSeconds": 24 * 3600}})["status"]["token"]
        path = os.path.join(self.folder, f"{name}.kubeconfig")
        return write_kubeconfig(path, self.url, self.authority.cert, token=token)

    def _make_account(self, namespace, name):
        if self.get(f"/api/v1/namespaces/{namespace}") is None:
            self.make_namespace(namespace)
        if self.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}") is None:
            self.must("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts",
                      {"metadata": {"name": name}})

    def _apply(self, manifest):
        out = json.loads(self.kubectl(["apply", "-f", str(manifest), "-o", "json"]).stdout)
        return out["items"] if out["kind"] == "List" else [out]

    def _bind(self, role, namespace, account):
        name, kind = role["metadata"]["name"], role["kind"]
        where = "" if kind == "ClusterRole" else f"namespaces/{role['metadata']['namespace']}/"
        path = f"/apis/rbac.authorization.k8s.io/v1/{where}{kind.lower()}bindings"
        if self.get(f"{path}/test-{name}") is None:
            self.must("POST", path, {
                "metadata": {"name": f"test-{name}"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
                "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": account}]})
