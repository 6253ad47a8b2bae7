"""What a member's own rules and neighbours do to a job that is on its way or runs."""
import contextlib
import json
import socket
from concurrent.futures import ThreadPoolExecutor

from harness import jobs, wait
from harness.nodes import NodeShape
from harness.paths import PLACEMENT_CRD
from harness.stages import RUN_SECONDS

NODES = "/api/v1/nodes"
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


def patch_status(member, path, status):
    return member.must("PATCH", f"{path}/status", json.dumps({"status": status}), STRATEGIC)


def both_namespaces(fed, name):
    fed.real.make_namespace(name)
    fed.hub.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                "metadata": {"name": name}})


def is_full(fed, name):
    """real has no node with 3 cpu: says a job that asks for it."""
    jobs.submit(fed.hub, jobs.job(f"{name}-probe", jobs.task(requests={"cpu": "3"}),
                                  placement=jobs.only_in("real")))
    why = jobs.wait_pending(fed.hub, f"{name}-probe", lambda p: p["code"] == "NoRoom")
    assert why["nearestMiss"]["resource"] == "cpu", why


def test_limit_range_defaults(fed, name):
    """defaults of a LimitRange grow the pods (G15) | booked as the member returned them"""
    both_namespaces(fed, name)
    fed.real.must("POST", f"/api/v1/namespaces/{name}/limitranges", {
        "metadata": {"name": "d"}, "spec": {"limits": [{
            "type": "Container", "defaultRequest": {"cpu": "3"}, "default": {"cpu": "3"}}]}})
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=6, requests={"memory": "1Mi"},
                                                  run_seconds=3600),
                                  namespace=name, placement=jobs.only_in("real")))
    uid = jobs.wait_phase(fed.hub, name, "Running", namespace=name)["metadata"]["uid"]
    nodes = sorted(p["spec"]["nodeName"] for p in fed.pods(uid))
    assert nodes == [f"real-{i}" for i in range(3) for _ in range(2)]
    is_full(fed, name)


def test_runtime_class_overhead(fed, name):
    """the overhead of a RuntimeClass grows the pods (G16) | booked"""
    fed.real.must("POST", "/apis/node.k8s.io/v1/runtimeclasses", {
        "metadata": {"name": name}, "handler": "h", "overhead": {"podFixed": {"cpu": "2"}}})
    fed.submit(name, jobs.task(replicas=6, run_seconds=3600, runtimeClassName=name))
    uid = jobs.wait_phase(fed.hub, name, "Running")["metadata"]["uid"]
    nodes = sorted(p["spec"]["nodeName"] for p in fed.pods(uid))
    assert nodes == [f"real-{i}" for i in range(3) for _ in range(2)]
    is_full(fed, name)


def test_nominated_node(fed, name):
    """a pod of others is nominated to a node (G18) | its room is left alone"""
    pods = "/api/v1/namespaces/default/pods"
    fed.real.must("POST", pods, {
        "metadata": {"name": f"{name}-high"}, "spec": {"schedulerName": "other", "containers": [
            {"name": "c", "image": "i", "resources": {"requests": {"cpu": "6"}}}]}})
    patch_status(fed.real, f"{pods}/{name}-high", {"nominatedNodeName": "real-1"})
    try:
        fed.submit(name, jobs.task(replicas=3, requests={"cpu": "5"}, run_seconds=3600))
        jobs.wait_pending(fed.hub, name, lambda p: p["code"] == "NoRoom")
        uid = fed.submit(f"{name}-b", jobs.task(replicas=2, requests={"cpu": "8"}))
        found = jobs.wait_phase(fed.hub, f"{name}-b", "Completed")
        assert "real-1" not in jobs.attempts(found)[0]["nodes"]
        assert not [p for p in fed.pods(uid) if p["spec"]["nodeName"] == "real-1"]
    finally:
        fed.real.must("DELETE", f"{pods}/{name}-high?gracePeriodSeconds=0")


def device_job(device):
    wanted = jobs.task()
    wanted["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1", device: "1"}}
    return wanted


