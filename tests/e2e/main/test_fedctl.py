"""fedctl, command by command, at a hub with clusters."""
import json
import re

import pytest
import yaml
from harness import argv, jobs, wait
from harness.rest import ApiServer, write_kubeconfig

REFUSED, USAGE, UNREACHABLE, TIMED_OUT, JOB_FAILED = 1, 2, 3, 4, 5


@pytest.fixture
def fedctl(fed):
    """fedctl(*args) is what it prints; fedctl.fails(code, *args) what it says on standard error."""
    def run(*args, stdin=None):
        return fed.hub.fedctl(args, stdin=stdin).stdout

    def fails(code, *args, stdin=None):
        done = fed.hub.fedctl(args, stdin=stdin, check=False)
        assert done.returncode == code, done
        return done.stderr
    run.fails = fails
    return run


def quick(name, **more):
    return jobs.job(name, jobs.task(), placement=jobs.only_in("arm"), **more)


def long(name, replicas=1, **more):
    return jobs.job(name, jobs.task(replicas=replicas, run_seconds=3600),
                    placement=jobs.only_in("arm"), **more)


def test_submit_waits_for_the_end_and_tells_of_it(fedctl, name):
    """fedctl submit --wait of a job that completes, and of one that fails | exit 0, exit 5"""
    said = fedctl("submit", "-", "--wait", stdin=json.dumps(quick(name)))
    lines = said.splitlines()
    assert lines[0] == f"job default/{name} submitted" and lines[-1] == f"job {name} completed"
    bad = jobs.job(f"{name}-bad", jobs.task(exit_code=3), maxRetry=0,
                   placement=jobs.only_in("arm"))
    said = fedctl.fails(JOB_FAILED, "submit", "-", "--wait", stdin=json.dumps(bad))
    assert f"job {name}-bad failed" in said and "exit code 3" in said


def test_submit_of_several_kinds(fed, fedctl, name):
    """fedctl submit of a queue and a job in it, twice
    | made in order; again: nothing is done, as the job is refused, with what to do"""
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
             "metadata": {"name": name}, "spec": {"capability": {"cpu": "4"}}}
    text = yaml.safe_dump_all([queue, long(name, queue=name)])
    assert fedctl("submit", "-", stdin=text).splitlines() == [
        f"queue {name} created", f"job default/{name} submitted"]
    done = fed.hub.fedctl(["submit", "-"], stdin=text, check=False)
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert f"fedctl cancel {name}" in done.stderr


def test_submit_checks_and_keeps_nothing(fed, fedctl, name):
    """fedctl submit --dry-run; fedctl submit of a bad job
    | nothing is kept; one line that names the field"""
    assert fedctl("submit", "--dry-run", "-", stdin=json.dumps(quick(name))) == \
        f"job default/{name} submitted (dry run)\n"
    bad = quick(name)
    bad["spec"]["tasks"][0]["replicas"] = -1
    said = fedctl.fails(REFUSED, "submit", "-", stdin=json.dumps(bad))
    assert said.startswith("error: ") and said.count("\n") == 1
    assert "spec.tasks[0].replicas: " in said and "-1" in said
    assert fed.hub.get(jobs.path(name)) is None


def test_get_in_all_its_forms(fed, fedctl, name):
    """fedctl get jobs, -o wide, json, yaml, name, -A, -l | the table and the object itself"""
    made = long(name, replicas=2)
    made["metadata"]["labels"] = {"of": name}
    jobs.submit(fed.hub, made)
    jobs.wait_phase(fed.hub, name, "Running")
    table = fedctl("get", "jobs", "-l", f"of={name}").splitlines()
    assert table[0].split()[:5] == ["NAME", "QUEUE", "PHASE", "CLUSTER", "TASKS"]
    assert table[1].split()[:5] == [name, "default", "Running", "arm", "2/2"] and len(table) == 2
    assert fedctl("get", "jobs", "-A", "-l", f"of={name}").split()[0] == "NAMESPACE"
    assert re.search(r"\d{4}-\d\d-\d\d", fedctl("get", f"job/{name}", "-o", "wide"))
    assert fedctl("get", "vcjob", name, "-o", "name") == f"job.batch.volcano.sh/{name}\n"
    stored = fed.hub.get(jobs.path(name))
    assert json.loads(fedctl("get", f"job/{name}", "-o", "json")) == stored
    assert yaml.safe_load(fedctl("get", f"job/{name}", "-o", "yaml")) == stored
    assert fedctl("get", "clusters", "-o", "name").split() == [
        f"cluster.federator.dev/{cluster}" for cluster in ("arm", "gpu", "large")]
    assert f'"{name}-none"' in fedctl.fails(REFUSED, "get", f"job/{name}-none")


