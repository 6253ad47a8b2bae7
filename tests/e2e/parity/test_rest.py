"""The hub must answer as a kube-apiserver does: the same requests to both, the answers side by side.

Each row runs in a namespace where a ConfigMap `a`, a Secret `s`, a Cluster and a DataSet (both named as the
namespace) are; what only reads shares one. What is compared: status, type, warnings, and of a Status its reason, code
and details; of causes the reason and the field's first part; of objects all but what is drawn or timed;
of tables names, wide columns and cells. Not the words: ours name the field, the value and the limit.

What differs on purpose is in docs/design/0002-server.md and has no row here.
"""
import json
import re

import pytest
from harness.cluster import MemberCluster
from harness.federation import Hub
from harness.paths import ROOT

HERE = {
    "ns": "/api/v1/namespaces/{ns}",
    "cm": "/api/v1/namespaces/{ns}/configmaps",
    "sec": "/api/v1/namespaces/{ns}/secrets",
    "ev": "/api/v1/namespaces/{ns}/events",
    "lease": "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
    "pc": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "q": "/apis/scheduling.volcano.sh/v1beta1/queues",
    "ds": "/apis/federator.dev/v1alpha1/datasets",
    "cl": "/apis/federator.dev/v1alpha1/clusters",
    "job": "/apis/batch.volcano.sh/v1alpha1/namespaces/{ns}/jobs",
}
GVK = {"cm": ("v1", "ConfigMap"), "sec": ("v1", "Secret"), "ev": ("v1", "Event"),
       "lease": ("coordination.k8s.io/v1", "Lease"),
       "pc": ("scheduling.k8s.io/v1", "PriorityClass"),
       "q": ("scheduling.volcano.sh/v1beta1", "Queue"), "ds": ("federator.dev/v1alpha1", "DataSet"),
       "cl": ("federator.dev/v1alpha1", "Cluster"), "job": ("batch.volcano.sh/v1alpha1", "Job")}
MERGE, JSON_PATCH, STRATEGIC = ({"Content-Type": f"application/{kind}+json"} for kind in (
    "merge-patch", "json-patch", "strategic-merge-patch"))
