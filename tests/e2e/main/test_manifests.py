"""Bad manifests: each is refused with the field, the reason and the limit, and leaves nothing."""
import copy
import json

import pytest
from harness import jobs

JOB = jobs.job("bad", jobs.task())
STRICT = "fieldValidation=Strict"
TEMPLATE = "spec.tasks[0].template"
CONTAINER = TEMPLATE + ".spec.containers[0]"


def at(path, value, start=JOB):
    """The good job with one value replaced: path as in field names, None removes it."""
    made = copy.deepcopy(start)
    steps = path.replace("[", ".[").split(".")
    inner = made
    for step in steps[:-1]:
        inner = inner[int(step[1:-1])] if step.startswith("[") else inner.setdefault(step, {})
    if value is None:
        del inner[steps[-1]]
    else:
        inner[steps[-1]] = value
    return made


def queue(**spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
            "metadata": {"name": "bad"}, "spec": spec}


def dataset(**spec):
    return {"apiVersion": "federator.dev/v1alpha1", "kind": "DataSet", "metadata": {"name": "bad"},
            "spec": spec}


def nested(levels):
    inner = {}
    for _ in range(levels):
        inner = {"a": inner}
    return at(TEMPLATE + ".spec.more", inner)


def text_of(manifest, old, new):
    return json.dumps(manifest).replace(old, new).encode("latin-1")


TWO_TASKS = jobs.job("bad", jobs.task("same"), jobs.task("same"))
LONG = "a" * 50
SPEEDS = [{"task": "w", "speed": "0.5"}, {"task": "w", "speed": "0.8"}]
SELECTOR = {"matchExpressions": [{"key": "region", "operator": "Near", "values": ["eu"]}]}
REASONS = {400: "BadRequest", 413: "RequestEntityTooLarge", 422: "Invalid"}

