"""An agent without a hub runs the jobs of its cluster, once, whole, in order, and says why not."""
import pytest
from harness import jobs, rights, wait
from harness.nodes import NodeShape
from harness.paths import ROOT

from .conftest import ROLE

GPU = "nvidia.com/gpu"
SAMPLE = ROOT / "examples" / "tensorflow-two-tasks.yaml"


def gpu_task(gpus, **options):
    """A task whose pods take so many GPUs each; devices are asked for as limits."""
    task = jobs.task(**options)
    task["template"]["spec"]["containers"][0]["resources"] = {"limits": {GPU: str(gpus), "cpu": "1"}}
    return task


def test_the_sample_job_completes_on_gpu_nodes(alone):
    mark = alone.cluster.audit.mark()
    alone.apply(SAMPLE)
    job = alone.wait_phase("example-job", "Completed")
    assert alone.posts(mark) == ["example-job-task1-0", "example-job-task2-0"]
    assert job["status"]["succeeded"] == 2
    assert "pending" not in job["status"] or job["status"]["pending"] == 0
    assert jobs.attempts(job)[0]["how"] == "Done"
    alone.cluster.kubectl(["wait", "--for=condition=Completed", "vcjob/example-job",
                           "--timeout=5s"])
    listed = alone.cluster.kubectl(["get", "vcjob", "example-job"]).stdout
    assert "Completed" in listed, listed


def test_what_ended_goes_but_its_job_stays(alone, name):
    alone.submit(jobs.job(name, jobs.task(run_seconds=0.5)))
    alone.wait_phase(name, "Completed")
    wait.until(lambda: not alone.twins(name) and not alone.pods(name), 30,
               what="twin and pods to go")
    assert jobs.phase(alone.job(name)) == "Completed"


def test_a_gang_waits_for_room_says_what_is_short_and_starts_when_a_node_appears(alone, name):
    mark = alone.cluster.audit.mark()
    alone.submit(jobs.job(name, gpu_task(4, replicas=3)))
    why = alone.wait_pending(name, "NoCapableCluster")
    miss = why["nearestMiss"]
    assert (miss["resource"], miss["have"], miss["want"]) == (GPU, "8", "12")
    assert (miss["fits"], miss["pods"]) == (2, 3)
    wait.until(lambda: [e for e in alone.events(name) if e["reason"] == why["code"]], 10,
               what="an event that says why it waits")
    assert alone.posts(mark) == []
    code, text = alone.explain(name)
    assert code == 0
    assert "Held back by" in text and why["detail"] in text, text
    node, = alone.cluster.add_nodes(NodeShape(1, cpu="16", extended={GPU: "4"}), first=2)
    job = alone.wait_phase(name, "Running", 5)
    assert not jobs.pending(job)
    alone.wait_phase(name, "Completed")
    assert len(alone.posts(mark)) == 3
    alone.cluster.must("DELETE", f"/api/v1/nodes/{node}")


def test_two_gangs_and_room_for_one_and_a_half_run_one_after_the_other(alone, name):
    both = {f"{name}a", f"{name}b"}  # of one second: either may be the first
    for each in sorted(both):
        alone.submit(jobs.job(each, gpu_task(3, replicas=2, run_seconds=5)))
    first = wait.until(lambda: next((n for n in both if jobs.phase(alone.job(n)) == "Running"), None),
                       30, what="one of them to run")
    second, = both - {first}
    why = alone.wait_pending(second, "NoRoom")
    assert why["nearestMiss"]["resource"] == GPU
    assert GPU in why["detail"]
    code, text = alone.explain(second)
    assert code == 0 and "Held back by" in text and GPU in text, text
    assert not alone.pods(second)
    alone.wait_phase(first, "Completed")
    alone.wait_phase(second, "Completed")


def test_the_higher_priority_goes_first(alone, name):
    alone.cluster.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
        "metadata": {"name": f"{name}-high"}, "value": 1000})
    alone.submit(jobs.job(f"{name}first", gpu_task(4, replicas=2, run_seconds=3)))
    alone.wait_phase(f"{name}first", "Running")
    alone.submit(jobs.job(f"{name}low", gpu_task(4, replicas=2, run_seconds=2)))
    alone.wait_pending(f"{name}low", "NoRoom")
    alone.submit(jobs.job(f"{name}high", gpu_task(4, replicas=2, run_seconds=2),
                          priorityClassName=f"{name}-high"))
    alone.wait_phase(f"{name}high", "Running")
    assert jobs.phase(alone.job(f"{name}low")) == "Pending"
    alone.wait_phase(f"{name}low", "Completed")


