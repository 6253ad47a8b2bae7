"""What users do with a job that has been placed, and what a hub does that begins to lead."""
import json
import re

import pytest
from harness import jobs
from harness.paths import ROOT


@pytest.mark.parametrize("version", ["1.32", "1.36"])
def test_kubectl_works_on_a_placed_job_without_a_warning(fed, name, version):
    text = json.dumps(jobs.job(name, jobs.task(run_seconds=3600),
                               placement=jobs.only_in("gpu")))
    fed.hub.kubectl(["apply", "-f", "-"], stdin=text, version=version)
    jobs.wait_phase(fed.hub, name, "Running")
    for args in (["apply", "-f", "-"], ["replace", "-f", "-"], ["label", "vcjob", name, "a=b"]):
        said = fed.hub.kubectl(args, stdin=text, version=version).stderr
        assert "Warning" not in said, (args, said)


@pytest.mark.parametrize("version", ["1.32", "1.36"])
def test_kubectl_reads_placements_and_writes_none(fed, name, version):
    """kubectl {version} on a Placement of the hub | every reading verb works, writing is 403"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("arm")))
    uid = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    one = f"placement/{uid}-0-1"

    def kubectl(*args, **options):
        return fed.hub.kubectl(["-n", "cluster-arm", *args], version=version, **options)
    header, row = kubectl("get", one, "-o", "wide").stdout.splitlines()
    assert header.split() == "NAME JOB GENERATION DESIRED STATE REASON AGE NODES".split()
    assert row.split()[1:5] == [name, "1", "Go", "Running"] and "arm-" in row
    stored = fed.hub.get(f"{jobs.FEDERATOR}/namespaces/cluster-arm/placements/{uid}-0-1")
    assert json.loads(kubectl("get", one, "-o", "json").stdout) == stored
    assert f"{uid}-0-1" in kubectl("get", "pl", "-o", "name").stdout
    assert re.search(rf"Name:\s+{name}$", kubectl("describe", one).stdout, re.MULTILINE)
    kubectl("wait", "--for=jsonpath={.status.state}=Running", one, "--timeout=10s")
    for args in (["label", one, "a=b"], ["annotate", one, "a=b"],
                 ["patch", one, "--type=merge", "-p", '{"spec":{"desired":"Release"}}']):
        said = kubectl(*args, check=False)
        assert said.returncode == 1 and "placements are written by the federator alone" in \
            said.stderr, said


def test_a_log_that_is_not_there_is_an_error_and_nothing_more(fed, name):
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("arm")))
    jobs.wait_phase(fed.hub, name, "Running")
    answer = fed.hub.api("GET", jobs.path(name) + "/log?task=w&index=7")
    assert answer.status == 404 and "pod 7" in answer.json()["message"], repr(answer)
    assert fed.hub.is_ready()


def test_a_hub_that_begins_to_lead_waits_for_the_clusters_before_it_places(fed):
    fed.hub.process.kill()
    fed.hub.process.start()
    fed.hub.wait_ready()
    fed.hub.kubectl(["apply", "-f", str(ROOT / "examples" / "near-data.yaml")])
    found = jobs.wait_phase(fed.hub, "near-data", "Completed", 60)
    assert [a["cluster"] for a in jobs.attempts(found)] == ["arm"]
