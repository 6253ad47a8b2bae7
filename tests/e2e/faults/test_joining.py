"""Clusters that were deleted, or are not accepted, and the agents of them."""
import os

import pytest
from harness import jobs, wait
from harness.federation import is_cluster_ready
from harness.lane import Lane
from harness.nodes import NodeShape

ACCEPT_IT = "waits: the hub has to accept it: fedctl cluster accept"


@pytest.fixture
def lane(run, name):
    made = Lane(run, f"join-{name}", NodeShape(1, cpu="2"))
    yield made.start()
    made.end()


class Joining:
    """The agent of a lane; its log, from begin() on."""

    def __init__(self, lane):
        self.lane, self.agent = lane, lane.agent.process
        self.path = f"{jobs.FEDERATOR}/clusters/{lane.member.name}"
        self.skipped = 0

    def begin(self):
        self.skipped = len(self.agent.text())

    def log(self):
        return self.agent.text()[self.skipped:]

    def wait_said(self, text, timeout=20.0):
        def said():
            self.agent.assert_alive()
            return text in self.log()
        wait.until(said, timeout, what=f"{self.agent.name} to say: {text}")

    def delete(self):
        self.lane.hub.must("DELETE", self.path)
        self.lane.hub.wait_for(self.path, lambda found: found is None)

    def leave(self, *files):
        """What the agent kept of its Cluster."""
        for name in files:
            os.remove(os.path.join(self.lane.agent.state, name))
        token = self.lane.hub.make_token(self.lane.member.name)
        self.lane.run.write(os.path.join(self.lane.agent.name, "token"), token + "\n")

    def assert_waits(self):
        """It goes on, says once what it waits for, and is not of the federation."""
        self.wait_said(ACCEPT_IT)
        wait.holds(self.agent.alive, 4, what="the agent to wait")
        assert self.log().count(ACCEPT_IT) == 1, self.log()
        assert "has accepted" not in self.log() and "speaks for" not in self.log(), self.log()

    def accept(self):
        self.lane.hub.merge(self.path, {"spec": {"accepted": True}})
        self.lane.hub.wait_for(self.path, is_cluster_ready, 30)
        name = f"ran-{self.skipped}"
        jobs.submit(self.lane.hub, jobs.job(name, jobs.task(run_seconds=0)))
        jobs.wait_phase(self.lane.hub, name, "Completed", 60)


def test_joins_after_its_cluster_was_deleted(lane):
    """a Cluster is deleted and its agent joins again, with the key and the request of before
    | it waits to be accepted, says so once, and then runs jobs"""
    joining = Joining(lane)
    joining.agent.end()
    joining.delete()
    joining.leave("cert.pem", "cluster-uid")
    joining.begin()
    joining.agent.start()
    lane.hub.wait_for(joining.path, bool, 20)
    joining.assert_waits()
    joining.accept()


def test_accepted_no_longer(lane):
    """a Cluster is accepted no longer when its agent starts | it waits, until it is accepted again"""
    joining = Joining(lane)
    joining.agent.end()
    lane.hub.merge(joining.path, {"spec": {"accepted": False}})
    joining.begin()
    joining.agent.start()
    joining.assert_waits()
    joining.accept()


def test_deleted_while_its_agent_runs(lane):
    """a Cluster is deleted while its agent runs, and then while it does not
    | the agent says so once and goes on; it ends when another has joined under the name"""
    gone = f"has no cluster {lane.member.name} any more: somebody deleted it"
    joining = Joining(lane)
    joining.begin()
    joining.delete()
    for what in ("running", "started again"):
        joining.wait_said(gone)
        wait.holds(joining.agent.alive, 12, what=f"the agent, {what}, to go on")
        assert joining.log().count(gone) == 1, joining.log()
        joining.agent.end()
        joining.begin()
        joining.agent.start()
    lane.hub.must("POST", f"{jobs.FEDERATOR}/clusters", {
        "apiVersion": "federator.dev/v1alpha1", "kind": "Cluster",
        "metadata": {"name": lane.member.name}, "spec": {"accepted": True}})
    assert joining.agent.wait_exit(20) == 1
    assert "has another uid here: it was joined anew" in joining.agent.tail(1)
