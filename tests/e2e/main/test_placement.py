"""Which cluster, and what a job says while it waits."""
import collections
import json
import re

import pytest
from harness import jobs
from harness.nodes import NodeShape


def fill(fed, name, replicas, requests, *clusters):
    """Starts pods that stay until the test ends."""
    more = {"placement": jobs.only_in(*clusters)} if clusters else {}
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=replicas, requests=requests,
                                                  run_seconds=3600), **more))
    jobs.wait_phase(fed.hub, name, "Running")


def test_alternatives_of_which_only_the_second_has_room(fed, name):
    """alternatives, only the second has room | the second; explain names why"""
    fill(fed, f"{name}-filler", 4, {"nvidia.com/gpu": "8"})
    jobs.submit(fed.hub, jobs.job(name, jobs.task(requests={"cpu": "1"}), placement={
        "alternatives": [
            {"task": "w", "resources": {"nvidia.com/gpu": 1}, "speed": "1"},
            {"task": "w", "nodeSelector": {"kubernetes.io/arch": "arm64"}, "speed": "0.45"}]}))
    found = jobs.wait_phase(fed.hub, name, "Completed")
    assert jobs.cluster(found) == "arm"
    assert len(jobs.attempts(found)) == 1
    (pod,) = jobs.pods_of(fed.members["arm"], found["metadata"]["uid"])
    assert pod["spec"]["nodeSelector"] == {"kubernetes.io/arch": "arm64"}
    said = fed.hub.fedctl(["explain", f"job/{name}"]).stdout
    assert "alternative 2: none before it fits now" in said, said


def test_alternatives_of_which_no_cluster_has_the_first(fed, name):
    """alternatives, the first of which nobody has | the second, with its resources"""
    wanted = jobs.task(requests={"cpu": "1"})
    fed_job = jobs.job(name, wanted, placement={"alternatives": [
        {"task": "w", "resources": {"nvidia.com/h100": 1}, "speed": "1"},
        {"task": "w", "resources": {"nvidia.com/gpu": 1}, "speed": "0.45"}]})
    jobs.submit(fed.hub, fed_job)
    found = jobs.wait_phase(fed.hub, name, "Completed")
    assert jobs.cluster(found) == "gpu"
    pods = jobs.pods_of(fed.members["gpu"], found["metadata"]["uid"])
    resources = pods[0]["spec"]["containers"][0]["resources"]
    assert resources["requests"]["nvidia.com/gpu"] == "1"


# A gang of four pods of 20 CPUs, of which a node holds one; each cluster is left three nodes.
ONE_NODE_SHORT = {"gpu": 1, "arm": 5, "large": 17}


def a_node_appears(fed, name):
    fed.members["large"].add_nodes(NodeShape(1), first=20)
    return "large"


def room_is_given_back(fed, name):
    jobs.delete(fed.hub, f"{name}-arm")
    return "arm"


@pytest.fixture
def node_20(fed):
    """Whether a test has made it or not, it is gone afterwards."""
    yield
    fed.members["large"].api("DELETE", "/api/v1/nodes/large-20")


@pytest.mark.parametrize("lift", [a_node_appears, room_is_given_back])
def test_a_gang_one_pod_larger_than_the_room_left_in_each_cluster(fed, node_20, name, lift):
    """a gang that every cluster could hold when empty, one pod larger than the room left in each
    | waits and names resource and shortfall; when the reason is lifted, it runs within 5 s"""
    big = {"cpu": "20"}
    for cluster, replicas in ONE_NODE_SHORT.items():
        fill(fed, f"{name}-{cluster}", replicas, big, cluster)
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=4, requests=big, run_seconds=3)))
    why = jobs.wait_pending(fed.hub, name, lambda p: p["code"] == "NoRoom")
    miss = why["nearestMiss"]
    assert (miss["resource"], miss["fits"], miss["pods"]) == ("cpu", 3, 4), why
    assert (miss["have"], miss["want"]) == ("60", "80") and "cpu" in why["detail"], why
    said = fed.hub.fedctl(["explain", f"job/{name}"]).stdout
    for cluster in ONE_NODE_SHORT:
        assert re.search(rf"^{cluster}\s+full\s+cpu: 60 of 80\s", said, re.MULTILINE), said

    cluster = lift(fed, name)
    found = fed.hub.wait_for(jobs.path(name), lambda j: jobs.phase(j) != "Pending", 5)
    assert jobs.pending(found) is None
    assert jobs.cluster(found) == cluster
    jobs.wait_phase(fed.hub, name, "Completed")


