"""The agent's rights in its cluster, gone for a moment or for long."""
import contextlib

from harness import jobs, wait

ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/federator-member-agent"
PODS = "/api/v1/namespaces/default/pods"


@contextlib.contextmanager
def may_not_create_pods(fed):
    """RBAC denies the agent what its role allowed, as an apiserver that knows no role yet does."""
    role = fed.real.get(ROLE)
    less = [dict(rule, verbs=[v for v in rule["verbs"] if v != "create"])
            if rule["resources"] == ["pods"] else rule for rule in role["rules"]]
    agent_user = fed.real.as_user(f"{fed.real.folder}/member-agent.kubeconfig")

    def answers(status):
        answer = agent_user.api("POST", f"{PODS}?dryRun=All", {
            "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        return answer.status == status
    fed.real.merge(ROLE, {"rules": less})
    try:
        wait.until(lambda: answers(403), what="the right to be gone")
        yield
    finally:
        fed.real.merge(ROLE, {"rules": role["rules"]})
        wait.until(lambda: answers(201), what="the right to be back")


def test_rights_gone_for_a_moment(fed, name):
    """RBAC denies the agent's pods for 3 s | waited for; not refused, made once"""
    mark = fed.real.audit.mark()
    with may_not_create_pods(fed):
        fed.submit(name, jobs.task(replicas=2))
        wait.holds(lambda: jobs.phase(fed.hub.get(jobs.path(name))) == "Pending", 3)
    found = jobs.wait_phase(fed.hub, name, "Completed")
    assert [a["how"] for a in jobs.attempts(found)] == ["Done"], jobs.attempts(found)
    assert fed.posts(mark, name, 201) == {f"{name}-w-0": 1, f"{name}-w-1": 1}


def test_rights_gone_for_long(fed, name):
    """RBAC denies the agent's pods on and on | refused with RBAC's words, elsewhere it runs"""
    fed.prefer("real")
    with may_not_create_pods(fed):
        never_seen = jobs.task(requests={"memory": "17Mi"})  # else an earlier dry run counts
        uid = fed.submit(name, never_seen, only=("real", "other"))
        fed.wait_offer(uid)
        fed.admit_all()
        found = jobs.wait_phase(fed.hub, name, "Completed", 60)
        first = jobs.attempts(found)[0]
        assert (first["cluster"], first["how"], first["reason"]) == ("real", "Refused", "Forbidden")
        assert 'cannot create resource "pods"' in first["message"]
        assert jobs.cluster(found) == "other"


def test_rights_gone_under_a_gang(fed, name):
    """a pod of a gang vanishes, and RBAC denies its successor for longer than passes by itself
    | the rest runs on, the job says why it waits; then it is whole again"""
    uid = fed.submit(name, jobs.task(replicas=2, run_seconds=3600), minAvailable=1)
    jobs.wait_phase(fed.hub, name, "Running")
    kept = [p["metadata"]["uid"] for p in fed.wait_pods(
        uid, lambda pods: [p["status"].get("phase") for p in pods] == ["Running"] * 2)
        if p["metadata"]["name"] == f"{name}-w-1"]

    def stays():
        return kept == [p["metadata"]["uid"] for p in fed.pods(uid)
                        if "deletionTimestamp" not in p["metadata"]]
    with may_not_create_pods(fed):
        fed.real.must("DELETE", f"{PODS}/{name}-w-0?gracePeriodSeconds=0")
        wait.holds(stays, 15, what="the other pod to stay")
        state = fed.hub.wait_for(jobs.path(name), lambda j: j["status"]["state"].get(
            "reason") == "Forbidden")["status"]["state"]
        assert state["phase"] == "Running" and "cannot create resource" in state["message"], state
    pods = fed.wait_pods(uid, lambda found: [p["status"].get("phase") for p in found] ==
                         ["Running"] * 2, 40)
    assert kept[0] in [p["metadata"]["uid"] for p in pods]
    fed.hub.wait_for(jobs.path(name), lambda j: not j["status"]["state"].get("reason"))
    assert len(jobs.attempts(fed.hub.get(jobs.path(name)))) == 1
