"""Who may see and write what, at the hub."""
import json
import os

import pytest
from harness import jobs
from harness.rest import ApiServer, write_kubeconfig


@pytest.fixture(scope="session")
def as_agent(federation):
    """A client of the hub with the certificate of a cluster's agent."""
    def make(cluster):
        state = federation.agents[cluster].state
        config = os.path.join(state, "as-agent.kubeconfig")
        write_kubeconfig(config, federation.hub.url, os.path.join(state, "ca.pem"),
                         os.path.join(state, "cert.pem"), os.path.join(state, "key.pem"))
        return ApiServer(federation.hub.run, f"hub as {cluster}", config)
    return make


def test_an_agent_reaches_only_its_own_placements(fed, as_agent):
    """agent A asks for B's Placements | 403"""
    arm = as_agent("arm")
    assert arm.api("GET", f"{jobs.FEDERATOR}/namespaces/cluster-arm/placements").status == 200
    for path in (f"{jobs.FEDERATOR}/namespaces/cluster-gpu/placements",
                 f"{jobs.FEDERATOR}/placements", f"{jobs.JOBS}/jobs",
                 f"{jobs.JOBS}/namespaces/default/jobs", "/api/v1/namespaces/default/secrets",
                 f"{jobs.FEDERATOR}/clusters/gpu"):
        assert arm.api("GET", path).status == 403, path


def test_an_agent_sees_a_job_only_while_a_placement_names_it(fed, as_agent, name):
    """an agent asks for a Job that none of its Placements names | 403"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("arm")))
    jobs.wait_phase(fed.hub, name, "Running")
    assert as_agent("arm").api("GET", jobs.path(name)).status == 200
    assert as_agent("gpu").api("GET", jobs.path(name)).status == 403
    jobs.delete(fed.hub, name)
    assert as_agent("arm").api("GET", jobs.path(name)).status == 403


def test_an_agent_gets_a_secret_only_for_a_job_that_refers_to_it(fed, as_agent, name):
    """an agent asks for a Secret to which no Job of its Placements refers | 403"""
    fed.hub.must("POST", "/api/v1/namespaces/default/secrets",
                 {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
                  "stringData": {"a": "b"}})
    wanted = jobs.task(run_seconds=3600)
    wanted["template"]["spec"]["containers"][0]["envFrom"] = [{"secretRef": {"name": name}}]
    jobs.submit(fed.hub, jobs.job(name, wanted, placement=jobs.only_in("arm")))
    jobs.submit(fed.hub, jobs.job(f"{name}-other", jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("arm")))
    for made in (name, f"{name}-other"):
        jobs.wait_phase(fed.hub, made, "Running")
    path = f"/api/v1/namespaces/default/secrets/{name}"
    arm, gpu = as_agent("arm"), as_agent("gpu")
    assert arm.api("GET", path, headers={"Federator-Job": name}).status == 200
    assert arm.api("GET", path, headers={"Federator-Job": f"{name}-other"}).status == 403
    assert arm.api("GET", path).status == 403
    assert gpu.api("GET", path, headers={"Federator-Job": name}).status == 403


@pytest.mark.parametrize("patch", [{"spec": {"desired": "Release"}},
                                   {"status": {"state": "Done"}}])
def test_placements_are_written_by_their_owners_alone(fed, name, patch):
    """a master writes a Placement | 403"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("arm")))
    uid = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    path = f"{jobs.FEDERATOR}/namespaces/cluster-arm/placements/{uid}-0-1"
    suffix = "/status" if "status" in patch else ""
    answer = fed.hub.api("PATCH", path + suffix, json.dumps(patch),
                         {"Content-Type": "application/merge-patch+json"})
    assert answer.status == 403, repr(answer)


def test_a_deposed_term_is_refused_with_its_cause(fed, as_agent):
    """an agent writes in a term that is over | 409 with the cause TermSuperseded"""
    arm = as_agent("arm")
    answer = arm.api("PATCH", f"{jobs.FEDERATOR}/clusters/arm/status",
                     json.dumps({"status": {"nodes": 1}}),
                     {"Content-Type": "application/merge-patch+json", "Federator-Term": "0"})
    assert answer.status == 409
    assert answer.json()["details"]["causes"][0]["reason"] == "TermSuperseded"


def test_jobs_status_is_the_hubs(fed, name):
    """a user writes the status of a Job | it is as the hub says"""
    made = jobs.job(name, jobs.task(), placement=jobs.only_in("nowhere"))
    made["status"] = {"state": {"phase": "Completed"}}
    jobs.submit(fed.hub, made)
    for suffix in ("", "/status"):
        fed.hub.api("PATCH", jobs.path(name) + suffix,
                    json.dumps({"status": {"state": {"phase": "Completed"}}}),
                    {"Content-Type": "application/merge-patch+json"})
    assert jobs.phase(fed.hub.get(jobs.path(name))) == "Pending"
