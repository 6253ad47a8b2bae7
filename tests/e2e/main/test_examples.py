"""The three example jobs, as users submit them."""
import pytest
from harness import jobs
from harness.paths import ROOT


def submit_file(fed, name, version="1.36"):
    return fed.hub.kubectl(["apply", "-f", str(ROOT / "examples" / name)], version=version)


def completed(fed, name):
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    return jobs.attempts(found)[-1]


def runs_nowhere_else(fed, uid, cluster):
    return not any(jobs.pods_of(member, uid)
                   for name, member in fed.members.items() if name != cluster)


def test_the_sample_job_runs_where_the_gpus_are(fed):
    submit_file(fed, "tensorflow-two-tasks.yaml", "1.32")
    attempt = completed(fed, "example-job")
    assert attempt["cluster"] == "gpu"
    assert attempt["why"] == "arm, large: no node has nvidia.com/gpu"
    uid = fed.hub.get(jobs.path("example-job"))["metadata"]["uid"]
    assert runs_nowhere_else(fed, uid, "gpu")


def test_the_job_with_data_runs_at_its_data(fed):
    submit_file(fed, "near-data.yaml")
    attempt = completed(fed, "near-data")
    assert attempt["cluster"] == "arm"
    assert "0 B to move" in attempt["why"] and "40Gi" in attempt["why"]
    assert attempt["nodes"].startswith("arm-")


def test_hello_runs_where_least_is_wasted_and_says_so(fed):
    submit_file(fed, "hello.yaml")
    attempt = completed(fed, "hello")
    assert attempt["cluster"] == "large"
    assert attempt["why"] == "fits in 3 of 3 clusters; least waste on large"


@pytest.mark.parametrize("version", ["1.32", "1.36"])
def test_kubectl_waits_for_the_end(fed, version):
    submit_file(fed, "tensorflow-two-tasks.yaml", version)
    fed.hub.kubectl(["wait", "--for=condition=Completed", "--timeout=60s", "vcjob/example-job"],
                    version=version)
