"""get in all its forms, on each kind."""
import json
import re

import pytest
import yaml
from harness import wait
from kubectl.samples import EACH_SORT, JOB, SANDBOX

AGE = re.compile(r"\d+[smhd]")


@pytest.fixture
def made(kubectl, sample, ns, name):
    """The sample as it is stored, with a label of its own."""
    found = kubectl.server.must("POST", sample.path(ns), sample.manifest(
        name, ns, labels={"of": name}))
    yield found
    kubectl.server.api("DELETE", sample.path(ns, name))


def header(table):
    return table.splitlines()[0].split()


def test_a_table_has_the_columns_of_the_kind_and_a_wide_one_more(kubectl, sample, made, name):
    table = kubectl("get", sample.resource, name)
    assert header(table) == sample.columns.split()
    assert len(table.splitlines()) == 2
    if "NAME" in sample.columns:
        assert table.splitlines()[1].split()[0] == name
    wide = kubectl("get", sample.resource, name, "-o", "wide")
    assert sorted(header(wide)) == sorted((sample.columns + " " + sample.wide).split())
    assert len(kubectl("get", sample.resource, name, "--no-headers").splitlines()) == 1


def test_yaml_and_json_are_the_stored_object(kubectl, sample, made, ns, name):
    def same():  # as soon as the controllers have said what they have to say of it
        stored = kubectl.server.get(sample.path(ns, name))
        return (stored["metadata"]["uid"] == made["metadata"]["uid"]
                and json.loads(kubectl("get", sample.resource, name, "-o", "json")) == stored
                and yaml.safe_load(kubectl("get", sample.resource, name, "-o", "yaml")) == stored)
    wait.until(same, what="kubectl to print what is stored")


def test_every_word_for_a_kind_finds_it(kubectl, sample, made, name):
    words = sample.words
    if repr(sample) == "events.events.k8s.io":  # the plain words mean events of v1
        words = [sample.resource]
    for word in words:
        assert kubectl("get", word, name, "-o", "jsonpath={.metadata.uid}") == \
            made["metadata"]["uid"], word


def test_name_and_jsonpath(kubectl, sample, made, name):
    printed = kubectl("get", sample.resource, name, "-o", "name").strip()
    assert printed == f"{sample.kind.lower()}{'.' + sample.group if sample.group else ''}/{name}"
    assert kubectl("get", printed, "-o", "jsonpath={.kind}") == sample.kind
    columns = "custom-columns=A:.metadata.name,B:.apiVersion"
    assert kubectl("get", printed, "-o", columns).splitlines()[1].split() == \
        [name, sample.api_version]


def test_lists_by_label_by_field_and_over_all_namespaces(kubectl, sample, made, ns, name):
    ours = ["-o", "jsonpath={.items[*].metadata.name}"]
    assert kubectl("get", sample.resource, "-l", f"of={name}", *ours) == name
    assert kubectl("get", sample.resource, "-l", f"of in ({name},b),!absent", *ours) == name
    assert kubectl("get", sample.resource, "-l", "of=another", *ours) == ""
    by_name = ["--field-selector", f"metadata.name={name}"]
    assert kubectl("get", sample.resource, *by_name, *ours) == name
    assert name in kubectl("get", sample.resource, "-A", *ours).split()
    if sample.namespaced:
        table = kubectl("get", sample.resource, "-A")
        assert header(table)[0] == "NAMESPACE"
        by_both = f"metadata.namespace={ns},metadata.name!=x"
        assert kubectl("get", sample.resource, "-A", "--field-selector", by_both, *ours) == name


@pytest.mark.samples(*EACH_SORT)
def test_a_field_that_cannot_be_selected_is_refused(kubectl, sample):
    said = kubectl.fails("get", sample.resource, "--field-selector", "spec.nonsense=1")
    assert "field label not supported: spec.nonsense" in said


@pytest.mark.samples(*EACH_SORT)
def test_sorted_in_pages_and_unpaged(kubectl, sample, ns, name):
    names = [f"{name}-{letter}" for letter in "cab"]
    for made_name in names:
        kubectl.server.must("POST", sample.path(ns), sample.manifest(
            made_name, ns, labels={"of": name}))
    try:
        select = ["-l", f"of={name}", "-o", "name"]
        for size in ("1", "2", "0"):
            lines = kubectl("get", sample.resource, f"--chunk-size={size}", *select).split()
            assert [line.split("/")[1] for line in lines] == sorted(names)
        by_time = ["--sort-by", ".metadata.creationTimestamp"]
        assert len(kubectl("get", sample.resource, *by_time, *select).split()) == 3
        table = kubectl("get", sample.resource, "-l", f"of={name}", "--sort-by",
                        ".metadata.name", "-o", "wide", "--no-headers")
        order = [next(n for n in names if n in line) for line in table.splitlines()]
        assert order == sorted(names)
    finally:
        for made_name in names:
            kubectl.server.api("DELETE", sample.path(ns, made_name))


