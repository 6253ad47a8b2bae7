"""The federation of this suite: hub, agents, and their clusters by name."""
import collections

import pytest
from harness import jobs

Federation = collections.namedtuple("Federation", "hub agents members")


@pytest.fixture(scope="session")
def federation(hub, agents, gpu, large, arm):
    """Joined and empty; each Cluster carries the label name=<its name> for selectors."""
    for name in agents:
        hub.merge(f"{jobs.FEDERATOR}/clusters/{name}", {"metadata": {"labels": {"name": name}}})
    return Federation(hub, agents, {"gpu": gpu, "large": large, "arm": arm})


@pytest.fixture
def fed(federation):
    """The federation, with what the last test has left removed."""
    yield federation
    for found in federation.hub.items(f"{jobs.JOBS}/jobs"):
        meta = found["metadata"]
        federation.hub.api("DELETE", jobs.path(meta["name"], meta["namespace"]))
    for found in federation.hub.items(f"{jobs.JOBS}/jobs"):
        meta = found["metadata"]
        jobs.delete(federation.hub, meta["name"], meta["namespace"])