# what is wrong: manifest, code, field of the first cause (None: the message has it), text, query
TABLE = {
    "a text where a number belongs":
        (at("spec.minAvailable", "two"), 422, "spec.minAvailable", "integer"),
    "a list where an object belongs":
        (at("spec.placement", []), 422, "spec.placement", "object"),
    "a quantity that is none":
        (at(CONTAINER + ".resources.requests", {"cpu": "lots"}), 422,
         CONTAINER + ".resources.requests[cpu]", "lots"),
    "a negative quantity":
        (at(CONTAINER + ".resources.requests", {"memory": "-1Gi"}), 422,
         CONTAINER + ".resources.requests[memory]", "-1Gi"),
    "a half of a GPU":
        (at(CONTAINER + ".resources", {"limits": {"nvidia.com/gpu": "500m"}}), 422,
         CONTAINER + ".resources.limits[nvidia.com/gpu]", "whole number"),
    "a request above its limit":
        (at(CONTAINER + ".resources", {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}), 422,
         CONTAINER + ".resources.requests[cpu]", "more than the limit"),
    "a quantity of a queue that is none":
        (queue(capability={"cpu": "4 cores"}), 422, "spec.capability[cpu]", "4 cores"),
    "a data set of no size":
        (dataset(version="1"), 422, "spec.size", "Required"),
    "a name with capitals":
        (at("metadata.name", "Bad_Name"), 422, "metadata.name", "lower case"),
    "a name of 300 characters":
        (at("metadata.name", "a" * 300), 422, "metadata.name", "253"),
    "a pod's name of more than 63 characters":
        (at("metadata.name", LONG, at("spec.tasks[0].name", "task-of-twelve")), 422,
         "spec.tasks[0].name", f"{LONG}-task-of-twelve-0"),
    "a bad label":
        (at("metadata.labels", {"a": "-b-"}), 422, "metadata.labels[a]", "-b-"),
    "a bad key of a label":
        (at("metadata.labels", {"a b": "c"}), 422, "metadata.labels[a b]",
         "such as app"),
    "a queue that is not there":
        (at("spec.queue", "nowhere"), 422, "spec.queue", "fedctl queue create nowhere"),
    "a queue that is misspelled":
        (at("spec.queue", "defualt"), 422, "spec.queue", 'did you mean "default"?'),
    "a queue that is closed":
        (at("spec.queue", "closed"), 422, "spec.queue", "closed"),
    "minAvailable above the pods":
        (at("spec.minAvailable", 2), 422, "spec.minAvailable", "1 pods"),
    "minAvailable of a task above its replicas":
        (at("spec.tasks[0].minAvailable", 9), 422, "spec.tasks[0].minAvailable", "1 replicas"),
    "negative replicas":
        (at("spec.tasks[0].replicas", -1), 422, "spec.tasks[0].replicas", "0"),
    "more replicas than a job may have":
        (at("spec.tasks[0].replicas", 10001), 422, "spec.tasks[0].replicas", "10000"),
    "no tasks":
        (at("spec.tasks", []), 422, "spec.tasks", "1"),
    "no spec":
        (at("spec", None), 422, "spec", "Required"),
    "two tasks of one name":
        (TWO_TASKS, 422, "spec.tasks[1].name", "same"),
    "no template":
        (at(TEMPLATE, None), 422, TEMPLATE, "Required"),
    "no containers":
        (at(TEMPLATE + ".spec", {"containers": []}), 422, TEMPLATE + ".spec.containers", "1"),
    "a claim of dynamic resource allocation":
        (at(TEMPLATE + ".spec.resourceClaims", [{"name": "c", "resourceClaimName": "x"}]), 422,
         TEMPLATE + ".spec.resourceClaims", "not supported"),
    "a node that the user chose":
        (at(TEMPLATE + ".spec.nodeName", "n"), 422, TEMPLATE + ".spec.nodeName", "scheduler"),
    "a plugin that nobody knows":
        (at("spec.plugins", {"mpi": []}), 422, "spec.plugins", '"env", "svc"'),
    "an argument that the plugin has not":
        (at("spec.plugins", {"svc": ["--bogus"]}), 422, "spec.plugins[svc][0]", "--bogus"),
    "an operator that no selector has":
        (at("spec.placement.clusterSelector", SELECTOR), 422,
         "spec.placement.clusterSelector.matchExpressions[0].operator", "Near"),
    "an alternative for a task that is not there":
        (at("spec.placement.alternatives", [{"task": "x"}]), 422,
         "spec.placement.alternatives[0].task", "x"),
    "a speed that rises down the list":
        (at("spec.placement.alternatives", SPEEDS), 422,
         "spec.placement.alternatives[1].speed", "0.8"),
    "data that would be staged":
        (at("spec.placement.datasets", [{"name": "d", "mode": "Stage"}]), 422,
         "spec.placement.datasets[0].mode", '"Stream"'),
    "an unknown field":
        (at("spec.tasks[0].replica", 1), 400, None, 'unknown field "spec.tasks[0].replica"',
         STRICT),
    "a field written twice":
        (text_of(JOB, '"replicas": 1', '"replicas": 1, "replicas": 2'), 400, None,
         'duplicate field "spec.tasks[0].replicas"', STRICT),
    "another apiVersion":
        (at("apiVersion", "batch.volcano.sh/v1"), 400, None, "batch.volcano.sh/v1"),
    "another kind":
        (at("kind", "CronJob"), 400, None, "CronJob"),
    "another namespace than the path's":
        (at("metadata.namespace", "other"), 400, None,
         "the namespace of the provided object does not match the namespace sent on the request"),
    "two megabytes":
        (at(CONTAINER + ".args", ["x" * (2 << 20)]), 413, None, "1048576"),
    "four megabytes":
        (at(CONTAINER + ".args", ["x" * (4 << 20)]), 413, None, "3145728"),
    "nesting of 100 levels":
        (nested(100), 400, None, "64"),
    "bytes that are no UTF-8":
        (text_of(JOB, '"image": "image"', '"image": "\xff\xfe"'), 400, None, "UTF-8"),
    "a document that ends too early":
        (json.dumps(JOB)[:-5], 400, None, "line 1"),
    "an annotation of 300 KiB":
        (at("metadata.annotations", {"a": "x" * (300 << 10)}), 422, "metadata.annotations",
         "262144"),
}


def where(manifest):
    kind = manifest["kind"] if isinstance(manifest, dict) else "Job"
    return {"Queue": jobs.QUEUES, "DataSet": f"{jobs.FEDERATOR}/datasets"}.get(
        kind, f"{jobs.JOBS}/namespaces/default/jobs")