@pytest.mark.samples(*EACH_SORT)
def test_nothing_there_and_nothing_found(kubectl, sample, name):
    absent = kubectl.fails("get", sample.resource, "absent")
    assert absent.strip() == \
        f'Error from server (NotFound): {sample.resource} "absent" not found'
    assert kubectl("get", sample.resource, "absent", "--ignore-not-found") == ""
    empty = kubectl.run("get", sample.resource, "-l", f"of={name}-none")
    assert (empty.returncode, empty.stdout) == (0, "")
    assert empty.stderr.startswith("No resources found")


def test_describe_shows_the_object_and_its_events(kubectl, sample, made, ns, name):
    reference = {"kind": sample.kind, "name": name, "apiVersion": sample.api_version,
                 "uid": made["metadata"]["uid"]}
    if sample.namespaced:
        reference["namespace"] = ns
    where = ns if sample.namespaced else "default"
    kubectl.server.must("POST", f"/api/v1/namespaces/{where}/events", {
        "metadata": {"generateName": "e"}, "involvedObject": dict(reference, namespace=where)
        if sample.namespaced else reference, "type": "Warning", "reason": "Looked",
        "message": "somebody looked", "count": 1, "lastTimestamp": "2026-01-01T00:00:00Z"})
    said = kubectl("describe", sample.resource, name)
    assert re.search(rf"^Name:\s+{name}$", said, re.M)
    assert f"of={name}" in said or sample.kind == "PriorityClass", said
    assert "somebody looked" in said or sample.kind in SHOWN_WITHOUT_EVENTS, said


# kubectl's own describers of these kinds ask for no events.
SHOWN_WITHOUT_EVENTS = ("Namespace", "Secret", "Event")


def test_a_watch_of_a_list_prints_what_comes(kubectl, sample, made, ns, name, beside):
    watcher = beside(kubectl.start("get", sample.resource, "-l", f"of={name}", "-w", "-o",
                                   "name"))
    watcher.wait_log(rf"/{name}\n")
    kubectl.server.must("POST", sample.path(ns), sample.manifest(
        f"{name}-later", ns, labels={"of": name}))
    watcher.wait_log(rf"/{name}-later\n")
    kubectl.server.api("DELETE", sample.path(ns, f"{name}-later"))


def test_a_watch_of_one_object_prints_each_of_its_states_once(kubectl, sample, made, ns, name,
                                                              beside):
    """A controller may write its status meanwhile, which is a state too."""
    watcher = beside(kubectl.start(
        "get", sample.resource, name, "-w", "-o",
        "jsonpath={.metadata.resourceVersion} {.metadata.labels.step}.{'\\n'}"))
    watcher.wait_log(r"(?m)^\d+ \.$")
    for step in ("one", "two"):
        kubectl.server.merge(sample.path(ns, name), {"metadata": {"labels": {"step": step}}})
        watcher.wait_log(rf"(?m)^\d+ {step}\.$")
    lines = [line for line in watcher.text().splitlines() if re.fullmatch(r"\d+ \w*\.", line)]
    versions, steps = zip(*(line.split() for line in lines))
    assert len(set(versions)) == len(versions)
    assert [step for i, step in enumerate(steps) if step not in steps[:i]] == [".", "one.", "two."]


@pytest.mark.samples(*EACH_SORT)
def test_a_watched_table_has_one_header(kubectl, sample, made, ns, name, beside):
    watcher = beside(kubectl.start("get", sample.resource, "-l", f"of={name}", "-w"))
    headers = sample.columns.split()
    watcher.wait_log(r"(?m)^" + r"\s+".join(re.escape(h) for h in headers))
    kubectl.server.merge(sample.path(ns, name), {"metadata": {"labels": {"step": "one"}}})

    def two_rows():
        lines = [line for line in watcher.text().splitlines() if not line.startswith("---")]
        return lines if len(lines) == 3 else None
    lines = wait.until(two_rows, what="a header and two rows")
    assert [line.split() == headers for line in lines] == [True, False, False]


def test_all_categories_in_one_list(kubectl, ns, name):
    kubectl.server.must("POST", JOB.path(ns), JOB.manifest(name, ns))
    assert kubectl("get", "all", "-o", "name") == f"job.batch.volcano.sh/{name}\n"
    assert kubectl("get", "cm,vcjob,q", "-o", "name").split() == [
        f"job.batch.volcano.sh/{name}", "queue.scheduling.volcano.sh/default"]


@pytest.mark.on("sandbox")
def test_a_member_has_pods_and_services_in_the_category_all(kubectl, ns, name):
    for sample in SANDBOX:
        if sample.plural in ("pods", "services"):
            kubectl.server.must("POST", sample.path(ns), sample.manifest(name, ns))
    assert sorted(kubectl("get", "all", "-o", "name").split()) == [f"pod/{name}",
                                                                  f"service/{name}"]


def test_placements_of_the_hub_are_listed(kubectl):
    done = kubectl.run("get", "placements", "-A")
    assert (done.returncode, done.stdout, done.stderr.strip()) == (0, "", "No resources found")


def test_ages_are_short(kubectl, ns):
    line = kubectl("get", "ns", ns, "--no-headers").split()
    assert line[:2] == [ns, "Active"] and AGE.fullmatch(line[2])