JSON = {"Content-Type": "application/json"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
WORKER = {"name": "w", "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
OTHER_UID = "11111111-2222-3333-4444-555555555555"

# A line a request: the method, and a path that begins with a word of HERE or is written out.
PLAIN = """
GET cm/a
GET cm/none
GET cm/a?resourceVersion=0
GET /api/v1/namespaces/none-such/configmaps/a
GET /api/v1/namespaces/none-such/configmaps
GET cm
GET ds?labelSelector=ns%3D{ns}
GET cm?limit=1
GET cm?limit=0
GET cm?limit=-1
GET cm?limit=abc
GET cm?resourceVersion=0
GET cm?resourceVersion=0&limit=1
GET cm?resourceVersion=abc
GET cm?resourceVersion=-1
GET cm?resourceVersionMatch=Exact
GET cm?resourceVersionMatch=NotOlderThan
GET cm?resourceVersion=1&resourceVersionMatch=Foo
GET cm?resourceVersion=0&resourceVersionMatch=Exact
GET cm?continue=xx
GET cm?limit=1&continue=eyJ2Ijoib
GET cm?sendInitialEvents=true
GET cm?sendInitialEvents=false
GET cm?timeoutSeconds=abc
GET cm?timeout=abc
GET cm?timeout=10s
GET cm?bogus=1
GET cm?labelSelector=x
GET cm?labelSelector=x%20notin%20(z),y!=w
GET cm?labelSelector=a%3D%3D%3Db
GET cm?labelSelector=a%20in%20b
GET cm?labelSelector=-a
GET cm?fieldSelector=metadata.name%3Da
GET cm?fieldSelector=metadata.name!%3Da
GET cm?fieldSelector=data.a%3D1
GET cm?fieldSelector=a
GET ds?fieldSelector=spec.size%3D1
GET /api/v1/configmaps?fieldSelector=metadata.namespace%3D{ns}
GET sec?fieldSelector=type%3DOpaque
GET ev?fieldSelector=involvedObject.name%3Dx,involvedObject.uid%3Dy,involvedObject.kind%3DJob
GET ev?fieldSelector=message%3Dx
GET /api/v1/namespaces?fieldSelector=status.phase%3DActive,metadata.name%3D{ns}
GET cm?watch=1&resourceVersion=abc
GET cm?watch=1&resourceVersion=1&resourceVersionMatch=Exact
GET cm?watch=1&resourceVersionMatch=NotOlderThan
GET cm?watch=1&sendInitialEvents=true
GET cm?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact
GET cm?watch=1&continue=abc&timeoutSeconds=1
GET cm?watch=1&fieldSelector=data.a%3D1
GET cm?watch=1&labelSelector=a%3D%3D%3Db
GET cm?watch=1&timeoutSeconds=abc
GET cm?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Da
GET cm?watch&timeoutSeconds=1&fieldSelector=metadata.name%3Da
GET cm?watch=perhaps&timeoutSeconds=1&fieldSelector=metadata.name%3Da
GET cm?watch=False&fieldSelector=metadata.name%3Da
GET cm?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Da
GET /apis/none.example.com
GET /apis/none.example.com/v1
GET /apis/none.example.com/v1/things
GET /apis/federator.dev/v9
GET /apis/federator.dev/v9/datasets
GET /api/v1/things
GET /api/v1/namespaces/{ns}/things
GET /api/v1/namespaces/{ns}/things/a
POST /api/v1/namespaces/{ns}/things
DELETE /api/v1/namespaces/{ns}/things/a
GET cm/a/status
GET cm/a/bogus
GET cm/a/status/x
GET cm/a/b/c/d/e/f/g
GET cm/
GET cm/a/
GET cm/%61
GET cm/a%2Fb
GET cm/A_B
GET /api/v1/namespaces/{ns}//configmaps/a
GET /api/v1/configmaps/a
POST /api/v1/configmaps
DELETE /api/v1/configmaps?labelSelector=none
DELETE /api/v1/namespaces?labelSelector=none
PUT cm
PATCH cm
POST cm/a
OPTIONS cm
TRACE cm
HEAD cm
HEAD cm/a
GET /nonsense
POST /version
GET /healthz
GET /livez
GET /readyz
GET cl/{ns}/status
GET cl/none/status
DELETE cm/a
DELETE cm/none
DELETE ds/{ns}
DELETE ds/none
DELETE cm/a?dryRun=All
DELETE cm/a?dryRun=Some
DELETE cm/a?propagationPolicy=Background
DELETE cm/a?propagationPolicy=Bogus
DELETE cm/a?gracePeriodSeconds=5
DELETE cm/a?gracePeriodSeconds=abc
DELETE cm?labelSelector=x
DELETE cm?labelSelector=a%3D%3D%3Db
DELETE cm?dryRun=All
DELETE /api/v1/namespaces/default?dryRun=All
"""


def obj(kind, name="b", body=None, **meta):
    """An object of a kind of GVK, as a request may send it."""
    api_version, kind = GVK[kind]
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **meta},
            **(body or {})}


def data(**pairs):
    return {"data": pairs}


def meta(**fields):
    return {"metadata": fields}


OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1", "controller": True}
LEASE = {"spec": {"holderIdentity": "x", "leaseDurationSeconds": 15,
                  "renewTime": "2026-01-02T03:04:05.123456Z"}}

