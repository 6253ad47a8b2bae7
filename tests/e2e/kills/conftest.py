"""Lanes for runs that are disturbed at one write each."""
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.nodes import NodeShape
from harness.sweep import SweepLane

LANES = 5
KEEP = ("--keep-pods", "1s")


@pytest.fixture(scope="session")
def lanes(run):
    """Federations with a sandbox each."""
    made = [SweepLane(run, f"lane{i}", NodeShape(1, cpu="2"), more=KEEP) for i in range(LANES)]
    with ThreadPoolExecutor(LANES) as pool:
        return list(pool.map(lambda lane: lane.start(), made))


@pytest.fixture(scope="session")
def writes():
    """How many writes a process made in its run, as sweeps found it: {program: n}."""
    return {"agent": 20, "federator": 16}
