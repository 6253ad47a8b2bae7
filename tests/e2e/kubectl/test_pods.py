"""Simulated pods of a sandbox: how long they run, how they end, and how they are started again."""
import time

import pytest
from harness import pods
from harness.stages import EXIT_CODE, RUN_SECONDS

pytestmark = pytest.mark.on("sandbox")


@pytest.fixture
def pod(kubectl, ns):
    """pod(annotations) makes a pod on the only node."""
    def make(annotations, **spec):
        kubectl.server.must("POST", f"/api/v1/namespaces/{ns}/pods", {
            "metadata": {"name": "p", "annotations": annotations},
            "spec": {"nodeName": "box-0", "restartPolicy": "Never", "containers": [
                {"name": "main", "image": "image"}], **spec}})
    return make


def wait_phase(kubectl, phase):
    kubectl("wait", "--for=jsonpath={.status.phase}=" + phase, "pod/p", "--timeout=15s")


def test_a_pod_runs_for_three_seconds_and_succeeds(kubectl, ns, pod):
    began = time.monotonic()
    pod({})
    wait_phase(kubectl, "Running")
    wait_phase(kubectl, "Succeeded")
    assert 2.9 < time.monotonic() - began < 8
    assert pods.exit_code(kubectl.server.get(f"/api/v1/namespaces/{ns}/pods/p")) == 0
    assert kubectl("get", "pod", "p", "--no-headers").split()[1:4] == ["0/1", "Completed", "0"]


def test_annotations_say_how_long_and_how_it_ends(kubectl, ns, pod):
    began = time.monotonic()
    pod({RUN_SECONDS: "0.5", EXIT_CODE: "7"})
    wait_phase(kubectl, "Failed")
    assert 0.4 < time.monotonic() - began < 5
    assert pods.exit_code(kubectl.server.get(f"/api/v1/namespaces/{ns}/pods/p")) == 7
    assert kubectl("get", "pod", "p", "--no-headers").split()[2] == "Error"


def test_on_failure_its_container_is_started_again(kubectl, pod):
    pod({RUN_SECONDS: "0.2", EXIT_CODE: "1"}, restartPolicy="OnFailure")
    kubectl("wait", "--for=jsonpath={.status.containerStatuses[0].restartCount}=2", "pod/p",
            "--timeout=15s")
    assert kubectl("get", "pod", "p", "-o", "jsonpath={.status.phase}") == "Running"


def test_a_pod_that_does_not_fit_its_node_is_refused_by_it(kubectl, ns, pod):
    pod({}, containers=[{"name": "main", "image": "image", "resources": {
        "requests": {"cpu": "1000"}}}])
    wait_phase(kubectl, "Failed")
    assert kubectl.server.get(f"/api/v1/namespaces/{ns}/pods/p")["status"]["reason"] == "OutOfcpu"


def test_a_binding_gives_a_pod_its_node(kubectl, ns, pod):
    pod({RUN_SECONDS: "3600"}, nodeName=None)
    assert kubectl("get", "pod", "p", "-o", "jsonpath={.status.phase}") == "Pending"
    path = f"/api/v1/namespaces/{ns}/pods/p/binding"
    target = {"target": {"kind": "Node", "name": "box-0"}, "metadata": {"name": "p"}}
    assert kubectl.server.must("POST", path, target)["status"] == "Success"
    wait_phase(kubectl, "Running")
    assert kubectl.server.api("POST", path, target).status == 409


def test_kubectl_run_and_create_service_send_protobuf(kubectl, ns):
    node = '{"apiVersion":"v1","spec":{"nodeName":"box-0"}}'
    assert kubectl("run", "p", "--image=image", "--restart=Never", "--env=A=b",
                   f"--annotations={RUN_SECONDS}=0.2", f"--overrides={node}") == "pod/p created\n"
    wait_phase(kubectl, "Succeeded")
    stored = kubectl.server.get(f"/api/v1/namespaces/{ns}/pods/p")["spec"]
    assert stored["containers"][0]["env"] == [{"name": "A", "value": "b"}]
    assert kubectl("create", "service", "clusterip", "s", "--clusterip=None") == \
        "service/s created\n"
    assert kubectl.server.get(f"/api/v1/namespaces/{ns}/services/s")["spec"]["clusterIP"] == "None"