# By what is special about them: (request, body, headers).
WRITES = {
    "create": ("POST cm", obj("cm", body=data(a="1"))),
    "create without kind": ("POST cm", meta(name="b")),
    "create of ours": ("POST ds", obj("ds", "{ns}-b", {"spec": {"size": "1Gi"}})),
    "create a queue": ("POST q", obj("q", "{ns}-b", {"spec": {"capability": {"cpu": 2}}})),
    "create a lease": ("POST lease", obj("lease", body=LEASE)),
    "create a namespace": ("POST /api/v1/namespaces", meta(name="{ns}-b")),
    "create a priority class": ("POST pc", obj("pc", "{ns}-b", {"value": 5})),
    "create a secret": ("POST sec", obj("sec", body={"stringData": {"a": "b"},
                                                     "data": {"a": "MQ==", "c": "MQ=="}})),
    "exists": ("POST cm", obj("cm", "a")),
    "exists, of ours": ("POST ds", obj("ds", "{ns}", {"spec": {"size": "1Gi"}})),
    "no name": ("POST cm", {"metadata": {}}),
    "no name, of ours": ("POST ds", dict(obj("ds", body={"spec": {"size": "1"}}), metadata={})),
    "no metadata": ("POST cm", {}),
    "metadata null": ("POST cm", {"metadata": None}),
    "metadata a text": ("POST cm", {"metadata": "x"}),
    "a name that is a number": ("POST cm", meta(name=1)),
    "a bad name": ("POST cm", obj("cm", "A_b")),
    "a bad name, of ours": ("POST ds", obj("ds", "A_b", {"spec": {"size": "1"}})),
    "a bad name of a namespace": ("POST /api/v1/namespaces", meta(name="a.b")),
    "a name of dots": ("POST cm", obj("cm", "..")),
    "a bad label": ("POST cm", obj("cm", labels={"a b": "c"})),
    "a bad value of a label": ("POST cm", obj("cm", labels={"a": "c d"})),
    "a bad annotation": ("POST cm", obj("cm", annotations={"a b": "c"})),
    "annotations of 300 KB": ("POST cm", obj("cm", annotations={"a": "x" * 300000})),
    "a bad finalizer": ("POST cm", obj("cm", finalizers=["a b"])),
    "a finalizer without a domain": ("POST cm", obj("cm", finalizers=["abc"])),
    "two controllers": ("POST cm", obj("cm", ownerReferences=[OWNER, dict(OWNER, uid="2")])),
    "a version on create": ("POST cm", obj("cm", resourceVersion="5")),
    "a uid on create": ("POST cm", obj("cm", uid="abc")),
    "a deletionTimestamp on create": ("POST cm", obj("cm",
                                                     deletionTimestamp="2026-01-01T00:00:00Z")),
    "a generation on create": ("POST ds", obj("ds", "{ns}-b", {"spec": {"size": "1"}},
                                              generation=5)),
    "another namespace": ("POST cm", obj("cm", namespace="other")),
    "a namespace for what has none": ("POST ds", obj("ds", "{ns}-b", {"spec": {"size": "1"}},
                                                     namespace="other")),
    "an absent namespace": ("POST /api/v1/namespaces/none-such/configmaps", obj("cm")),
    "another kind": ("POST cm", obj("sec")),
    "another version": ("POST cm", dict(obj("cm"), apiVersion="v2")),
    "no body": ("POST cm", "", JSON),
    "no body, of ours": ("POST ds", "", JSON),
    "half a body": ("POST cm", "{", JSON),
    "a list": ("POST cm", "[]", JSON),
    "something behind it": ("POST cm", json.dumps(obj("cm")) + " x", JSON),
    "a bad key of data": ("POST cm", obj("cm", body={"data": {"a b": "1"}})),
    "data twice": ("POST cm", obj("cm", body={"data": {"a": "1"}, "binaryData": {"a": "MQ=="}})),
    "a secret without its data": ("POST sec", obj("sec", body={"type": "kubernetes.io/tls"})),
    "a bad lease": ("POST lease", obj("lease", body={"spec": {"leaseDurationSeconds": 0}})),
    "a priority too high": ("POST pc", obj("pc", "{ns}-b", {"value": 2000000000})),
    "a required field": ("POST ds", obj("ds", "{ns}-b", {"spec": {}})),
    "a type": ("POST ds", obj("ds", "{ns}-b", {"spec": {"size": [1]}})),
    "a pattern": ("POST ds", obj("ds", "{ns}-b", {"spec": {"size": "abc"}})),
    "a spec that is null": ("POST ds", obj("ds", "{ns}-b", {"spec": None})),
    "a minimum": ("POST job", obj("job", body={"spec": {"tasks": [WORKER], "minSuccess": 0}})),
    "an enum": ("POST cl", obj("cl", "{ns}-b", {"spec": {"taints": [
        {"key": "a", "effect": "NoExecute"}]}})),
    "a type of a job": ("POST job", obj("job", body={"spec": {"tasks": [WORKER],
                                                              "maxRetry": "x"}})),
    "a body of 4 MB": ("POST cm", obj("cm", body=data(a="x" * 4000000))),
    "strict": ("POST cm?fieldValidation=Strict", dict(obj("cm"), bogus=1)),
    "strict, in metadata": ("POST cm?fieldValidation=Strict", obj("cm", bogus=1)),
    "strict, of ours": ("POST ds?fieldValidation=Strict", obj("ds", "{ns}-b", {
        "spec": {"size": "1", "bogus": 1}})),
    "strict, twice": ("POST cm?fieldValidation=Strict",
                      '{"metadata":{"name":"b"},"data":{"a":"1"},"data":{"b":"1"}}', JSON),
    "warn": ("POST cm?fieldValidation=Warn", dict(obj("cm"), bogus=1)),
    "warn, of ours": ("POST ds", obj("ds", "{ns}-b", {"spec": {"size": "1", "bogus": 1},
                                                      "more": 2})),
    "ignore": ("POST cm?fieldValidation=Ignore", dict(obj("cm"), bogus=1)),
    "another validation": ("POST cm?fieldValidation=Bogus", obj("cm")),
    "another validation of an update": ("PUT cm/a?fieldValidation=Bogus", obj("cm", "a")),
    "another validation of a patch": ("PATCH cm/a?fieldValidation=Bogus", "{}", MERGE),
    "strict patch": ("PATCH cm/a?fieldValidation=Strict", '{"bogus":1}', MERGE),
    "strict strategic patch": ("PATCH cm/a?fieldValidation=Strict", '{"bogus":1}', STRATEGIC),
    "strict patch of ours": ("PATCH ds/{ns}?fieldValidation=Strict", '{"spec":{"bogus":1}}',
                             MERGE),
    "strict JSON patch": ("PATCH cm/a?fieldValidation=Strict",
                          '[{"op":"add","path":"/bogus","value":1}]', JSON_PATCH),
    "dry run": ("POST cm?dryRun=All", obj("cm")),
    "dry run, bad": ("POST cm?dryRun=Some", obj("cm")),
    "dry run, empty": ("POST cm?dryRun=", obj("cm")),
    "dry run, bad, of a patch": ("PATCH cm/a?dryRun=Some", "{}", MERGE),
    "a long field manager": ("POST cm?fieldManager=" + "a" * 129, obj("cm")),
    "a field manager that cannot be printed": ("POST cm?fieldManager=%07", obj("cm")),
    "force": ("PATCH cm/a?force=true", "{}", MERGE),
    "put": ("PUT cm/a", obj("cm", "a", data(b="2"))),
    "put what is absent": ("PUT cm/b", obj("cm")),
    "put without a version": ("PUT sec/s", obj("sec", "s")),
    "put of an old version": ("PUT cm/a", obj("cm", "a", resourceVersion="1")),
    "put of an old version, of ours": ("PUT ds/{ns}", obj("ds", "{ns}", {"spec": {"size": "1"}},
                                                          resourceVersion="1")),
    "put of another uid": ("PUT cm/a", obj("cm", "a", uid=OTHER_UID)),
    "put of another name": ("PUT cm/a", obj("cm", "b")),
    "put without a name": ("PUT cm/a", {"metadata": {}}),
    "put of text": ("PUT cm/a", "{}", {"Content-Type": "text/plain"}),
    "merge": ("PATCH cm/a", '{"data":{"b":"2","a":null}}', MERGE),
    "merge nothing": ("PATCH cm/a", "{}", MERGE),
    "merge what is absent": ("PATCH cm/b", "{}", MERGE),
    "merge another name": ("PATCH cm/a", '{"metadata":{"name":"b"}}', MERGE),
    "merge another namespace": ("PATCH cm/a", '{"metadata":{"namespace":"b"}}', MERGE),
    "merge another uid": ("PATCH cm/a", '{"metadata":{"uid":"b"}}', MERGE),
    "merge an old version": ("PATCH cm/a", '{"metadata":{"resourceVersion":"1"}}', MERGE),
    "merge what is invalid": ("PATCH cm/a", '{"data":{"a b":"2"}}', MERGE),
    "merge what is invalid, of ours": ("PATCH ds/{ns}", '{"spec":{"size":"abc"}}', MERGE),
    "merge a list": ("PATCH cm/a", "[]", MERGE),
    "merge an empty body": ("PATCH cm/a", "", MERGE),
    "merge half a body": ("PATCH cm/a", "{", MERGE),
    "patch without a type": ("PATCH cm/a", "{}", {"Content-Type": ""}),
    "patch of JSON": ("PATCH cm/a", "{}", JSON),
    "strategic patch of ours": ("PATCH ds/{ns}", "{}", STRATEGIC),
    "strategic patch": ("PATCH cm/a", '{"data":{"$patch":"replace","z":"1"}}', STRATEGIC),
    "JSON patch": ("PATCH cm/a", '[{"op":"add","path":"/data/b","value":"2"},'
                   '{"op":"move","from":"/data/a","path":"/data/c"}]', JSON_PATCH),
    "JSON patch whose test fails": ("PATCH cm/a",
                                    '[{"op":"test","path":"/data/a","value":"2"}]', JSON_PATCH),
    "JSON patch of what is absent": ("PATCH cm/a", '[{"op":"remove","path":"/data/x"}]',
                                     JSON_PATCH),
    "JSON patch far down": ("PATCH cm/a", '[{"op":"add","path":"/x/y/z","value":"1"}]',
                            JSON_PATCH),
    "JSON patch that is none": ("PATCH cm/a", "{}", JSON_PATCH),
    "10001 operations": ("PATCH cm/a", json.dumps(
        [{"op": "test", "path": "/data/a", "value": "1"}] * 10001), JSON_PATCH),
    "status by the main path": ("PATCH cl/{ns}", '{"status":{"nodes":3}}', MERGE),
    "delete in the background": ("DELETE cm/a", {"propagationPolicy": "Background"}),
    "delete by another policy": ("DELETE cm/a", {"propagationPolicy": "Bogus"}),
    "delete, both said": ("DELETE cm/a", {"orphanDependents": False,
                                          "propagationPolicy": "Background"}),
    "delete with grace": ("DELETE cm/a", {"gracePeriodSeconds": 5}),
    "delete with less than no grace": ("DELETE cm/a", {"gracePeriodSeconds": -1}),
    "delete with grace in words": ("DELETE cm/a", {"gracePeriodSeconds": "abc"}),
    "delete, a precondition that is none": ("DELETE cm/a", {"preconditions": "abc"}),
    "delete, a dry run that is none": ("DELETE cm/a", {"dryRun": ["Some"]}),
    "delete, options of another kind": ("DELETE cm/a", obj("cm", "a")),
    "delete, unknown options": ("DELETE cm/a", {"bogus": 1}),
    "delete, half a body": ("DELETE cm/a", "{", JSON),
    "delete, a body of text": ("DELETE cm/a", "{}", {"Content-Type": "text/plain"}),
    "a body of CBOR": ("POST cm", "x", {"Content-Type": "application/cbor"}),
    "a body of text": ("POST cm", json.dumps(obj("cm")), {"Content-Type": "text/plain"}),
    "a body of YAML": ("POST cm", "metadata: {name: b}\ndata: {a: b}\n",
                       {"Content-Type": "application/yaml"}),
    "a body with a charset": ("POST cm", json.dumps(obj("cm")),
                              {"Content-Type": "application/json; charset=utf-8"}),
    "an answer in CBOR": ("GET cm", None, {"Accept": "application/cbor"}),
    "an answer in HTML": ("GET cm/a", None, {"Accept": "text/html"}),
    "an answer in HTML to a write": ("POST cm", obj("cm"), {"Accept": "text/html"}),
    "the better of two answers": ("GET cm", None, {"Accept": "text/html,application/json;q=0.5"}),
    "a table": ("GET cm", None, TABLE),
    "a table of one": ("GET cm/a", None, TABLE),
    "a table of none": ("GET lease", None, TABLE),
    "a table of secrets": ("GET sec", None, TABLE),
    "a table of a namespace": ("GET ns", None, TABLE),
    "a table of clusters": ("GET cl/{ns}", None, TABLE),
    "a table of data sets": ("GET ds/{ns}", None, TABLE),
    "a table of another version": ("GET cm", None, {
        "Accept": "application/json;as=Table;v=v9;g=meta.k8s.io"}),
    "a table with whole objects": ("GET cm?includeObject=Object", None, TABLE),
    "a table without objects": ("GET cm?includeObject=None", None, TABLE),
    "a table with something else": ("GET cm?includeObject=Bogus", None, TABLE),
}

