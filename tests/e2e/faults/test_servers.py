"""Servers that go down under the federation."""
import collections
import datetime
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import jobs, wait
from harness.federation import is_cluster_ready
from harness.stages import STOP_SECONDS

AGENT = "system:serviceaccount:federator-system:member-agent"
PODS = "/api/v1/pods"


def test_apiserver_killed_in_creates(fed, name):
    """a member's apiserver is killed in the middle of 32 creates (G5) | none lost or doubled"""
    mark = fed.real.audit.mark()
    uid = fed.submit(name, jobs.task(replicas=32, requests={"cpu": "500m"}, run_seconds=5))
    wait.until(lambda: len(fed.posts(mark, name)) >= 3, 20, every=0.002, what="creates")
    fed.real.apiserver.kill()
    fed.real.apiserver.start()
    fed.real.wait_ready()
    fed.real.kwok.restart()  # it gives up what it could not write; a kubelet would not
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert found["status"]["succeeded"] == 32
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
    assert set(fed.posts(mark, name, 201).values()) == {1}
    assert len(fed.pods(uid)) in (0, 32)


def restart_into_another_version(member):
    """Ends and starts the apiserver. Its store moves on in between, so that no version of before
    can be watched from. Returns a mark of the audit log, from where only the new one speaks."""
    member.apiserver.end(timeout=30)
    mark = member.audit.mark()
    status, answer = member.etcd.request("POST", "/v3/kv/put", {"key": "eA==", "value": "eA=="})
    assert status == 200, answer
    member.apiserver.start()
    member.wait_ready()
    return mark


def first_event(member, version):
    with member.watch(PODS, resourceVersion=version, timeoutSeconds="4") as watch:
        return watch.wait_for(lambda kind, found: True)


def reads(member, mark, verb, stage="ResponseComplete", resource="pods"):
    """The agent's requests that were answered, oldest first."""
    return [e for e in member.audit.events(mark, user=AGENT, verb=verb, resource=resource,
                                           stage=stage) if e["responseStatus"]["code"] == 200]


def began(event):
    return datetime.datetime.fromisoformat(event["requestReceivedTimestamp"])


def test_apiserver_restarted(fed, name):
    """a member's apiserver is restarted while pods run: old watches get 410 (G8, G11, G12)
    | listed again once, then watched from there; no second start"""
    uid = fed.submit(name, jobs.task(replicas=4, run_seconds=12))
    jobs.wait_phase(fed.hub, name, "Running")
    before = {p["metadata"]["uid"] for p in fed.pods(uid)}
    version = fed.real.must("GET", PODS)["metadata"]["resourceVersion"]
    mark, said = fed.real.audit.mark(), len(fed.agent.text())
    restarted = restart_into_another_version(fed.real)
    kind, status = first_event(fed.real, version)
    assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired"), status
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
    assert not fed.posts(mark, name)
    assert {p["metadata"]["uid"] for p in fed.pods(uid)} <= before
    ended = {e["auditID"] for e in reads(fed.real, mark, "watch")}
    assert ended - {e["auditID"] for e in reads(fed.real, restarted, "watch")}, \
        "the agent's watch of pods was not interrupted"
    assert re.search(r"WARN \S+ the member's apiserver: ", fed.agent.text()[said:]), \
        "the agent does not tell of it"
    listed, = reads(fed.real, restarted, "list")
    asked, *_, watches = reads(fed.real, restarted, "watch", "ResponseStarted")
    assert began(asked) < began(listed) < began(watches)
    every = collections.Counter(e["objectRef"]["resource"] for e in fed.real.audit.events(
        restarted, user=AGENT, verb="list"))
    assert max(every.values()) <= 4, f"lists by kind: {every}"


def bookmarks_come(member, version):
    """A watch that is opened now, and what it brings in the two seconds before it ends."""
    with member.watch(PODS, resourceVersion=version, allowWatchBookmarks="true",
                      timeoutSeconds="4") as watch:
        wait.until(lambda: watch.ended, 10, what="the watch to end")
        return "BOOKMARK" in [kind for kind, _ in watch.events]


@pytest.mark.timeout(240)
def test_etcd_of_member_down(fed, name):
    """etcd of a member is down for 75 s (G6, G7)
    | nothing is taken for permanent; though bookmarks go on, the agent, which cannot write, leaves,
    and the hub calls the cluster not Ready; then the job runs once"""
    mark = fed.real.audit.mark()
    version = fed.real.must("GET", PODS)["metadata"]["resourceVersion"]
    # A bookmark comes where the server knows of a later version than the watch does.
    fed.real.must("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": name}})
    fed.real.must("GET", PODS)
    down = time.monotonic()
    fed.real.etcd.process.kill()
    uid = fed.submit(name, jobs.task(replicas=2))
    assert fed.agent.wait_exit(40) == 4
    assert "was not renewed for 15 s" in fed.agent.tail(5)
    assert bookmarks_come(fed.real, version)
    found = fed.hub.wait_for(f"{jobs.FEDERATOR}/clusters/real",
                             lambda cluster: not is_cluster_ready(cluster), 60)
    assert time.monotonic() - down < 70
    assert bookmarks_come(fed.real, version), "they prove nothing"
    ready, = [c for c in found["status"]["conditions"] if c["type"] == "Ready"]
    assert ready["status"] == "False" and ready["reason"], ready
    wait.until(lambda: time.monotonic() - down >= 75, 75)
    fed.real.etcd.process.start()
    fed.real.etcd.wait_ready()
    fed.real.wait_ready()
    for process in (fed.real.controller_manager, fed.real.kwok):
        if not process.alive():
            process.wait_exit()
            process.start()
    fed.agent.start()
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert not [a for a in jobs.attempts(found) if a["how"] in ("Refused", "Released")]
    assert fed.posts(mark, name, 201) == {f"{name}-w-0": 1, f"{name}-w-1": 1}
    wait.until(lambda: not fed.pods(uid), 30, what="its pods to be forgotten")


