"""Lanes for runs that are disturbed at one write each."""
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.cluster import MemberCluster
from harness.nodes import NodeShape
from harness.paths import PLACEMENT_CRD
from harness.sweep import SweepLane

LANES = 6
KEEP = ("--keep-pods", "1s")


@pytest.fixture(scope="session")
def lanes(run):
    """Federations with a sandbox each."""
    made = [SweepLane(run, f"lane{i}", NodeShape(1, cpu="2"), more=KEEP) for i in range(LANES)]
    with ThreadPoolExecutor(LANES) as pool:
        return list(pool.map(lambda lane: lane.start(), made))


@pytest.fixture(scope="session")
def real_lane(run, role):
    """A federation with a real cluster."""
    member = MemberCluster(run, "real").start()
    member.kubectl(["apply", "-f", str(PLACEMENT_CRD)])
    member.controller_manager.restart()  # else its collector learns of the kind half a minute later
    member.add_nodes(NodeShape(1, cpu="2"))
    return SweepLane(run, "lane-real", member=member, more=KEEP,
                     kubeconfig=member.service_account_kubeconfig(role)).start()


@pytest.fixture(scope="session")
def writes():
    """How many writes a process made in its run, as sweeps found it: {program: n}."""
    return {"agent": 20, "federator": 16}
