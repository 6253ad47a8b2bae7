"""Agents that die, that stand still, and of which there are two."""
import json
import re

import pytest
from harness import argv, jobs, wait
from harness.lane import LEASE, Lane
from harness.nodes import NodeShape
from harness.rest import ApiServer, write_kubeconfig
from harness.stages import RUN_SECONDS

TERM = r"in term (\d+)"
HOLDS = r"holds the Lease \S+ as (\S+)"


def term_of(process):
    return int(process.wait_log(r"(?s)" + TERM + r"(?!.*" + TERM + r")", 40).group(1))


def as_agent(fed):
    state = fed.agents["real"].state
    return ApiServer(fed.hub.run, "hub as real", write_kubeconfig(
        f"{state}/as-agent.kubeconfig", fed.hub.url, f"{state}/ca.pem", f"{state}/cert.pem",
        f"{state}/key.pem"))


def test_second_agent(fed, name):
    """an agent stands still (SIGSTOP), a second one takes over, the first goes on
    | the first is refused and exits; nothing is doubled"""
    run, mark = fed.hub.run, fed.real.audit.mark()
    uid = fed.submit(name, jobs.task(replicas=3, run_seconds=8))
    jobs.wait_phase(fed.hub, name, "Running")
    old_term = term_of(fed.agent)
    first_holder = fed.agent.wait_log(f"(?s){HOLDS}(?!.*{HOLDS})").group(1)
    fed.agent.stop()
    second = run.process("real-agent-2", fed.agent.argv, sanitized=True).start()
    second.wait_log(f"waits: agent {first_holder} holds the Lease federator-system/member-agent", 5)
    second.wait_log(TERM, 40)
    assert f"takes over from {first_holder}" in second.text()
    assert second.text().count("waits: ") == 1
    jobs.wait_phase(fed.hub, name, "Completed")
    fed.agent.cont()
    assert fed.agent.wait_exit(15) == 4
    answer = as_agent(fed).api(
        "PATCH", f"{jobs.FEDERATOR}/clusters/real/status", json.dumps({"status": {"nodes": 1}}),
        {"Content-Type": "application/merge-patch+json", "Federator-Term": str(old_term)})
    assert answer.status == 409
    assert answer.json()["details"]["causes"][0]["reason"] == "TermSuperseded"
    assert fed.posts(mark, name) == {f"{name}-w-{i}": 1 for i in range(3)}
    fed.submit(f"{name}-b", jobs.task())
    found = jobs.wait_phase(fed.hub, f"{name}-b", "Completed")
    assert len(jobs.attempts(found)) == 1
    assert not [p for p in fed.pods(uid) if p["status"]["phase"] == "Running"]
    run.forget(second)
    fed.agent.start()


def test_agent_killed_with_running_pods(fed, name):
    """an agent is killed (SIGKILL) while its pods run, and starts again
    | pods run on; nothing is doubled"""
    mark = fed.real.audit.mark()
    uid = fed.submit(name, jobs.task(replicas=3, run_seconds=5))
    jobs.wait_phase(fed.hub, name, "Running")
    before = {p["metadata"]["uid"] for p in fed.pods(uid)}
    fed.agent.kill()
    fed.restart_killed_agent()
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
    assert found["status"]["succeeded"] == 3
    assert fed.posts(mark, name) == {f"{name}-w-{i}": 1 for i in range(3)}
    assert {p["metadata"]["uid"] for p in fed.pods(uid)} <= before


def test_half_made_gang(fed, name):
    """an agent dies when half of a gang is made
    | its successor makes the rest, before anything new"""
    fed.agent.end()
    mark = fed.real.audit.mark()
    fed.agent.start("exit-after:12")
    # More than an agent has under way at once: what was sent is carried out when it has ended.
    uid = fed.submit(name, jobs.task(replicas=32, requests={"cpu": "500m"}, run_seconds=6))
    wait.until(lambda: not fed.agent.alive(), 30, what="the agent to meet its fault")
    assert fed.agent.wait_exit() == 86
    half = len(fed.pods(uid))
    assert 0 < half < 32, half
    fed.submit(f"{name}-b", jobs.task())
    fed.restart_killed_agent()
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
    assert found["status"]["succeeded"] == 32
    assert fed.real.audit.posted_again(mark, name) == {}
    jobs.wait_phase(fed.hub, f"{name}-b", "Completed")


