"""create, apply, edit, patch, label, annotate, replace, delete, on each kind."""
import base64
import json
import os

import pytest
from kubectl.samples import CONFIGMAP, DATASET, EACH_SORT, JOB, QUEUE, SECRET


@pytest.fixture
def manifest(kubectl, sample, ns, name):
    """The sample under the test's name; what became of it is deleted afterwards."""
    yield sample.manifest(name, ns)
    kubectl.server.api("DELETE", sample.path(ns, name))


@pytest.fixture
def made(kubectl, sample, ns, manifest):
    return kubectl.server.must("POST", sample.path(ns), manifest)


def short(sample):
    """The kind as kubectl names it in what it prints."""
    return sample.kind.lower() + ("." + sample.group if sample.group else "")


def changed(sample, manifest, value="7"):
    """The manifest with the sample's change, or with a label where nothing else may change."""
    merged = json.loads(json.dumps(manifest))
    merge(merged, sample.change or {"metadata": {"labels": {"change": value}}})
    return merged


def merge(into, change):
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def assert_changed(kubectl, sample, name):
    stored = json.loads(kubectl("get", sample.resource, name, "-o", "json"))
    wanted = json.loads(json.dumps(stored))
    merge(wanted, sample.change or {"metadata": {"labels": {"change": "7"}}})
    assert stored == wanted


# create

def test_create_makes_it_once(kubectl, sample, manifest, name, file):
    path = file(manifest)
    assert kubectl("create", "-f", path).strip() == f"{short(sample)}/{name} created"
    said = kubectl.fails("create", "-f", path)
    assert said.strip() == (f'Error from server (AlreadyExists): error when creating "{path}": '
                            f'{sample.resource} "{name}" already exists')


@pytest.mark.samples(*EACH_SORT)
def test_create_reads_standard_input_and_prints_the_object(kubectl, sample, manifest, name):
    made = json.loads(kubectl("create", "-f", "-", "-o", "json", stdin=[manifest]))
    meta = made["metadata"]
    assert meta["name"] == name and meta["uid"] and meta["creationTimestamp"]
    assert int(meta["resourceVersion"]) > 0
    assert "managedFields" not in meta


@pytest.mark.samples(CONFIGMAP, JOB)
def test_create_in_a_namespace_that_is_not_there(kubectl, sample, name):
    absent = sample.manifest(name, "absent")
    said = kubectl.fails("create", "-n", "absent", "-f", "-", stdin=[absent])
    assert 'Error from server (NotFound)' in said and 'namespaces "absent" not found' in said


@pytest.mark.samples(*EACH_SORT)
def test_a_dry_run_on_the_server_answers_and_stores_nothing(kubectl, sample, manifest, ns, name):
    for command in ("create", "apply"):
        said = kubectl(command, "-f", "-", "--dry-run=server", stdin=[manifest])
        assert said.strip() == f"{short(sample)}/{name} created (server dry run)"
        assert kubectl.server.get(sample.path(ns, name)) is None


@pytest.mark.samples(*EACH_SORT)
def test_names_that_are_generated(kubectl, sample, ns, name):
    manifest = sample.manifest(name, ns)
    manifest["metadata"]["generateName"] = manifest["metadata"].pop("name") + "-"
    printed = [kubectl("create", "-f", "-", "-o", "name", stdin=[manifest]).strip()
               for _ in range(2)]
    names = [p.partition("/")[2] for p in printed]
    assert len(set(names)) == 2
    for generated in names:
        assert generated.startswith(f"{name}-") and len(generated) == len(name) + 6
        kubectl.server.must("DELETE", sample.path(ns, generated))


# The next three are sent in protobuf by kubectl 1.32 and later.

def test_create_configmap(kubectl, ns, file):
    path = file({"a": 1})
    assert kubectl("create", "configmap", "c", "--from-literal=k=v", "--from-literal=e=",
                   f"--from-file=f={path}") == "configmap/c created\n"
    with open(path) as source:
        assert kubectl.server.get(CONFIGMAP.path(ns, "c"))["data"] == {
            "k": "v", "e": "", "f": source.read()}


def test_create_configmap_of_bytes_that_are_no_text(kubectl, ns, run, name):
    path = run.dir(name) + "/bytes"
    with open(path, "wb") as out:
        out.write(b"\xff\x00\xfe")
    kubectl("create", "configmap", "c", f"--from-file=b={path}")
    assert kubectl.server.get(CONFIGMAP.path(ns, "c"))["binaryData"] == {"b": "/wD+"}


