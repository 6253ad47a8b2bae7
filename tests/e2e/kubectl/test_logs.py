"""kubectl logs on a sandbox, where a pod runs as a process."""
import time

import pytest
from harness import wait

pytestmark = pytest.mark.on("sandbox")


@pytest.fixture
def pod(kubectl, ns):
    """pod(script) starts a pod that runs it, and returns its name."""
    def start(script):
        kubectl.server.must("POST", f"/api/v1/namespaces/{ns}/pods", {
            "metadata": {"name": "p", "annotations": {"sandbox.federator.dev/runtime": "process"}},
            "spec": {"nodeName": "box-0", "restartPolicy": "Never", "containers": [
                {"name": "main", "image": "image", "command": ["sh", "-c", script]}]}})
        return "p"
    yield start
    kubectl.run("delete", "pod", "p", "--force", "--grace-period=0", "--ignore-not-found")


def test_a_log_is_followed_until_the_pod_ends(kubectl, pod, beside):
    pod("echo one; sleep 2; echo two")
    kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/p", "--timeout=10s")
    follower = beside(kubectl.start("logs", "-f", "p"))
    follower.wait_log("(?m)^one$", timeout=2)
    assert follower.alive()
    follower.wait_log("(?m)^two$")
    assert follower.wait_exit() == 0
    assert [line for line in follower.text().splitlines() if not line.startswith("---")] == [
        "one", "two"]


def test_a_log_is_kept_after_the_end(kubectl, pod):
    pod("for i in 1 2 3; do echo line $i; done")
    kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/p", "--timeout=10s")
    assert kubectl("logs", "p") == "line 1\nline 2\nline 3\n"
    assert kubectl("logs", "p", "--tail=1") == "line 3\n"
    assert kubectl("logs", "p", "-c", "main", "--tail=0") == ""


def test_a_line_comes_within_a_second(kubectl, pod, beside):
    pod("while sleep 0.3; do date +%s.%N; done")
    kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/p", "--timeout=10s")
    follower = beside(kubectl.start("logs", "-f", "--tail=0", "p"))
    for _ in range(3):
        seen = len(follower.text().splitlines())
        wait.until(lambda: len(follower.text().splitlines()) > seen, every=0.02)
        assert time.time() - float(follower.text().splitlines()[-1]) < 1


def test_what_has_no_log(kubectl, pod):
    assert 'pods "absent" not found' in kubectl.fails("logs", "absent")
    pod("true")
    said = kubectl.fails("logs", "p", "-c", "other")
    assert "other" in said and "p" in said


@pytest.mark.parametrize("option, named", [
    ("--previous", "previous"), ("--timestamps", "timestamps"), ("--since=1m", "sinceSeconds"),
    ("--since-time=2026-01-01T00:00:00Z", "sinceTime"), ("--limit-bytes=5", "limitBytes")])
def test_an_option_that_a_sandbox_does_not_serve_is_refused(kubectl, pod, option, named):
    pod("echo one")
    kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/p", "--timeout=10s")
    assert f"{named}: a sandbox does not serve" in kubectl.fails("logs", "p", option)
