"""A hub on the newer etcd, and one sandbox."""
import pytest
from harness.etcd import Etcd
from harness.federation import Agent


@pytest.fixture(scope="session")
def etcd(run):
    return Etcd(run, "etcd", "3.6").start()


@pytest.fixture(scope="session")
def fed(run, hub, arm):
    """The hub, which runs jobs in the sandbox."""
    Agent(run, hub, arm.name, arm.kubeconfig).join()
    return hub
