"""The sandbox must stay true to the real thing: the same run on both, the same account of it."""
import pytest
from harness import jobs, wait


def account(hub, member, name, uid):
    """What a user and an operator see of a job and its pods; names of nodes and times apart."""
    found = hub.get(jobs.path(name))
    status = found["status"]
    attempts = [(a.get("how"), a.get("reason")) for a in jobs.attempts(found)]
    pods = sorted((p["metadata"]["name"].removeprefix(name), p["status"]["phase"],
                   p["spec"].get("restartPolicy"), exit_code(p))
                  for p in jobs.pods_of(member, uid))
    return {"phase": jobs.phase(found), "reason": status["state"].get("reason"),
            "message": status["state"].get("message", "").replace(name, "JOB"),
            "counts": {k: status.get(k) for k in ("running", "succeeded", "failed", "retryCount")},
            "attempts": attempts, "pods": pods}


def exit_code(pod):
    for status in pod["status"].get("containerStatuses", []):
        if "terminated" in status.get("state", {}):
            return status["state"]["terminated"]["exitCode"]
    return None


def run_to(phase, *tasks, **spec):
    """A scenario: a job that ends in a phase."""
    def play(hub, member, cluster, name):
        made = jobs.submit(hub, jobs.job(name, *tasks, placement=jobs.only_in(cluster), **spec))
        jobs.wait_phase(hub, name, phase, 60)
        uid = made["metadata"]["uid"]
        return account(hub, member, name, uid)
    return play


def started(hub, cluster, name, *tasks, **spec):
    made = jobs.submit(hub, jobs.job(name, *tasks, placement=jobs.only_in(cluster), **spec))
    jobs.wait_phase(hub, name, "Running", 60)
    return made["metadata"]["uid"]


def a_pod_deleted_by_others_is_made_again(hub, member, cluster, name):
    uid = started(hub, cluster, name, jobs.task(run_seconds=3600))
    path = f"/api/v1/namespaces/default/pods/{name}-w-0"
    old = member.get(path)["metadata"]["uid"]
    member.must("DELETE", path)
    member.wait_for(path, lambda p: p and p["metadata"]["uid"] != old
                    and p["status"]["phase"] == "Running", 30)
    return account(hub, member, name, uid)


def a_deleted_job_leaves_nothing(hub, member, cluster, name):
    uid = started(hub, cluster, name, jobs.task(replicas=2, run_seconds=3600))
    jobs.delete(hub, name)
    wait.until(lambda: not jobs.pods_of(member, uid) and not jobs.twins_of(member, uid), 30,
               what="pods and twin to be gone")
    return []


def a_name_taken_by_a_local_pod_refuses(hub, member, cluster, name):
    member.must("POST", "/api/v1/namespaces/default/pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-w-0"},
        "spec": {"nodeName": f"{cluster}-0", "containers": [{"name": "c", "image": "i"}]}})
    jobs.submit(hub, jobs.job(name, jobs.task(), placement=jobs.only_in(cluster)))
    found = hub.wait_for(jobs.path(name), lambda j: jobs.attempts(j)
                         and jobs.attempts(j)[0].get("how"), 30)
    attempt = jobs.attempts(found)[0]
    jobs.delete(hub, name)
    return attempt["how"], attempt["reason"]


def a_gang_without_room_says_what_is_short(hub, member, cluster, name):
    filler = f"{name}-filler"
    started(hub, cluster, filler, jobs.task(replicas=3, requests={"nvidia.com/gpu": "1"},
                                            run_seconds=3600))
    jobs.submit(hub, jobs.job(name, jobs.task(replicas=4, requests={"nvidia.com/gpu": "1"}),
                              placement=jobs.only_in(cluster)))
    why = jobs.wait_pending(hub, name, lambda p: p["code"] == "NoRoom")
    for made in (name, filler):
        jobs.delete(hub, made)
    miss = why["nearestMiss"]
    return why["code"], miss["resource"], miss["have"], miss["want"], miss["fits"], miss["pods"]


def configmaps_are_copied_for_the_pods(hub, member, cluster, name):
    hub.api("POST", "/api/v1/namespaces/default/configmaps", {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}})
    wanted = jobs.task(run_seconds=3600)
    wanted["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": name}}]
    uid = started(hub, cluster, name, wanted)
    copy = member.get(f"/api/v1/namespaces/default/configmaps/{name}-{uid[:8]}")
    owner = copy["metadata"]["ownerReferences"][0]
    return copy["data"], owner["kind"], owner["controller"] if "controller" in owner else None


SCENARIOS = {
    "completes": run_to("Completed", jobs.task(replicas=3)),
    "fails_without_retries": run_to("Failed", jobs.task(exit_code=7), maxRetry=0),
    "restarts_its_gang": run_to("Restarting", jobs.task(exit_code=1), maxRetry=1),
    "ends_by_min_success": run_to("Completed", jobs.task("a"), jobs.task("b", run_seconds=3600),
                                  minSuccess=1),
    "runs_with_env_and_svc": run_to("Completed", jobs.task("ps"), jobs.task("w", replicas=2),
                                    plugins={"env": [], "svc": []}),
    "pod_deleted_by_others": a_pod_deleted_by_others_is_made_again,
    "deleted_while_running": a_deleted_job_leaves_nothing,
    "name_taken": a_name_taken_by_a_local_pod_refuses,
    "no_room": a_gang_without_room_says_what_is_short,
    "configmaps": configmaps_are_copied_for_the_pods,
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_sandbox_and_real_cluster_give_the_same_account(pair, name, scenario):
    """the same run on a sandbox and on a real cluster: {scenario}
    | the same account of it: phase, reasons, counts, attempts, pods, exit codes"""
    play = SCENARIOS[scenario]
    accounts = {}
    for cluster, member in pair.members.items():
        accounts[cluster] = play(pair.hub, member, cluster, f"{name}{cluster[0]}")
        jobs.delete(pair.hub, f"{name}{cluster[0]}")
    assert accounts["sandbox"] == accounts["real"]
