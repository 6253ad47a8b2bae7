"""What clients rely on and kubectl does not show: watches, versions, pages, validation, bytes."""
import concurrent.futures
import gzip
import http.client
import json
import ssl
import time
import urllib.parse

import pytest
from harness import argv, wait
from kubectl.samples import CONFIGMAP, JOB, QUEUE, SECRET

MERGE = {"Content-Type": "application/merge-patch+json"}
INITIAL_END = "k8s.io/initial-events-end"
WATCH_LIST = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
              "allowWatchBookmarks": "true"}
FUTURE = 1 << 47  # within the first incarnation, later than anything


@pytest.fixture
def path(ns):
    return CONFIGMAP.path(ns)


def make(server, path, *names, **meta):
    """Makes ConfigMaps; the last one as stored."""
    made = None
    for name in names:
        made = server.must("POST", path, {"metadata": {"name": name, **meta}, "data": {"a": "1"}})
    return made


def version_of(found):
    return int(found["metadata"]["resourceVersion"])


def is_final_bookmark(kind, found):
    annotations = found["metadata"].get("annotations", {})
    return kind == "BOOKMARK" and annotations.get(INITIAL_END) == "true"


def names_of(watch, *kinds):
    return [found["metadata"]["name"] for kind, found in watch.events if kind in kinds]


def cause(answer):
    return answer.json()["details"]["causes"][0]


# lists by watch

def test_a_watch_list_sends_all_then_its_bookmark_then_changes(server, path):
    make(server, path, "a", "b")
    with server.watch(path, **WATCH_LIST) as watch:
        kind, bookmark = watch.wait_for(is_final_bookmark)
        assert [k for k, _ in watch.events] == ["ADDED", "ADDED", "BOOKMARK"]
        assert names_of(watch, "ADDED") == ["a", "b"]
        assert (bookmark["kind"], bookmark["apiVersion"]) == ("ConfigMap", "v1")
        assert version_of(bookmark) >= max(version_of(o) for _, o in watch.events[:2])
        made = make(server, path, "c")
        _, later = watch.wait_for(lambda k, o: k == "ADDED" and o["metadata"]["name"] == "c")
        assert later == made and version_of(later) > version_of(bookmark)


def test_a_watch_list_of_nothing_has_its_bookmark_too(server, path):
    with server.watch(path, labelSelector="a=b", **WATCH_LIST) as watch:
        watch.wait_for(is_final_bookmark)
        assert len(watch.events) == 1


def test_a_watch_list_by_selector_tells_what_leaves_it_as_deleted(server, path):
    make(server, path, "in", labels={"a": "b"})
    make(server, path, "out")
    with server.watch(path, labelSelector="a=b", **WATCH_LIST) as watch:
        watch.wait_for(is_final_bookmark)
        server.merge(f"{path}/in", {"metadata": {"labels": {"a": "c"}}})
        watch.wait_for(lambda k, o: k == "DELETED" and o["metadata"]["name"] == "in")
        server.merge(f"{path}/out", {"metadata": {"labels": {"a": "b"}}})
        watch.wait_for(lambda k, o: k == "ADDED" and o["metadata"]["name"] == "out")


@pytest.mark.on("etcd")
def test_an_old_version_is_410_to_a_watch_and_never_to_a_watch_list(server, path):
    """After a restart the window of events begins anew. A 410 would make informers spin."""
    made = make(server, path, "a")
    server.merge(f"{path}/a", {"data": {"a": "2"}})
    server.process.restart()
    server.wait_ready()
    old = version_of(made)
    with server.watch(path, resourceVersion=old) as watch:
        kind, status = watch.wait_for(lambda k, o: True)
        assert kind == "ERROR" and len(watch.events) == 1
        assert (status["kind"], status["code"], status["reason"], status["status"]) == (
            "Status", 410, "Expired", "Failure")
        assert status["message"].startswith(f"too old resource version: {old} (")
        wait.until(lambda: watch.ended, what="the watch to end")
    with server.watch(path, resourceVersion=old, **WATCH_LIST) as watch:
        watch.wait_for(is_final_bookmark)
        assert names_of(watch, "ADDED") == ["a"]