def test_create_secret(kubectl, ns):
    assert kubectl("create", "secret", "generic", "s", "--from-literal=k=v") == \
        "secret/s created\n"
    stored = kubectl.server.get(SECRET.path(ns, "s"))
    assert (stored["type"], stored["data"]) == ("Opaque", {"k": "dg=="})
    kubectl("create", "secret", "docker-registry", "d", "--docker-username=u",
            "--docker-password=p", "--docker-server=r")
    stored = kubectl.server.get(SECRET.path(ns, "d"))
    assert stored["type"] == "kubernetes.io/dockerconfigjson"
    assert "r" in json.loads(base64.b64decode(stored["data"][".dockerconfigjson"]))["auths"]


def test_create_namespace(kubectl, name):
    try:
        assert kubectl("create", "namespace", name) == f"namespace/{name} created\n"
        assert kubectl("get", "ns", name, "-o", "jsonpath={.status.phase}") == "Active"
    finally:
        kubectl("delete", "namespace", name)
    kubectl.fails("get", "ns", name)


def test_create_priorityclass(kubectl, name):
    kubectl("create", "priorityclass", name, "--value=7", "--description=d")
    stored = kubectl.server.must("DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}")
    assert stored["status"] == "Success"


# apply

def test_apply_makes_changes_and_leaves_alone(kubectl, sample, manifest, ns, name, file):
    assert kubectl("apply", "-f", file(manifest)).strip() == f"{short(sample)}/{name} created"
    before = kubectl.server.get(sample.path(ns, name))["metadata"]
    assert kubectl("apply", "-f", file(manifest)).strip() == f"{short(sample)}/{name} unchanged"
    after = changed(sample, manifest)
    assert kubectl("apply", "-f", file(after)).strip() == f"{short(sample)}/{name} configured"
    assert_changed(kubectl, sample, name)
    meta = kubectl.server.get(sample.path(ns, name))["metadata"]
    assert int(meta["resourceVersion"]) > int(before["resourceVersion"])
    assert meta["uid"] == before["uid"]
    if sample.change and "spec" in sample.change and "generation" in before:
        assert meta["generation"] == before["generation"] + 1


@pytest.mark.samples(*EACH_SORT)
def test_apply_removes_what_left_the_file(kubectl, sample, manifest, ns, name, file):
    manifest["metadata"]["labels"] = {"stays": "1", "goes": "1"}
    kubectl("apply", "-f", file(manifest))
    kubectl("label", sample.resource, name, "other=1")
    del manifest["metadata"]["labels"]["goes"]
    kubectl("apply", "-f", file(manifest))
    labels = kubectl.server.get(sample.path(ns, name))["metadata"]["labels"]
    labels.pop("kubernetes.io/metadata.name", None)
    assert labels == {"stays": "1", "other": "1"}


def test_apply_of_a_file_with_defaults_left_out_writes_nothing_the_second_time(kubectl, ns, name):
    terse = JOB.manifest(name, ns)
    terse["spec"]["tasks"] = [{"template": {"spec": {"containers": [
        {"name": "main", "image": "image"}]}}}]
    kubectl("apply", "-f", "-", stdin=[terse])
    first = kubectl.server.get(JOB.path(ns, name))
    kubectl("apply", "-f", "-", stdin=[terse])
    again = kubectl.server.get(JOB.path(ns, name))
    assert again["metadata"]["generation"] == first["metadata"]["generation"]
    assert again["spec"] == first["spec"]


def test_apply_of_several_objects(kubectl, ns, name):
    several = [CONFIGMAP.manifest("c", ns), SECRET.manifest("s", ns), JOB.manifest("j", ns)]
    assert kubectl("apply", "-f", "-", stdin=several).split() == [
        "configmap/c", "created", "secret/s", "created", "job.batch.volcano.sh/j", "created"]
    assert kubectl("delete", "-f", "-", stdin=several).count("deleted") == 3


def test_strategic_merge_of_apply_on_a_core_kind(kubectl, ns, file):
    """Keys that others put beside ours stay; ours that left the file go."""
    ours = CONFIGMAP.manifest("c", ns)
    ours["data"] = {"a": "1", "b": "2"}
    kubectl("apply", "-f", file(ours))
    kubectl("patch", "configmap", "c", "-p", '{"data":{"theirs":"3"}}')
    ours["data"] = {"a": "4"}
    kubectl("apply", "-f", file(ours))
    assert kubectl.server.get(CONFIGMAP.path(ns, "c"))["data"] == {"a": "4", "theirs": "3"}


# diff

