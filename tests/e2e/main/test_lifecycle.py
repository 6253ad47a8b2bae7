"""Failure, restart, deletion, expiry."""
import datetime

import pytest
from harness import jobs, wait


def test_a_failed_job_without_retries_is_failed_with_its_exit_code(fed, name):
    """a pod fails, maxRetry 0 | Failed, with its exit code"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(exit_code=3), maxRetry=0,
                                  placement=jobs.only_in("gpu")))
    found = jobs.wait_phase(fed.hub, name, "Failed")
    assert found["status"]["state"]["reason"] == "TaskFailed"
    assert "exit code 3" in found["status"]["state"]["message"]
    assert found["status"]["failed"] == 1


def counts(found):
    return [found["status"][state] for state in ("pending", "running", "succeeded", "failed")]


def seconds(time):
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def is_failed(kind, pod):
    return pod["status"].get("phase") == "Failed"


def test_a_failed_gang_starts_again_in_the_same_cluster_after_ten_seconds(fed, name):
    """a pod fails, maxRetry 1 | its gang is made again 10 s later in the same cluster, then Failed
    """
    large, mark = fed.members["large"], fed.members["large"].audit.mark()
    with large.watch("/api/v1/namespaces/default/pods",
                     fieldSelector=f"metadata.name={name}-bad-0") as watch:
        jobs.submit(fed.hub, jobs.job(name, jobs.task("bad", exit_code=1),
                                      jobs.task("good", run_seconds=3600), maxRetry=1,
                                      placement=jobs.only_in("large")))
        found = jobs.wait_phase(fed.hub, name, "Restarting")
        assert found["status"]["retryCount"] == 1
        _, pod = watch.wait_for(is_failed)
    found = jobs.wait_phase(fed.hub, name, "Failed", 60)
    assert [a["cluster"] for a in jobs.attempts(found)] == ["large"]
    ended = seconds(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"])
    made = [(e["objectRef"]["name"], seconds(e["requestReceivedTimestamp"]) - ended)
            for e in large.audit.events(mark, verb="create", resource="pods")
            if e["objectRef"].get("name", "").startswith(f"{name}-")
            and "dryRun" not in e["requestURI"]]
    names = [f"{name}-{task}-0" for task in ("bad", "bad", "good", "good")]
    assert sorted(pod for pod, _ in made) == names
    assert all(9.9 < after < 19 for _, after in made[2:]), made
    live = [p for p in jobs.pods_of(large, found["metadata"]["uid"])
            if p["status"]["phase"] in ("Pending", "Running")]
    assert not live
    assert counts(found) == [0, 0, 0, 1], "the good pod was ended, and neither waits nor failed"


@pytest.mark.parametrize("cluster", ["gpu", "arm"])
def test_restarts_of_containers_above_the_tasks_maxretry_are_a_failed_pod(fed, name, cluster):
    """OnFailure, and more container restarts than the task's maxRetry, in {cluster}
    | a failed pod; with maxRetry 0 of the job it is Failed"""
    flaky = jobs.task(restart="OnFailure", exit_code=1, run_seconds=0.2)
    jobs.submit(fed.hub, jobs.job(name, dict(flaky, maxRetry=1), maxRetry=0,
                                  placement=jobs.only_in(cluster)))
    jobs.submit(fed.hub, jobs.job(f"{name}-3", flaky, maxRetry=0, placement=jobs.only_in(cluster)))
    for job, restarts in ((name, 2), (f"{name}-3", 4)):
        found = jobs.wait_phase(fed.hub, job, "Failed")
        state = found["status"]["state"]
        assert state["reason"] == "TaskFailed"
        assert state["message"].endswith(f"its containers restarted {restarts} times"), state
        assert counts(found) == [0, 0, 0, 1]


@pytest.mark.parametrize("cluster", ["gpu", "arm"])
def test_a_running_job_that_is_deleted_leaves_nothing(fed, name, cluster):
    """a running job is deleted, in {cluster} | nothing is left of it"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=2, run_seconds=3600),
                                  placement=jobs.only_in(cluster)))
    found = jobs.wait_phase(fed.hub, name, "Running")
    uid, member = found["metadata"]["uid"], fed.members[cluster]
    jobs.delete(fed.hub, name)
    jobs.wait_no_placements(fed.hub, uid)
    assert not [p for p in jobs.pods_of(member, uid) if p["status"]["phase"] == "Running"]
    wait.until(lambda: not jobs.twins_of(member, uid) and not jobs.pods_of(member, uid), 20,
               what="twin and pods to be gone")


def record_phase(found):
    return found["status"].get("dispatch", {}).get("phase")


def is_at(fed, manifest, stage):
    """Submits the job and leaves it Pending, Confirmed (offered, unclaimed) or Running: its uid."""
    if stage == "Confirmed":
        fed.agents["gpu"].process.stop()
    uid = jobs.submit(fed.hub, manifest)["metadata"]["uid"]
    fed.hub.wait_for(jobs.path(manifest["metadata"]["name"]), lambda found: (
        record_phase(found) == stage if stage != "Pending" else jobs.pending(found)))
    return uid