def test_get_goes_on_with_a_line_for_every_change(fed, run, name):
    """fedctl get jobs --watch | a line for every change, the last one Completed"""
    watcher = run.process(f"{name}-watch", argv.fedctl(fed.hub.kubeconfig, [
        "get", "jobs", "--watch"])).start()
    try:
        watcher.wait_log("NAME")
        jobs.submit(fed.hub, quick(name))
        watcher.wait_log(rf"(?m)^{name} .*Running", 30)
        watcher.wait_log(rf"(?m)^{name} .*Completed", 30)
    finally:
        run.forget(watcher)


def test_describe(fed, fedctl, name):
    """fedctl describe | all that is known of a job, a queue, a cluster"""
    jobs.submit(fed.hub, long(name))
    jobs.wait_phase(fed.hub, name, "Running")
    said = fedctl("describe", f"job/{name}", "queue/default", "cluster/arm")
    for pattern in (rf"Name\s+{name}$", r"Phase\s+Running", r"Cluster\s+arm", r"Name\s+default$",
                    r"Name\s+arm$"):
        assert re.search(pattern, said, re.MULTILINE), (pattern, said)


def test_wait_ends_by_what_becomes_of_the_job(fed, fedctl, name):
    """fedctl wait | 0 completed or running, 4 timed out, 5 failed, 1 no such job"""
    jobs.submit(fed.hub, long(name))
    assert fedctl("wait", name, "--for", "running").splitlines()[-1] == f"job {name} runs"
    assert "timed out" in fedctl.fails(TIMED_OUT, "wait", f"job/{name}", "--timeout", "1s")
    jobs.submit(fed.hub, jobs.job(f"{name}-bad", jobs.task(exit_code=3), maxRetry=0,
                                  placement=jobs.only_in("arm")))
    fedctl.fails(JOB_FAILED, "wait", f"{name}-bad")
    assert fedctl("wait", f"{name}-bad", "--for", "ended").splitlines()[-1] == \
        f"job {name}-bad failed"
    fedctl.fails(REFUSED, "wait", f"{name}-none")


def test_a_job_that_is_over_at_once_has_run(fed, fedctl, name):
    """fedctl get of a job whose pod ends at once | RAN says how long"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=0), placement=jobs.only_in("arm")))
    jobs.wait_phase(fed.hub, name, "Completed")
    header, row = fedctl("get", "jobs", name).splitlines()
    assert re.fullmatch(r"\d+s", row[header.index("RAN"):].strip()), row


def test_a_cluster_that_is_accepted_twice_was_accepted_already(fedctl):
    """fedctl cluster accept of one that has joined | says so"""
    assert fedctl("cluster", "accept", "arm") == "cluster arm was accepted already\n"


def test_logs_of_one_pod(fed, fedctl, name):
    """fedctl logs --task --index --tail | the last lines of that pod alone"""
    made = long(name, replicas=2, plugins={"env": []})
    made["spec"]["tasks"][0]["template"]["metadata"]["annotations"][
        "sandbox.federator.dev/runtime"] = "process"
    made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"] = [
        "sh", "-c", "for i in 1 2 3; do echo $VC_TASK_INDEX-$i; done"]
    jobs.submit(fed.hub, made)
    jobs.wait_phase(fed.hub, name, "Completed")
    assert fedctl("logs", name, "--task", "w", "--index", "1") == "1-1\n1-2\n1-3\n"
    assert fedctl("logs", f"job/{name}", "-t", "w", "-i", "0", "--tail", "1") == "0-3\n"
    fedctl.fails(REFUSED, "logs", name, "--task", "other")


def test_explain_says_the_same_as_an_object(fed, fedctl, name):
    """fedctl explain -o json | what the text says, for programs"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(), placement=jobs.only_in("nowhere")))
    why = jobs.wait_pending(fed.hub, name, lambda p: p["code"])
    told = json.loads(fedctl("explain", f"job/{name}", "-o", "json"))
    assert (told["code"], told["detail"]) == (why["code"], why["detail"]), told
    assert why["detail"] in fedctl("explain", name)