def add_device_node(fed, name, device, number):
    """A node of real that alone has the device; returns when the hub knows of it."""
    fed.real.add_nodes(NodeShape(1, cpu="8", extended={device: "2"}), first=number)
    probe = jobs.job(f"{name}-probe", device_job(device))

    def accepted():
        return fed.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", probe).status == 201
    wait.until(accepted, 20, what="the hub to know the device")
    jobs.wait_phase(fed.hub, f"{name}-probe", "Completed")


def test_node_deleted_before_create(fed, name):
    """the node that fits is deleted between report and create (G19)
    | no pod stays on it; the job runs when there is one again"""
    add_device_node(fed, name, "example.com/rare", 9)
    fed.agent.stop()
    uid = fed.submit(name, device_job("example.com/rare"))
    fed.wait_offer(uid)
    fed.real.must("DELETE", f"{NODES}/real-9")
    fed.agent.cont()
    wait.until(lambda: not fed.pods(uid), 20, what="no pod to stay on a node that is not there")
    wait.holds(lambda: not fed.pods(uid), 4, what="no pod while there is no node")
    assert jobs.phase(fed.hub.get(jobs.path(name))) == "Pending"
    fed.real.add_nodes(NodeShape(1, cpu="8", extended={"example.com/rare": "2"}), first=9)
    try:
        jobs.wait_phase(fed.hub, name, "Completed", 60)
    finally:
        fed.real.must("DELETE", f"{NODES}/real-9")


def test_cordon_after_decision(fed, name):
    """a node is cordoned when the pod is there (G20) | the pod stays and ends"""
    uid = fed.submit(name, jobs.task(run_seconds=4))
    jobs.wait_phase(fed.hub, name, "Running")
    pod = fed.pods(uid)[0]
    node = f"{NODES}/{pod['spec']['nodeName']}"
    fed.real.merge(node, {"spec": {"unschedulable": True}})
    try:
        found = jobs.wait_phase(fed.hub, name, "Completed")
        assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
        assert [p["metadata"]["uid"] for p in fed.pods(uid)] in ([], [pod["metadata"]["uid"]])
    finally:
        fed.real.merge(node, {"spec": {"unschedulable": None}})


@contextlib.contextmanager
def no_execute(member, *nodes):
    """Taints that the member's own controller carries out."""
    for node in nodes:
        member.merge(f"{NODES}/{node}", {"spec": {"taints": [
            {"key": "example.com/out", "effect": "NoExecute"}]}})
    try:
        yield
    finally:
        for node in nodes:
            member.merge(f"{NODES}/{node}", {"spec": {"taints": None}})


def is_running(pod):
    return pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]


def test_no_execute_taint(fed, name):
    """a node gets a NoExecute taint, and its pod is evicted (G21)
    | a loss: made again on another node, once"""
    mark = fed.real.audit.mark()
    uid = fed.submit(name, jobs.task(run_seconds=3600))
    jobs.wait_phase(fed.hub, name, "Running")
    first = fed.pods(uid)[0]
    with no_execute(fed.real, first["spec"]["nodeName"]):
        fed.wait_pods(uid, lambda pods: [p for p in pods if is_running(p)
                                         and p["metadata"]["uid"] != first["metadata"]["uid"]
                                         and p["spec"]["nodeName"] != first["spec"]["nodeName"]],
                      30)
        assert jobs.phase(fed.hub.get(jobs.path(name))) == "Running"
        assert fed.posts(mark, name) == {f"{name}-w-0": 2}
    evictions = fed.real.audit.events(mark, user="kube-controller-manager", verb="delete",
                                      resource="pods", name=f"{name}-w-0")
    assert len(evictions) == 1, "the member's controller evicts it"
    found = fed.hub.get(jobs.path(name))
    assert len(jobs.attempts(found)) == 1 and "retryCount" not in found["status"]


