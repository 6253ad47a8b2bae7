"""Keys and certificates, made by the openssl program."""
import os
import subprocess

from . import paths


def openssl(*args):
    result = subprocess.run([paths.system_tool("openssl"), *args], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"openssl {args[0]}: {result.stderr.strip()}")


class Authority:
    """A certificate authority in a folder of its own: ca.crt, ca.key and what it issues."""

    def __init__(self, folder):
        self.folder = folder
        self.cert, self._key = self.path("ca.crt"), self.path("ca.key")
        self._request("ca", "/CN=test ca",
                      "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")

    def path(self, name):
        return os.path.join(self.folder, name)

    def _request(self, name, subject, *extensions, signer=()):
        added = [word for e in extensions for word in ("-addext", e)]
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "30", "-subj", subject, "-keyout", self.path(name + ".key"),
                "-out", self.path(name + ".crt"), *signer, *added)

    def _issue(self, name, subject, *extensions):
        self._request(name, subject, "basicConstraints=critical,CA:FALSE", *extensions,
                      signer=("-CA", self.cert, "-CAkey", self._key))
        return self.path(name + ".crt"), self.path(name + ".key")

    def issue_server(self, name="server"):
        """(certificate, key) for a server on 127.0.0.1."""
        return self._issue(name, f"/CN={name}", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                           "extendedKeyUsage=serverAuth")

    def issue_client(self, user, *groups):
        """(certificate, key) for a user in groups."""
        organizations = "".join(f"/O={group}" for group in groups)
        return self._issue("client-" + user.replace(":", "-"), f"{organizations}/CN={user}",
                           "extendedKeyUsage=clientAuth")

    def make_rsa_key(self, name):
        """An RSA key, which is what signs service-account tokens."""
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048",
                "-out", self.path(name))
        return self.path(name)