def test_cancel_deletes_and_says_so(fed, fedctl, name):
    """fedctl cancel --wait | says that it deletes; job and pods are gone when it returns"""
    jobs.submit(fed.hub, long(name))
    uid = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    said = fedctl("cancel", name, "--wait")
    assert f"job {name} " in said and "deleted" in said
    assert fed.hub.get(jobs.path(name)) is None
    assert not [p for p in jobs.pods_of(fed.members["arm"], uid)
                if p["status"]["phase"] == "Running"]
    assert f'"{name}"' in fedctl.fails(REFUSED, "cancel", name)
    assert fedctl("cancel", name, "--ignore-not-found") == ""


def test_queues(fed, fedctl, name):
    """fedctl queue create, list | the queue with its ceiling, closed, refuses jobs"""
    assert fedctl("queue", "create", name, "--capability", "cpu=4,memory=2Gi", "--closed") == \
        f"queue {name} created\n"
    assert fed.hub.get(f"{jobs.QUEUES}/{name}")["spec"]["capability"] == {
        "cpu": "4", "memory": "2Gi"}
    wait.until(lambda: re.search(rf"(?m)^{name}\s+Closed\s", fedctl("queue", "list")),
               what="the queue to be listed as closed")
    said = fedctl.fails(REFUSED, "submit", "-", stdin=json.dumps(quick(name, queue=name)))
    assert f'"{name}"' in said and "closed" in said
    assert name in fedctl.fails(REFUSED, "queue", "create", name)


def test_clusters_are_listed_and_cordoned(fed, fedctl):
    """fedctl cluster list, cordon, uncordon | what is Ready and what is free; the cordon shows"""
    def state(cluster):
        return re.search(rf"(?m)^{cluster}\s+(.*?)\s+\d+\s", fedctl("cluster", "list")).group(1)
    assert [state(cluster) for cluster in ("arm", "gpu", "large")] == ["Ready"] * 3
    assert "nvidia.com/gpu" in fedctl("cluster", "list", "-o", "wide")
    try:
        assert fedctl("cluster", "cordon", "large").startswith("cluster large cordoned")
        assert state("large") == "Ready, cordoned"
    finally:
        fedctl("cluster", "uncordon", "large")
    assert state("large") == "Ready"


def test_a_cluster_joins_by_a_token_of_fedctl_and_its_consent(fed, fedctl, name):
    """fedctl cluster token create, accept | the token asks, for its name alone; then it is accepted
    """
    hub = fed.hub
    said = fedctl.fails(REFUSED, "cluster", "accept", name)
    assert "has not asked to join" in said and f"fedctl cluster token create {name}" in said
    token = fedctl("cluster", "token", "create", name, "--ttl", "1h").strip()
    asking = ApiServer(hub.run, "hub", write_kubeconfig(
        hub.run.write(f"{name}.kubeconfig", ""), hub.url, f"{hub.state}/pki/ca.crt", token=token))
    path = f"{jobs.FEDERATOR}/clusters"
    body = {"apiVersion": "federator.dev/v1alpha1", "kind": "Cluster", "metadata": {"name": name}}
    assert asking.api("POST", path, dict(body, metadata={"name": "x"})).status == 403
    asking.must("POST", path, body)
    try:
        assert fedctl("cluster", "accept", name) == f"cluster {name} accepted\n"
        assert hub.get(f"{path}/{name}")["spec"]["accepted"] is True
    finally:
        hub.must("DELETE", f"{path}/{name}")


def test_version_of_both_sides(fed, fedctl):
    """fedctl version | of itself and of the federator"""
    client, server = fedctl("version").splitlines()
    assert re.match(r"fedctl +\d+\.\d+\.\d+$", client)
    assert server.startswith("federator ") and fed.hub.url in server


def test_who_cannot_be_reached_and_what_is_wrong_usage(fed, fedctl):
    """no federator there; wrong usage | exit 3 and 2, one line that says what to do"""
    said = fedctl.fails(UNREACHABLE, "get", "jobs", "--server", "https://127.0.0.1:1")
    assert said.startswith("error: cannot reach the federator at https://127.0.0.1:1")
    for args in (["get"], ["bogus"], ["get", "jobs", "--bogus"], ["wait", "x", "--for", "never"]):
        assert fedctl.fails(USAGE, *args).startswith("error: "), args
