"""The agent and the federator, ended before and after each of their writes."""
import collections
import itertools

import pytest
from harness.sweep import Sweep

FAULTS = ["exit-before", "exit-after", "lose-answer"]


def sweep(lanes, disturb, fault, writes, program):
    """Each write of a run. A lost answer does not end a process, so its writes are not counted."""
    if fault == "lose-answer":
        def lose(lane, n):
            disturb(lane, n)
        Sweep(lanes, lose).run(range(1, writes[program] + 1))
        return
    writes[program] = Sweep(lanes, disturb).run(itertools.count(1))
    assert writes[program] >= 8


@pytest.mark.timeout(400)
@pytest.mark.parametrize("fault", FAULTS)
def test_agent(lanes, writes, fault):
    """the agent meets {fault} at each of its writes in turn | as if undisturbed, nothing left"""
    def disturb(lane, n):
        return lane.disturb(lane.agent.process, f"{fault}:{n}", lane.end_lease_of_dead_agent)
    sweep(lanes, disturb, fault, writes, "agent")


@pytest.mark.timeout(400)
@pytest.mark.parametrize("fault", FAULTS)
def test_federator(lanes, writes, fault):
    """the federator meets {fault} at each of its writes in turn
    | as if undisturbed, nothing left"""
    def disturb(lane, n):
        return lane.disturb(lane.hub.process, f"{fault}:{n}", lane.end_lease_of_dead_hub)
    sweep(lanes, disturb, fault, writes, "federator")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault, sample", [("exit-before", (8, 10, 11)), ("exit-after", (8, 9, 10)),
                                           ("lose-answer", (7, 8, 9, 10))])
def test_agent_of_a_real_cluster(real_lane, fault, sample):
    """the agent of a real cluster meets {fault} at a write ({sample})
    | each pod POSTed once, by the audit log"""
    member = real_lane.member
    for n in sample:
        mark = member.audit.mark()
        real_lane.disturb(real_lane.agent.process, f"{fault}:{n}",
                          real_lane.end_lease_of_dead_agent)
        creates = member.audit.events(mark, verb="create", resource="pods")
        posts = collections.Counter(e["objectRef"]["name"] for e in creates
                                    if "dryRun" not in e["requestURI"])
        assert len(posts) == 2 and set(posts.values()) == {1}, f"write {n}: {posts}"
