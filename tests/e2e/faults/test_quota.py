"""A job of many pods under a quota of the member."""
import pytest
from harness import jobs, wait

PODS = 100


def make_quota(fed, name, pods):
    """A namespace on both sides, in the member with a quota; the quota's path."""
    fed.real.make_namespace(name)
    fed.hub.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                "metadata": {"name": name}})
    fed.real.must("POST", f"/api/v1/namespaces/{name}/resourcequotas",
                  {"metadata": {"name": "q"}, "spec": {"hard": {"pods": str(pods)}}})
    quota = f"/api/v1/namespaces/{name}/resourcequotas/q"
    fed.real.wait_for(quota, lambda found: found.get("status", {}).get("hard"))
    return quota


def used(fed, quota):
    return fed.real.get(quota)["status"]["used"]["pods"]


@pytest.mark.timeout(240)
def test_recovery_of_a_hundred_pods(fed, name):
    """an agent is killed (SIGKILL) when a hundred pods are there, under a quota (G3)
    | its successor asks for none of the names again; the quota's use is unchanged"""
    quota = make_quota(fed, name, PODS + 50)
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=PODS, requests={"cpu": "50m"},
                                                  run_seconds=3600),
                                  namespace=name, placement=jobs.only_in("real")))
    uid = jobs.wait_phase(fed.hub, name, "Running", 90, namespace=name)["metadata"]["uid"]
    pods = {p["metadata"]["uid"] for p in fed.pods(uid)}
    assert len(pods) == PODS
    before, mark = used(fed, quota), fed.real.audit.mark()
    fed.agent.kill()
    fed.restart_killed_agent()
    wait.until(lambda: fed.real.audit.events(mark, verb="list", resource="pods"), 30,
               what="the successor to list pods")
    wait.holds(lambda: not fed.real.audit.pod_posts(mark, name), 4,
               what="no name to be asked for again")
    assert used(fed, quota) == before
    assert {p["metadata"]["uid"] for p in fed.pods(uid)} == pods
    jobs.delete(fed.hub, name, name, timeout=90)
