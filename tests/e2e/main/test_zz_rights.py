"""The agent's role, after everything else of this suite has run under it: nothing missing, nothing
that was never used. First, what is rarely needed."""
import copy

import pytest
from harness import jobs, rights, wait
from harness.lane import LEASE

ACCOUNT = rights.ACCOUNT


def test_the_log_of_a_pod_comes_through_the_agent(fed, name):
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("gpu")))
    jobs.wait_phase(fed.hub, name, "Running")
    said = wait.until(lambda: fed.hub.api("GET", jobs.path(name) + "/log").text, 15)
    assert said == "hello from a simulated container\n"


def as_orphan(found, name, uid):
    """The object as if it were of a job that the hub has never heard of."""
    made = copy.deepcopy(found)
    meta = made["metadata"]
    made["metadata"] = {"name": name, "namespace": "default",
                        "labels": dict(meta["labels"], **{"federator.dev/uid": uid}),
                        "annotations": meta.get("annotations", {})}
    made.pop("status", None)
    return made


def test_an_attempt_that_nobody_knows_is_told_of_and_left_alone(fed, name):
    gpu, stranger = fed.members["gpu"], "00000000-0000-4000-8000-000000000000"
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("gpu")))
    uid = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    twin = as_orphan(jobs.twins_of(gpu, uid)[0], f"{stranger}-0-1", stranger)
    twin["spec"]["job"] = {"namespace": "default", "name": "stranger", "uid": stranger}
    made = gpu.must("POST", f"{jobs.FEDERATOR}/namespaces/default/placements", twin)
    pod = as_orphan(jobs.pods_of(gpu, uid)[0], f"{name}-stranger", stranger)
    pod["metadata"]["ownerReferences"] = [{
        "apiVersion": made["apiVersion"], "kind": "Placement", "controller": True,
        "name": made["metadata"]["name"], "uid": made["metadata"]["uid"]}]
    gpu.must("POST", "/api/v1/namespaces/default/pods", pod)

    def told():
        return [e for e in gpu.items("/api/v1/namespaces/default/events")
                if stranger in e["involvedObject"]["name"]]
    try:
        wait.until(told, 30, what="an Event about the orphan")
        fed.hub.wait_for(f"{jobs.FEDERATOR}/clusters/gpu", lambda c: any(
            x["type"] == "Orphans" and x["status"] == "True"
            for x in c["status"]["conditions"]), 40)
        alive = gpu.get(f"/api/v1/namespaces/default/pods/{name}-stranger")
        assert "deletionTimestamp" not in alive["metadata"]
    finally:
        gpu.must("DELETE", f"/api/v1/namespaces/default/pods/{name}-stranger")


@pytest.mark.parametrize("write", range(8, 16))
def test_a_write_whose_answer_was_lost_is_settled_by_reading(fed, name, write):
    """The writes of a start come first: then dry run, claim, twin and pods."""
    agent = fed.agents["gpu"].process
    agent.end()
    agent.start(f"lose-answer:{write}")
    try:
        jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=2),
                                      placement=jobs.only_in("gpu")))
        found = jobs.wait_phase(fed.hub, name, "Completed", 60)
        assert len(jobs.pods_of(fed.members["gpu"], found["metadata"]["uid"])) == 2
    finally:
        agent.end()
        agent.start()
    # One that ended while it takes the Lease would leave it held, and shift the next one's writes.
    wait.until(lambda: f"_{agent.pid}_" in fed.members["gpu"].get(LEASE)["spec"]["holderIdentity"],
               30, what="the agent to hold the Lease")


def make_supplies(hub, name):
    hub.must("POST", "/api/v1/namespaces/default/configmaps", {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}})
    hub.must("POST", "/api/v1/namespaces/default/secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
        "stringData": {"a": "b"}})
    wanted = jobs.task(run_seconds=3600)
    wanted["template"]["spec"]["containers"][0]["envFrom"] = [
        {"configMapRef": {"name": name}}, {"secretRef": {"name": name}}]
    return wanted


def test_what_an_earlier_attempt_has_left_is_replaced(fed, name):
    gpu, wanted = fed.members["gpu"], make_supplies(fed.hub, name)
    made = jobs.submit(fed.hub, jobs.job(name, wanted, plugins={"svc": []},
                                         placement=jobs.only_in("nowhere")))
    uid = made["metadata"]["uid"]
    labels = {"federator.dev/uid": uid, "federator.dev/part": "0", "federator.dev/generation": "0"}
    for kind, left, more in (("configmaps", f"{name}-{uid[:8]}", {"data": {"old": "yes"}}),
                             ("secrets", f"{name}-{uid[:8]}", {}),
                             ("services", name, {"spec": {"clusterIP": "None"}})):
        gpu.must("POST", f"/api/v1/namespaces/default/{kind}",
                 {"metadata": {"name": left, "labels": labels}, **more})
    fed.hub.merge(jobs.path(name), {"spec": {"placement": jobs.only_in("gpu")}})
    jobs.wait_phase(fed.hub, name, "Running")
    found = gpu.get(f"/api/v1/namespaces/default/configmaps/{name}-{uid[:8]}")
    assert found["data"] == {"a": "b"}


def test_after_three_losses_the_next_attempt_takes_over(fed, name):
    gpu, wanted = fed.members["gpu"], make_supplies(fed.hub, name)
    jobs.submit(fed.hub, jobs.job(name, wanted, plugins={"svc": []},
                                  placement=jobs.only_in("gpu")))
    jobs.wait_phase(fed.hub, name, "Running")
    path, known = f"/api/v1/namespaces/default/pods/{name}-w-0", set()
    for _ in range(3):
        pod = gpu.wait_for(path, lambda p: p and p["metadata"]["uid"] not in known
                           and p["status"]["phase"] == "Running", 30)
        known.add(pod["metadata"]["uid"])
        gpu.must("DELETE", path)
    found = fed.hub.wait_for(
        jobs.path(name), lambda j: len(jobs.attempts(j)) == 2 and jobs.phase(j) == "Running", 60)
    first = jobs.attempts(found)[0]
    assert (first["how"], first["reason"]) == ("Released", "PodLost")


def test_the_role_lacks_no_rule(fed):
    for name in ("gpu", "large"):
        refused = fed.members[name].audit.forbidden(user=ACCOUNT)
        assert not [(e["verb"], e["requestURI"]) for e in refused]


def test_the_role_has_no_rule_that_is_never_used(fed, role):
    used = {right for name in ("gpu", "large")
            for right in fed.members[name].audit.allowed(user=ACCOUNT)}
    unused = {(resource, verb) for resource, verb in rights.granted(role) - used
              if resource not in rights.STANDALONE}
    assert not unused, sorted(unused)
