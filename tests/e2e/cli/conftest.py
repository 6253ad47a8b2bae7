"""A hub of this suite: commands of people against a federator that no cluster has joined."""
import pytest
from harness.federation import Hub


@pytest.fixture(scope="session")
def memory_hub(run):
    return Hub(run, "memory-hub").start()