FINALIZED = obj("cm", finalizers=["a.b/c"])
NO_FINALIZER = '{"metadata":{"finalizers":null}}'
# One after the other; each answer is compared.
SEQUENCES = {
    "finalizers hold what dies": [
        ("POST cm", FINALIZED), ("DELETE cm/b",), ("GET cm/b",), ("DELETE cm/b",),
        ("PATCH cm/b", '{"metadata":{"finalizers":["a.b/c","a.b/d"]}}', MERGE),
        ("POST cm", obj("cm")), ("PATCH cm/b", '{"metadata":{"deletionTimestamp":null}}', MERGE),
        ("PATCH cm/b", NO_FINALIZER, MERGE), ("GET cm/b",)],
    "the same of ours": [
        ("PATCH ds/{ns}", '{"metadata":{"finalizers":["a.b/c"]}}', MERGE), ("DELETE ds/{ns}",),
        ("DELETE ds/{ns}",), ("PATCH ds/{ns}", NO_FINALIZER, MERGE), ("GET ds/{ns}",)],
    "a dry run changes nothing": [
        ("PUT cm/a?dryRun=All", obj("cm", "a", data(b="2"))), ("GET cm/a",),
        ("PATCH cm/a?dryRun=All", '{"data":{"b":"2"}}', MERGE), ("GET cm/a",),
        ("DELETE cm/a", {"dryRun": ["All"]}), ("GET cm/a",), ("POST cm?dryRun=All", obj("cm")),
        ("GET cm/b",)],
    "what is immutable": [
        ("PATCH cm/a", '{"immutable":true}', MERGE), ("PATCH cm/a", '{"data":{"a":"2"}}', MERGE),
        ("PATCH cm/a", '{"immutable":false}', MERGE),
        ("PATCH sec/s", '{"type":"x/y"}', MERGE)],
    "a value of a priority class": [
        ("POST pc", obj("pc", "{ns}-b", {"value": 5})),
        ("PATCH pc/{ns}-b", '{"value":6}', MERGE)],
    "generations": [
        ("PATCH ds/{ns}", '{"spec":{"size":"2Gi"}}', MERGE),
        ("PATCH ds/{ns}", '{"metadata":{"labels":{"a":"b"}}}', MERGE),
        ("PATCH ds/{ns}", '{"spec":{"size":"2Gi"}}', MERGE)],
    "a collection": [
        ("POST cm", obj("cm", labels={"x": "y"})), ("DELETE cm?labelSelector=x%3Dy",),
        ("GET cm",), ("DELETE cm",), ("GET cm",)],
    "a namespace": [
        ("POST /api/v1/namespaces", meta(name="{ns}-b")),
        ("PATCH /api/v1/namespaces/{ns}-b", '{"metadata":{"labels":{"a":"b"}}}', MERGE),
        ("DELETE /api/v1/namespaces/{ns}-b",)],
}