def test_a_watch_list_needs_its_parameters(server, path):
    answer = server.api("GET", f"{path}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true")
    assert answer.status == 422 and "resourceVersionMatch" in answer.text
    answer = server.api("GET", f"{path}?sendInitialEvents=true")
    assert answer.status == 422 and "sendInitialEvents" in answer.text


# watches

def test_a_watch_from_a_version_tells_each_change_after_it_once_in_order(server, path):
    before = make(server, path, "a")
    versions = [version_of(server.merge(f"{path}/a", {"data": {"a": str(n)}})) for n in range(5)]
    deleted = server.must("DELETE", f"{path}/a")
    assert deleted["status"] == "Success"
    with server.watch(path, resourceVersion=version_of(before)) as watch:
        _, last = watch.wait_for(lambda k, o: k == "DELETED")
        assert [k for k, _ in watch.events] == ["MODIFIED"] * 5 + ["DELETED"]
        assert [version_of(o) for _, o in watch.events[:5]] == versions
        assert version_of(last) > versions[-1] and last["data"] == {"a": "4"}
    middle = versions[2]
    with server.watch(path, resourceVersion=middle) as watch:
        watch.wait_for(lambda k, o: k == "DELETED")
        assert [version_of(o) for _, o in watch.events[:2]] == versions[3:]


@pytest.mark.parametrize("given", ["", "0"])
def test_a_watch_from_anywhere_begins_with_what_is_there(server, path, given):
    make(server, path, "a", "b")
    with server.watch(path, resourceVersion=given) as watch:
        wait.until(lambda: len(watch.events) == 2)
        assert names_of(watch, "ADDED") == ["a", "b"]


def test_a_watch_ends_at_its_timeout_with_a_bookmark(server, path):
    version = version_of(server.must("GET", path))
    make(server, CONFIGMAP.path("default"), f"other-{time.time_ns()}")
    began = time.monotonic()
    with server.watch(path, resourceVersion=version, timeoutSeconds=1,
                      allowWatchBookmarks="true") as watch:
        wait.until(lambda: watch.ended, 10)
        assert 0.8 < time.monotonic() - began < 8 and watch.error is None
        kind, found = watch.events[-1]
        assert (kind, found["kind"]) == ("BOOKMARK", "ConfigMap")
        assert version_of(found) > version