@pytest.fixture(scope="module")
def ready(hub):
    """The hub with a queue that is closed."""
    hub.must("POST", jobs.QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                                   "metadata": {"name": "closed"}, "spec": {"closed": True}})
    hub.wait_for(f"{jobs.QUEUES}/closed", lambda q: q.get("status", {}).get("state") == "Closed")
    yield hub
    hub.must("DELETE", f"{jobs.QUEUES}/closed")


def stored(hub):
    """All that a manifest of the table could have become."""
    return {path: [found["metadata"]["name"] for found in hub.items(path)]
            for path in (f"{jobs.JOBS}/jobs", jobs.QUEUES, f"{jobs.FEDERATOR}/datasets")}


@pytest.mark.parametrize("what", TABLE)
def test_a_bad_manifest_is_refused(ready, what):
    """a bad manifest: {what} | code, reason, field and text; nothing stored"""
    manifest, code, field, text, *query = TABLE[what]
    before = stored(ready)
    headers = {} if isinstance(manifest, dict) else {"Content-Type": "application/json"}
    answer = ready.api("POST", where(manifest) + "?" + "&".join(query), manifest, headers)
    print(f"{what}: {answer.status} {answer.text[:600]}")
    status = answer.json()
    assert (answer.status, status["code"], status["reason"]) == (code, code, REASONS[code])
    assert (status["kind"], status["status"]) == ("Status", "Failure")
    assert text in status["message"]
    if field:
        causes = status["details"]["causes"]
        assert [c for c in causes if c["field"] == field and text in c["message"]], causes
        assert f"{field}: " in status["message"]
    assert stored(ready) == before


def test_a_good_manifest_is_not(ready):
    """The table's own job differs from a good one by what it says alone."""
    good = at("spec.placement", jobs.only_in("nowhere"))
    ready.must("POST", where(good), good)
    jobs.delete(ready, "bad")


@pytest.mark.parametrize("path, value", [
    ("spec.maxRetry", 9), ("spec.tasks[0].replicas", 2), ("spec.queue", "closed"),
    ("spec.tasks[0].template.spec.containers[0].image", "other")])
def test_a_spec_is_frozen_once_it_was_placed_and_labels_are_not(fed, name, path, value):
    """a change of a running job's {path} | 422 names the field; labels and annotations stay free"""
    manifest = jobs.job(name, jobs.task(run_seconds=3600), placement=jobs.only_in("arm"))
    jobs.submit(fed.hub, manifest)
    placed = jobs.wait_phase(fed.hub, name, "Running")
    answer = fed.hub.api("PUT", jobs.path(name), at(path, value, placed))
    assert answer.status == 422
    (cause,) = answer.json()["details"]["causes"]
    assert cause["field"] == path and "cannot change" in cause["message"]
    assert fed.hub.get(jobs.path(name))["spec"] == placed["spec"]
    fed.hub.merge(jobs.path(name), {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}})


def test_a_spec_is_free_while_the_job_waits_and_frozen_to_its_end_and_after(fed, name):
    """a change of maxRetry while a job waits, when it is offered, and when it has ended
    | taken; 422; 422"""
    def change(value):
        return fed.hub.api("PATCH", jobs.path(name), json.dumps({"spec": {"maxRetry": value}}),
                           {"Content-Type": "application/merge-patch+json"}).status
    jobs.submit(fed.hub, jobs.job(name, jobs.task(), placement=jobs.only_in("nowhere")))
    jobs.wait_pending(fed.hub, name, lambda why: why["code"])
    assert change(5) == 200
    agent = fed.agents["arm"].process
    agent.stop()
    try:
        fed.hub.merge(jobs.path(name), {"spec": {"placement": jobs.only_in("arm")}})
        fed.hub.wait_for(jobs.path(name), lambda found: jobs.dispatch_phase(found) == "Confirmed")
        assert change(6) == 422
    finally:
        agent.cont()
    jobs.wait_phase(fed.hub, name, "Completed")
    assert change(7) == 422
    assert fed.hub.get(jobs.path(name))["spec"]["maxRetry"] == 5