def test_no_execute_taint_on_every_node(fed, name):
    """all nodes get a NoExecute taint under a running job (G21)
    | a failure of placement that the job shows, no hot loop; it goes on when they are lifted"""
    mark = fed.real.audit.mark()
    uid = fed.submit(name, jobs.task(replicas=2, run_seconds=6))
    jobs.wait_phase(fed.hub, name, "Running")
    with no_execute(fed.real, *(f"real-{i}" for i in range(3))):
        wait.until(lambda: not fed.pods(uid), 20, what="the pods to be evicted")
        wait.holds(lambda: not fed.pods(uid), 8, what="no pod where it would be evicted")
        assert fed.posts(mark, name) == {f"{name}-w-0": 1, f"{name}-w-1": 1}
        state = fed.hub.get(jobs.path(name))["status"]["state"]
        assert state["phase"] == "Running" and "example.com/out" in state["message"], state
    found = jobs.wait_phase(fed.hub, name, "Completed", 30)
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]
    assert fed.posts(mark, name) == {f"{name}-w-0": 2, f"{name}-w-1": 2}


def test_device_left_the_node(fed, name):
    """a device leaves its node between report and create (G22)
    | refused by us; no pod starts without it"""
    add_device_node(fed, name, "example.com/odd", 8)
    try:
        mark = fed.real.audit.mark()
        fed.agent.stop()
        uid = fed.submit(name, device_job("example.com/odd"))
        fed.wait_offer(uid)
        gone = {"example.com/odd": "0"}
        patch_status(fed.real, f"{NODES}/real-8", {"allocatable": gone, "capacity": gone})
        fed.agent.cont()
        fed.hub.wait_for(jobs.path(name), lambda j: jobs.attempts(j)
                         and jobs.attempts(j)[-1].get("how") == "Refused", 40)
        assert f"{name}-w-0" not in fed.posts(mark, name)
        assert not fed.pods(uid)
    finally:
        fed.real.must("DELETE", f"{NODES}/real-8")


def test_pods_vanish(fed, name):
    """pods are removed by force (G34)
    | a loss, not a completion: made again, and the job ends once"""
    uid = fed.submit(name, jobs.task(replicas=2, run_seconds=6))
    jobs.wait_phase(fed.hub, name, "Running")
    before = {p["metadata"]["uid"] for p in fed.pods(uid)}
    fed.real.must("DELETE", f"/api/v1/namespaces/default/pods/{name}-w-0?gracePeriodSeconds=0")

    def whole_again(pods):
        return len(pods) == 2 and len({p["metadata"]["uid"] for p in pods} - before) == 1
    fed.wait_pods(uid, whole_again)
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert found["status"]["succeeded"] == 2
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]


def test_pods_vanish_while_nobody_looks(fed, name):
    """pods are removed by force while the agent is down (G34) | a loss, not a completion"""
    uid = fed.submit(name, jobs.task(run_seconds=4))
    jobs.wait_phase(fed.hub, name, "Running")
    first = fed.pods(uid)[0]["metadata"]["uid"]
    fed.agent.kill()
    fed.real.must("DELETE", f"/api/v1/namespaces/default/pods/{name}-w-0?gracePeriodSeconds=0")
    fed.restart_killed_agent()
    fed.wait_pods(uid, lambda pods: pods and pods[0]["metadata"]["uid"] != first, 30)
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert found["status"]["succeeded"] == 1


def recreate_twin(member, uid):
    """As a restore of a backup does: the same record, with another uid and without a status. The
    member's collector ends what the old one owned. Returns (new uid, uids of the pods before)."""
    twin, = jobs.twins_of(member, uid)
    before = {p["metadata"]["uid"] for p in jobs.pods_of(member, uid)}
    meta, path = twin["metadata"], f"{jobs.FEDERATOR}/namespaces/default/placements"
    member.merge(f"{path}/{meta['name']}", {"metadata": {"finalizers": None}})
    member.must("DELETE", f"{path}/{meta['name']}")
    made = member.must("POST", path, {
        "apiVersion": twin["apiVersion"], "kind": twin["kind"], "spec": twin["spec"],
        "metadata": {k: meta[k] for k in ("name", "labels", "annotations", "finalizers")}})
    return made["metadata"]["uid"], before


