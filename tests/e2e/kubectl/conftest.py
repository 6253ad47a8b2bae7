"""Servers of this suite and kubectl on them: every test runs once per server and version."""
import itertools
import json
import os
import shutil
import subprocess

import pytest
from harness import certs, nodes, paths
from harness.federation import Hub, Sandbox
from harness.rest import ApiServer, write_kubeconfig
from kubectl import samples


@pytest.fixture(scope="session")
def memory_hub(run):
    return Hub(run, "memory-hub").start()


@pytest.fixture(scope="session")
def sandbox(run):
    return Sandbox(run, "box", nodes.NodeShape(1)).start()


SERVERS = {"memory": "memory_hub", "etcd": "hub", "sandbox": "sandbox"}
STORES = ("memory", "etcd")
VERSIONS = ("1.36", "1.32")


def pytest_configure(config):
    config.addinivalue_line("markers", "on(server...): servers of a test; else the hub, on each "
                                       "of its stores")
    config.addinivalue_line("markers", "samples(sample...): kinds of a test; else all of them")


def pytest_generate_tests(metafunc):
    """A test runs on each of its servers with each version; for each sample, where it has one.

    Samples of the hub meet each store with a version of its own: what differs by kind does not
    differ by store. Those of a sandbox meet both versions.
    """
    names = metafunc.fixturenames
    marker = metafunc.definition.get_closest_marker("on")
    if "sample" in names:
        wanted = metafunc.definition.get_closest_marker("samples")
        made = [(sample, *pair) for sample in samples.HUB for pair in zip(STORES, VERSIONS)]
        made += [(sample, "sandbox", version) for sample in samples.SANDBOX
                 for version in VERSIONS]
        made = [(sample, *rest) for sample, *rest in made
                if wanted is None or sample in wanted.args]
        metafunc.parametrize("sample, server_name, version", made,
                             ids=["-".join(map(str, combination)) for combination in made])
        return
    if "server_name" in names:
        metafunc.parametrize("server_name", marker.args if marker else STORES)
    if "version" in names:
        metafunc.parametrize("version", VERSIONS)


@pytest.fixture
def server(request, server_name):
    return request.getfixturevalue(SERVERS[server_name])


class Kubectl:
    """kubectl of one version on one server; -n is added where it makes sense to."""

    _serial = itertools.count(1)  # of those that run beside a test

    def __init__(self, server, version, ns):
        self.server, self.version, self.ns = server, version, ns

    def argv(self, *args):
        return [paths.tool("kubectl-" + self.version), "--kubeconfig", self.server.kubeconfig,
                "-n", self.ns, *args]

    def run(self, *args, stdin=None, env=None, timeout=60):
        """CompletedProcess, whatever came of it. stdin: text, or objects that become a List."""
        if stdin is not None and not isinstance(stdin, str):
            stdin = yaml_of(stdin)
        return subprocess.run(self.argv(*args), input=stdin, capture_output=True, text=True,
                              timeout=timeout,
                              env={**self.server.kubectl_env(self.version), **(env or {})})

    def __call__(self, *args, **options):
        """What it printed; a failure fails the test."""
        done = self.run(*args, **options)
        assert done.returncode == 0, \
            f"kubectl {' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def fails(self, *args, code=1, **options):
        """What it said on standard error, with that exit code."""
        done = self.run(*args, **options)
        assert done.returncode == code, \
            f"kubectl {' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stderr

    def start(self, *args):
        """One that runs beside the test: a Process whose log is what it prints."""
        name = f"kubectl-{next(Kubectl._serial)}"
        env = self.server.kubectl_env(self.version)
        return self.server.run.process(name, self.argv(*args), env=env).start()


def yaml_of(objects):
    """A list of objects as kubectl reads it, one document each. JSON is YAML."""
    return "".join(f"---\n{json.dumps(o)}\n" for o in objects)


@pytest.fixture
def ns(request, server, name):
    """A namespace of the test's own, where its kind has one."""
    if "sample" in request.fixturenames and not request.getfixturevalue("sample").namespaced:
        yield "default"
        return
    made = f"{name}-ns"
    server.must("POST", "/api/v1/namespaces", {"metadata": {"name": made}})
    yield made
    server.api("DELETE", f"/api/v1/namespaces/{made}")


@pytest.fixture
def kubectl(server, version, ns):
    return Kubectl(server, version, ns)


@pytest.fixture
def beside(run):
    """Ends the processes that a test has started beside itself."""
    started = []

    def keep(process):
        started.append(process)
        return process
    yield keep
    for process in started:
        run.forget(process)


@pytest.fixture
def file(run, name):
    """Writes objects into a file of the test's own: file(object, ...) is its path."""
    def write(*objects):
        return run.write(f"{name}.yaml", yaml_of(objects))
    return write


@pytest.fixture(scope="session")
def client(run):
    """client(server, user, *groups): the server through a certificate that its own CA signed."""
    def make(server, user, *groups):
        folder = run.dir(f"pki-{server.name}")
        authority = certs.Authority(folder)
        for ending in ("crt", "key"):
            shutil.copy(os.path.join(server.state, "pki", f"ca.{ending}"), folder)
        cert, key = authority.issue_client(user, *groups)
        config = os.path.join(folder, user.replace(":", "-") + ".kubeconfig")
        write_kubeconfig(config, server.url, authority.cert, cert, key)
        return ApiServer(run, server.name, config)
    return make
