"""Which cluster, and what a job says while it waits."""
from harness import jobs, wait
from harness.nodes import NodeShape


def test_alternatives_are_tried_in_the_order_written(fed, name):
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


def test_a_gang_with_room_in_no_cluster_waits_and_says_what_is_short(fed, name):
    filler = jobs.job(f"{name}-filler", jobs.task(replicas=4, requests={"nvidia.com/gpu": "7"},
                                                  run_seconds=3600))
    jobs.submit(fed.hub, filler)
    jobs.wait_phase(fed.hub, f"{name}-filler", "Running")
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=5, requests={"nvidia.com/gpu": "1"})))
    why = jobs.wait_pending(fed.hub, name, lambda p: p["code"] == "NoRoom")
    assert "nvidia.com/gpu" in why["detail"]
    assert why["nearestMiss"]["resource"] == "nvidia.com/gpu"
    assert why["nearestMiss"]["have"] == "4" and why["nearestMiss"]["want"] == "5"

    fed.members["gpu"].add_nodes(NodeShape(1, extended={"nvidia.com/gpu": "8"}), first=4)
    try:
        found = fed.hub.wait_for(jobs.path(name), lambda j: jobs.phase(j) in ("Running",
                                                                              "Completed"), 5)
        assert jobs.pending(found) is None
        jobs.wait_phase(fed.hub, name, "Completed")
    finally:
        fed.members["gpu"].must("DELETE", "/api/v1/nodes/gpu-4")


def test_a_gang_that_no_empty_cluster_could_hold_is_refused_with_the_nearest_miss(fed, name):
    too_big = jobs.job(name, jobs.task(replicas=41, requests={"nvidia.com/gpu": "1"}))
    answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", too_big)
    assert answer.status == 422
    status = answer.json()
    assert status["reason"] == "Invalid"
    cause = status["details"]["causes"][0]
    assert cause["reason"] == "NeverFits"
    assert " of 41" in cause["message"] and "nvidia.com/gpu" in cause["message"]
    assert fed.hub.get(jobs.path(name)) is None


def test_of_two_jobs_with_room_for_one_and_a_half_one_runs_whole(fed, name):
    def gang(suffix):
        return jobs.job(f"{name}-{suffix}", jobs.task(
            replicas=3, requests={"nvidia.com/gpu": "7"}, run_seconds=3))
    jobs.submit(fed.hub, gang("a"))
    jobs.submit(fed.hub, gang("b"))

    def sizes():
        return [len([p for p in jobs.pods_of(fed.members["gpu"], found["metadata"]["uid"])
                     if p["status"]["phase"] in ("Pending", "Running")])
                for found in fed.hub.items(f"{jobs.JOBS}/namespaces/default/jobs")]
    wait.until(lambda: 3 in sizes(), 20, what="one gang to run")
    wait.holds(lambda: sorted(sizes()) != [3, 3], 1, what="the other one to wait")
    for suffix in ("a", "b"):
        jobs.wait_phase(fed.hub, f"{name}-{suffix}", "Completed", 40)


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
