"""The programs of this project as processes: hub, sandbox, agent, command line."""
import hashlib
import os
import secrets
import ssl
import subprocess

from . import argv, wait
from .rest import ApiServer


class Program(ApiServer):
    """One of our servers: it writes an admin kubeconfig into its state folder when it starts."""

    def __init__(self, run, name, make_argv, env=None):
        self.state = run.dir(name)
        super().__init__(run, name, argv.admin_kubeconfig(self.state))
        self.port = run.ports().take()
        self.url = f"https://127.0.0.1:{self.port}"
        self.process = run.process(name, make_argv(self.state, self.port), env=env, sanitized=True)

    def start(self, timeout=30.0):
        self.process.start()
        self.wait_ready(timeout)
        return self

    def wait_ready(self, timeout=30.0):
        def ready():
            self.process.assert_alive()
            return os.path.exists(self.kubeconfig) and self.is_ready()
        wait.until(ready, timeout, what=f"{self.name} to be ready")


class Hub(Program):
    """federator on an Etcd, or on its memory store."""

    def __init__(self, run, name="hub", etcd=None, env=None):
        super().__init__(run, name, lambda state, port: argv.federator(
            state, port, etcd.url if etcd else None), env)

    def authority_hash(self):
        with open(argv.authority_cert(self.state)) as source:
            der = ssl.PEM_cert_to_DER_cert(source.read())
        return "sha256:" + hashlib.sha256(der).hexdigest()

    def make_token(self, cluster):
        """A bootstrap token with which an agent may join as that cluster."""
        number, secret = secrets.token_hex(3), secrets.token_hex(8)
        self.must("POST", "/api/v1/namespaces/federator-system/secrets", {
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": f"bootstrap-token-{number}", "namespace": "federator-system"},
            "stringData": {"token-secret": secret, "cluster": cluster,
                           "expiration": "2099-01-01T00:00:00Z"}})
        return f"{number}.{secret}"

    def fedctl(self, args, stdin=None, check=True, timeout=60.0):
        """Runs fedctl as an administrator; returns the CompletedProcess."""
        result = subprocess.run(argv.fedctl(self.kubeconfig, args), input=stdin, env=self.run.env,
                                capture_output=True, text=True, timeout=timeout)
        if check:
            assert result.returncode == 0, \
                f"fedctl {' '.join(args)}: exit {result.returncode}\n{result.stderr}"
        return result


class Sandbox(Program):
    def __init__(self, run, name, shape, env=None):
        shape_file = run.write(f"{name}.shape", argv.sandbox_shape(name, shape))
        super().__init__(run, name, lambda state, port: argv.sandbox(state, port, shape_file), env)


class Agent:
    """The member-agent of one cluster. join() starts it the first time."""

    def __init__(self, run, hub, cluster, kubeconfig, env=None, more=(), keeps_state=True):
        self.run, self.hub, self.cluster = run, hub, cluster
        self.name = f"{cluster}-agent"
        self.state = run.dir(self.name)
        self._token_file = os.path.join(self.state, "token")
        self.process = run.process(self.name, argv.member_agent(
            cluster, self.state if keeps_state else None, kubeconfig, hub.url, self._token_file,
            hub.authority_hash(), more), env=env, sanitized=True)

    def join(self, timeout=30.0):
        """Token, start, acceptance; returns when the hub calls the cluster Ready."""
        self.run.write(os.path.join(self.name, "token"),
                       self.hub.make_token(self.cluster) + "\n")
        self.process.start()
        path = f"/apis/federator.dev/v1alpha1/clusters/{self.cluster}"
        self.hub.wait_for(path, bool, timeout)
        self.hub.merge(path, {"spec": {"accepted": True}})
        self.hub.wait_for(path, is_cluster_ready, timeout)
        return self


def is_cluster_ready(cluster):
    conditions = (cluster or {}).get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