def test_a_watched_table_tells_its_columns_once(server, path):
    version = version_of(server.must("GET", path))
    connection, response = server.open("GET", f"{path}?watch=1&resourceVersion={version}", headers={
        "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    try:
        make(server, path, "a", "b")
        first, second = (json.loads(response.readline())["object"] for _ in range(2))
    finally:
        connection.close()
    assert [c["name"] for c in first["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert first["rows"][0]["cells"][:2] == ["a", 1]
    assert first["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert not second["columnDefinitions"] and second["rows"][0]["cells"][0] == "b"


# versions

def test_a_version_that_does_not_come_is_504_with_its_cause(server, path):
    for query in (f"resourceVersion={FUTURE}",
                  f"resourceVersion={FUTURE}&resourceVersionMatch=NotOlderThan",
                  f"resourceVersion={FUTURE}&watch=1&timeoutSeconds=9"):
        began = time.monotonic()
        answer = server.api("GET", f"{path}?{query}", timeout=15)
        assert answer.status == 504, query
        assert 2 < time.monotonic() - began < 10
        status = answer.json()
        assert status["reason"] == "Timeout" and status["details"]["retryAfterSeconds"] == 1
        assert cause(answer)["reason"] == "ResourceVersionTooLarge"
        assert "Too large resource version" in status["message"]


def test_a_reader_that_names_a_version_never_sees_an_older_one(server, path):
    make(server, path, "a")
    for n in range(20):
        version = version_of(server.merge(f"{path}/a", {"data": {"a": str(n)}}))
        for query in (f"resourceVersion={version}&resourceVersionMatch=NotOlderThan", ""):
            listed = server.must("GET", f"{path}?{query}")
            assert version_of(listed) >= version
            assert listed["items"][0]["data"] == {"a": str(n)}


@pytest.mark.parametrize("given", ["abc", "-1", "1.5", "99999999999999999999"])
def test_a_version_that_is_none_is_400(server, path, given):
    answer = server.api("GET", f"{path}?resourceVersion={given}")
    assert answer.status == 400 and given in answer.text


# pages

def test_pages_hold_each_object_once(server, path):
    names = [f"c{n:02}" for n in range(7)]
    make(server, path, *names)
    seen, query, remaining, versions = [], "", [], set()
    while query is not None:
        page = server.must("GET", f"{path}?limit=3{query}")
        seen += [o["metadata"]["name"] for o in page["items"]]
        remaining.append(page["metadata"].get("remainingItemCount", 0))
        versions.add(page["metadata"]["resourceVersion"])
        token = page["metadata"].get("continue")
        query = f"&continue={token}" if token else None
    assert seen == names and remaining == [4, 1, 0] and len(versions) == 1


@pytest.mark.on("etcd")
def test_a_page_from_before_the_window_is_410(server, path):
    make(server, path, "a", "b")
    token = server.must("GET", f"{path}?limit=1")["metadata"]["continue"]
    server.merge(f"{path}/a", {"data": {"a": "2"}})
    server.process.restart()
    server.wait_ready()
    answer = server.api("GET", f"{path}?limit=1&continue={token}")
    assert (answer.status, answer.json()["reason"]) == (410, "Expired")
    assert "continue parameter is too old" in answer.json()["message"]


def test_a_token_that_is_none_is_400(server, path):
    assert server.api("GET", f"{path}?limit=1&continue=nonsense").status == 400


# validation of fields

def test_unknown_fields_warn_by_default_and_are_dropped(server, ns):
    body = JOB.manifest("j", ns)
    body["spec"]["bogus"] = 1
    answer = server.api("POST", JOB.path(ns), body)
    assert answer.status == 201 and "bogus" not in answer.text
    assert '299 - "unknown field \\"spec.bogus\\""' in answer.headers.get_all("Warning")


def test_unknown_and_duplicate_fields_are_400_under_strict(server, ns):
    text = json.dumps(JOB.manifest("j", ns)).replace(
        '"maxRetry": 3', '"maxRetry": 3, "bogus": 1, "maxRetry": 4')
    answer = server.api("POST", JOB.path(ns) + "?fieldValidation=Strict", text)
    assert (answer.status, answer.json()["reason"]) == (400, "BadRequest")
    message = answer.json()["message"]
    assert message.startswith('Job in version "v1alpha1" cannot be handled as a Job: strict '
                              "decoding error: ")
    assert 'unknown field "spec.tasks[0].bogus"' in message
    assert 'duplicate field "spec.tasks[0].maxRetry"' in message
    assert server.get(JOB.path(ns, "j")) is None


def test_an_unknown_field_in_a_strict_patch_is_422(server, ns):
    server.must("POST", JOB.path(ns), JOB.manifest("j", ns))
    answer = server.api("PATCH", JOB.path(ns, "j") + "?fieldValidation=Strict",
                        '{"spec":{"bogus":1}}', MERGE)
    assert (answer.status, answer.json()["reason"]) == (422, "Invalid")
    assert 'unknown field "spec.bogus"' in answer.json()["message"]
    assert cause(answer)["field"] == "patch"


def test_ignored_fields_are_silent(server, ns):
    body = dict(JOB.manifest("j", ns), bogus=1)
    answer = server.api("POST", JOB.path(ns) + "?fieldValidation=Ignore", body)
    assert answer.status == 201
    assert not [w for w in answer.headers.get_all("Warning") or [] if "bogus" in w]


# conflicts and preconditions

def test_a_stale_version_is_409_and_changes_nothing(server, path):
    made = make(server, path, "a")
    server.merge(f"{path}/a", {"data": {"a": "2"}})
    stale = dict(made, data={"a": "3"})
    for answer in (server.api("PUT", f"{path}/a", stale),
                   server.api("PATCH", f"{path}/a", json.dumps(
                       {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]},
                        "data": {"a": "3"}}), MERGE)):
        assert (answer.status, answer.json()["reason"]) == (409, "Conflict")
        assert answer.json()["details"]["name"] == "a"
    assert server.get(f"{path}/a")["data"] == {"a": "2"}


def test_of_writers_that_compare_one_wins(server, path):
    made = make(server, path, "a")

    def put(n):
        return server.api("PUT", f"{path}/a", dict(made, data={"a": f"of {n}"})).status
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(put, range(8)))
    assert answers == [200] + [409] * 7


def test_writers_that_do_not_compare_all_win(server, path):
    make(server, path, "a")

    def patch(n):
        return server.api("PATCH", f"{path}/a", json.dumps({"data": {f"k{n}": "1"}}),
                          MERGE).status
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(patch, range(24))) == {200}
    assert len(server.get(f"{path}/a")["data"]) == 25


def test_a_put_of_our_kinds_needs_a_version_and_of_core_kinds_does_not(server, path, ns):
    server.must("POST", JOB.path(ns), JOB.manifest("j", ns))
    answer = server.api("PUT", JOB.path(ns, "j"), JOB.manifest("j", ns))
    assert answer.status == 422 and "must be specified for an update" in answer.text
    make(server, path, "a")
    server.must("PUT", f"{path}/a", {"metadata": {"name": "a"}, "data": {"a": "9"}})


@pytest.mark.parametrize("wrong", ["uid", "resourceVersion"])
def test_a_delete_is_refused_when_its_precondition_fails(server, path, wrong):
    made = make(server, path, "a")
    right = {field: made["metadata"][field] for field in ("uid", "resourceVersion")}
    other = "00000000-0000-0000-0000-000000000000" if wrong == "uid" else "1"
    answer = server.api("DELETE", f"{path}/a", {"preconditions": {**right, wrong: other}})
    assert (answer.status, answer.json()["reason"]) == (409, "Conflict")
    assert "precondition" in answer.json()["message"] and other in answer.json()["message"]
    assert server.api("DELETE", f"{path}/a", {"preconditions": right}).status == 200
    assert server.get(f"{path}/a") is None


def test_a_collection_is_deleted_by_selector(server, path):
    make(server, path, "a", "b", labels={"x": "y"})
    make(server, path, "c")
    server.must("DELETE", f"{path}?labelSelector=x%3Dy")
    assert [o["metadata"]["name"] for o in server.items(path)] == ["c"]


def test_a_no_op_keeps_the_version_and_a_change_of_spec_counts(server, ns):
    made = server.must("POST", JOB.path(ns), JOB.manifest("j", ns))
    path = JOB.path(ns, "j")
    assert made["metadata"]["generation"] == 1
    same = server.merge(path, {"spec": {"maxRetry": made["spec"]["maxRetry"]}})
    assert same["metadata"]["generation"] == 1
    labelled = server.merge(path, {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["generation"] == 1
    assert server.merge(path, {"spec": {"maxRetry": 9}})["metadata"]["generation"] == 2


# bytes

def test_large_answers_are_compressed_for_who_takes_it(server, path):
    make(server, path, *(f"c{n}" for n in range(40)))
    plain = server.api("GET", path)
    assert plain.headers["Content-Encoding"] is None
    zipped = server.api("GET", path, headers={"Accept-Encoding": "gzip"})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(zipped.body)) == plain.json()
    assert len(zipped.body) < len(plain.body) / 4
    assert server.api("GET", path, headers={"Accept-Encoding": "gzip;q=0"}).headers[
        "Content-Encoding"] is None


@pytest.mark.parametrize("type_, status", [
    ("application/json", 201), (None, 201), ("application/yaml", 201),
    ("application/cbor", 415), ("text/plain", 415)])
def test_types_of_bodies(server, path, type_, status):
    headers = {"Content-Type": type_} if type_ else {}
    answer = server.api("POST", path, '{"metadata": {"name": "a"}}', headers)
    assert answer.status == status
    if status == 415:
        assert answer.json()["reason"] == "UnsupportedMediaType"
        assert "application/json" in answer.json()["message"]


@pytest.mark.parametrize("type_", [None, "application/json", "application/apply-patch+yaml"])
def test_a_patch_without_a_served_type_is_415(server, path, type_):
    make(server, path, "a")
    answer = server.api("PATCH", f"{path}/a", "{}", {"Content-Type": type_} if type_ else {})
    assert (answer.status, answer.json()["reason"]) == (415, "UnsupportedMediaType")


def test_answers_that_nobody_here_can_give_are_406(server, path):
    answer = server.api("GET", path, headers={"Accept": "application/cbor"})
    assert (answer.status, answer.json()["reason"]) == (406, "NotAcceptable")
    accept = "application/vnd.kubernetes.protobuf, */*"
    answer = server.api("GET", path, headers={"Accept": accept})
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize("body, status", [
    (b"k8s\0\x0a", 400), (b"nonsense", 400), (b"k8s\0" + b"\xff" * 40, 400), (b"", 400),
    (b"k8s\0", 415), (b"k8s\0\x0a\x0b\x0a\x02v1\x12\x05Thing", 415)])
def test_protobuf_that_is_broken_or_of_another_kind(server, path, body, status):
    answer = server.api("POST", path, body, {
        "Content-Type": "application/vnd.kubernetes.protobuf"})
    assert answer.status == status and answer.json()["kind"] == "Status"
    assert server.items(path) == []


@pytest.mark.parametrize("path", ["/nonsense", "/apis/none.example.com/v1/things", "/openapi/v2"])
def test_a_path_that_is_none(server, path):
    answer = server.api("GET", path)
    assert (answer.status, answer.text) == (404, "404 page not found\n")


@pytest.mark.parametrize("path", [
    "/api/v1/pods", "/api/v1/namespaces/default/pods/a",
    "/apis/batch.volcano.sh/v1alpha1/cronjobs", JOB.path("default", "a") + "/scale"])
def test_a_resource_that_is_not_served_is_404_with_its_status(server, path):
    status = server.api("GET", path).json()
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 404, "NotFound")
    assert status["message"] == "the server could not find the requested resource"


def test_kubectl_says_that_a_resource_is_not_served(kubectl):
    said = kubectl.fails("get", "--raw", "/api/v1/pods")
    assert "the server could not find the requested resource" in said
    assert "the server doesn't have a resource type" in kubectl.fails("get", "pods")


def test_the_root_lists_paths_that_are_there(server):
    paths = server.must("GET", "/")["paths"]
    assert "/apis/batch.volcano.sh/v1alpha1" in paths and "/version" in paths
    assert {server.api("GET", path).status for path in paths} == {200}


def test_an_option_that_is_wrong_says_which(server, path):
    answer = server.api("POST", f"{path}?dryRun=Some&fieldValidation=x", {"metadata": {}})
    assert (answer.status, answer.json()["reason"]) == (422, "Invalid")
    details = answer.json()["details"]
    assert (details["kind"], details["group"]) == ("CreateOptions", "meta.k8s.io")
    assert [c["field"] for c in details["causes"]] == ["dryRun", "fieldValidation"]


def test_options_of_a_delete_that_cannot_be_read_delete_nothing(server, path):
    make(server, path, "a")
    for body in ({"preconditions": "x"}, {"kind": "ConfigMap"}, {"dryRun": "All"},
                 {"gracePeriodSeconds": "1"}, {"orphanDependents": "no"}):
        answer = server.api("DELETE", f"{path}/a", body)
        assert (answer.status, answer.json()["reason"]) == (400, "BadRequest"), body
    assert server.get(f"{path}/a")


def test_a_collection_is_deleted_to_its_limit(server, path):
    make(server, path, "a", "b", "c")
    gone = server.must("DELETE", f"{path}?limit=2")
    assert [o["metadata"]["name"] for o in gone["items"]] == ["a", "b"]
    assert not [o for o in gone["items"] if "deletionTimestamp" in o["metadata"]]
    assert [o["metadata"]["name"] for o in server.items(path)] == ["c"]


def test_who_cannot_read_the_answer_writes_nothing(server, path):
    answer = server.api("POST", path, {"metadata": {"name": "a"}}, {"Accept": "text/html"})
    assert (answer.status, answer.json()["reason"]) == (406, "NotAcceptable")
    assert server.items(path) == []


def test_a_secret_is_kept_in_base64_whichever_way_it_came(server, ns):
    path = SECRET.path(ns)
    server.must("POST", path, {"metadata": {"name": "s"}, "data": {"a": "MQ=="},
                               "stringData": {"b": "2"}})
    stored = server.merge(f"{path}/s", {"stringData": {"c": "3"}})
    assert stored["data"] == {"a": "MQ==", "b": "Mg==", "c": "Mw=="}
    assert "stringData" not in stored


def test_discovery_has_both_forms(server):
    aggregated = ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
                  "application/json")
    answer = server.api("GET", "/apis", headers={"Accept": aggregated})
    assert answer.headers["Content-Type"] == \
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    groups = [item["metadata"]["name"] for item in answer.json()["items"]]
    plain = server.must("GET", "/apis")
    assert plain["kind"] == "APIGroupList" and [g["name"] for g in plain["groups"]] == groups
    assert server.api("GET", "/apis", headers={
        "Accept": aggregated, "If-None-Match": answer.headers["ETag"]}).status == 304
    for group in plain["groups"]:
        version = group["versions"][0]["groupVersion"]
        listed = server.must("GET", f"/apis/{version}")
        assert (listed["kind"], listed["groupVersion"]) == ("APIResourceList", version)
    assert server.must("GET", "/api/v1/")["kind"] == "APIResourceList"


