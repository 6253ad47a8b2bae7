"""What happens to a job while its pods are on their way into the member."""
import contextlib
import datetime
import socket

import pytest
from harness import jobs, wait
from harness.nodes import NodeShape
from harness.stages import RUN_SECONDS

DEVICE = "example.com/only"
NODE = "real-7"


@pytest.fixture
def patient(fed):
    """Writes of real's agent may take 10 s: its W is 15 s."""
    def start_with(argv):
        assert fed.agent.end() == 0
        fed.agent.argv = argv
        fed.agent.start()
    usual = fed.agent.argv
    start_with([{"2s": "15s"}.get(word, word) for word in usual])
    yield
    start_with(usual)


@pytest.fixture
def slow(fed, patient, name, request):
    """A namespace on both sides where each create of what the test names takes 4 s."""
    fed.real.make_namespace(name)
    fed.hub.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                "metadata": {"name": name}})
    with slow_creates(fed.real, name, request.param):
        yield name


@contextlib.contextmanager
def slow_creates(member, namespace, resource):
    """Its webhook is silent, and may fail."""
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        member.must("POST", hooks, {"metadata": {"name": namespace}, "webhooks": [{
            "name": "slow.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "timeoutSeconds": 4, "failurePolicy": "Ignore",
            "matchConditions": [{"name": "real", "expression": "!request.dryRun"}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "clientConfig": {"url": f"https://127.0.0.1:{silent.getsockname()[1]}/"},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                       "resources": [resource]}]}]})
        try:
            wait.until(lambda: is_slow(member, namespace, resource), 20, what="the webhook")
            yield
        finally:
            member.must("DELETE", f"{hooks}/{namespace}")


def is_slow(member, namespace, resource):
    """True when a create does not come back within a second; what it made is removed."""
    path = f"/api/v1/namespaces/{namespace}/{resource}"
    spec = {"schedulerName": "nobody", "containers": [{"name": "c", "image": "i"}]}
    try:
        member.api("POST", path, {"metadata": {"name": "probe"},
                                  **({"spec": spec} if resource == "pods" else {})}, timeout=1)
        slow = False
    except TimeoutError:
        member.wait_for(f"{path}/probe", bool)
        slow = True
    member.must("DELETE", f"{path}/probe?gracePeriodSeconds=0")
    return slow


def submit(fed, name, *tasks):
    return jobs.submit(fed.hub, jobs.job(name, *tasks, namespace=name, placement=jobs.only_in(
        "real")))["metadata"]["uid"]


def wait_making(fed, uid):
    """The job is claimed and its record is there; its pods are on their way."""
    wait.until(lambda: jobs.twins_of(fed.real, uid), 20, what="the twin")
    assert not fed.pods(uid)


@pytest.mark.parametrize("slow", ["pods"], indirect=True)
def test_job_deleted_while_its_pods_are_made(fed, slow):
    """a job is deleted while the creates of its pods are under way
    | it goes only when these are over, and no pod outlives it"""
    uid = submit(fed, slow, jobs.task(replicas=2, run_seconds=3600))
    wait_making(fed, uid)
    fed.hub.must("DELETE", jobs.path(slow, slow))
    fed.hub.wait_for(jobs.path(slow, slow), lambda found: found is None, 40)
    wait.holds(lambda: not fed.pods(uid), 6, what="no pod of a job that is gone")


def device_task():
    made = jobs.task()
    made["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1", DEVICE: "1"}}
    return made


@pytest.fixture
def device_node(fed):
    """The only node with the device, known to the hub; returns a function that makes it again."""
    def make():
        if fed.real.get(f"/api/v1/nodes/{NODE}") is None:
            fed.real.add_nodes(NodeShape(1, cpu="8", extended={DEVICE: "2"}), first=7)

        def known():
            return fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs?dryRun=All",
                               jobs.job("probe", device_task())).status == 201
        wait.until(known, 20, what="the hub to know the device")
    make()
    yield make
    if fed.real.get(f"/api/v1/nodes/{NODE}"):
        fed.real.must("DELETE", f"/api/v1/nodes/{NODE}")


def needs_copy(fed, namespace):
    """A device job that needs a ConfigMap of the hub: its pods come after the copy of that."""
    fed.hub.must("POST", f"/api/v1/namespaces/{namespace}/configmaps", {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}})
    task = device_task()
    task["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": "c"}}]
    return task


