"""Jobs that end while a part of the federation does not answer."""
import time

import pytest
from harness import jobs, wait
from harness.federation import is_cluster_ready
from harness.lane import end_lease

SILENT_AFTER_S = 40


@pytest.mark.parametrize("silent", ["agent", "hub"])
def test_ttl_zero(fed, name, silent):
    """ttl 0, the pod ends while the {silent} stands still (SIGSTOP)
    | the outcome is recorded before job and twin go"""
    process = {"agent": fed.agent, "hub": fed.hub.process}[silent]
    with fed.hub.watch(f"{jobs.JOBS}/namespaces/default/jobs",
                       fieldSelector=f"metadata.name={name}") as watch:
        uid = fed.submit(name, jobs.task(run_seconds=2), ttlSecondsAfterFinished=0)
        jobs.wait_phase(fed.hub, name, "Running")
        process.stop()
        try:
            fed.wait_pods(uid, lambda pods: pods[0]["status"]["phase"] == "Succeeded")
            wait.holds(lambda: jobs.twins_of(fed.real, uid), 4, what="the twin to stay")
            if silent == "agent":
                assert jobs.phase(fed.hub.get(jobs.path(name))) == "Running"
        finally:
            process.cont()
        fed.hub.wait_for(jobs.path(name), lambda found: found is None, 30)
        watch.wait_for(lambda kind, found: kind == "DELETED")
        seen = [(kind, jobs.phase(found)) for kind, found in watch.events]
    assert seen[-1] == ("DELETED", "Completed") and ("MODIFIED", "Completed") in seen, seen
    wait.until(lambda: not jobs.twins_of(fed.real, uid) and not fed.pods(uid), 30,
               what="twin and pod to go")


def test_cluster_that_is_silent(fed, name):
    """a cluster's agent is not heard for 40 s
    | the cluster is not Ready and is offered nothing; heard again, it is and runs what waits"""
    agent, path = fed.agents["other"], f"{jobs.FEDERATOR}/clusters/other"
    began = time.monotonic()
    agent.process.stop()
    fed.hub.wait_for(path, lambda found: not is_cluster_ready(found), SILENT_AFTER_S + 20)
    assert time.monotonic() - began > SILENT_AFTER_S - 15  # it beats every ten
    fed.submit(name, jobs.task(), only=("other",))
    jobs.wait_pending(fed.hub, name, lambda why: why["code"])
    assert not jobs.attempts(fed.hub.get(jobs.path(name)))
    agent.process.kill()
    end_lease(fed.other)
    agent.process.start()
    fed.hub.wait_for(path, is_cluster_ready, 30)
    jobs.wait_phase(fed.hub, name, "Completed", 60)


def test_member_that_forgot(fed, name):
    """a member's apiserver begins anew, empty, while a job runs there
    | the job is uncertain and never begun again; each command names what to do; then its name is free"""
    agent = fed.agents["other"]
    fed.submit(name, jobs.task(run_seconds=3600), only=("other",))
    jobs.wait_phase(fed.hub, name, "Running")
    agent.process.kill()
    fed.other.process.kill()
    fed.other.start()
    agent.process.start()
    fed.hub.wait_for(jobs.path(name), lambda j: jobs.dispatch_phase(j) == "Uncertain", 40)
    waited = fed.hub.fedctl(["wait", name], check=False)
    assert waited.returncode == 5
    assert f"job {name} is uncertain: nobody knows what became of it in other" in waited.stderr
    told = fed.hub.fedctl(["explain", f"job/{name}"]).stdout
    assert told.startswith(f"{name} is Uncertain: ") and f"fedctl cancel {name} -n default" in told
    listed = fed.hub.fedctl(["get", "jobs", name]).stdout
    assert "Uncertain" in listed and "fedctl explain" in listed
    assert len(jobs.attempts(fed.hub.get(jobs.path(name)))) == 1
    fed.hub.fedctl(["cancel", name, "--wait"])
    fed.submit(name, jobs.task(), only=("other",))
    jobs.wait_phase(fed.hub, name, "Completed", 30)
