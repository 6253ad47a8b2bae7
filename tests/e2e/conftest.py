"""Fixtures of all e2e suites: one run, one etcd and hub, two real clusters, one sandbox."""
import itertools

import pytest

from harness import nodes
from harness.cluster import MemberCluster
from harness.etcd import Etcd
from harness.federation import Agent, Hub, Sandbox
from harness.paths import ROOT
from harness.run import Run
from harness.table import row_of, write_table

RUN = pytest.StashKey[Run]()


def pytest_addoption(parser):
    parser.addoption("--etcd", choices=["3.4", "3.6"], default="3.4", help="etcd below the hub")
    parser.addoption("--share", default="run", help="name of the folder for logs that are kept")


@pytest.fixture(scope="session")
def run(request):
    made = Run(request.config.getoption("--share"))
    request.config.stash[RUN] = made
    yield made
    made.close(keep_logs=request.session.testsfailed > 0)


@pytest.fixture(scope="session")
def etcd(run, request):
    return Etcd(run, "etcd", request.config.getoption("--etcd")).start()


@pytest.fixture(scope="session")
def hub(run, etcd):
    return Hub(run, etcd=etcd).start()


def real_cluster(run, name, shape):
    cluster = MemberCluster(run, name).start()
    cluster.add_nodes(shape)
    cluster.kubectl(["apply", "-f", str(ROOT / "api" / "crds" / "federator.dev_placements.yaml")])
    return cluster


@pytest.fixture(scope="session")
def gpu(run):
    return real_cluster(run, "gpu", nodes.GPU)


@pytest.fixture(scope="session")
def large(run):
    return real_cluster(run, "large", nodes.LARGE)


@pytest.fixture(scope="session")
def arm(run):
    return Sandbox(run, "arm", nodes.ARM).start()


@pytest.fixture(scope="session")
def role():
    return ROOT / "member-agent" / "deploy" / "role.yaml"


@pytest.fixture(scope="session")
def agents(run, hub, gpu, large, arm, role):
    """{cluster: Agent}, joined; on the real clusters with no more rights than the role. The agent
    of large keeps its identity where one in a pod does: in a Secret."""
    made = {cluster.name: Agent(run, hub, cluster.name, cluster.service_account_kubeconfig(role),
                                keeps_state=cluster is gpu)
            for cluster in (gpu, large)}
    made[arm.name] = Agent(run, hub, arm.name, arm.kubeconfig)
    for agent in made.values():
        agent.join()
    return made


_serial = itertools.count(1)


@pytest.fixture
def name():
    """A name that no other test of this run uses, for a namespace or an object."""
    return f"t{next(_serial)}"


# A test fails when a process died by itself or a sanitizer spoke while it ran, and a test that
# fails shows what the processes said meanwhile.

def pytest_runtest_setup(item):
    made = item.config.stash.get(RUN, None)
    if made:
        made.mark_logs()


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item):
    made = item.config.stash.get(RUN, None)
    if made:
        made.check()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if call.when == "call" or report.failed:
        report.row = row_of(item)
    made = item.config.stash.get(RUN, None)
    if report.failed and made:
        for process, text in made.new_logs():
            report.sections.append((f"log of {process}", text))


def pytest_terminal_summary(terminalreporter):
    write_table(terminalreporter)
