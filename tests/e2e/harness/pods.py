"""Pods as an agent makes them: bound to a node when they are created."""
from .stages import EXIT_CODE, RUN_SECONDS, STOP_SECONDS


def bound_pod(name, node, run_seconds=None, exit_code=None, stop_seconds=None, restart="Never",
              finalizers=(), requests=None):
    wanted = {RUN_SECONDS: run_seconds, EXIT_CODE: exit_code, STOP_SECONDS: stop_seconds}
    annotations = {key: str(value) for key, value in wanted.items() if value is not None}
    container = {"name": "main", "image": "image", "resources": {"requests": requests or {}}}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": annotations, "finalizers": list(finalizers)},
            "spec": {"nodeName": node, "restartPolicy": restart, "containers": [container]}}


def phase(pod):
    return pod["status"]["phase"] if pod else None


def exit_code(pod):
    """Of the first container; None while it has not ended."""
    state = pod["status"]["containerStatuses"][0]["state"]
    return state["terminated"]["exitCode"] if "terminated" in state else None


def has_ended(pod):
    return phase(pod) in ("Succeeded", "Failed")
