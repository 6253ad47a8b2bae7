"""What a member's own rules refuse: the reason is kept, another cluster is tried."""
from harness import jobs


def refused_then_ran(fed, name, first, then):
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    attempts = jobs.attempts(found)
    assert [a["cluster"] for a in attempts][-1] == then
    refusals = [a for a in attempts if a["cluster"] == first]
    assert refusals and refusals[0]["how"] in ("Refused", "Released"), attempts
    return refusals[0]


def test_a_name_taken_by_a_local_pod(fed, name):
    large = fed.members["large"]
    large.must("POST", "/api/v1/namespaces/default/pods", {
        "metadata": {"name": f"{name}-w-0"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "large-0"}})
    jobs.submit(fed.hub, jobs.job(name, jobs.task(requests={"cpu": "1"}),
                                  placement=jobs.only_in("large", "gpu")))
    refusal = refused_then_ran(fed, name, "large", "gpu")
    assert refusal["reason"] == "NameTaken"
    assert f"{name}-w-0" in refusal["message"]
    local = large.get(f"/api/v1/namespaces/default/pods/{name}-w-0")
    assert "labels" not in local["metadata"] and "deletionTimestamp" not in local["metadata"]


def test_a_quota_of_the_member(fed, name):
    large = fed.members["large"]
    large.make_namespace(name)
    large.must("POST", f"/api/v1/namespaces/{name}/resourcequotas", {
        "metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})
    large.wait_for(f"/api/v1/namespaces/{name}/resourcequotas/none",
                   lambda q: q.get("status", {}).get("hard"))
    fed.hub.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                "metadata": {"name": name}})
    jobs.submit(fed.hub, jobs.job(name, jobs.task(), namespace=name,
                                  placement=jobs.only_in("large", "gpu")))
    found = jobs.wait_phase(fed.hub, name, "Completed", 60, namespace=name)
    refusal = [a for a in jobs.attempts(found) if a["cluster"] == "large"][0]
    assert "exceeded quota" in refusal["message"]
    assert jobs.cluster(found) == "gpu"


def test_a_claim_that_waits_for_its_first_consumer(fed, name):
    large = fed.members["large"]
    large.must("POST", "/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": name}, "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer"})
    for member in ("large", "gpu"):
        fed.members[member].must("POST", "/api/v1/namespaces/default/persistentvolumeclaims", {
            "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": name,
                     "resources": {"requests": {"storage": "1Gi"}}}})
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": name}}
    jobs.submit(fed.hub, jobs.job(name, jobs.task(volumes=[volume]),
                                  placement=jobs.only_in("large")))

    def refused(found):
        return jobs.attempts(found) and jobs.attempts(found)[0].get("how") == "Refused"
    found = fed.hub.wait_for(jobs.path(name), refused, 30)
    assert name in jobs.attempts(found)[0]["message"]
    assert not jobs.pods_of(large, found["metadata"]["uid"])


def test_dynamic_resource_claims_are_refused_at_submission(fed, name):
    answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", jobs.job(
        name, jobs.task(resourceClaims=[{"name": "c", "resourceClaimName": "x"}])))
    assert answer.status == 422
    assert "resourceClaims" in answer.json()["message"]
