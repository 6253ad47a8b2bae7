"""kubectl wait, for what is there and for what comes."""
import pytest
from kubectl.samples import CONFIGMAP, CSR, JOB


@pytest.fixture
def configmap(kubectl, ns):
    kubectl.server.must("POST", CONFIGMAP.path(ns), CONFIGMAP.manifest("c", ns))
    return CONFIGMAP.path(ns, "c")


def starts_to_wait(kubectl, beside, *args):
    """A wait that runs, and would fail the test if it ended before what it waits for."""
    return beside(kubectl.start("wait", "--timeout=30s", *args))


def test_on_each_kind(kubectl, sample, ns, name, beside):
    kubectl.server.must("POST", sample.path(ns), sample.manifest(name, ns))
    one = f"{sample.resource}/{name}"
    said = kubectl("wait", "--for=jsonpath={.metadata.name}=" + name, one, "--timeout=10s")
    assert said.strip().endswith(f"/{name} condition met")
    waiting = starts_to_wait(kubectl, beside, "--for=delete", one)
    kubectl.server.must("DELETE", sample.path(ns, name))
    assert waiting.wait_exit(20) == 0, waiting.tail()


def test_for_a_condition_that_holds(kubectl, ns, name):
    kubectl.server.must("POST", JOB.path(ns), JOB.manifest(name, ns))
    said = kubectl("wait", "--for=condition=Pending", f"vcjob/{name}", "--timeout=10s")
    assert said.strip() == f"job.batch.volcano.sh/{name} condition met"


def test_for_a_condition_that_comes(kubectl, name, beside):
    path = CSR.path(None, name)
    kubectl.server.must("POST", CSR.path(None), CSR.manifest(name))
    try:
        waiting = starts_to_wait(kubectl, beside, "--for=condition=Approved", f"csr/{name}")
        kubectl.server.merge(path + "/status", {"status": {"conditions": [
            {"type": "Approved", "status": "True", "reason": "r", "message": "m"}]}})
        assert waiting.wait_exit(20) == 0, waiting.tail()
    finally:
        kubectl.server.api("DELETE", path)


def test_for_a_value_that_comes(kubectl, configmap, beside):
    waiting = starts_to_wait(kubectl, beside, "--for=jsonpath={.data.a}=9", "configmap/c")
    for value in "789":
        assert waiting.alive()
        kubectl.server.merge(configmap, {"data": {"a": value}})
    assert waiting.wait_exit(20) == 0, waiting.tail()


def test_for_a_value_that_does_not_come(kubectl, configmap):
    said = kubectl.fails("wait", "--for=jsonpath={.data.a}=9", "configmap/c", "--timeout=1s")
    assert "timed out waiting for the condition on configmaps/c" in said


def test_for_the_end_of_objects(kubectl, configmap, beside):
    waiting = starts_to_wait(kubectl, beside, "--for=delete", "configmap", "--all")
    kubectl.server.must("DELETE", configmap)
    assert waiting.wait_exit(20) == 0, waiting.tail()
    assert kubectl("wait", "--for=delete", "configmap/c", "--timeout=5s") == ""


def test_for_an_object_to_be_made(kubectl, ns, beside):
    waiting = starts_to_wait(kubectl, beside, "--for=create", "configmap/later")
    assert waiting.alive()
    kubectl.server.must("POST", CONFIGMAP.path(ns), CONFIGMAP.manifest("later", ns))
    assert waiting.wait_exit(20) == 0, waiting.tail()


def test_for_several_by_label(kubectl, ns):
    for n in "ab":
        kubectl.server.must("POST", JOB.path(ns), JOB.manifest(n, ns, labels={"of": ns}))
    said = kubectl("wait", "--for=condition=Pending", "vcjob", "-l", f"of={ns}", "--timeout=10s")
    assert said.count("condition met") == 2
