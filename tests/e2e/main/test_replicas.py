"""A second federator on the same etcd, which does not lead: it refuses what the leader refuses."""
import os
import shutil

import pytest
from harness import jobs
from harness.federation import Hub

WHERE = f"{jobs.JOBS}/namespaces/default/jobs"


@pytest.fixture(scope="module")
def follower(run, etcd, hub, federation):
    made = Hub(run, "follower", etcd=etcd)
    shutil.copytree(os.path.join(hub.state, "pki"), os.path.join(made.state, "pki"))
    yield made.start()
    run.forget(made.process)


def refusal(server, manifest, version):
    """What a replica says that has seen the version."""
    server.must("GET", f"{jobs.FEDERATOR}/clusters?resourceVersion={version}")
    answer = server.api("POST", WHERE, manifest)
    assert answer.status == 422, repr(answer)
    status = answer.json()
    return status["reason"], status["message"], status["details"]


def both(fed, follower, manifest):
    version = fed.hub.must("GET", f"{jobs.FEDERATOR}/clusters")["metadata"]["resourceVersion"]
    return [refusal(server, manifest, version) for server in (fed.hub, follower)]


@pytest.mark.parametrize("requests, of", [
    ({"nvidia.com/gpu": "1"}, 41), ({"example.com/none": "1"}, 1), ({"cpu": "33"}, 1)])
def test_what_no_empty_cluster_holds_is_refused_by_every_replica(fed, follower, name, requests,
                                                                 of):
    """a gang larger than every empty cluster, sent to a replica that does not lead | the same 422"""
    leader, other = both(fed, follower, jobs.job(name, jobs.task(replicas=of, requests=requests)))
    assert other == leader
    assert leader[2]["causes"][0]["reason"] == "NeverFits"
    assert fed.hub.get(jobs.path(name)) is None


def test_a_queue_that_is_not_there_is_refused_by_every_replica(fed, follower, name):
    leader, other = both(fed, follower, jobs.job(name, jobs.task(), queue="nowhere"))
    assert other == leader and "nowhere" in leader[1]


def test_what_is_sent_to_a_follower_is_placed_by_the_leader(fed, follower, name):
    made = follower.must("POST", WHERE, jobs.job(name, jobs.task(requests={"nvidia.com/gpu": "1"})))
    found = jobs.wait_phase(follower, name, "Completed")
    assert found["metadata"]["uid"] == made["metadata"]["uid"] and jobs.cluster(found) == "gpu"


def test_a_follower_knows_clusters_as_they_are_now(fed, follower, name):
    """a cluster that is no longer accepted holds nothing, on a replica that does not lead either"""
    wanted = jobs.job(name, jobs.task(requests={"nvidia.com/gpu": "1"}))
    path = f"{jobs.FEDERATOR}/clusters/gpu"
    fed.hub.merge(path, {"spec": {"accepted": False}})
    try:
        leader, other = both(fed, follower, wanted)
        assert other == leader and leader[2]["causes"][0]["reason"] == "NeverFits"
    finally:
        fed.hub.merge(path, {"spec": {"accepted": True}})
    version = fed.hub.must("GET", path)["metadata"]["resourceVersion"]
    follower.must("GET", f"{jobs.FEDERATOR}/clusters?resourceVersion={version}")
    follower.must("POST", f"{WHERE}?dryRun=All", wanted)
