"""A member that leaves one hub for another, with something of the first still running."""
import pytest
from harness import jobs, wait
from harness.federation import Agent, Hub, Sandbox
from harness.nodes import NodeShape

SHAPE = NodeShape(2, cpu="8", memory="32Gi")


def grow(hub, writes):
    """Versions of a hub count its writes: this one is to be further than the other."""
    for i in range(writes):
        hub.must("POST", "/api/v1/namespaces/default/configmaps",
                 {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"grow-{i}"}})


@pytest.fixture
def stage(run):
    """Two hubs, and a member that is of the first."""
    first, second = Hub(run, "first").start(), Hub(run, "second").start()
    member = Sandbox(run, "mover", SHAPE).start()
    grow(first, 100)
    agent = Agent(run, first, "here", member.kubeconfig).join()
    yield first, second, member, agent
    for program in (agent, member, second, first):
        program.process.end()


def has_orphans(cluster):
    return any(c["type"] == "Orphans" and c["status"] == "True"
               for c in cluster["status"]["conditions"])


def test_a_member_moves_to_another_hub(run, stage, name):
    """a member joins another hub, whose versions are lower, while a job of the first runs
    | it runs jobs of the other; what it has of the first runs on, is told of and is kept"""
    first, second, member, agent = stage
    jobs.submit(first, jobs.job(name, jobs.task(run_seconds=3600)))
    uid = jobs.wait_phase(first, name, "Running")["metadata"]["uid"]
    agent.process.end()
    moved = Agent(run, second, "there", member.kubeconfig).join()
    try:
        second.wait_for(f"{jobs.FEDERATOR}/clusters/there", has_orphans, 40)
        jobs.submit(second, jobs.job(f"{name}-2", jobs.task()))
        jobs.wait_phase(second, f"{name}-2", "Completed", 60)
        pods = jobs.pods_of(member, uid)
        assert [p["status"]["phase"] for p in pods] == ["Running"]
        moved.process.end()
        agent.process.start()
        assert jobs.phase(first.get(jobs.path(name))) == "Running"
        jobs.delete(first, name, timeout=60)
        wait.until(lambda: not jobs.pods_of(member, uid), 20, what="its pod to end")
    finally:
        moved.process.end()