def test_owner_recreated(fed, name):
    """the record that owns the pods is made anew, with another uid, and they vanish (G34)
    | a loss, not a completion: pods and copies are made again under the new owner"""
    fed.hub.must("POST", "/api/v1/namespaces/default/configmaps",
                 {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                  "data": {"key": "value"}})
    task = jobs.task(replicas=2, run_seconds=6)
    task["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": name}}]
    uid = fed.submit(name, task)
    jobs.wait_phase(fed.hub, name, "Running")
    owner, before = recreate_twin(fed.real, uid)

    def under_new_owner(pods):
        assert not {p["metadata"]["uid"] for p in pods} & before
        assert [[o["uid"] for o in p["metadata"]["ownerReferences"]] for p in pods] == \
            [[owner]] * 2
        return True
    fed.wait_pods(uid, under_new_owner, 40)
    copy = fed.real.get(f"/api/v1/namespaces/default/configmaps/{name}-{uid[:8]}")
    assert copy["data"] == {"key": "value"}
    assert [o["uid"] for o in copy["metadata"]["ownerReferences"]] == [owner]
    assert jobs.phase(fed.hub.get(jobs.path(name))) != "Completed"
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert found["status"]["succeeded"] == 2
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]


def test_owner_recreated_while_nobody_looks(fed, name):
    """the same while the agent is down (G34) | a loss, not a completion"""
    uid = fed.submit(name, jobs.task(replicas=2, run_seconds=4))
    jobs.wait_phase(fed.hub, name, "Running")
    fed.agent.kill()
    owner, before = recreate_twin(fed.real, uid)
    wait.until(lambda: not fed.pods(uid), 20, what="the collector to end what has no owner")
    fed.restart_killed_agent()
    fed.wait_pods(uid, lambda pods: len(pods) == 2 and not {p["metadata"]["uid"] for p in pods}
                  & before, 40)
    assert jobs.phase(fed.hub.get(jobs.path(name))) != "Completed"
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert found["status"]["succeeded"] == 2
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"]


def test_twin_deleted_by_others(fed, name):
    """somebody deletes the record of an attempt in the member (G34)
    | its pods end, the job goes elsewhere"""
    uid = fed.submit(name, jobs.task(run_seconds=5), only=("real", "other"))
    found = jobs.wait_phase(fed.hub, name, "Running")
    first = jobs.cluster(found)
    member = getattr(fed, first)
    twin = jobs.twins_of(member, uid)[0]["metadata"]["name"]
    member.must("DELETE", f"{jobs.FEDERATOR}/namespaces/default/placements/{twin}")
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert jobs.attempts(found)[0]["how"] == "Released"
    assert jobs.attempts(found)[0]["reason"] == "TwinDeleted"
    assert found["status"]["succeeded"] == 1
    assert not [p for p in fed.pods(uid, first) if p["status"]["phase"] == "Running"]


def test_namespace_terminating_mid_gang(fed, name):
    """the namespace is deleted while a gang is made (G35)
    | given up in order, not tried again there"""
    both_namespaces(fed, name)
    fed.prefer("real")
    mark = fed.real.audit.mark()
    jobs.submit(fed.hub, jobs.job(name, jobs.task(replicas=16, run_seconds=3), namespace=name,
                                  placement=jobs.only_in("real", "other")))
    wait.until(lambda: fed.posts(mark, name), 20, every=0.002, what="creates")
    fed.admit_all()
    fed.real.must("DELETE", f"/api/v1/namespaces/{name}")
    found = jobs.wait_phase(fed.hub, name, "Completed", 60, namespace=name)
    tried = [(a["cluster"], a["how"]) for a in jobs.attempts(found)]
    assert tried == [("real", "Released"), ("other", "Done")], jobs.attempts(found)
    assert jobs.attempts(found)[0]["reason"] == "NamespaceTerminating"