def test_a_gang_that_no_empty_cluster_could_hold_is_refused_with_the_nearest_miss(fed, name):
    """a gang larger than every empty cluster, all reported | 422 NeverFits with the nearest miss"""
    too_big = jobs.job(name, jobs.task(replicas=41, requests={"nvidia.com/gpu": "1"}))
    answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", too_big)
    assert answer.status == 422
    status = answer.json()
    assert status["reason"] == "Invalid"
    cause = status["details"]["causes"][0]
    assert cause["reason"] == "NeverFits"
    assert " of 41" in cause["message"] and "nvidia.com/gpu" in cause["message"]
    assert fed.hub.get(jobs.path(name)) is None


@pytest.fixture
def tainted(fed):
    """The cluster `large`, with a taint until the test ends."""
    path = f"{jobs.FEDERATOR}/clusters/large"
    fed.hub.merge(path, {"spec": {"taints": [
        {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}]}})
    yield path
    fed.hub.merge(path, {"spec": {"taints": None}})


def test_a_taint_of_a_cluster_keeps_out_who_does_not_tolerate_it(fed, tainted, name):
    """a cluster with a taint | who tolerates it runs there, who does not says why it waits"""
    there = jobs.only_in("large")
    jobs.submit(fed.hub, jobs.job(f"{name}-out", jobs.task(), placement=there))
    jobs.submit(fed.hub, jobs.job(f"{name}-in", jobs.task(), placement={
        **there, "tolerations": [{"key": "dedicated", "value": "ml"}]}))
    assert jobs.cluster(jobs.wait_phase(fed.hub, f"{name}-in", "Completed")) == "large"
    why = jobs.wait_pending(fed.hub, f"{name}-out", lambda p: p["code"] == "NoCluster")
    assert "large: taint dedicated=ml:NoSchedule is not tolerated" in why["detail"], why
    said = fed.hub.fedctl(["explain", f"job/{name}-out"]).stdout
    assert "taint dedicated=ml:NoSchedule is not tolerated" in said, said
    shown = fed.hub.kubectl(["get", "clusters"]).stdout
    assert [line.split()[:4] for line in shown.splitlines() if line.startswith("large ")] == [
        ["large", "true", "True", "dedicated"]], shown

    fed.hub.merge(tainted, {"spec": {"taints": []}})
    jobs.wait_phase(fed.hub, f"{name}-out", "Completed")


@pytest.mark.parametrize("effect", ["NoExecute", "PreferNoSchedule"])
def test_an_effect_that_is_not_there_yet_is_refused(fed, name, effect):
    answer = fed.hub.api("PATCH", f"{jobs.FEDERATOR}/clusters/large", json.dumps(
        {"spec": {"taints": [{"key": "a", "effect": effect}]}}),
        {"Content-Type": "application/merge-patch+json"})
    assert answer.status == 422
    assert answer.json()["details"]["causes"][0]["field"] == "spec.taints[0].effect"
    wanted = jobs.job(name, jobs.task(), placement={
        "tolerations": [{"key": "a", "operator": "Exists", "effect": effect}]})
    answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", wanted)
    assert answer.status == 422
    assert answer.json()["details"]["causes"][0]["field"] == \
        "spec.placement.tolerations[0].effect"


