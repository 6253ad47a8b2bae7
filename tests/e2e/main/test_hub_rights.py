"""The hub's fixed rules: who may read and write what. A row is one request and its answer."""
import base64
import json
import os
import shutil
import subprocess

import pytest
from harness import certs, jobs, paths, wait
from harness.rest import ApiServer, write_kubeconfig

BATCH, SCHEDULING, OURS = jobs.JOBS, "/apis/scheduling.volcano.sh/v1beta1", jobs.FEDERATOR
CORE, DEFAULT = "/api/v1", "/api/v1/namespaces/default"
SYSTEM = "/api/v1/namespaces/federator-system"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
MERGE = {"Content-Type": "application/merge-patch+json"}

QUEUE = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}}
DATASET = {"apiVersion": "federator.dev/v1alpha1", "kind": "DataSet", "metadata": {"name": "d"},
           "spec": {"size": "1Gi"}}
LABEL = {"metadata": {"labels": {"a": "b"}}}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def cluster(name, **spec):
    return {"apiVersion": "federator.dev/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": spec}


def csr(name, common_name, *organizations):
    """A request for a client certificate, as kubectl would send it."""
    subject = "".join(f"/O={o}" for o in organizations) + f"/CN={common_name}"
    pem = subprocess.run(
        [paths.system_tool("openssl"), "req", "-new", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-subj", subject, "-keyout", "/dev/null"],
        check=True, capture_output=True).stdout
    return {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"name": name}, "spec": {
                "request": base64.b64encode(pem).decode(), "usages": ["client auth"],
                "signerName": "federator.dev/cluster-agent"}}


def named(name, **more):
    return {"metadata": {"name": name}, **more}