def test_diff_exits_with_1_on_a_difference_and_0_on_none(kubectl, sample, manifest, ns, name,
                                                        file):
    kubectl("apply", "-f", file(manifest))
    before = kubectl.server.get(sample.path(ns, name))["metadata"].get("generation")
    assert kubectl("diff", "-f", file(manifest)) == ""
    done = kubectl.run("diff", "-f", file(changed(sample, manifest)))
    assert done.returncode == 1, done.stderr
    after = "*** (after)" if sample.kind == "Secret" else "7"
    added = [line for line in done.stdout.splitlines() if line[:1] == "+" != line[1:2]]
    assert [line for line in added if after in line], done.stdout
    assert kubectl.server.get(sample.path(ns, name))["metadata"].get("generation") == before


# edit

def test_edit_writes_what_the_editor_left(kubectl, sample, made, ns, name):
    editor = """sed -i '/^metadata:/a\\  annotations: {edited: "yes"}'"""
    said = kubectl("edit", sample.resource, name, env={"KUBE_EDITOR": editor})
    assert said.strip() == f"{short(sample)}/{name} edited"
    assert kubectl.server.get(sample.path(ns, name))["metadata"]["annotations"] == {
        "edited": "yes"}


@pytest.mark.samples(*EACH_SORT)
def test_edit_without_a_change_is_cancelled(kubectl, sample, made, name):
    said = kubectl.run("edit", sample.resource, name, env={"KUBE_EDITOR": "true"})
    assert said.returncode == 0 and "no changes made" in said.stdout + said.stderr


def test_edit_shows_what_is_wrong_and_keeps_the_text(kubectl, ns, name, run):
    kubectl.server.must("POST", JOB.path(ns), JOB.manifest(name, ns))
    kept = run.dir(f"{name}-edit")
    said = kubectl.fails("edit", "vcjob", name, env={
        "TMPDIR": kept, "KUBE_EDITOR": "sed -i 's/^  maxRetry: 3/  maxRetry: -1/'"})
    assert "A copy of your changes has been stored" in said
    texts = []
    for copy in os.listdir(kept):
        with open(os.path.join(kept, copy)) as source:
            texts.append(source.read())
    assert any("# * spec.maxRetry: Invalid value: -1" in text for text in texts)


# patch

def test_patch_by_merge(kubectl, sample, made, name):
    patch = json.dumps(sample.change or {"metadata": {"labels": {"change": "7"}}})
    said = kubectl("patch", sample.resource, name, "--type=merge", "-p", patch)
    assert said.strip() == f"{short(sample)}/{name} patched"
    assert_changed(kubectl, sample, name)
    again = kubectl("patch", sample.resource, name, "--type=merge", "-p", patch)
    assert again.strip() == f"{short(sample)}/{name} patched (no change)"


def test_patch_by_json(kubectl, sample, made, ns, name):
    operations = [{"op": "test", "path": "/metadata/name", "value": name},
                  {"op": "add", "path": "/metadata/annotations", "value": {"a": "1"}},
                  {"op": "copy", "from": "/metadata/annotations/a",
                   "path": "/metadata/annotations/b"}]
    kubectl("patch", sample.resource, name, "--type=json", "-p", json.dumps(operations))
    assert kubectl.server.get(sample.path(ns, name))["metadata"]["annotations"] == {
        "a": "1", "b": "1"}
    wrong = [{"op": "test", "path": "/metadata/name", "value": "other"}]
    said = kubectl.fails("patch", sample.resource, name, "--type=json", "-p", json.dumps(wrong))
    assert "/metadata/name" in said


def test_patch_of_the_default_type(kubectl, sample, made, ns, name):
    """Strategic on core kinds; kinds of CRDs have none, and the answer says so."""
    patch = '{"metadata":{"labels":{"change":"7"}}}'
    if sample.core:
        kubectl("patch", sample.resource, name, "-p", patch)
        stored = kubectl.server.get(sample.path(ns, name))
        assert stored["metadata"]["labels"]["change"] == "7"
    else:
        said = kubectl.fails("patch", sample.resource, name, "-p", patch)
        assert "strategic-merge-patch+json is not supported" in said
        assert "merge-patch+json" in said


@pytest.mark.on("sandbox")
def test_a_strategic_patch_merges_lists_by_their_keys(kubectl, ns):
    kubectl.server.must("POST", f"/api/v1/namespaces/{ns}/services", {
        "metadata": {"name": "s"}, "spec": {"clusterIP": "None", "ports": [
            {"name": "a", "port": 1}, {"name": "b", "port": 2}]}})
    kubectl("patch", "service", "s", "-p", json.dumps({"spec": {"ports": [
        {"port": 2, "name": "c"}, {"port": 1, "$patch": "delete"}, {"port": 3, "name": "d"}]}}))
    ports = kubectl.server.get(f"/api/v1/namespaces/{ns}/services/s")["spec"]["ports"]
    assert sorted((p["port"], p["name"]) for p in ports) == [(2, "c"), (3, "d")]


