"""Beside Volcano: its kinds, and only the jobs that name our scheduler."""
import copy

import pytest
import yaml
from harness import jobs, wait
from harness.nodes import NodeShape

from .conftest import CRDS, Alone

POD_GROUP = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "podgroups.scheduling.volcano.sh"},
    "spec": {"group": "scheduling.volcano.sh", "scope": "Namespaced",
             "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
             "versions": [{"name": "v1beta1", "served": True, "storage": True,
                           "schema": {"openAPIV3Schema": {
                               "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]},
}


def volcanos_jobs():
    """The Job kind with a status as Volcano's: no record of dispatch, pending is a number."""
    crd = yaml.safe_load((CRDS / "batch.volcano.sh_jobs.yaml").read_text())
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    status = schema["properties"]["status"]["properties"]
    del status["dispatch"]
    status["pending"] = {"type": "integer", "format": "int32"}
    return crd


@pytest.fixture(scope="module")
def beside(run):
    files = [run.write(f"volcano/{i}.yaml", yaml.safe_dump(crd))
             for i, crd in enumerate([POD_GROUP, volcanos_jobs()])]
    ours = [CRDS / "federator.dev_placements.yaml", CRDS / "scheduling.volcano.sh_queues.yaml"]
    made = Alone(run, "beside", [*files, *ours], NodeShape(1, cpu="4"))
    made.cluster.wait_for("/apis/scheduling.volcano.sh/v1beta1", lambda found: found and any(
        kind["name"] == "podgroups" for kind in found["resources"]))
    yield made.start()
    made.clear()


def ours(name, *tasks):
    return jobs.job(name, *tasks, schedulerName="federator")


def test_only_jobs_that_name_our_scheduler_are_taken(beside, name):
    beside.agent.wait_log("schedules the jobs that name federator")
    theirs = jobs.job(f"{name}theirs", jobs.task(run_seconds=0.5), schedulerName="volcano")
    beside.submit(theirs)
    beside.submit(ours(f"{name}ours", jobs.task(run_seconds=0.5)))
    beside.wait_phase(f"{name}ours", "Completed")
    assert not beside.pods(f"{name}theirs")
    assert "status" not in beside.job(f"{name}theirs")


def test_the_reason_for_waiting_is_where_volcanos_kind_has_room_for_it(beside, name):
    beside.submit(ours(f"{name}a", jobs.task(requests={"cpu": "3"}, run_seconds=3)))
    beside.wait_phase(f"{name}a", "Running")
    beside.submit(ours(f"{name}b", jobs.task(requests={"cpu": "2"}, run_seconds=0.5)))
    job = beside.wait(f"{name}b", lambda found: found.get("status", {}).get(
        "state", {}).get("reason") == "NoRoom")
    assert "cpu" in job["status"]["state"]["message"]
    assert "dispatch" not in job["status"]
    done = beside.wait_phase(f"{name}b", "Completed")
    assert "reason" not in done["status"]["state"] or \
        done["status"]["state"]["reason"] != "NoRoom"


def test_an_agent_killed_while_a_job_runs_goes_by_the_twin_alone(beside, name):
    mark = beside.cluster.audit.mark()
    beside.submit(ours(name, jobs.task(replicas=2, run_seconds=3)))
    beside.wait_phase(name, "Running")
    beside.agent.kill()
    beside.succeed()
    beside.wait_phase(name, "Completed", 60)
    assert beside.posts(mark) == [f"{name}-w-0", f"{name}-w-1"]


def test_a_job_that_another_controller_began_is_left_alone(beside, name):
    beside.agent.end()
    begun = ours(name, jobs.task(run_seconds=0.5))
    made = beside.submit(begun)
    status = copy.deepcopy(made)
    status["status"] = {"state": {"phase": "Running"}, "running": 1}
    beside.cluster.must("PUT", jobs.path(name) + "/status", status)
    beside.agent.start()
    beside.agent.wait_log(f"job default/{name} was begun by another controller: left alone", 30)
    wait.holds(lambda: not beside.pods(name), 1, what="no pod of it")