class Starts:
    """Replays a watch of pods: whose pod was made, in order, and what lived at that moment."""

    def __init__(self, watch, uids):
        self.made, live = [], collections.defaultdict(set)
        for kind, pod in watch.events:
            job, pod_uid = pod["metadata"].get("labels", {}).get("federator.dev/uid"), \
                pod["metadata"]["uid"]
            if job not in uids:
                continue
            if kind == "ADDED":
                self.made.append((job, {other: len(pods) for other, pods in live.items() if pods}))
                live[job].add(pod_uid)
            if kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed"):
                live[job].discard(pod_uid)


def test_of_two_jobs_with_room_for_one_and_a_half_one_runs_whole(fed, name):
    """two jobs, room for one and a half | one whole, never two halves"""
    fill(fed, f"{name}-filler", 1, {"nvidia.com/gpu": "8"})
    gang = jobs.task(replicas=2, requests={"nvidia.com/gpu": "8"}, run_seconds=2)
    with fed.members["gpu"].watch("/api/v1/pods") as watch:
        uids = [jobs.submit(fed.hub, jobs.job(f"{name}-{suffix}", gang))["metadata"]["uid"]
                for suffix in "ab"]
        for suffix in "ab":
            jobs.wait_phase(fed.hub, f"{name}-{suffix}", "Completed", 40)
        starts = Starts(watch, uids)
    order = [job for job, _ in starts.made]
    assert order in ([*uids[:1] * 2, *uids[1:] * 2], [*uids[1:] * 2, *uids[:1] * 2]), starts.made
    first, (_, live) = order[0], starts.made[2]
    assert live.get(first, 0) < 2, "the second began while the first had all its pods"


def test_a_full_queue_makes_its_jobs_wait_for_its_capability(fed, name):
    fed.hub.must("POST", jobs.QUEUES, {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
        "metadata": {"name": name}, "spec": {"capability": {"cpu": "4"}}})
    big = jobs.task(replicas=1, requests={"cpu": "3"}, run_seconds=2)
    jobs.submit(fed.hub, jobs.job(f"{name}-a", big, queue=name))
    jobs.wait_phase(fed.hub, f"{name}-a", "Running")
    jobs.submit(fed.hub, jobs.job(f"{name}-b", big, queue=name))
    why = jobs.wait_pending(fed.hub, f"{name}-b", lambda p: p["code"] == "Quota")
    assert "cpu" in why["detail"] and name in why["detail"]
    jobs.wait_phase(fed.hub, f"{name}-b", "Completed")


def test_a_cluster_selector_keeps_a_job_to_its_clusters(fed, name):
    jobs.submit(fed.hub, jobs.job(name, jobs.task(), placement=jobs.only_in("arm")))
    assert jobs.cluster(jobs.wait_phase(fed.hub, name, "Completed")) == "arm"


def test_a_cordoned_cluster_gets_no_new_jobs(fed, name):
    fed.hub.fedctl(["cluster", "cordon", "large"])
    try:
        jobs.submit(fed.hub, jobs.job(name, jobs.task(), placement=jobs.only_in("large", "gpu")))
        assert jobs.cluster(jobs.wait_phase(fed.hub, name, "Completed")) == "gpu"
    finally:
        fed.hub.fedctl(["cluster", "uncordon", "large"])


def test_a_job_nested_as_deep_as_may_be_runs(fed, name):
    """a template of 58 levels, of 59
    | it runs in a member of either kind, and is listed; refused with the limit"""
    def manifest(cluster, levels):
        task, deep = jobs.task(), {}
        for _ in range(levels - 5):  # template, spec, containers, container, deep
            deep = {"a": deep}
        task["template"]["spec"]["containers"][0]["x"] = deep
        return jobs.job(f"{name}-{cluster}", task, placement=jobs.only_in(cluster))
    for cluster in ("gpu", "arm"):
        jobs.submit(fed.hub, manifest(cluster, 58))
        jobs.wait_phase(fed.hub, f"{name}-{cluster}", "Completed")
        assert f"{name}-{cluster}" in fed.hub.fedctl(["get", "jobs"]).stdout
    answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", manifest("large", 59))
    assert answer.status == 422 and "nested deeper than 58 levels" in repr(answer), repr(answer)
