"""Why there, why not, why it waits: what fedctl explain says, and that it is so."""
import json
import re

import pytest
from harness import jobs


@pytest.fixture
def ghost(fed):
    """A cluster that is accepted and has never reported."""
    path = f"{jobs.FEDERATOR}/clusters"
    fed.hub.must("POST", path, {"apiVersion": "federator.dev/v1alpha1", "kind": "Cluster",
                                "metadata": {"name": "ghost"}, "spec": {"accepted": True}})
    yield
    fed.hub.must("DELETE", f"{path}/ghost")


def test_a_job_runs_at_its_data_though_another_cluster_is_emptier(fed, name):
    """data in a fuller cluster, `large` empty
    | runs at the data; explain prints bytes for each cluster"""
    jobs.submit(fed.hub, jobs.job(f"{name}-filler", jobs.task(
        replicas=6, requests={"cpu": "20"}, run_seconds=3600), placement=jobs.only_in("arm")))
    jobs.wait_phase(fed.hub, f"{name}-filler", "Running")
    fed.hub.must("POST", f"{jobs.FEDERATOR}/datasets", {
        "apiVersion": "federator.dev/v1alpha1", "kind": "DataSet", "metadata": {"name": name},
        "spec": {"size": "10Gi"}, "replicas": [{"cluster": "arm", "completeness": "0.5"}]})
    jobs.submit(fed.hub, jobs.job(name, jobs.task(requests={"cpu": "20"}, run_seconds=3600),
                                  placement={"datasets": [{"name": name}]}))
    assert jobs.cluster(jobs.wait_phase(fed.hub, name, "Running")) == "arm"
    said = fed.hub.fedctl(["explain", f"job/{name}"]).stdout
    for says in ("  why there  data: 5Gi to move; large would move 10Gi",
                 "  not gpu    would move 10Gi", "  not large  would move 10Gi"):
        assert says in said.splitlines(), said


def test_a_job_that_waits_says_what_is_short_in_each_cluster(fed, name):
    """a gang that waits | explain says for each cluster what is short, and what has none"""
    jobs.submit(fed.hub, jobs.job(f"{name}-filler", jobs.task(
        replicas=4, requests={"nvidia.com/gpu": "6"}, run_seconds=3600)))
    jobs.wait_phase(fed.hub, f"{name}-filler", "Running")
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=16, requests={"nvidia.com/gpu": "1"})))
    jobs.wait_pending(fed.hub, name, lambda p: p["code"] == "NoRoom")
    said = fed.hub.fedctl(["explain", f"job/{name}"]).stdout
    assert re.search(r"^gpu\s+full\s+nvidia.com/gpu: 8 of 16", said, re.MULTILINE), said
    assert re.search(r"^large\s+never fits\s+no node has nvidia.com/gpu", said, re.MULTILINE), said
    assert "all 16 tasks must start together" in said


def test_while_a_cluster_has_not_reported_a_job_too_big_for_the_others_is_kept(fed, ghost, name):
    """a gang larger than every empty cluster, one not yet reported
    | kept, with the Warning and NoCapableCluster"""
    made = fed.hub.kubectl(["create", "-f", "-"], stdin=json.dumps(jobs.job(
        name, jobs.task(replicas=40, requests={"nvidia.com/gpu": "1"}))))
    assert "Warning: " in made.stderr
    why = jobs.wait_pending(fed.hub, name, lambda p: p["code"] == "NoCapableCluster")
    assert why["detail"]


def test_an_ended_job_says_where_it_ran_and_why(fed, name):
    """a job that has ended | explain says where it ran and why"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(requests={"nvidia.com/gpu": "1"})))
    jobs.wait_phase(fed.hub, name, "Completed")
    said = fed.hub.fedctl(["explain", f"job/{name}"]).stdout
    assert f"{name} is Completed" in said
    assert "arm, large: no node has nvidia.com/gpu" in said
