"""One etcd on loopback: Debian's 3.4, or the pinned 3.6."""
import http.client
import json

from . import paths, wait


class Etcd:
    """data: its folder, where that shall not lie in memory with all else of the run."""

    def __init__(self, run, name, version="3.4", fsync=True, data=None):
        ports = run.ports()
        client, peer = ports.take(), ports.take()
        self.name, self.version, self.port = name, version, client
        self.url = f"http://127.0.0.1:{client}"
        self.data = data or run.dir(name)
        peer_url = f"http://127.0.0.1:{peer}"
        argv = [self._program(), "--name", "m0", "--data-dir", self.data, "--logger", "zap",
                "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
                "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                "--initial-cluster", f"m0={peer_url}"]
        if not fsync:
            assert version != "3.4", "etcd 3.4 cannot leave fsync out"
            argv.append("--unsafe-no-fsync")
        self.process = run.process(name, argv)

    def _program(self):
        return paths.system_tool("etcd") if self.version == "3.4" \
            else paths.tool("etcd-" + self.version)

    def start(self):
        self.process.start()
        self.wait_ready()
        return self

    def request(self, method, path, body=None, timeout=5.0):
        """(status, decoded body) of one request to the JSON gateway or the health page."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body and json.dumps(body))
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")
        finally:
            connection.close()

    def is_ready(self):
        self.process.assert_alive()
        try:
            status, health = self.request("GET", "/health", timeout=2)
            return status == 200 and health.get("health") == "true"
        except (OSError, ValueError, http.client.HTTPException):
            return False

    def wait_ready(self, timeout=20.0):
        wait.until(self.is_ready, timeout, what=f"{self.name} to be healthy")
