"""A cluster that is not heard, as the hub tells of it."""
from harness import jobs, wait
from harness.federation import is_cluster_ready
from harness.lane import end_lease

SILENCE_S = 40


def test_a_cluster_that_falls_silent_says_when_it_was_last_heard(fed):
    """an agent dies | after 40 s its cluster is not Ready and shows its last heartbeat; heard again,
    it shows none"""
    path = f"{jobs.FEDERATOR}/clusters/{fed.real.name}"
    lease = f"/apis/coordination.k8s.io/v1/namespaces/cluster-{fed.real.name}/leases/agent"
    assert "lastHeartbeat" not in fed.hub.get(path)["status"]
    agent = fed.agents[fed.real.name]
    agent.process.kill()
    silent = fed.hub.wait_for(path, lambda c: not is_cluster_ready(c), SILENCE_S + 15)
    last = fed.hub.get(lease)["spec"]["renewTime"]
    assert silent["status"]["lastHeartbeat"] == last.split(".")[0] + "Z"
    agent.process.wait_exit()
    end_lease(fed.real)
    agent.process.start()
    fed.hub.wait_for(path, is_cluster_ready, 30)
    assert "lastHeartbeat" not in fed.hub.get(path)["status"]


def test_a_leader_that_comes_does_not_call_clusters_silent(fed):
    """the hub is restarted | no cluster loses Ready on the way"""
    paths = [f"{jobs.FEDERATOR}/clusters/{name}" for name in fed.agents]
    since = [ready_since(fed.hub.get(path)) for path in paths]
    led = fed.hub.process.text().count("leads")
    fed.hub.process.restart()
    fed.hub.wait_ready()
    wait.until(lambda: fed.hub.process.text().count("leads") > led, 30, what="the hub to lead")
    for path, before in zip(paths, since):
        fed.hub.wait_for(path, is_cluster_ready, 30)
        assert ready_since(fed.hub.get(path)) == before


def ready_since(cluster):
    return next(c["lastTransitionTime"] for c in cluster["status"]["conditions"]
                if c["type"] == "Ready")