def test_a_queue_holds_its_ceiling_and_may_be_closed_or_missing(alone, name):
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
             "metadata": {"name": name}, "spec": {"capability": {GPU: "2"}}}
    task = gpu_task(2, run_seconds=600)
    alone.submit(jobs.job(f"{name}a", task, queue=name))
    alone.wait_pending(f"{name}a", "QueueNotFound")
    alone.cluster.must("POST", jobs.QUEUES, queue)
    alone.wait_phase(f"{name}a", "Running")
    alone.submit(jobs.job(f"{name}b", task, queue=name))
    assert GPU in alone.wait_pending(f"{name}b", "Quota")["detail"]
    alone.cluster.merge(f"{jobs.QUEUES}/{name}", {"spec": {"closed": True}})
    alone.wait_pending(f"{name}b", "QueueClosed")
    alone.cluster.merge(f"{jobs.QUEUES}/{name}", {"spec": {"closed": False}})
    alone.cluster.must("DELETE", jobs.path(f"{name}a"))
    alone.wait_phase(f"{name}b", "Running")


def test_an_invalid_job_is_told_what_is_wrong_and_runs_when_it_is_put_right(alone, name):
    alone.submit(jobs.job(name, jobs.task(), minAvailable=3))
    why = alone.wait_pending(name, "Invalid")
    assert "spec.minAvailable" in why["detail"]
    wait.until(lambda: [e for e in alone.events(name) if e["type"] == "Warning"
                        and "spec.minAvailable" in e["message"]], 10, what="a warning")
    code, text = alone.explain(name)
    assert code == 0 and "spec.minAvailable" in text
    alone.cluster.merge(jobs.path(name), {"spec": {"minAvailable": 1}})
    alone.wait_phase(name, "Completed")


def test_a_missing_secret_holds_the_job_back_until_it_is_there(alone, name):
    alone.submit(jobs.job(name, jobs.task(run_seconds=0.5, volumes=[
        {"name": "s", "secret": {"secretName": name}}])))
    why = alone.wait_pending(name, "ReferenceMissing")
    assert name in why["detail"]
    alone.cluster.must("POST", "/api/v1/namespaces/default/secrets", {
        "metadata": {"name": name}, "stringData": {"key": "value"}})
    alone.wait_phase(name, "Completed")


def assert_posted_once(alone, mark, name, replicas):
    """A POST whose client dies counts as given up by the server, whether or not it was carried out."""
    audit = alone.cluster.audit
    assert sorted(audit.pod_posts(mark, name)) == [f"{name}-w-{i}" for i in range(replicas)]
    assert audit.posted_again(mark, name) == {}


def test_the_agent_killed_in_the_middle_makes_every_pod_once(alone, name):
    mark = alone.cluster.audit.mark()
    for i in range(3):
        alone.submit(jobs.job(f"{name}{i}", jobs.task(replicas=2, run_seconds=4)))
    wait.until(lambda: alone.twins(f"{name}0"), 20, what="a claim")
    alone.agent.kill()
    alone.succeed()
    for i in range(3):
        alone.wait_phase(f"{name}{i}", "Completed", 60)
    for i in range(3):
        assert_posted_once(alone, mark, f"{name}{i}", 2)
    assert all(len(jobs.attempts(alone.job(f"{name}{i}"))) == 1 for i in range(3))


# 4: the twin, 5 and 6: the pods, 7 and 8: running and done, 10 to 12: the end of the twin.
@pytest.mark.parametrize("fault", [
    "exit-before:4", "exit-after:4", "lose-answer:4", "exit-after:5", "lose-answer:6",
    "exit-before:7", "exit-after:7", "exit-before:8", "exit-after:8", "lose-answer:8",
    "exit-after:11"])
def test_a_fault_at_one_write_changes_nothing_about_the_end(alone, name, fault):
    alone.agent.end()
    mark = alone.cluster.audit.mark()
    alone.submit(jobs.job(name, jobs.task(replicas=2, run_seconds=0.5)))
    alone.agent.start(fault=fault)
    if fault.startswith("exit"):
        alone.agent.wait_exit(30)
        alone.succeed()
    job = alone.wait_phase(name, "Completed", 60)
    assert_posted_once(alone, mark, name, 2)
    assert [a["generation"] for a in jobs.attempts(job)] == [1]
    wait.until(lambda: not alone.twins(name) and not alone.pods(name), 30,
               what="twin and pods to go")


def test_a_deleted_job_is_ended_and_its_name_is_free_at_once(alone, name):
    alone.submit(jobs.job(name, jobs.task(replicas=2, run_seconds=600)))
    old = alone.wait_phase(name, "Running")["metadata"]["uid"]
    alone.cluster.must("DELETE", jobs.path(name))
    alone.submit(jobs.job(name, jobs.task(run_seconds=0.5)))
    new = alone.wait_phase(name, "Completed", 60)["metadata"]["uid"]
    assert new != old
    assert not [p for p in alone.pods(name) if p["metadata"]["labels"]["federator.dev/uid"] == old
                and p["status"]["phase"] == "Running"]