@pytest.mark.parametrize("stage", ["Pending", "Confirmed", "Running"])
def test_a_job_deleted_and_made_again_at_once_under_its_name(fed, name, stage):
    """a job deleted while {stage}, made again at once under the same name
    | everything of the old one goes, the new one runs once"""
    gpu, agent = fed.members["gpu"], fed.agents["gpu"].process
    mark = gpu.audit.mark()
    where = "nowhere" if stage == "Pending" else "gpu"
    old = is_at(fed, jobs.job(name, jobs.task(run_seconds=3600), placement=jobs.only_in(where)),
                stage)
    fed.hub.must("DELETE", jobs.path(name))
    manifest = jobs.job(name, jobs.task(run_seconds=1), placement=jobs.only_in("gpu"))

    def submitted():
        answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", manifest)
        assert answer.status == 201, repr(answer)
        return answer.json()["metadata"]["uid"]
    try:
        new = wait.until(submitted, 30, what="the name to be free")
    finally:
        agent.cont()
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert found["metadata"]["uid"] == new != old
    assert len(jobs.attempts(found)) == 1
    jobs.wait_no_placements(fed.hub, old)
    wait.until(lambda: not jobs.twins_of(gpu, old) and not jobs.pods_of(gpu, old), 20,
               what="all of the old one to be gone")
    assert len(jobs.pods_of(gpu, new)) == 1
    made = gpu.audit.pod_posts(mark, name)[f"{name}-w-0"].count(201)
    assert made == (2 if stage == "Running" else 1)


def test_a_job_that_waits_is_deleted_at_once(fed, name):
    jobs.submit(fed.hub, jobs.job(name, jobs.task(), placement=jobs.only_in("nowhere")))
    fed.hub.must("DELETE", jobs.path(name))
    assert fed.hub.get(jobs.path(name)) is None


def test_a_job_with_ttl_zero_goes_when_its_outcome_is_recorded(fed, name):
    """ttl 0, the pod ends at once | the outcome is recorded before the job goes"""
    watch = fed.hub.watch(f"{jobs.JOBS}/namespaces/default/jobs",
                          fieldSelector=f"metadata.name={name}")
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=0), ttlSecondsAfterFinished=0,
                                  placement=jobs.only_in("gpu")))
    fed.hub.wait_for(jobs.path(name), lambda found: found is None, 30)
    wait.until(lambda: [t for t, _ in watch.events if t == "DELETED"], 10)
    phases = [jobs.phase(found) for _, found in watch.events]
    assert "Completed" in phases, phases


def test_env_and_svc_tell_tasks_who_they_are(fed, name):
    """plugins env and svc | pods know their index and the hosts of the others"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task("ps", run_seconds=3600),
                                  jobs.task("worker", replicas=2, run_seconds=3600),
                                  plugins={"env": [], "svc": []}, placement=jobs.only_in("gpu")))
    uid = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    pods = {p["metadata"]["name"]: p for p in jobs.pods_of(fed.members["gpu"], uid)}
    assert sorted(pods) == [f"{name}-ps-0", f"{name}-worker-0", f"{name}-worker-1"]
    pod = pods[f"{name}-worker-1"]
    env = {e["name"]: e.get("value") for e in pod["spec"]["containers"][0]["env"]}
    assert env["VC_TASK_INDEX"] == "1"
    assert env["VC_WORKER_NUM"] == "2"
    assert pod["spec"]["subdomain"] == name
    service = fed.members["gpu"].get(f"/api/v1/namespaces/default/services/{name}")
    assert service["spec"]["clusterIP"] == "None"


def test_configmaps_and_secrets_travel_with_the_job(fed, name):
    """a job refers to a ConfigMap and a Secret | copies are there, and its pods refer to them"""
    fed.hub.must("POST", "/api/v1/namespaces/default/configmaps",
                 {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                  "data": {"key": "value"}})
    fed.hub.must("POST", "/api/v1/namespaces/default/secrets",
                 {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
                  "stringData": {"password": "hush"}})
    wanted = jobs.task(run_seconds=3600)
    wanted["template"]["spec"]["containers"][0]["envFrom"] = [
        {"configMapRef": {"name": name}}, {"secretRef": {"name": name}}]
    jobs.submit(fed.hub, jobs.job(name, wanted, placement=jobs.only_in("gpu")))
    uid = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    gpu = fed.members["gpu"]
    sources = jobs.pods_of(gpu, uid)[0]["spec"]["containers"][0]["envFrom"]
    copy_name = sources[0]["configMapRef"]["name"]
    assert copy_name == f"{name}-{uid[:8]}"
    assert gpu.get(f"/api/v1/namespaces/default/configmaps/{copy_name}")["data"] == {
        "key": "value"}
    assert gpu.get(f"/api/v1/namespaces/default/secrets/{copy_name}")["data"] == {
        "password": "aHVzaA=="}
