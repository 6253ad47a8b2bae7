"""What a member's own rules refuse: the reason is kept, another cluster is tried."""
from harness import jobs
from harness.stages import RUN_SECONDS


def refused_then_ran(fed, name, first, then):
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    attempts = jobs.attempts(found)
    assert [a["cluster"] for a in attempts][-1] == then
    refusals = [a for a in attempts if a["cluster"] == first]
    assert refusals and refusals[0]["how"] in ("Refused", "Released"), attempts
    return refusals[0]


def test_a_name_taken_by_a_local_pod(fed, name):
    """a pod's name is taken by a local pod (G14)
    | refused with the reason, other cluster tried; the local pod is untouched"""
    large = fed.members["large"]
    large.must("POST", "/api/v1/namespaces/default/pods", {
        "metadata": {"name": f"{name}-w-0", "annotations": {RUN_SECONDS: "3600"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "large-0"}})
    path = f"/api/v1/namespaces/default/pods/{name}-w-0"
    before = large.wait_for(path, lambda p: p["status"]["phase"] == "Running")
    jobs.submit(fed.hub, jobs.job(name, jobs.task(requests={"cpu": "1"}),
                                  placement=jobs.only_in("large", "gpu")))
    refusal = refused_then_ran(fed, name, "large", "gpu")
    assert refusal["reason"] == "NameTaken"
    assert f"{name}-w-0" in refusal["message"]
    assert large.get(path) == before
    large.must("DELETE", f"{path}?gracePeriodSeconds=0")


def test_a_quota_of_the_member(fed, name):
    """a quota of the member refuses | refused with its text, other cluster tried"""
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
    assert (refusal["how"], refusal["reason"]) == ("Refused", "QuotaExceeded")
    assert "exceeded quota" in refusal["message"]
    assert large.pods(name) == []
    assert jobs.cluster(found) == "gpu"


def make_claim(member, name, **spec):
    path = "/api/v1/namespaces/default/persistentvolumeclaims"
    member.must("POST", path, {"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}})
    return f"{path}/{name}"


def make_volume(member, name):
    member.must("POST", "/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/nowhere"}}})


def test_a_claim_that_waits_for_its_first_consumer(fed, name):
    """a volume's claim that waits for its consumer | refused with the reason, other cluster tried;
    the claim is untouched"""
    large, gpu = fed.members["large"], fed.members["gpu"]
    large.must("POST", "/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": name}, "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer"})
    claim = make_claim(large, name, storageClassName=name)
    before = large.get(claim)
    make_volume(gpu, name)
    gpu.wait_for(make_claim(gpu, name, storageClassName="", volumeName=name),
                 lambda found: found["status"]["phase"] == "Bound", 20)
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": name}}
    jobs.submit(fed.hub, jobs.job(name, jobs.task(volumes=[volume]),
                                  placement=jobs.only_in("large", "gpu")))
    refusal = refused_then_ran(fed, name, "large", "gpu")
    assert refusal["how"] == "Refused" and name in refusal["message"], refusal
    assert not jobs.pods_of(large, fed.hub.get(jobs.path(name))["metadata"]["uid"])
    assert large.get(claim) == before


def test_dynamic_resource_claims_are_refused_at_submission(fed, name):
    """a pod with a claim of dynamic resource allocation (G25) | a clear refusal"""
    answer = fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", jobs.job(
        name, jobs.task(resourceClaims=[{"name": "c", "resourceClaimName": "x"}])))
    assert answer.status == 422
    assert "resourceClaims" in answer.json()["message"]