# What each user may do, and may not: (method, path, body, status). In paths: {job} a Job in arm,
# {other} one in gpu, {arm} and {gpu} their Placements.
USER = [
    ("POST", DEFAULT + "/configmaps", named("of-a-user"), 201),
    ("POST", DEFAULT + "/secrets", named("of-a-user"), 201),
    ("PATCH", DEFAULT + "/configmaps/of-a-user", LABEL, 200),
    ("DELETE", DEFAULT + "/configmaps/of-a-user", None, 200),
    ("DELETE", DEFAULT + "/secrets/of-a-user", None, 200),
    ("POST", f"{BATCH}/namespaces/default/jobs", jobs.job("of-a-user", jobs.task()), 201),
    ("PATCH", f"{BATCH}/namespaces/default/jobs/of-a-user", LABEL, 200),
    ("DELETE", f"{BATCH}/namespaces/default/jobs/of-a-user", None, 200),
    ("GET", f"{BATCH}/jobs", None, 200),
    ("GET", f"{OURS}/placements", None, 200),
    ("GET", f"{OURS}/namespaces/cluster-arm/placements", None, 200),
    ("GET", DEFAULT + "/events", None, 200),
    ("GET", LEASES.format("default"), None, 200),
    ("GET", SCHEDULING + "/queues", None, 200),
    ("GET", f"{OURS}/clusters/arm", None, 200),
    ("GET", f"{OURS}/datasets", None, 200),
    ("GET", SYSTEM + "/secrets", None, 403),
    ("GET", SYSTEM + "/configmaps", None, 403),
    ("GET", CORE + "/secrets", None, 403),
    ("GET", CORE + "/configmaps", None, 403),
    ("POST", SYSTEM + "/secrets", named("s"), 403),
    ("GET", CSRS, None, 403),
    ("POST", CSRS, csr("c", "system:cluster:arm"), 403),
    ("POST", SCHEDULING + "/queues", QUEUE, 403),
    ("PATCH", SCHEDULING + "/queues/default", {"spec": {"closed": True}}, 403),
    ("DELETE", SCHEDULING + "/queues/default", None, 403),
    ("POST", f"{OURS}/datasets", DATASET, 403),
    ("POST", f"{OURS}/clusters", cluster("mine", accepted=True), 403),
    ("PATCH", f"{OURS}/clusters/arm", {"spec": {"accepted": False}}, 403),
    ("PATCH", f"{OURS}/clusters/arm/status", READY, 403),
    ("PATCH", "{arm}", {"spec": {"desired": "Release"}}, 403),
    ("PATCH", "{arm}/status", {"status": {"state": "Done"}}, 403),
    ("POST", CORE + "/namespaces", named("n"), 403),
    ("POST", DEFAULT + "/events", named("e"), 403),
    ("POST", LEASES.format("default"), named("l"), 403),
    ("POST", f"{OURS}/clusters/arm/hello", {}, 403),
    ("POST", f"{OURS}/clusters/arm/capacity", {}, 403),
    ("GET", f"{OURS}/clusters/arm/requests", None, 403),
]
# Masters may do all that the owner table does not give to another.
MASTER = [
    ("GET", SYSTEM + "/secrets", None, 200),
    ("PATCH", f"{OURS}/clusters/arm", LABEL, 200),
    ("PATCH", f"{OURS}/clusters/arm/status", READY, 403),
    ("PATCH", SCHEDULING + "/queues/default/status", {"status": {"running": 9}}, 403),
    ("PATCH", "{arm}", LABEL, 403),
    ("PATCH", "{arm}/status", {"status": {"state": "Done"}}, 403),
    ("PUT", "{arm}", {}, 403),
    ("POST", f"{OURS}/clusters/arm/hello", {}, 403),
    ("POST", f"{OURS}/clusters/arm/capacity", {}, 403),
    ("POST", f"{OURS}/clusters/arm/answers", {}, 403),
    ("GET", f"{OURS}/clusters/arm/requests", None, 403),
    ("DELETE", CORE + "/namespaces/federator-system", None, 403),
    ("DELETE", CORE + "/namespaces/cluster-arm", None, 403),
    ("DELETE", f"{OURS}/clusters/arm", None, 403),
    ("DELETE", SCHEDULING + "/queues/default", None, 403),
]
# The agent of arm.
AGENT = [
    ("GET", f"{OURS}/clusters/arm", None, 200),
    ("GET", f"{OURS}/namespaces/cluster-arm/placements", None, 200),
    ("GET", "{arm}", None, 200),
    ("GET", "{job}", None, 200),
    ("GET", LEASES.format("cluster-arm"), None, 200),
    ("GET", f"{OURS}/clusters", None, 403),
    ("GET", f"{OURS}/clusters/gpu", None, 403),
    ("GET", f"{OURS}/placements", None, 403),
    ("GET", f"{OURS}/namespaces/cluster-gpu/placements", None, 403),
    ("GET", "{gpu}", None, 403),
    ("GET", "{other}", None, 403),
    ("GET", f"{BATCH}/jobs", None, 403),
    ("GET", f"{BATCH}/namespaces/default/jobs", None, 403),
    ("GET", f"{BATCH}/namespaces/default/jobs?watch=1", None, 403),
    ("GET", DEFAULT + "/secrets", None, 403),
    ("GET", DEFAULT + "/configmaps", None, 403),
    ("GET", SYSTEM + "/secrets", None, 403),
    ("GET", SCHEDULING + "/queues", None, 403),
    ("GET", f"{OURS}/datasets", None, 403),
    ("GET", CSRS, None, 403),
    ("GET", LEASES.format("cluster-gpu"), None, 403),
    ("PATCH", "{job}", LABEL, 403),
    ("PATCH", "{job}/status", {"status": {"state": {"phase": "Completed"}}}, 403),
    ("DELETE", "{job}", None, 403),
    ("PATCH", "{arm}", {"spec": {"desired": "Release"}}, 403),
    ("PATCH", "{gpu}/status", {"status": {"state": "Done"}}, 403),
    ("PATCH", f"{OURS}/clusters/arm", {"spec": {"taints": []}}, 403),
    ("PATCH", f"{OURS}/clusters/gpu/status", READY, 403),
    ("DELETE", f"{OURS}/clusters/arm", None, 403),
    ("POST", f"{OURS}/clusters/gpu/hello", {}, 403),
    ("POST", f"{OURS}/clusters/gpu/capacity", {}, 403),
    ("GET", f"{OURS}/clusters/gpu/requests", None, 403),
    ("POST", f"{BATCH}/namespaces/default/jobs", jobs.job("of-an-agent", jobs.task()), 403),
    ("POST", CORE + "/namespaces", named("n"), 403),
    ("POST", DEFAULT + "/configmaps", named("c"), 403),
]
# Who has a token to join as `late`, step by step.
JOINING = [
    ("POST", f"{OURS}/clusters", cluster("early"), 403),
    ("POST", f"{OURS}/clusters", cluster("late", accepted=True), 403),
    ("POST", CSRS, csr("early", "system:cluster:early"), 403),
    ("POST", CSRS, csr("late", "system:cluster:arm"), 403),
    ("POST", CSRS, csr("late", "system:cluster:late", "system:masters"), 403),
    ("POST", f"{OURS}/clusters", cluster("late"), 201),
    ("POST", CSRS, csr("late", "system:cluster:late"), 201),
    ("GET", f"{OURS}/clusters/late", None, 200),
    ("GET", f"{CSRS}/late", None, 200),
    ("GET", f"{OURS}/clusters/arm", None, 403),
    ("GET", f"{OURS}/clusters", None, 403),
    ("GET", CSRS, None, 403),
    ("PATCH", f"{OURS}/clusters/late", {"spec": {"accepted": True}}, 403),
    ("PATCH", f"{OURS}/clusters/late/status", READY, 403),
    ("POST", f"{OURS}/clusters/late/hello", {}, 403),
    ("DELETE", f"{OURS}/clusters/late", None, 403),
    ("GET", SYSTEM + "/secrets", None, 403),
    ("GET", f"{BATCH}/jobs", None, 403),
    ("GET", f"{OURS}/namespaces/cluster-late/placements", None, 403),
]