@pytest.fixture(scope="module")
def servers(run):
    """(a kube-apiserver with our kinds installed, a hub on its memory store)"""
    real = MemberCluster(run, "rest")
    for process in (real.etcd.process, real.apiserver):  # the others have nothing to do with it
        process.start()
    real.wait_ready()
    crds = sorted((ROOT / "api" / "crds").iterdir())
    for crd in crds:
        real.kubectl(["apply", "-f", str(crd)])
    real.kubectl(["wait", "--for=condition=Established", "crd", "--all"])
    for kind in ("q", "ds", "cl"):
        real.wait_for(HERE[kind], bool, 20)
    return real, Hub(run, "rest-hub").start()


def filled(value, ns):
    if isinstance(value, str):
        return value.replace("{ns}", ns)
    if isinstance(value, dict):
        return {filled(k, ns): filled(v, ns) for k, v in value.items()}
    return [filled(v, ns) for v in value] if isinstance(value, list) else value


def path_of(text, ns):
    word = re.match(r"\w*", text).group()
    return filled(HERE[word] + text[len(word):] if word else text, ns)


def ask(server, ns, request, body=None, headers=None):
    method, path = request.split(" ", 1)
    return server.api(method, path_of(path, ns), filled(body, ns), headers, timeout=20)


# what is compared of an answer

