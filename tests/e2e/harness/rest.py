"""Raw HTTPS to any server that speaks the Kubernetes REST conventions, and kubectl beside it."""
import base64
import http.client
import json
import os
import socket
import ssl
import subprocess
import threading
import urllib.parse

import yaml

from . import paths, wait


class Answer:
    """Status, headers and body of one response, read to its end."""

    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode(errors="replace")

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.text[:400]}>"


def write_kubeconfig(path, url, ca, cert=None, key=None, token=None):
    """A kubeconfig with everything inside it; cert, key and ca are paths."""
    def inline(name):
        with open(name, "rb") as source:
            return base64.b64encode(source.read()).decode()
    user = {"token": token} if token else {
        "client-certificate-data": inline(cert), "client-key-data": inline(key)}
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {
            "server": url, "certificate-authority-data": inline(ca)}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(config, out)
    return path


class Credentials:
    """What the current context of a kubeconfig says."""

    def __init__(self, kubeconfig):
        folder = os.path.dirname(kubeconfig)
        with open(kubeconfig) as source:
            config = yaml.safe_load(source)
        context = self._named(config, "contexts", config["current-context"])["context"]
        cluster = self._named(config, "clusters", context["cluster"])["cluster"]
        user = self._named(config, "users", context["user"])["user"]
        self.url = cluster["server"]
        self.token = user.get("token")
        self.tls = ssl.create_default_context(
            cadata=self._pem(cluster, "certificate-authority", folder))
        self.tls.check_hostname = True
        cert = self._pem(user, "client-certificate", folder)
        if cert:
            self._load_chain(cert, self._pem(user, "client-key", folder), folder)

    @staticmethod
    def _named(config, kind, name):
        return next(entry for entry in config[kind] if entry["name"] == name)

    @staticmethod
    def _pem(entry, name, folder):
        if name + "-data" in entry:
            return base64.b64decode(entry[name + "-data"]).decode()
        if name in entry:
            with open(os.path.join(folder, entry[name])) as source:
                return source.read()
        return None

    def _load_chain(self, cert, key, folder):
        path = os.path.join(folder, f".chain-{os.getpid()}-{threading.get_ident()}.pem")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            out.write(cert + "\n" + key)
        try:
            self.tls.load_cert_chain(path)
        finally:
            os.unlink(path)


class ApiServer:
    """A server reached by a kubeconfig: a member cluster, the hub, a sandbox."""

    def __init__(self, run, name, kubeconfig):
        self.run, self.name, self.kubeconfig = run, name, kubeconfig
        self._credentials = None

    @property
    def credentials(self):
        if self._credentials is None:
            self._credentials = Credentials(self.kubeconfig)
        return self._credentials

    def as_user(self, kubeconfig):
        """The same server through other credentials."""
        return ApiServer(self.run, self.name, kubeconfig)

    def open(self, method, path, body=None, headers=None, timeout=10.0):
        """Sends one request on a connection of its own; returns (connection, response)."""
        url = urllib.parse.urlsplit(self.credentials.url)
        connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=timeout,
                                                 context=self.credentials.tls)
        sent = {"Accept": "application/json"}
        if self.credentials.token:
            sent["Authorization"] = "Bearer " + self.credentials.token
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        connection.request(method, path, body=body, headers=sent)
        connection.socket = connection.sock
        return connection, connection.getresponse()

    def api(self, method, path, body=None, headers=None, timeout=10.0):
        """One request, one Answer. A dict as body is sent as JSON. Nothing is ever retried."""
        connection, response = self.open(method, path, body, headers, timeout)
        try:
            return Answer(response)
        finally:
            connection.close()

    def must(self, method, path, body=None, headers=None, timeout=10.0):
        """api() that fails the test on any status from 300 on; returns the decoded body."""
        answer = self.api(method, path, body, headers, timeout)
        assert answer.status < 300, f"{self.name}: {method} {path}: {answer!r}"
        return answer.json()

    def get(self, path):
        """The object, or None when it is not there."""
        answer = self.api("GET", path)
        assert answer.status in (200, 404), f"{self.name}: GET {path}: {answer!r}"
        return answer.json() if answer.status == 200 else None

    def items(self, path):
        return self.must("GET", path)["items"]

    def merge(self, path, patch):
        return self.must("PATCH", path, json.dumps(patch),
                         {"Content-Type": "application/merge-patch+json"})

    def is_ready(self):
        try:
            return self.api("GET", "/readyz", timeout=2).status == 200
        except (OSError, http.client.HTTPException):
            return False

    def wait_for(self, path, check, timeout=10.0, what=None):
        """Polls an object until check(object) is true (object is None when absent)."""
        seen = {}

        def look():
            seen["object"] = self.get(path)
            assert check(seen["object"]), json.dumps(seen["object"])
            return True
        wait.until(look, timeout, what=what or f"{path} on {self.name}")
        return seen["object"]

    def watch(self, path, **parameters):
        return Watch(self, path, parameters)

    def kubectl_env(self, version):
        """A cache of its own for each version. It lives too short to collect its garbage, which took
        half of its time."""
        return dict(self.run.env, HOME=self.run.dir("home", self.name, version), GOGC="off",
                    GOMEMLIMIT="512MiB")

    def kubectl(self, args, version="1.36", stdin=None, check=True, timeout=60.0):
        """Runs kubectl; returns the CompletedProcess. With check, a failure fails the test."""
        argv = [paths.tool("kubectl-" + version), "--kubeconfig", self.kubeconfig, *args]
        result = subprocess.run(argv, input=stdin, env=self.kubectl_env(version),
                                capture_output=True, text=True, timeout=timeout)
        if check:
            assert result.returncode == 0, \
                f"kubectl {' '.join(args)}: exit {result.returncode}\n{result.stderr}"
        return result


class Watch:
    """A watch read by a thread of its own, into events: [(type, object), ...] in order."""

    def __init__(self, server, path, parameters):
        query = urllib.parse.urlencode({"watch": "1", **parameters})
        self._connection, self._response = server.open("GET", f"{path}?{query}", timeout=600)
        assert self._response.status == 200, repr(Answer(self._response))
        self.what = f"watch of {path} on {server.name}"
        self.events, self.ended, self.error = [], False, None
        self._grew = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for line in self._response:
                event = json.loads(line)
                with self._grew:
                    self.events.append((event["type"], event["object"]))
                    self._grew.notify_all()
        except (OSError, ValueError, http.client.HTTPException, AttributeError) as error:
            self.error = error
        with self._grew:
            self.ended = True
            self._grew.notify_all()

    def wait_for(self, check, timeout=10.0):
        """The first (type, object), old or new, for which check(type, object) is true."""
        seen = 0

        def found():
            nonlocal seen
            while seen < len(self.events):
                seen += 1
                if check(*self.events[seen - 1]):
                    return True
            return False
        with self._grew:
            if not self._grew.wait_for(found, timeout):
                raise wait.TimedOut(f"{self.what}: waited {timeout} s, {seen} events seen")
            return self.events[seen - 1]

    def close(self):
        try:
            self._connection.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