@pytest.fixture(scope="module")
def there(federation):
    """What rows name: {word: path} of a Job in arm and one in gpu, and of their Placements."""
    found, hub = {}, federation.hub
    for word, name in (("job", "arm"), ("other", "gpu")):
        made = jobs.submit(hub, jobs.job(f"rights-{name}", jobs.task(run_seconds=3600),
                                         placement=jobs.only_in(name)))
        jobs.wait_phase(hub, f"rights-{name}", "Running")
        found[word] = jobs.path(f"rights-{name}")
        found[name] = f"{OURS}/namespaces/cluster-{name}/placements/{made['metadata']['uid']}-0-1"
    yield found
    for name in ("arm", "gpu"):
        jobs.delete(hub, f"rights-{name}")


def agent_of_arm(hub, federation):
    state = federation.agents["arm"].state
    return write_kubeconfig(os.path.join(state, "rights.kubeconfig"), hub.url, f"{state}/ca.pem",
                            f"{state}/cert.pem", f"{state}/key.pem")


def user_eve(hub):
    """Whom the hub's own authority knows by a certificate."""
    folder = hub.run.dir("rights-pki")
    authority = certs.Authority(folder)
    for ending in ("crt", "key"):
        shutil.copy(os.path.join(hub.state, "pki", f"ca.{ending}"), folder)
    cert, key = authority.issue_client("eve")
    return write_kubeconfig(os.path.join(folder, "eve.kubeconfig"), hub.url, authority.cert, cert,
                            key)


def bearer(hub, name, token):
    return write_kubeconfig(hub.run.write(f"{name}.kubeconfig", ""), hub.url,
                            os.path.join(hub.state, "pki", "ca.crt"), token=token)