DRAWN = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields"}


def steady(value):
    """Without what is drawn or timed anew for each object."""
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items() if k not in DRAWN}
    return [steady(v) for v in value] if isinstance(value, list) else value


def status_digest(body):
    details = body.get("details", {})
    causes = {(c.get("reason"), re.sub(r"(?<!metadata)[.\[].*", "", c.get("field", "")))
              for c in details.get("causes", [])}
    return (body["status"], body.get("reason"), body.get("code"), sorted(causes),
            [details.get(k) for k in ("kind", "group", "name", "retryAfterSeconds")])


def body_digest(body):
    kind = body.get("kind", "")
    if kind == "Status":
        return status_digest(body)
    if kind == "Table":
        columns = [(c["name"], c["priority"]) for c in body.get("columnDefinitions") or []]
        ages = {i for i, (name, _) in enumerate(columns) if name == "Age"}
        rows = [([cell for i, cell in enumerate(row["cells"]) if i not in ages],
                 (row.get("object") or {}).get("kind")) for row in body["rows"]]
        return columns, rows
    if "items" in body and kind.endswith("List"):
        listed = {k: bool(v) for k, v in body["metadata"].items() if v and k not in DRAWN}
        items = [{k: v for k, v in item.items() if k not in ("kind", "apiVersion")}
                 for item in steady(body["items"])]
        return kind, body["apiVersion"], listed, items
    return steady(body)