def test_openapi_lets_the_server_validate(server):
    index = server.must("GET", "/openapi/v3")["paths"]
    where = index["apis/batch.volcano.sh/v1alpha1"]["serverRelativeURL"]
    document = server.must("GET", where)
    patch = document["paths"][JOB.path("{namespace}", "{name}")]["patch"]
    assert "fieldValidation" in [p["name"] for p in patch["parameters"]]
    assert "application/strategic-merge-patch+json" not in json.dumps(patch)


def test_a_dry_run_answers_like_the_real_thing(server, path):
    answer = server.api("POST", f"{path}?dryRun=All", {"metadata": {"name": "a"}})
    assert answer.status == 201 and answer.json()["metadata"]["uid"]
    assert "resourceVersion" not in answer.json()["metadata"]
    assert server.get(f"{path}/a") is None
    assert server.api("POST", f"{path}?dryRun=Some", {"metadata": {"name": "a"}}).status == 422


@pytest.mark.parametrize("body, status", [
    ({"metadata": {"name": "a", "resourceVersion": "5"}}, 500),
    ({"metadata": {"name": "a", "namespace": "other"}}, 400),
    ({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}}, 400),
    ({"metadata": {}}, 422),
    ("{", 400), ("[]", 400), ("", 400)])
def test_bodies_that_do_not_belong_here(server, path, body, status):
    answer = server.api("POST", path, body)
    assert answer.status == status and answer.json()["kind"] == "Status"
    assert server.items(path) == []


def test_who_has_no_name_gets_health_and_version_alone(server, client, ns):
    nobody, somebody = without_credentials(server), client(server, "eve")
    for page in ("/version", "/healthz", "/readyz", "/livez"):
        assert nobody("GET", page) == 200
    for path in (QUEUE.path(None), JOB.path(ns), SECRET.path(ns), CONFIGMAP.path(ns)):
        assert somebody.api("GET", path).status == 200
        for method in ("GET", "POST", "DELETE"):
            assert nobody(method, path) == 401, (method, path)
        assert nobody("GET", path + "?watch=1") == 401
        assert nobody("GET", path, {"Authorization": "Bearer nonsense"}) == 401
    for page in ("/api", "/apis", "/openapi/v3"):
        assert nobody("GET", page) == 401, page


def without_credentials(server):
    url = urllib.parse.urlsplit(server.url)
    trust = ssl.create_default_context(cafile=argv.authority_cert(server.state))

    def ask(method, page, headers=None):
        connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=10,
                                                 context=trust)
        try:
            connection.request(method, page, headers=headers or {})
            return connection.getresponse().status
        finally:
            connection.close()
    return ask
