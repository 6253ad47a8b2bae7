"""Pods that are to run as processes of a sandbox, and never could."""
import pytest
from harness import jobs


def as_process(**container):
    task = jobs.task()
    task["template"]["metadata"]["annotations"]["sandbox.federator.dev/runtime"] = "process"
    task["template"]["spec"]["containers"][0].update(container)
    return task


@pytest.mark.parametrize("container, more, said", [
    ({"command": ["true"]}, {"plugins": {"svc": []}}, "spec.volumes: Forbidden: a local process"),
    ({}, {}, "spec.containers[0].command: Required value"),
], ids=["plugin svc", "no command"])
def test_a_process_that_cannot_start_is_refused(fed, name, container, more, said):
    """a job of local processes with {container}, {more} | refused with the field, not retried"""
    uid = jobs.submit(fed.hub, jobs.job(name, as_process(**container), **more,
                                        placement=jobs.only_in("arm")))["metadata"]["uid"]
    found = fed.hub.wait_for(jobs.path(name), lambda j: jobs.attempts(j)
                             and jobs.attempts(j)[0].get("how"), 30)
    first = jobs.attempts(found)[0]
    assert first["how"] == "Refused" and said in first["message"], first
    assert not jobs.pods_of(fed.members["arm"], uid)
    assert "retryCount" not in found["status"]