@pytest.fixture(scope="module")
def people(federation):
    """{who: a client of the hub}."""
    hub = federation.hub
    configs = {"user": user_eve(hub), "agent": agent_of_arm(hub, federation),
               "joining": bearer(hub, "joining", hub.make_token("late")),
               "master": hub.kubeconfig}
    yield {who: ApiServer(hub.run, f"hub as {who}", config) for who, config in configs.items()}
    hub.api("DELETE", f"{CSRS}/late")
    hub.api("DELETE", f"{OURS}/clusters/late")


ROWS = [(who, *row) for who, rows in (("user", USER), ("master", MASTER), ("agent", AGENT),
                                      ("joining", JOINING)) for row in rows]


@pytest.mark.parametrize("who, method, path, body, status", ROWS, ids=[
    f"{i:03}-{who}-{method}-{status}" for i, (who, method, _, _, status) in enumerate(ROWS)])
def test_right(people, there, who, method, path, body, status):
    """at the hub, {who}: {method} {path} | {status}"""
    headers = MERGE if method == "PATCH" else {}
    answer = people[who].api(method, path.format_map(there), json.dumps(body) if headers else body,
                             headers)
    assert answer.status == status, f"{path}: {answer!r}"
    if status == 403:
        assert answer.json()["reason"] == "Forbidden"


def test_a_certificate_comes_only_with_acceptance(federation):
    """a member asks to join, and is accepted later | no certificate before; afterwards, its own"""
    hub, path = federation.hub, f"{OURS}/clusters/later"
    joining = ApiServer(hub.run, "hub", bearer(hub, "later", hub.make_token("later")))
    joining.must("POST", f"{OURS}/clusters", cluster("later"))
    joining.must("POST", CSRS, csr("later", "system:cluster:later"))
    try:
        wait.holds(lambda: "certificate" not in joining.get(f"{CSRS}/later").get("status", {}), 1,
                   what="the hub to wait for acceptance")
        hub.merge(path, {"spec": {"accepted": True}})
        signed = joining.wait_for(f"{CSRS}/later", lambda found: found.get("status", {}).get(
            "certificate"))["status"]["certificate"]
        said = subprocess.run([paths.system_tool("openssl"), "x509", "-noout", "-subject"],
                              input=base64.b64decode(signed), check=True, capture_output=True)
        assert said.stdout.decode().strip() == "subject=CN = system:cluster:later"
    finally:
        hub.api("DELETE", path)
        hub.api("DELETE", f"{CSRS}/later")


@pytest.mark.parametrize("change", [{"expiration": "2000-01-01T00:00:00Z"}, {"token-secret": "x"}])
def test_a_token_that_is_over_or_wrong_is_401(federation, name, change):
    """a token that is over or wrong | 401"""
    hub = federation.hub
    token = hub.make_token(name)
    secret = f"{SYSTEM}/secrets/bootstrap-token-{token.partition('.')[0]}"
    client = ApiServer(hub.run, "hub", bearer(hub, name, token))
    assert client.api("GET", f"{OURS}/clusters/{name}").status == 404
    hub.merge(secret, {"stringData": change})
    assert client.api("GET", f"{OURS}/clusters/{name}").status == 401
    hub.must("DELETE", secret)


def test_the_finalizer_of_a_job_stays_with_it(fed, name):
    """a user drops the finalizer of a running Job, and writes its status
    | neither is changed: the record lives until the Placement is gone"""
    jobs.submit(fed.hub, jobs.job(name, jobs.task(run_seconds=3600),
                                  placement=jobs.only_in("arm")))
    before = jobs.wait_phase(fed.hub, name, "Running")
    changed = dict(before, status={"state": {"phase": "Failed"}}, metadata=dict(
        before["metadata"], finalizers=[]))
    fed.hub.must("PUT", jobs.path(name), changed)
    fed.hub.must("PUT", jobs.path(name) + "/status",
                 dict(changed, metadata=fed.hub.get(jobs.path(name))["metadata"]))
    found = fed.hub.get(jobs.path(name))
    assert found["metadata"]["finalizers"] == ["federator.dev/release"]
    assert jobs.phase(found) == "Running"