def test_status_is_patched_apart(kubectl, ns, name):
    """A user cannot write a job's status by either path."""
    kubectl.server.must("POST", JOB.path(ns), JOB.manifest(name, ns))
    for more in ([], ["--subresource=status"]):
        kubectl("patch", "vcjob", name, "--type=merge", "-p",
                '{"status":{"state":{"phase":"Completed"}}}', *more)
    kubectl("wait", "--for=jsonpath={.status.state.phase}=Pending", f"vcjob/{name}",
            "--timeout=10s")


# label, annotate

def test_labels_and_annotations(kubectl, sample, made, ns, name):
    for command, field in (("label", "labels"), ("annotate", "annotations")):
        def stored():
            found = kubectl.server.get(sample.path(ns, name))["metadata"].get(field, {})
            return {k: v for k, v in found.items() if k in ("a", "example.com/b")}
        kubectl(command, sample.resource, name, "a=1", "example.com/b=2")
        assert stored() == {"a": "1", "example.com/b": "2"}
        assert "--overwrite is false" in kubectl.fails(command, sample.resource, name, "a=2")
        kubectl(command, sample.resource, name, "a=2", "example.com/b-", "--overwrite")
        assert stored() == {"a": "2"}


@pytest.mark.samples(*EACH_SORT)
def test_a_bad_label_is_refused_with_its_rule(kubectl, sample, made, name):
    said = kubectl.fails("patch", sample.resource, name, "--type=merge", "-p",
                         '{"metadata":{"labels":{"a":"-bad-"}}}')
    assert "metadata.labels" in said and "-bad-" in said


# replace

def test_replace(kubectl, sample, manifest, made, ns, name, file):
    after = changed(sample, dict(manifest, **{k: made[k] for k in ("spec",) if k in made}))
    said = kubectl("replace", "-f", file(after))
    assert said.strip() == f"{short(sample)}/{name} replaced"
    assert_changed(kubectl, sample, name)
    stale = dict(after, metadata=dict(after["metadata"], labels={"a": "b"},
                                      resourceVersion=made["metadata"]["resourceVersion"]))
    said = kubectl.fails("replace", "-f", file(stale))
    assert "Error from server (Conflict)" in said
    assert f'Operation cannot be fulfilled on {sample.resource} "{name}": the object has been ' \
        "modified; please apply your changes to the latest version and try again" in said


@pytest.mark.samples(*EACH_SORT)
def test_replace_by_force_makes_another_object(kubectl, sample, manifest, made, ns, name, file):
    kubectl("replace", "--force", "-f", file(manifest))
    assert kubectl.server.get(sample.path(ns, name))["metadata"]["uid"] != made["metadata"]["uid"]


# delete

def test_delete_waits_until_it_is_gone(kubectl, sample, made, ns, name):
    said = kubectl("delete", sample.resource, name)
    assert said.startswith(f'{short(sample)} "{name}" deleted')
    assert kubectl.server.get(sample.path(ns, name)) is None
    said = kubectl.fails("delete", sample.resource, name)
    assert f'{sample.resource} "{name}" not found' in said
    assert kubectl("delete", sample.resource, name, "--ignore-not-found") == ""


def test_delete_by_label_and_by_file(kubectl, sample, ns, name, file):
    several = [sample.manifest(f"{name}-{n}", ns, labels={"of": name, "n": str(n)})
               for n in range(3)]
    for one in several:
        kubectl.server.must("POST", sample.path(ns), one)
    assert kubectl("delete", sample.resource, "-l", f"of={name},n!=2").count("deleted") == 2
    assert kubectl("get", sample.resource, "-l", f"of={name}", "-o",
                   "jsonpath={.items[*].metadata.name}") == f"{name}-2"
    kubectl("delete", "-f", file(several[2]))
    assert kubectl.server.get(sample.path(ns, f"{name}-2")) is None


@pytest.mark.samples(CONFIGMAP, JOB)
def test_delete_all_of_a_namespace(kubectl, sample, ns, name):
    for n in range(2):
        kubectl.server.must("POST", sample.path(ns), sample.manifest(f"{name}-{n}", ns))
    assert kubectl("delete", sample.resource, "--all").count("deleted") == 2
    assert kubectl("get", sample.resource, "-o", "name") == ""