@pytest.mark.parametrize("slow", ["configmaps"], indirect=True)
def test_only_node_vanishes_after_the_claim(fed, slow, device_node):
    """the only node that could hold a job vanishes when the job is claimed
    | given back within seconds, with the reason; it runs when there is such a node again"""
    uid = submit(fed, slow, needs_copy(fed, slow))
    wait_making(fed, uid)
    fed.real.must("DELETE", f"/api/v1/nodes/{NODE}")
    found = fed.hub.wait_for(jobs.path(slow, slow), lambda j: jobs.attempts(j)[0].get("how"), 20)
    first = jobs.attempts(found)[0]
    assert (first["how"], first["reason"]) == ("Released", "NeverFits"), first
    assert jobs.wait_pending(fed.hub, slow, lambda p: p["code"] == "NoCapableCluster",
                             namespace=slow)
    assert not fed.pods(uid)
    device_node()
    found = jobs.wait_phase(fed.hub, slow, "Completed", 60, namespace=slow)
    assert [a["how"] for a in jobs.attempts(found)] == ["Released", "Done"]


def received(fed, mark, **which):
    """When real's apiserver got the one request of that kind since the mark."""
    event, = fed.real.audit.events(mark, **which)
    return datetime.datetime.fromisoformat(event["requestReceivedTimestamp"])


@pytest.mark.parametrize("slow", ["configmaps"], indirect=True)
def test_cordon_between_decision_and_create(fed, slow, device_node):
    """a node is cordoned after it was chosen for a pod, and before the pod is made (G20)
    | the pod is made there, once, stays and ends"""
    mark, node = fed.real.audit.mark(), f"/api/v1/nodes/{NODE}"
    task = needs_copy(fed, slow)
    task["template"]["metadata"]["annotations"][RUN_SECONDS] = "4"
    uid = submit(fed, slow, task)
    wait_making(fed, uid)
    fed.real.merge(node, {"spec": {"unschedulable": True}})
    jobs.wait_phase(fed.hub, slow, "Running", namespace=slow)
    pod, = fed.pods(uid)
    assert pod["spec"]["nodeName"] == NODE and fed.real.get(node)["spec"]["unschedulable"]
    found = jobs.wait_phase(fed.hub, slow, "Completed", namespace=slow)
    assert [(a["how"], a["nodes"]) for a in jobs.attempts(found)] == [("Done", NODE)]
    assert {p["metadata"]["uid"] for p in fed.pods(uid)} <= {pod["metadata"]["uid"]}
    assert fed.posts(mark, slow) == {f"{slow}-w-0": 1}
    cordoned = received(fed, mark, verb="patch", resource="nodes", name=NODE, user="admin")
    made = received(fed, mark, verb="create", resource="pods", name=f"{slow}-w-0")
    assert (made - cordoned).total_seconds() > 1, "the agent may not have seen the cordon in time"


def test_passing_shortage_keeps_the_claim(fed, name, device_node):
    """a pod is lost and others take its room for 10 s | the job waits in its place, then goes on"""
    pods = "/api/v1/namespaces/default/pods"
    task = device_task()
    task["template"]["metadata"]["annotations"][RUN_SECONDS] = "6"
    uid = fed.submit(name, task)
    jobs.wait_phase(fed.hub, name, "Running")
    fed.real.must("POST", pods, {"metadata": {"name": f"{name}-local", "annotations": {
        RUN_SECONDS: "3600"}}, "spec": {"nodeName": NODE, "containers": [
            {"name": "c", "image": "i", "resources": {"limits": {DEVICE: "2"}}}]}})
    try:
        fed.real.must("DELETE", f"{pods}/{name}-w-0?gracePeriodSeconds=0")
        wait.until(lambda: not fed.pods(uid), what="the pod to be gone")
        wait.holds(lambda: not fed.pods(uid), 10, what="no pod without room")
        waits = fed.hub.get(jobs.path(name))
        assert [a.get("how") for a in jobs.attempts(waits)] == [None], jobs.attempts(waits)
        assert waits["status"]["state"]["reason"] == "NoRoom", waits["status"]["state"]
    finally:
        fed.real.must("DELETE", f"{pods}/{name}-local?gracePeriodSeconds=0")
    found = jobs.wait_phase(fed.hub, name, "Completed", 30)
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
