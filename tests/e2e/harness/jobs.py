"""Jobs of the hub: making them, waiting for them, reading where they went."""
import copy

from . import wait
from .stages import EXIT_CODE, RUN_SECONDS

JOBS = "/apis/batch.volcano.sh/v1alpha1"
FEDERATOR = "/apis/federator.dev/v1alpha1"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


def task(name="w", replicas=1, requests=None, run_seconds=1, exit_code=None, node_selector=None,
         restart=None, **spec):
    """A task template. More spec: of the pod."""
    annotations = {RUN_SECONDS: str(run_seconds)}
    if exit_code is not None:
        annotations[EXIT_CODE] = str(exit_code)
    requests = requests or {"cpu": "1"}
    devices = {name: amount for name, amount in requests.items() if "/" in name}
    pod = {"containers": [{"name": "main", "image": "image",
                           "resources": {"requests": requests, "limits": devices}}], **spec}
    if node_selector:
        pod["nodeSelector"] = node_selector
    if restart:
        pod["restartPolicy"] = restart
    return {"name": name, "replicas": replicas,
            "template": {"metadata": {"annotations": annotations}, "spec": pod}}


def job(name, *tasks, namespace="default", **spec):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"tasks": copy.deepcopy(list(tasks)), **spec}}


def only_in(*clusters):
    """spec.placement that keeps a job to clusters with the label name=..."""
    return {"clusterSelector": {"matchExpressions": [
        {"key": "name", "operator": "In", "values": list(clusters)}]}}


def path(name, namespace="default"):
    return f"{JOBS}/namespaces/{namespace}/jobs/{name}"


def submit(hub, manifest):
    namespace = manifest["metadata"]["namespace"]
    return hub.must("POST", f"{JOBS}/namespaces/{namespace}/jobs", manifest)


def phase(found):
    return ((found or {}).get("status") or {}).get("state", {}).get("phase")


def dispatch_phase(found):
    """Of the record; None while nothing was offered yet."""
    return ((found or {}).get("status") or {}).get("dispatch", {}).get("phase")


def attempts(found):
    return ((found or {}).get("status") or {}).get("dispatch", {}).get("attempts", [])


def cluster(found):
    """Where the last attempt went."""
    return attempts(found)[-1]["cluster"] if attempts(found) else None


def pending(found):
    why = ((found or {}).get("status") or {}).get("pending")
    return why if isinstance(why, dict) else None


def wait_phase(hub, name, wanted, timeout=30.0, namespace="default"):
    return hub.wait_for(path(name, namespace), lambda found: phase(found) == wanted, timeout,
                        what=f"job {name} to be {wanted}")


def wait_pending(hub, name, check, timeout=15.0, namespace="default"):
    found = hub.wait_for(path(name, namespace), lambda j: pending(j) and check(pending(j)), timeout,
                         what=f"job {name} to say why it waits")
    return pending(found)


def delete(hub, name, namespace="default", timeout=30.0):
    """Deletes it and waits until it is gone."""
    hub.api("DELETE", path(name, namespace))
    hub.wait_for(path(name, namespace), lambda found: found is None, timeout,
                 what=f"job {name} to be gone")


def pods_of(member, uid):
    return [p for p in member.items("/api/v1/pods")
            if p["metadata"].get("labels", {}).get("federator.dev/uid") == uid]


def twins_of(member, uid):
    return [t for t in member.items(f"{FEDERATOR}/placements")
            if t["metadata"].get("labels", {}).get("federator.dev/uid") == uid]


def wait_no_placements(hub, uid, timeout=15.0):
    def none_left():
        return not [p for p in hub.items(f"{FEDERATOR}/placements")
                    if p["spec"]["job"]["uid"] == uid]
    wait.until(none_left, timeout, what=f"the placements of {uid} to be gone")
