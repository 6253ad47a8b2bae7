"""Failure, restart, deletion, expiry."""
import pytest
from harness import jobs, wait


def test_a_failed_job_without_retries_is_failed_with_its_exit_code(fed, name):
    jobs.submit(fed.hub, jobs.job(name, jobs.task(exit_code=3), maxRetry=0,
                                  placement=jobs.only_in("gpu")))
    found = jobs.wait_phase(fed.hub, name, "Failed")
    assert found["status"]["state"]["reason"] == "TaskFailed"
    assert "exit code 3" in found["status"]["state"]["message"]
    assert found["status"]["failed"] == 1


def test_a_failed_gang_starts_again_in_the_same_cluster_after_ten_seconds(fed, name):
    jobs.submit(fed.hub, jobs.job(name, jobs.task("bad", exit_code=1),
                                  jobs.task("good", run_seconds=3600), maxRetry=1,
                                  placement=jobs.only_in("large")))
    found = jobs.wait_phase(fed.hub, name, "Restarting")
    assert found["status"]["retryCount"] == 1
    found = jobs.wait_phase(fed.hub, name, "Failed", 60)
    assert len(jobs.attempts(found)) == 1
    large = fed.members["large"]
    live = [p for p in jobs.pods_of(large, found["metadata"]["uid"])
            if p["status"]["phase"] in ("Pending", "Running")]
    assert not live


@pytest.mark.parametrize("cluster", ["gpu", "arm"])
def test_a_running_job_that_is_deleted_leaves_nothing(fed, name, cluster):
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=2, run_seconds=3600),
                                  placement=jobs.only_in(cluster)))
    found = jobs.wait_phase(fed.hub, name, "Running")
    uid, member = found["metadata"]["uid"], fed.members[cluster]
    jobs.delete(fed.hub, name)
    jobs.wait_no_placements(fed.hub, uid)
    assert not [p for p in jobs.pods_of(member, uid) if p["status"]["phase"] == "Running"]
    wait.until(lambda: not jobs.twins_of(member, uid) and not jobs.pods_of(member, uid), 20,
               what="twin and pods to be gone")


def test_a_job_deleted_and_made_again_at_once_runs_once(fed, name):
    manifest = jobs.job(name, jobs.task(run_seconds=3600), placement=jobs.only_in("gpu"))
    jobs.submit(fed.hub, manifest)
    old = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    fed.hub.api("DELETE", jobs.path(name))
    manifest["spec"]["tasks"][0] = jobs.task(run_seconds=1)

    def submitted():
        answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", manifest)
        assert answer.status == 201, repr(answer)
        return answer.json()["metadata"]["uid"]
    new = wait.until(submitted, 30, what="the name to be free")
    jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert new != old
    assert len(jobs.pods_of(fed.members["gpu"], new)) == 1
    assert not [p for p in jobs.pods_of(fed.members["gpu"], old)
                if p["status"]["phase"] == "Running"]


def test_a_job_that_waits_is_deleted_at_once(fed, name):
    jobs.submit(fed.hub, jobs.job(name, jobs.task(), placement=jobs.only_in("nowhere")))
    fed.hub.must("DELETE", jobs.path(name))
    assert fed.hub.get(jobs.path(name)) is None


def test_a_job_with_ttl_zero_goes_when_its_outcome_is_recorded(fed, name):
    watch = fed.hub.watch(f"{jobs.JOBS}/namespaces/default/jobs",
                          fieldSelector=f"metadata.name={name}")
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=0), ttlSecondsAfterFinished=0,
                                  placement=jobs.only_in("gpu")))
    fed.hub.wait_for(jobs.path(name), lambda found: found is None, 30)
    wait.until(lambda: [t for t, _ in watch.events if t == "DELETED"], 10)
    phases = [jobs.phase(found) for _, found in watch.events]
    assert "Completed" in phases, phases


def test_env_and_svc_tell_tasks_who_they_are(fed, name):
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