def test_a_job_deleted_while_no_agent_is_there_is_ended_by_the_next(alone, name):
    alone.submit(jobs.job(name, jobs.task(run_seconds=600)))
    alone.wait_phase(name, "Running")
    alone.agent.kill()
    alone.cluster.must("DELETE", jobs.path(name))
    alone.succeed()
    wait.until(lambda: not alone.pods(name) and not alone.twins(name), 60,
               what="pods and twin to go")


def test_a_job_whose_twin_was_taken_away_is_lost_and_not_begun_again(alone, name):
    mark = alone.cluster.audit.mark()
    alone.submit(jobs.job(name, jobs.task(run_seconds=2)))
    alone.wait_phase(name, "Running")
    alone.agent.kill()
    twin, = alone.twins(name)
    path = "/apis/federator.dev/v1alpha1/namespaces/default/placements/" + twin["metadata"]["name"]
    alone.cluster.must("DELETE", path)
    alone.cluster.merge(path, {"metadata": {"finalizers": None}})
    wait.until(lambda: not alone.pods(name), 40, what="the pod to go with its owner")
    alone.succeed()
    alone.wait(name, lambda job: jobs.dispatch_phase(job) == "Uncertain")
    wait.until(lambda: [e for e in alone.events(name) if e["reason"] == "TwinLost"], 10,
               what="a warning")
    assert alone.posts(mark) == [f"{name}-w-0"]


def test_a_failed_gang_starts_again_until_max_retry(alone, name):
    mark = alone.cluster.audit.mark()
    alone.submit(jobs.job(name, jobs.task("bad", run_seconds=0.5, exit_code=3),
                          jobs.task("good", run_seconds=600), maxRetry=1))
    job = alone.wait_phase(name, "Restarting")
    assert job["status"]["retryCount"] == 1
    job = alone.wait_phase(name, "Failed", 60)
    assert "exit code 3" in job["status"]["state"]["message"]
    assert alone.posts(mark) == [f"{name}-{t}-0" for t in ("bad", "bad", "good", "good")]
    assert len(jobs.attempts(job)) == 1
    wait.until(lambda: not [p for p in alone.pods(name) if p["status"]["phase"] == "Running"], 20,
               what="the other pod to be ended")


def test_twins_of_a_hub_are_not_touched(alone, name):
    twin = {"apiVersion": "federator.dev/v1alpha1", "kind": "Placement",
            "metadata": {"name": "11111111-2222-3333-4444-555555555555-0-1",
                         "labels": {"federator.dev/uid": "11111111-2222-3333-4444-555555555555",
                                    "federator.dev/part": "0", "federator.dev/generation": "1"}},
            "spec": {"job": {"namespace": "default", "name": name,
                             "uid": "11111111-2222-3333-4444-555555555555"},
                     "part": 0, "generation": 1, "incarnation": 0, "clusterUID": "of-a-hub",
                     "desired": "Go", "specHash": "0" * 64, "protocol": 1,
                     "size": {"seq": 1, "tasks": [{"name": "w", "replicas": 1}]},
                     "work": {"queue": "default", "minAvailable": 1, "maxRetry": 3, "tasks": [
                         {"name": "w", "replicas": 1, "minAvailable": 1, "template": {
                             "spec": {"containers": [{"name": "m", "image": "i"}]}}}]}}}
    path = "/apis/federator.dev/v1alpha1/namespaces/default/placements"
    alone.cluster.must("POST", path, twin)
    alone.agent.restart()
    alone.agent.wait_log("is a hub's: not touched")
    alone.submit(jobs.job(name, jobs.task(run_seconds=0.5)))
    alone.wait_phase(name, "Completed")
    found = alone.cluster.get(f"{path}/{twin['metadata']['name']}")
    assert found and "deletionTimestamp" not in found["metadata"]
    alone.cluster.must("DELETE", f"{path}/{twin['metadata']['name']}")


def test_explain_of_a_job_that_is_not_there_fails_with_its_name(alone, name):
    code, text = alone.explain(name)
    assert code == 1
    assert f'there is no job "{name}" in namespace "default"' in text


def test_no_right_was_missing_and_none_is_there_for_nothing(alone):
    """the agent under exactly its role | nothing is refused, no rule for --standalone is unused"""
    forbidden = alone.cluster.audit.forbidden(user=rights.ACCOUNT)
    assert not forbidden, forbidden[:3]
    needed = {(resource, verb) for resource, verb in rights.granted(ROLE)
              if resource in rights.STANDALONE}
    assert needed and not needed - alone.cluster.audit.allowed(rights.ACCOUNT)