def test_stale_report(fed, name):
    """a cluster whose report is stale is offered a job
    | it refuses by what it sees; generation 2 runs elsewhere; explain shows both"""
    fed.prefer("real")
    fed.agent.stop()
    for i in range(3):
        fed.real.must("POST", "/api/v1/namespaces/default/pods", {
            "metadata": {"name": f"{name}-local-{i}", "annotations": {RUN_SECONDS: "3600"}},
            "spec": {"nodeName": f"real-{i}", "containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "6"}}}]}})
    uid = fed.submit(name, jobs.task(replicas=2, requests={"cpu": "4"}), only=("real", "other"))
    fed.wait_offer(uid)
    fed.admit_all()
    fed.agent.cont()
    try:
        found = jobs.wait_phase(fed.hub, name, "Completed", 40)
        tried = [(a["cluster"], a["generation"], a["how"]) for a in jobs.attempts(found)]
        assert tried == [("real", 1, "Refused"), ("other", 2, "Done")], jobs.attempts(found)
        assert jobs.attempts(found)[0]["reason"] == "NoRoom"
        text = fed.hub.must("GET", jobs.path(name) + "/explain")["text"]
        assert "real" in text and "Refused" in text and "other" in text, text
        assert not fed.pods(uid)
    finally:
        for i in range(3):
            fed.real.must("DELETE",
                          f"/api/v1/namespaces/default/pods/{name}-local-{i}?gracePeriodSeconds=0")


def test_unclaimed_offer(fed, name):
    """a cluster does not claim an offer for 10 s | it is taken back and goes elsewhere"""
    fed.prefer("real")
    fed.agent.stop()
    uid = fed.submit(name, jobs.task(), only=("real", "other"))
    fed.wait_offer(uid)
    fed.admit_all()
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert [(a["cluster"], a["how"]) for a in jobs.attempts(found)] == [
        ("real", "TakenBack"), ("other", "Done")]
    fed.agent.cont()
    wait.holds(lambda: not fed.pods(uid), 2, what="no pod of it where it was taken back")
    # Who stood still for longer than its lease leaves; by how much it was is the hub's pace.
    assert fed.agent.end() in (0, 4)
    fed.restart_killed_agent()


def test_create_reply_lost_under_quota(fed, name):
    """the reply to the create of a pod is lost, and the quota is full (G1, G2, G3)
    | one pod, the job is not refused, the quota's use is right"""
    fed.real.make_namespace(name)
    fed.real.must("POST", f"/api/v1/namespaces/{name}/resourcequotas",
                  {"metadata": {"name": "two"}, "spec": {"hard": {"pods": "2"}}})
    quota = f"/api/v1/namespaces/{name}/resourcequotas/two"
    fed.real.wait_for(quota, lambda q: q.get("status", {}).get("hard"))
    fed.hub.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                "metadata": {"name": name}})
    lost = 0
    for n in range(8, 13):
        fed.agent.end()
        mark, job = fed.real.audit.mark(), f"j{n}"
        fed.agent.start(f"lose-answer:{n}")
        jobs.submit(fed.hub, jobs.job(job, jobs.task("a"), jobs.task("b"), namespace=name,
                                      placement=jobs.only_in("real")))
        found = jobs.wait_phase(fed.hub, job, "Completed", 30, namespace=name)
        assert [a["how"] for a in jobs.attempts(found)] == ["Done"], jobs.attempts(found)
        assert fed.posts(mark, job) == {f"{job}-a-0": 1, f"{job}-b-0": 1}
        lost += len(fed.real.audit.events(mark, verb="get", resource="pods", name=f"{job}-a-0")
                    + fed.real.audit.events(mark, verb="get", resource="pods", name=f"{job}-b-0"))
        uid = found["metadata"]["uid"]
        wait.until(lambda: not fed.pods(uid), 30, what="pods to be forgotten")
    assert lost, "no answer to the create of a pod was lost"
    fed.real.wait_for(quota, lambda q: q["status"]["used"]["pods"] == "0")


def test_outcome_kept_while_nobody_looks(fed, name):
    """a pod ends while the agent is down and others delete it; maxRetry 0 (G33)
    | its exit code is kept, the finalizer goes"""
    uid = fed.submit(name, jobs.task(run_seconds=2, exit_code=7), maxRetry=0)
    jobs.wait_phase(fed.hub, name, "Running")
    fed.agent.kill()
    fed.wait_pods(uid, lambda pods: pods[0]["status"]["phase"] == "Failed")
    pod = f"/api/v1/namespaces/default/pods/{name}-w-0"
    fed.real.must("DELETE", pod)
    assert fed.real.get(pod)["metadata"]["finalizers"]
    fed.restart_killed_agent()
    found = jobs.wait_phase(fed.hub, name, "Failed")
    assert "exit code 7" in found["status"]["state"]["message"]
    fed.real.wait_for(pod, lambda found: found is None, 20)


def test_lease_deleted(fed, name):
    """somebody deletes the agent's lease
    | the agent ends; started again it goes on, nothing is doubled"""
    mark = fed.real.audit.mark()
    fed.submit(name, jobs.task(run_seconds=10))
    jobs.wait_phase(fed.hub, name, "Running")
    fed.real.must("DELETE", LEASE)
    assert fed.agent.wait_exit(15) == 4
    assert "the Lease federator-system/member-agent is gone: somebody deleted it" in fed.agent.tail(3)
    fed.agent.start()
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert fed.posts(mark, name) == {f"{name}-w-0": 1}
    assert len(jobs.attempts(found)) == 1


@pytest.fixture
def lane(run, name):
    made = Lane(run, f"anew-{name}", NodeShape(1, cpu="2"))
    yield made.start()
    made.end()


def test_sandbox_started_again(lane):
    """a sandbox is started again, and is empty
    | its agent ends and says why; started again it goes on"""
    jobs.submit(lane.hub, jobs.job("before", jobs.task(run_seconds=0)))
    jobs.wait_phase(lane.hub, "before", "Completed")
    lane.member.process.restart()
    assert lane.agent.process.wait_exit(30) == 4
    assert re.search("leaves: the Lease federator-system/member-agent is gone: .* began anew and "
                     "empty", lane.agent.process.tail(3))
    lane.agent.process.start()
    jobs.submit(lane.hub, jobs.job("after", jobs.task(run_seconds=0)))
    jobs.wait_phase(lane.hub, "after", "Completed", 60)


def test_token_that_the_hub_does_not_know(lane, run):
    """an agent joins with a token that the hub does not know | it ends, and its last line says why"""
    lane.agent.process.end()
    state = run.dir("stranger")
    token = run.write("stranger.token", "abcdef.0123456789abcdef")
    process = run.process("stranger", argv.member_agent(
        "stranger", state, lane.member.kubeconfig, lane.hub.url, token,
        lane.hub.authority_hash()), sanitized=True).start()
    assert process.wait_exit(30) == 1
    assert process.tail(1).startswith("member-agent: ") and "token" in process.tail(1)
    run.forget(process)
    lane.agent.process.start()