def test_policy_denies(fed, name):
    """a validating policy of the member denies the pods (G36)
    | refused with its text, other cluster tried"""
    policies = "/apis/admissionregistration.k8s.io/v1"
    fed.real.must("POST", f"{policies}/validatingadmissionpolicies", {
        "metadata": {"name": name}, "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["pods"]}]},
            "validations": [{"expression": "false", "message": "the moon is wrong"}]}})
    fed.real.must("POST", f"{policies}/validatingadmissionpolicybindings", {
        "metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}})

    def denies():
        answer = fed.real.api("POST", "/api/v1/namespaces/default/pods?dryRun=All", {
            "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        return answer.status == 422
    try:
        wait.until(denies, 20, what="the policy to take effect")
        fed.prefer("real")
        uid = fed.submit(name, jobs.task(), only=("real", "other"))
        fed.hub.wait_for(jobs.path(name), lambda j: jobs.attempts(j), 20)
        fed.admit_all()
        found = jobs.wait_phase(fed.hub, name, "Completed", 40)
        assert jobs.attempts(found)[0]["how"] == "Refused"
        assert "the moon is wrong" in jobs.attempts(found)[0]["message"]
        assert jobs.cluster(found) == "other"
        assert not fed.pods(uid)
    finally:
        fed.real.must("DELETE", f"{policies}/validatingadmissionpolicybindings/{name}")
        fed.real.must("DELETE", f"{policies}/validatingadmissionpolicies/{name}")


def test_webhook_down(fed, name):
    """a webhook of the member is down for a while: 500 (G36) | tried again, not refused"""
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    fed.real.must("POST", hooks, {"metadata": {"name": name}, "webhooks": [{
        "name": "down.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "failurePolicy": "Fail", "timeoutSeconds": 1,
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                   "resources": ["pods"]}]}]})

    def fails():
        answer = fed.real.api("POST", "/api/v1/namespaces/default/pods?dryRun=All", {
            "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        return answer.status == 500
    try:
        wait.until(fails, 20, what="the webhook to take effect")
        fed.submit(name, jobs.task())
        wait.holds(lambda: jobs.phase(fed.hub.get(jobs.path(name))) == "Pending", 3)
    finally:
        fed.real.must("DELETE", f"{hooks}/{name}")
    found = jobs.wait_phase(fed.hub, name, "Completed", 40)
    assert "Refused" not in [a["how"] for a in jobs.attempts(found)], jobs.attempts(found)


@contextlib.contextmanager
def one_request_at_a_time(fed, name):
    """Creates of pods by the agent's user find the only place taken, for ten seconds."""
    flow = "/apis/flowcontrol.apiserver.k8s.io/v1"
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    fed.real.must("POST", f"{flow}/prioritylevelconfigurations", {
        "metadata": {"name": name}, "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 0, "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Reject"}}}})
    fed.real.must("POST", f"{flow}/flowschemas", {
        "metadata": {"name": name}, "spec": {
            "matchingPrecedence": 2, "priorityLevelConfiguration": {"name": name},
            "rules": [{"subjects": [{"kind": "ServiceAccount", "serviceAccount": {
                "name": "member-agent", "namespace": "federator-system"}}],
                "resourceRules": [{"verbs": ["create"], "apiGroups": [""], "resources": ["pods"],
                                   "namespaces": ["*"]}]}]}})
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as pool:
        fed.real.must("POST", hooks, {"metadata": {"name": name}, "webhooks": [{
            "name": "silent.example.com", "admissionReviewVersions": ["v1"],
            "sideEffects": "None", "timeoutSeconds": 10,
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
            "clientConfig": {"url": f"https://127.0.0.1:{silent.getsockname()[1]}/"},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                       "resources": ["pods"]}]}]})
        agent_user = fed.real.as_user(f"{fed.real.folder}/member-agent.kubeconfig")

        def post(namespace):
            return agent_user.api("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", {
                "metadata": {"name": "probe"}, "spec": {"containers": [
                    {"name": "c", "image": "i"}]}}, timeout=15).status
        holder = pool.submit(lambda: wait.until(lambda: post(name) == 500, 30))
        try:
            wait.until(lambda: post("default") == 429, 20, what="the limit to take effect")
            yield
        finally:
            fed.real.must("DELETE", f"{hooks}/{name}")
            holder.result()
            fed.real.must("DELETE", f"{flow}/flowschemas/{name}")
            fed.real.must("DELETE", f"{flow}/prioritylevelconfigurations/{name}")


def test_too_many_requests(fed, name):
    """the member answers 429 in plain text (G37) | taken for what it is, waited for; no refusal"""
    user, mark = "system:serviceaccount:federator-system:member-agent", fed.real.audit.mark()
    fed.real.make_namespace(name)
    with one_request_at_a_time(fed, name):
        fed.submit(name, jobs.task(replicas=2))

        def refused_requests():
            return [e for e in fed.real.audit.events(mark, user=user, verb="create",
                                                     resource="pods")
                    if e["responseStatus"]["code"] == 429]
        wait.holds(fed.agent.alive, 4)
        assert 0 < len(refused_requests()) < 40
        assert jobs.phase(fed.hub.get(jobs.path(name))) == "Pending"
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert "Refused" not in [a["how"] for a in jobs.attempts(found)], jobs.attempts(found)
    assert set(fed.posts(mark, name, 201).values()) == {1}


def run_again(member, pod):
    """Its phase says Running, for long; containers that have ended are not allowed to."""
    member.merge(pod, {"metadata": {"annotations": {RUN_SECONDS: "3600"}}})
    patch_status(member, pod, {"phase": "Running"})


def wait_forgotten(fed, uid):
    """The twin goes, and the collector deletes its pods; kwok cannot end what was bent."""
    wait.until(lambda: not jobs.twins_of(fed.real, uid), 30, what="the twin to go")
    wait.until(lambda: all("deletionTimestamp" in p["metadata"] for p in fed.pods(uid)), 20,
               what="the pods to be deleted")
    for pod in fed.pods(uid):
        fed.real.api("DELETE", f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}"
                               "?gracePeriodSeconds=0")


def test_ended_pod_runs_again(fed, name):
    """the status of a pod goes from Succeeded to Running (G38)
    | it stays finished, and is forgotten in its time"""
    mark = fed.real.audit.mark()
    uid = fed.submit(name, jobs.task("a", run_seconds=1), jobs.task("b", run_seconds=6))

    def a_ended(pods):
        return any(p["metadata"]["name"] == f"{name}-a-0" and p["status"]["phase"] == "Succeeded"
                   for p in pods)
    fed.wait_pods(uid, a_ended)
    pod = f"/api/v1/namespaces/default/pods/{name}-a-0"
    run_again(fed.real, pod)
    found = jobs.wait_phase(fed.hub, name, "Completed")
    assert found["status"]["succeeded"] == 2
    assert fed.posts(mark, name) == {f"{name}-a-0": 1, f"{name}-b-0": 1}
    assert fed.real.get(pod)["status"]["phase"] == "Running"
    wait_forgotten(fed, uid)


def test_pod_runs_again_after_the_last_word(fed, name):
    """the same after the job's end (G38) | the job stays Completed, twin and pod go in their time
    """
    uid = fed.submit(name, jobs.task(run_seconds=1))
    jobs.wait_phase(fed.hub, name, "Completed")
    run_again(fed.real, f"/api/v1/namespaces/default/pods/{name}-w-0")
    wait_forgotten(fed, uid)
    found = fed.hub.get(jobs.path(name))
    assert jobs.phase(found) == "Completed" and len(jobs.attempts(found)) == 1


def twins(member):
    return [(t["metadata"]["namespace"], t["metadata"]["name"], t["metadata"].get("finalizers"),
             t["metadata"].get("deletionTimestamp"), t.get("status"))
            for t in member.items(f"{jobs.FEDERATOR}/placements")]


def test_kind_not_served_yet(fed, name):
    """the kind of our records is installed only after the agent started: text 404 (G40)
    | tried again, then the job runs"""
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/placements.federator.dev"
    def forgotten():
        assert not twins(fed.real), twins(fed.real)
        return True
    wait.until(forgotten, 40, what="all attempts to be forgotten")
    fed.agent.end()
    fed.real.must("DELETE", crd)
    fed.real.wait_for(crd, lambda found: found is None, 30)
    fed.agent.start()
    fed.submit(name, jobs.task())
    wait.holds(fed.agent.alive, 2)
    fed.real.kubectl(["apply", "-f", str(PLACEMENT_CRD)])
    found = jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert "Refused" not in [a["how"] for a in jobs.attempts(found)], jobs.attempts(found)
