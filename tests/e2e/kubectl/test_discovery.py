"""What the server says of itself: version, groups, kinds, schemas, events."""
import json

import pytest
from kubectl.samples import EVENT, HUB, JOB, PLACEMENT

VERBS = "create,delete,deletecollection,get,list,patch,update,watch"


def test_version(kubectl):
    told = json.loads(kubectl("version", "-o", "json"))
    assert told["serverVersion"]["gitVersion"].startswith("v1.36.")
    assert told["clientVersion"]["gitVersion"].startswith(f"v{kubectl.version}.")


def test_api_versions(kubectl):
    wanted = {s.api_version for s in HUB + [PLACEMENT]}
    assert set(kubectl("api-versions").split()) == wanted


def test_api_resources_lists_each_kind_with_its_verbs(kubectl):
    lines = [line.split() for line in kubectl("api-resources", "-o", "wide",
                                              "--no-headers").splitlines()]
    told = {(line[0], line[-3 if "all" == line[-1] else -2]): line for line in lines}
    for sample in HUB + [PLACEMENT]:
        line = told.pop((sample.plural, sample.kind)) if sample.kind != "Event" else next(
            line for line in lines if sample.kind in line and sample.api_version in line)
        assert sample.api_version in line and str(sample.namespaced).lower() in line
        for short in sample.short.split():
            assert short in line[1].split(",")
        verbs = next(word for word in line if "list" in word.split(","))
        if sample.kind == "Placement":
            assert verbs == "get,list,patch,update,watch"
        elif sample.kind == "Namespace":
            assert verbs == VERBS.replace("deletecollection,", "")
        else:
            assert verbs == VERBS
    assert not [key for key in told if key[1] != "Event"]


def test_resources_by_group_scope_and_verb(kubectl):
    def names(*args):
        return set(kubectl("api-resources", "-o", "name", *args).split())
    assert names("--api-group=federator.dev") == {
        f"{plural}.federator.dev" for plural in ("clusters", "datasets", "placements")}
    assert "queues.scheduling.volcano.sh" in names("--namespaced=false")
    assert "jobs.batch.volcano.sh" not in names("--namespaced=false")
    assert "placements.federator.dev" not in names("--verbs=create")
    assert names("--categories=all") == {"jobs.batch.volcano.sh"}


def test_explain_each_kind_a_field_of_it_and_all_of_it(kubectl, sample):
    said = kubectl("explain", sample.plural, *api_version_of(sample))
    assert f"KIND:       {sample.kind}" in said
    assert f"VERSION:    {sample.api_version.rpartition('/')[2]}" in said
    assert "DESCRIPTION:" in said and "<empty>" not in said
    field = kubectl("explain", f"{sample.plural}.{sample.explain}", *api_version_of(sample))
    assert f"FIELD: {sample.explain.split('.')[-1]}" in field and "<empty>" not in field
    tree = kubectl("explain", sample.plural, "--recursive", *api_version_of(sample))
    for part in ["apiVersion", "metadata", "labels", *sample.explain.split(".")]:
        assert f"{part}\t<" in tree, part


def api_version_of(sample):
    return [f"--api-version={sample.api_version}"]


def test_explain_of_a_field_that_is_not_there(kubectl):
    assert 'field "bogus" does not exist' in kubectl.fails("explain", "vcjob.spec.bogus")


def test_every_field_of_a_job_is_described(kubectl):
    for field in ("spec", "spec.tasks", "spec.placement", "spec.placement.clusterSelector",
                  "status", "status.pending", "status.dispatch.attempts"):
        said = kubectl("explain", f"jobs.batch.volcano.sh.{field}")
        assert "<no description>" not in said and "<empty>" not in said, field


def test_an_unknown_kind(kubectl):
    said = kubectl.fails("get", "nonsense")
    assert 'the server doesn\'t have a resource type "nonsense"' in said


def test_raw(kubectl, ns):
    assert json.loads(kubectl("get", "--raw", "/version"))["major"] == "1"
    for page in ("/healthz", "/readyz", "/livez"):
        assert kubectl("get", "--raw", page) == "ok"
    listed = json.loads(kubectl("get", "--raw", f"/api/v1/namespaces/{ns}/configmaps?limit=1"))
    assert listed["kind"] == "ConfigMapList"
    said = kubectl.fails("get", "--raw", "/nonsense")
    assert "the server could not find the requested resource" in said


def test_events(kubectl, ns, name):
    kubectl.server.must("POST", JOB.path(ns), JOB.manifest("j", ns))
    kubectl.server.must("POST", EVENT.path(ns), EVENT.manifest(name, ns))
    for args in ((), ("--for", "vcjob/j"), ("--types=Normal",), ("-A",)):
        assert "it was tried" in kubectl("events", *args), args
    assert "No events found" in kubectl.run("events", "--types=Warning").stderr
    assert "it was tried" in kubectl("get", "events", "--field-selector",
                                     "involvedObject.name=j,type=Normal")


def test_events_are_watched(kubectl, ns, name, beside):
    watcher = beside(kubectl.start("events", "--watch"))
    kubectl.server.must("POST", EVENT.path(ns), EVENT.manifest(name, ns))
    watcher.wait_log("it was tried")


@pytest.mark.on("sandbox")
def test_cluster_info_of_a_member(kubectl):
    """The hub serves no Services, which is where kubectl looks."""
    assert kubectl.server.url in kubectl("cluster-info")


def test_a_user_sees_what_is_not_theirs(kubectl, server, client, version, ns):
    bob = type(kubectl)(client(server, "bob"), version, ns)
    assert bob("create", "configmap", "c", "--from-literal=a=b") == "configmap/c created\n"
    said = bob.fails("get", "secrets", "-n", "federator-system")
    assert ('Error from server (Forbidden): secrets is forbidden: User "bob" cannot list resource '
            '"secrets" in API group "" in the namespace "federator-system"') in said
    said = bob.fails("create", "namespace", "bobs")
    assert 'User "bob" cannot create resource "namespaces" in API group "" at the cluster scope' \
        in said
