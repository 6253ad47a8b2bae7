"""The test machinery itself, on real servers: what the suites rely on must be true."""
import http.client
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from harness import wait
from harness.cluster import MemberCluster
from harness.etcd import Etcd
from harness.nodes import NodeShape
from harness.pods import bound_pod, exit_code, has_ended, phase
from harness.process import process_start_time
from harness.run import Run

PODS = "/api/v1/namespaces/default/pods"
READ_PODS = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list]}
"""


@pytest.fixture(scope="module")
def cluster(run):
    began = time.monotonic()
    made = MemberCluster(run, "probe").start()
    print(f"member cluster ready in {time.monotonic() - began:.1f} s")
    made.add_nodes(NodeShape(2, cpu="32", extended={"nvidia.com/gpu": "8"}))
    yield made
    made.end()


def start_pod(cluster, name, **options):
    cluster.must("POST", PODS, bound_pod(name, "probe-0", **options))
    return f"{PODS}/{name}"


def test_a_cluster_starts_within_seconds(run):
    began = time.monotonic()
    made = MemberCluster(run, "quick").start()
    made.add_nodes(NodeShape(20))
    took = time.monotonic() - began
    made.end()
    assert took < 20, f"{took:.1f} s"


def test_nodes_are_ready_with_the_shape_that_was_asked_for(cluster):
    node = cluster.get("/api/v1/nodes/probe-1")
    assert node["status"]["allocatable"] == {
        "cpu": "32", "memory": "128Gi", "pods": "110", "nvidia.com/gpu": "8"}
    assert node["metadata"]["labels"]["kubernetes.io/arch"] == "amd64"
    assert "taints" not in node["spec"]


def test_a_pod_ends_after_three_seconds_with_exit_0(cluster, name):
    began = time.time()
    path = start_pod(cluster, name)
    pod = cluster.wait_for(path, has_ended)
    assert (phase(pod), exit_code(pod)) == ("Succeeded", 0)
    assert 2.9 < time.time() - began < 5


def test_annotations_say_how_long_a_pod_runs_and_how_it_ends(cluster, name):
    began = time.time()
    path = start_pod(cluster, name, run_seconds=1.5, exit_code=7)
    pod = cluster.wait_for(path, has_ended)
    assert (phase(pod), exit_code(pod)) == ("Failed", 7)
    assert 1.4 < time.time() - began < 2.9


def test_a_change_to_a_running_pod_does_not_start_its_time_again(cluster, name):
    began = time.time()
    path = start_pod(cluster, name, run_seconds=2)
    cluster.wait_for(path, lambda pod: phase(pod) == "Running")
    change = {"metadata": {"labels": {}}}
    while not has_ended(cluster.merge(path, change)):
        change["metadata"]["labels"]["at"] = str(time.time())
        assert time.time() - began < 3.5
        time.sleep(0.2)


@pytest.mark.parametrize("policy, code", [("OnFailure", 3), ("Always", 0)])
def test_a_container_is_restarted_as_its_pod_wants(cluster, name, policy, code):
    path = start_pod(cluster, name, run_seconds=0.3, exit_code=code, restart=policy)

    def restarted_twice(pod):
        status = pod["status"].get("containerStatuses", [{}])[0]
        return status.get("restartCount", 0) >= 2
    pod = cluster.wait_for(path, restarted_twice)
    last = pod["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (phase(pod), last["exitCode"]) == ("Running", code)
    cluster.must("DELETE", path)


def test_on_failure_lets_a_pod_end_that_succeeds(cluster, name):
    path = start_pod(cluster, name, run_seconds=0.3, restart="OnFailure")
    assert phase(cluster.wait_for(path, has_ended)) == "Succeeded"


def test_a_deleted_pod_goes(cluster, name):
    path = start_pod(cluster, name, run_seconds=60)
    cluster.wait_for(path, lambda pod: phase(pod) == "Running")
    cluster.must("DELETE", path)
    cluster.wait_for(path, lambda pod: pod is None, timeout=5)


def test_a_finalizer_keeps_a_deleted_pod_and_how_it_ended(cluster, name):
    path = start_pod(cluster, name, run_seconds=60, finalizers=["federator.dev/test"])
    cluster.wait_for(path, lambda pod: phase(pod) == "Running")
    cluster.must("DELETE", path)
    pod = cluster.wait_for(path, has_ended)
    assert (phase(pod), exit_code(pod)) == ("Failed", 143)
    wait.holds(lambda: cluster.get(path), 1, what="a pod with a finalizer")
    cluster.merge(path, {"metadata": {"finalizers": None}})
    cluster.wait_for(path, lambda pod: pod is None, timeout=5)


def test_stop_seconds_is_how_long_a_pod_takes_to_die(cluster, name):
    path = start_pod(cluster, name, run_seconds=60, stop_seconds=1)
    cluster.wait_for(path, lambda pod: phase(pod) == "Running")
    began = time.monotonic()
    cluster.must("DELETE", path)
    cluster.wait_for(path, lambda pod: pod is None, timeout=5)
    assert 0.9 < time.monotonic() - began < 3


@pytest.mark.parametrize("version", ["1.36", "1.32"])
def test_both_kubectls_work(cluster, name, version):
    client = cluster.kubectl(["version", "--client"], version=version).stdout
    assert f"v{version}." in client.splitlines()[0]
    start_pod(cluster, name)
    assert name in cluster.kubectl(["get", "pods"], version=version).stdout
    failed = cluster.kubectl(["get", "pod", "absent"], version=version, check=False)
    assert failed.returncode == 1 and "NotFound" in failed.stderr


def test_a_container_has_a_log(cluster, name):
    cluster.wait_for(start_pod(cluster, name), lambda pod: phase(pod) == "Running")
    assert cluster.kubectl(["logs", name]).stdout == "hello from a simulated container\n"


def test_a_service_account_has_the_rights_of_its_role_and_no_more(cluster, run):
    role = run.write("reader.yaml", READ_PODS)
    since = cluster.audit.mark()
    reader = cluster.as_user(cluster.service_account_kubeconfig(role, name="reader"))
    assert reader.api("GET", PODS).status == 200
    assert reader.api("GET", "/api/v1/nodes").status == 403
    user = "system:serviceaccount:federator-system:reader"
    refused = cluster.audit.forbidden(since, user)
    assert [e["objectRef"]["resource"] for e in refused] == ["nodes"]
    assert len(cluster.audit.events(since, user, "list", "pods")) == 1


def test_the_audit_log_counts_every_post(cluster, name):
    since = cluster.audit.mark()
    start_pod(cluster, name)
    assert cluster.api("POST", PODS, bound_pod(name, "probe-0")).status == 409
    posts = cluster.audit.events(since, "admin", "create", "pods", name=name)
    assert [e["responseStatus"]["code"] for e in posts] == [201, 409]


def test_a_watch_sees_every_change(cluster, name):
    version = cluster.must("GET", PODS)["metadata"]["resourceVersion"]
    with cluster.watch(PODS, resourceVersion=version) as watch:
        path = start_pod(cluster, name, run_seconds=0.2)
        watch.wait_for(lambda _, pod: pod["metadata"]["name"] == name and has_ended(pod))
        cluster.must("DELETE", path)
        watch.wait_for(lambda kind, pod: kind == "DELETED" and pod["metadata"]["name"] == name)
    assert watch.events[0][0] == "ADDED"


def test_a_killed_apiserver_comes_back_with_what_it_had(cluster, name):
    path = start_pod(cluster, name, run_seconds=60)
    cluster.apiserver.kill()
    assert not cluster.is_ready()
    cluster.apiserver.start()
    cluster.wait_ready()
    cluster.wait_for(path, lambda pod: phase(pod) == "Running", timeout=30)
    cluster.must("DELETE", path)
    cluster.wait_for(path, lambda pod: pod is None, timeout=30)


def test_a_stopped_apiserver_hangs_and_goes_on(cluster):
    cluster.apiserver.stop()
    with pytest.raises((OSError, http.client.HTTPException)):
        cluster.api("GET", PODS, timeout=0.5)
    cluster.apiserver.cont()
    wait.until(cluster.is_ready, 20)


def test_etcd_and_kwok_can_be_restarted(cluster, name):
    cluster.etcd.process.restart(gracefully=False)
    cluster.etcd.wait_ready()
    cluster.kwok.restart()
    wait.until(lambda: cluster.api("POST", PODS, bound_pod(name, "probe-0")).status in (201, 409),
               30, what="a write after the restart of etcd")
    cluster.wait_for(f"{PODS}/{name}", has_ended, timeout=30)


@pytest.mark.parametrize("version", ["3.4", "3.6"])
def test_both_etcds_run(run, version):
    etcd = Etcd(run, f"etcd-{version}", version).start()
    status, answer = etcd.request("POST", "/v3/kv/put", {"key": "YQ==", "value": "Yg=="})
    assert (status, answer["header"]["revision"]) == (200, "2")
    assert etcd.request("GET", "/version")[1]["etcdserver"].startswith(version + ".")
    etcd.process.end()


# What must fail does fail.

@pytest.fixture
def other_run():
    made = Run()
    yield made
    made.close()


@pytest.mark.parametrize("report", [
    "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1",
    "==1==ERROR: LeakSanitizer: detected memory leaks",
    "store/etcd.c:12:3: runtime error: signed integer overflow"])
def test_a_sanitizer_report_fails_the_test(other_run, report):
    script = f"cat {other_run.write('report', report)}; echo; echo done; exec sleep 60"
    process = other_run.process("loud", ["sh", "-c", script], sanitized=True).start()
    process.wait_log("(?m)^done")
    with pytest.raises(AssertionError, match="loud.log"):
        other_run.check()
    other_run.check()


def test_a_sanitizer_report_in_a_file_of_its_own_is_found(other_run):
    script = 'path=${ASAN_OPTIONS#log_path=}; echo "ERROR: LeakSanitizer" > "${path%%:*}.77"'
    process = other_run.process("leaky", ["sh", "-c", script], sanitized=True).start()
    assert process.wait_exit() == 0
    with pytest.raises(AssertionError, match="leaky.sanitizer.77"):
        other_run.check()


def test_a_process_that_dies_by_itself_fails_the_test(other_run):
    process = other_run.process("mortal", ["sh", "-c", "exit 3"]).start()
    wait.until(lambda: process.returncode() == 3)
    with pytest.raises(AssertionError, match="mortal exited by itself with 3"):
        other_run.check()


def test_processes_that_a_test_ends_are_no_failure(other_run):
    for end in ("kill", "end", "wait_exit"):
        process = other_run.process(end, ["sleep", "0.1" if end == "wait_exit" else "60"]).start()
        getattr(process, end)()
    other_run.check()


def python(*argv, **options):
    """A Python that finds the harness and the fixtures of this folder, and that can be interrupted
    also where the tests run in the background, with SIGINT ignored."""
    folder = str(pathlib.Path(__file__).parent)
    return subprocess.Popen([sys.executable, *argv], env=dict(os.environ, PYTHONPATH=folder),
                            stdout=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                            **options)


def test_a_later_run_ends_what_a_killed_run_left():
    program = ("from harness.run import Run; import time\n"
               "print(Run().process('left', ['sleep', '300']).start().pid, flush=True)\n"
               "time.sleep(300)")
    with python("-c", program) as killed:
        left = int(killed.stdout.readline())
        started = process_start_time(left)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert process_start_time(left) == started
    Run().close()
    wait.until(lambda: process_start_time(left) != started, what="the left process to end")


def pytest_on(tmp_path, script, signal_number=None):
    """(output, exit code) of pytest on one test that starts "sh -c <script>" as a program of ours.

    With a signal, pytest gets it once the test has printed "ready", and the test would then wait.
    """
    (tmp_path / "test_inner.py").write_text(
        "import time\n"
        "def test_inner(run):\n"
        f"    made = run.process('inner', ['sh', '-c', {script!r}], sanitized=True).start()\n"
        "    made.wait_log('(?m)^ready')\n"
        "    print('ready', made.pid, flush=True)\n"
        f"    time.sleep({60 if signal_number else 0.2})\n")
    with python("-m", "pytest", "-s", "-p", "conftest", "-p", "no:cacheprovider", "--rootdir",
                str(tmp_path), str(tmp_path), cwd=tmp_path) as inner:
        output = ""
        while signal_number and "ready" not in output:
            output += inner.stdout.readline()
        if signal_number:
            inner.send_signal(signal_number)
        output += inner.stdout.read()
    return output, inner.returncode


def test_a_test_fails_when_a_process_dies_under_it(tmp_path):
    output, code = pytest_on(tmp_path, "echo ready; exit 3")
    assert "1 failed" in output and code == 1
    assert "inner exited by itself with 3" in output and "log of inner" in output


def test_a_leak_that_shows_only_at_the_end_fails_the_run(tmp_path):
    output, code = pytest_on(
        tmp_path, "trap 'echo ERROR: Leak\"\"Sanitizer; exit' TERM; echo ready; "
                  "while sleep 0.1; do :; done")
    assert "1 passed, 1 error" in output and code == 1
    assert "inner.log" in output


def test_an_interrupted_run_ends_its_processes(tmp_path):
    output, code = pytest_on(tmp_path, "echo ready; exec sleep 300", signal.SIGINT)
    assert code == 2
    assert process_start_time(int(output.split("ready ")[1].split()[0])) is None


def test_blocks_of_ports_do_not_overlap(run):
    first, second = run.ports(), run.ports()
    ports = [block.take() for block in (first, second) for _ in range(10)]
    assert len(set(ports)) == 20
    with pytest.raises(RuntimeError, match="used up"):
        first.take()


def test_waiting_says_what_it_waited_for():
    with pytest.raises(wait.TimedOut, match="waited 0.1 s for rain; last seen: 0"):
        wait.until(lambda: 0, 0.1, what="rain")