@pytest.mark.samples(*EACH_SORT)
def test_a_dry_delete_deletes_nothing(kubectl, sample, made, ns, name):
    assert "dry run" in kubectl("delete", sample.resource, name, "--dry-run=server")
    assert "deletionTimestamp" not in kubectl.server.get(sample.path(ns, name))["metadata"]


@pytest.mark.samples(*EACH_SORT)
def test_a_finalizer_holds_what_is_deleted(kubectl, sample, manifest, ns, name):
    manifest["metadata"]["finalizers"] = ["example.com/hold"]
    kubectl.server.must("POST", sample.path(ns), manifest)
    kubectl("delete", sample.resource, name, "--wait=false")
    meta = kubectl.server.get(sample.path(ns, name))["metadata"]
    assert meta["deletionTimestamp"] and meta["finalizers"][0] == "example.com/hold"
    said = kubectl.fails("delete", sample.resource, name, "--timeout=1s")
    assert "timed out waiting for the condition" in said
    kubectl("patch", sample.resource, name, "--type=merge", "-p",
            '{"metadata":{"finalizers":null}}')
    kubectl("wait", "--for=delete", f"{sample.resource}/{name}", "--timeout=10s")


def test_a_namespace_takes_its_contents_along(kubectl, name):
    kubectl("create", "namespace", name)
    for sample in (CONFIGMAP, SECRET, JOB):
        kubectl.server.must("POST", sample.path(name), sample.manifest("x", name))
    kubectl("delete", "namespace", name, "--timeout=20s")
    for sample in (CONFIGMAP, SECRET, JOB):
        assert kubectl.server.get(sample.path(name, "x")) is None


def test_owned_objects_go_with_their_owner(kubectl, ns, name):
    owner = kubectl.server.must("POST", CONFIGMAP.path(ns), CONFIGMAP.manifest(name, ns))
    kubectl.server.must("POST", SECRET.path(ns), SECRET.manifest("owned", ns, ownerReferences=[
        {"apiVersion": "v1", "kind": "ConfigMap", "name": name,
         "uid": owner["metadata"]["uid"]}]))
    kubectl("delete", "configmap", name)
    kubectl("wait", "--for=delete", "secret/owned", "--timeout=10s")


# what is refused

@pytest.mark.samples(*EACH_SORT)
def test_unknown_fields_are_refused(kubectl, sample, manifest, ns, name):
    manifest["bogus"] = 1
    for command in ("create", "apply"):
        said = kubectl.fails(command, "-f", "-", stdin=[manifest])
        assert 'unknown field "bogus"' in said and "strict decoding error" in said
    assert kubectl.server.get(sample.path(ns, name)) is None


@pytest.mark.samples(*EACH_SORT)
def test_validation_may_warn_or_be_silent(kubectl, sample, manifest, ns, name):
    manifest["bogus"] = 1
    warned = kubectl.run("create", "-f", "-", "--validate=warn", stdin=[manifest])
    assert warned.returncode == 0 and 'unknown field "bogus"' in warned.stderr
    assert "Warning" in warned.stderr
    assert "bogus" not in kubectl.server.get(sample.path(ns, name))
    silent = kubectl.run("apply", "-f", "-", "--validate=ignore", stdin=[manifest])
    assert silent.returncode == 0 and "bogus" not in silent.stderr


def test_an_unknown_field_in_a_patch_is_refused_where_the_client_asks(kubectl, ns, name):
    kubectl("apply", "-f", "-", stdin=[JOB.manifest(name, ns)])
    worse = JOB.manifest(name, ns)
    worse["spec"]["bogus"] = 1
    assert 'unknown field "spec.bogus"' in kubectl.fails("apply", "-f", "-", stdin=[worse])


def test_invalid_values_name_their_field(kubectl, ns, name):
    bad = {"spec.capability[cpu]": QUEUE.manifest(name), "spec.size": DATASET.manifest(name)}
    bad["spec.capability[cpu]"]["spec"]["capability"]["cpu"] = "-1"
    bad["spec.size"]["spec"]["size"] = "much"
    for field, manifest in bad.items():
        said = kubectl.fails("create", "-f", "-", stdin=[manifest])
        assert f'The {manifest["kind"]} "{name}" is invalid: {field}' in said


def test_a_warning_is_shown(kubectl, ns, name):
    done = kubectl.run("create", "-f", "-", stdin=[JOB.manifest(name, ns)])
    assert done.returncode == 0
    assert "Warning: no cluster has joined; the job waits" in done.stderr.splitlines()