def trees(text):
    """A JSON document, or one a line of a watch; None when it is neither."""
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return None


def digest(answer):
    found = trees(answer.text)
    body = answer.text if found is None else [body_digest(tree) for tree in found]
    return {"status": answer.status,
            "type": (answer.headers.get("Content-Type") or "").split(";")[0],
            "warnings": sorted(answer.headers.get_all("Warning") or []),
            "retry": answer.headers.get("Retry-After"), "body": body}


def prepare(servers, ns):
    for server in servers:
        server.must("POST", "/api/v1/namespaces", meta(name=ns))
        for word, made in (("cm", obj("cm", "a", data(a="1"))), ("sec", obj("sec", "s")),
                           ("cl", obj("cl", ns, {"spec": {"accepted": False}})),
                           ("ds", obj("ds", ns, {"spec": {"size": "1Gi"}}, labels={"ns": ns}))):
            server.must("POST", path_of(word, ns), made)
    return ns


@pytest.fixture(scope="module")
def shared(servers):
    return prepare(servers, "rest")


def compare(servers, shared, name, steps):
    reads = all(step[0].split()[0] in ("GET", "HEAD", "OPTIONS", "TRACE") for step in steps)
    ns = shared if reads else prepare(servers, name)
    for step in steps:
        real, hub = (ask(server, ns, *step) for server in servers)
        print(f"{step[0]}\n  kube-apiserver {real!r}\n  hub            {hub!r}")
        assert digest(hub) == digest(real)


@pytest.mark.parametrize("request_", PLAIN.strip().splitlines())
def test_a_request_is_answered_as_by_a_kube_apiserver(servers, shared, name, request_):
    compare(servers, shared, name, [(request_,)])


@pytest.mark.parametrize("what", WRITES)
def test_a_body_is_answered_as_by_a_kube_apiserver(servers, shared, name, what):
    compare(servers, shared, name, [WRITES[what]])


@pytest.mark.parametrize("what", SEQUENCES)
def test_a_sequence_is_answered_as_by_a_kube_apiserver(servers, shared, name, what):
    compare(servers, shared, name, SEQUENCES[what])