def test_etcd_of_member_down_shortly(fed, name):
    """etcd of a member is down for 4 s while a gang is made | no pod twice, no refusal"""
    mark = fed.real.audit.mark()
    fed.submit(name, jobs.task(replicas=16, run_seconds=3))
    wait.until(lambda: len(fed.posts(mark, name)) >= 2, 20, every=0.002, what="creates")
    fed.real.etcd.process.kill()
    wait.holds(fed.agent.alive, 4)
    fed.real.etcd.process.start()
    fed.real.etcd.wait_ready()
    fed.real.kwok.restart()  # it gives up what it could not write; a kubelet would not
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
    assert set(fed.posts(mark, name, 201).values()) == {1}


def test_hub_killed_while_jobs_run(fed, name):
    """the hub is killed (SIGKILL) while jobs wait, run and end
    | what runs is unaffected, all end once"""
    mark = fed.real.audit.mark()
    uids = [fed.submit(f"{name}-{i}", jobs.task(replicas=2, run_seconds=i), only=("real", "other"))
            for i in range(12)]
    wait.until(lambda: any(fed.pods(uid) for uid in uids), 20, what="the first pods")
    fed.hub.process.kill()
    alive = {p["metadata"]["uid"] for uid in uids for p in fed.pods(uid)}
    wait.holds(lambda: alive <= {p["metadata"]["uid"] for uid in uids for p in fed.pods(uid)}, 3,
               what="pods to stay while the hub is down")
    fed.hub.start()
    for i in range(12):
        found = jobs.wait_phase(fed.hub, f"{name}-{i}", "Completed", 60)
        assert found["status"]["succeeded"] == 2
        assert [a["how"] for a in jobs.attempts(found)][-1] == "Done"
    assert set(fed.posts(mark, name).values()) <= {1}


def test_hub_killed_before_last_words(fed, name):
    """jobs end while the hub is down | their outcomes are told when it is back"""
    fed.submit(f"{name}-good", jobs.task(run_seconds=2))
    fed.submit(f"{name}-bad", jobs.task(run_seconds=2, exit_code=5), maxRetry=0)
    for suffix in ("good", "bad"):
        jobs.wait_phase(fed.hub, f"{name}-{suffix}", "Running")
    fed.hub.process.kill()
    wait.holds(fed.agent.alive, 4, what="the agent to wait for the hub")
    fed.hub.start()
    jobs.wait_phase(fed.hub, f"{name}-good", "Completed", 40)
    found = jobs.wait_phase(fed.hub, f"{name}-bad", "Failed", 40)
    assert "exit code 5" in found["status"]["state"]["message"]


def test_many_deleted_at_once_while_apiserver_restarts(fed, name):
    """jobs are deleted while a member's apiserver is down
    | their pods go when it is back, then the jobs"""
    uids = [fed.submit(f"{name}-{i}", jobs.task(run_seconds=3600)) for i in range(4)]
    for i in range(4):
        jobs.wait_phase(fed.hub, f"{name}-{i}", "Running")
    fed.real.apiserver.kill()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: fed.hub.api("DELETE", jobs.path(f"{name}-{i}")), range(4)))
    fed.real.apiserver.start()
    fed.real.wait_ready()
    for i in range(4):
        fed.hub.wait_for(jobs.path(f"{name}-{i}"), lambda found: found is None, 40)
    wait.until(lambda: not any(fed.pods(uid) for uid in uids), 30, what="pods to be gone")


def test_name_still_terminating(fed, name):
    """a job is made again while the pods of the old one still end (G13)
    | it waits for the names, then runs once"""
    slow = jobs.task(run_seconds=3600)
    slow["template"]["metadata"]["annotations"][STOP_SECONDS] = "4"
    old = fed.submit(name, slow)
    jobs.wait_phase(fed.hub, name, "Running")
    fed.hub.api("DELETE", jobs.path(name))
    manifest = jobs.job(name, jobs.task(), placement=jobs.only_in("real"))

    def made():
        return fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", manifest).status == 201
    wait.until(made, 30, what="the name to be free")
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert found["metadata"]["uid"] != old
    assert not [p for p in fed.pods(old) if p["status"]["phase"] == "Running"]
