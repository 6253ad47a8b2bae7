"""One hub over two members of one shape: a real cluster and a sandbox."""
import collections

import pytest
from harness import jobs, nodes
from harness.cluster import MemberCluster
from harness.federation import Agent, Hub, Sandbox
from harness.paths import ROOT

Pair = collections.namedtuple("Pair", "hub members")
SHAPE = nodes.NodeShape(3, cpu="4", memory="16Gi", extended={"nvidia.com/gpu": "2"})


@pytest.fixture(scope="session")
def pair(run, etcd, role):
    hub = Hub(run, "parity-hub", etcd=etcd).start()
    real = MemberCluster(run, "real").start()
    real.add_nodes(SHAPE)
    real.kubectl(["apply", "-f", str(ROOT / "api" / "crds" / "federator.dev_placements.yaml")])
    sandbox = Sandbox(run, "sandbox", SHAPE).start()
    Agent(run, hub, "real", real.service_account_kubeconfig(role)).join()
    Agent(run, hub, "sandbox", sandbox.kubeconfig).join()
    for name in ("real", "sandbox"):
        hub.merge(f"{jobs.FEDERATOR}/clusters/{name}", {"metadata": {"labels": {"name": name}}})
    return Pair(hub, {"real": real, "sandbox": sandbox})
