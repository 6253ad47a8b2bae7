"""fedctl when something is wrong: what it says, its exit code, and that nothing was half done."""
import json
import socket
import subprocess
import time

import pytest
import yaml
from harness import argv, jobs, wait
from harness.etcd import Etcd
from harness.federation import Hub


def job(name, queue="default", replicas=1):
    return jobs.job(name, jobs.task(replicas=replicas), queue=queue)


def queue(name):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
            "metadata": {"name": name}, "spec": {}}


@pytest.fixture
def submit(memory_hub, tmp_path):
    """Each argument is a file with objects; returns code, lines of stdout, lines of stderr."""
    def submit(*files, flags=()):
        paths = []
        for number, objects in enumerate(files):
            paths.append(str(tmp_path / f"{number}.yaml"))
            with open(paths[-1], "w") as out:
                yaml.safe_dump_all(objects, out)
        done = memory_hub.fedctl(["submit", *paths, *flags], check=False)
        return done.returncode, done.stdout.splitlines(), [
            line for line in done.stderr.splitlines() if not line.startswith("Warning: ")]
    return submit


def exists(hub, name):
    return hub.get(jobs.path(name)) is not None


def test_one_bad_file_of_several_leaves_all_out_and_every_mistake_is_told(submit, memory_hub, name):
    code, out, errors = submit([job(f"{name}-a")], [job(f"{name}-b", "absent")],
                               [job(f"{name}-c", replicas=-1)])
    assert code == 1 and out == []
    assert errors == [
        f'error: job {name}-b: queue "absent" not found; make it: fedctl queue create absent',
        f"error: job {name}-c: spec.tasks[0].replicas: Invalid value: -1: is less than 0",
        "error: nothing was submitted: 2 of 3 objects were refused"]
    assert not exists(memory_hub, f"{name}-a")


def test_a_queue_that_comes_with_its_job_is_not_missed(submit, memory_hub, name):
    code, out, errors = submit([queue(name), job(name, queue=name)])
    assert (code, errors) == (0, [])
    assert out == [f"queue {name} created", f"job default/{name} submitted"]
    code, out, errors = submit([queue(name), job(f"{name}-2", queue=name)])
    assert out == [f"queue {name} unchanged", f"job default/{name}-2 submitted"]


def test_what_only_then_is_refused_is_told_with_what_was_left_out(submit, memory_hub, name):
    """Only when the queue is there can be seen that it is another one that the job names."""
    code, out, errors = submit([queue(name)], [job(f"{name}-a", queue="absent")],
                               [job(f"{name}-b")])
    assert code == 1 and out == [f"queue {name} created"]
    assert 'queue "absent" not found' in errors[0]
    assert errors[1] == ("error: 1 of 3 objects was submitted; left out: "
                         f"job {name}-a, job {name}-b")
    assert not exists(memory_hub, f"{name}-b")


def test_a_namespace_that_is_not_there_is_named_unless_it_comes_along(submit, memory_hub, name):
    there = dict(job(name), metadata={"name": name, "namespace": name})
    assert submit([there])[2] == [f'error: job {name}: namespace "{name}" not found; make it: '
                                  f'kubectl create namespace {name}']
    typed = dict(job(name), metadata={"name": name, "namespace": "defualt"})
    assert submit([typed])[2] == [f'error: job {name}: namespace "defualt" not found; did you mean '
                                  '"default"?']
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    code, out, errors = submit([made, there])
    assert (code, errors) == (0, [])
    assert out == [f"namespace {name} created", f"job {name}/{name} submitted"]


def test_a_dry_run_checks_all_and_keeps_nothing(submit, memory_hub, name):
    code, out, errors = submit([job(f"{name}-a"), job(f"{name}-b", replicas=-1)],
                               flags=["--dry-run"])
    assert code == 1 and out == [f"job default/{name}-a submitted (dry run)"]
    assert len(errors) == 1 and f"job {name}-b: spec.tasks[0].replicas" in errors[0]
    assert not exists(memory_hub, f"{name}-a")


def test_what_was_submitted_is_printed_in_the_form_that_is_asked_for(submit, memory_hub, name):
    assert submit([queue(name)], flags=["-o", "name"])[1] == [f"queue.scheduling.volcano.sh/{name}"]
    code, out, errors = submit([queue(name)], [job(name, queue=name)], flags=["-o", "json"])
    both = json.loads("\n".join(out))
    assert (code, errors, both["kind"]) == (0, [], "List")
    assert [item["kind"] for item in both["items"]] == ["Queue", "Job"]
    stored = json.loads(memory_hub.fedctl(["get", "job", name, "-o", "json"]).stdout)
    assert (both["items"][1]["metadata"], both["items"][1]["spec"]) == (
        stored["metadata"], stored["spec"])
    one = yaml.safe_load("\n".join(submit([job(f"{name}-b")], flags=["-o", "yaml", "--dry-run"])[1]))
    assert one["kind"] == "Job" and one["spec"]["minAvailable"] == 1
    assert not exists(memory_hub, f"{name}-b")
    assert memory_hub.fedctl(["cancel", name, "-o", "name"]).stdout == (
        f"job.batch.volcano.sh/{name}\n")


def test_what_was_submitted_before_a_refusal_is_printed_too(submit, name):
    code, out, errors = submit([queue(name)], [job(f"{name}-a", queue="absent")],
                               flags=["-o", "json"])
    assert code == 1 and len(errors) == 2
    assert [item["kind"] for item in json.loads("\n".join(out))["items"]] == ["Queue"]


def test_a_queue_that_was_made_is_printed_in_the_form_that_is_asked_for(memory_hub, name):
    made = memory_hub.fedctl(["queue", "create", name, "-o", "json", "--closed"]).stdout
    assert json.loads(made)["spec"]["closed"] is True
    assert memory_hub.fedctl(["queue", "create", f"{name}-b", "-o", "name"]).stdout == (
        f"queue.scheduling.volcano.sh/{name}-b\n")


def test_a_list_goes_on_with_a_line_for_every_change(run, memory_hub, name):
    watcher = run.process(f"{name}-watch", argv.fedctl(memory_hub.kubeconfig, [
        "queue", "list", "--watch"])).start()
    try:
        watcher.wait_log("(?m)^QUEUE  .*STATE .*CEILING .*USED$")
        memory_hub.fedctl(["queue", "create", name, "--capability", "cpu=4"])
        watcher.wait_log(rf"(?m)^{name}  +Open .* cpu 4$")
        memory_hub.must("DELETE", f"{jobs.QUEUES}/{name}")
        watcher.wait_log(rf"(?m)^{name}  +Deleted$")
    finally:
        run.forget(watcher)


def test_a_job_named_twice_is_found_before_anything_is_submitted(submit, memory_hub, name):
    code, out, errors = submit([job(name)], [job(name)])
    assert code == 1 and out == []
    assert len(errors) == 1 and f'job "{name}" is there twice: in ' in errors[0]
    assert not exists(memory_hub, name)


def test_what_was_read_from_the_server_can_be_submitted_again(submit, memory_hub, name, tmp_path):
    assert submit([job(name)])[0] == 0
    read = memory_hub.fedctl(["get", "job", name, "-o", "yaml"]).stdout
    memory_hub.fedctl(["cancel", name, "--wait"])
    file = tmp_path / "read.yaml"
    file.write_text(read)
    done = memory_hub.fedctl(["submit", str(file)])
    assert done.stdout == f"job default/{name} submitted\n"
    submit([queue(name)])
    file.write_text(memory_hub.fedctl(["get", "queue", name, "-o", "yaml"]).stdout)
    assert memory_hub.fedctl(["submit", str(file)]).stdout == f"queue {name} unchanged\n"


def test_a_job_that_is_there_or_on_its_way_out_says_which(submit, memory_hub, name):
    assert submit([job(name)])[0] == 0
    assert submit([job(name)])[2] == [
        f'error: job "{name}" is there already; give it another name, or first: fedctl cancel '
        f'{name} --wait']
    kept = memory_hub.get(jobs.path(name))["metadata"]["finalizers"]
    memory_hub.merge(jobs.path(name),
                     {"metadata": {"finalizers": [*kept, "example.com/held"]}})
    assert memory_hub.fedctl(["cancel", name]).stdout == (
        f"job {name} canceled; it is being deleted\n")
    assert submit([job(name)])[2] == [
        f'error: job "{name}" is still being deleted; to wait until it is gone: fedctl cancel '
        f'{name} --wait']
    waited = memory_hub.fedctl(["cancel", name, "--wait", "--timeout", "1s"], check=False)
    assert waited.returncode == 4 and waited.stdout == ""
    assert f"job {name} is still being deleted" in waited.stderr
    memory_hub.merge(jobs.path(name), {"metadata": {"finalizers": kept}})


def test_cancel_with_wait_tells_the_end(submit, memory_hub, name):
    assert submit([job(name)])[0] == 0
    assert memory_hub.fedctl(["cancel", name, "--wait"]).stdout == (
        f"job {name} canceled and deleted\n")
    assert not exists(memory_hub, name)


def test_several_kinds_are_got_together(submit, memory_hub, name):
    assert submit([queue(name), job(name, queue=name)])[0] == 0
    tables = memory_hub.fedctl(["get", "jobs,queues"]).stdout.split("\n\n")
    assert len(tables) == 2 and tables[0].startswith("NAME ") and "STATE" in tables[1]
    both = json.loads(memory_hub.fedctl(["get", "jobs,queues", name, "-o", "json"]).stdout)
    assert [item["kind"] for item in both["items"]] == ["Job", "Queue"]


# arguments, exit code, the line on stderr
SAID = [
    (["queue", "create", "default"], 1, 'error: queue "default" is there already; '),
    (["queue", "create", "x", "--capability", "cpu=much"], 2, "error: --capability: cpu: \"much\""),
    (["queue", "create", "x", "--capability", "cpu=4,memory=1Gi,cpu=2"], 2,
     "error: --capability: cpu is there twice"),
    (["queue", "create", "x", "--capability", "cpus=4"], 1,
     "error: queue x: spec.capability[cpus]: Invalid value: must be cpu, memory, "),
    (["describe", "example-job"], 2,
     'error: there is no kind "example-job"; to name an object: KIND/NAME, like job/example-job'),
    (["describe", "job/absent"], 1, 'error: job "absent" not found'),
    (["get", "jbos"], 2, 'error: there is no kind "jbos"; did you mean "jobs"?'),
    (["get", "jobs,qeues"], 2, 'error: there is no kind "qeues"; did you mean "queues"?'),
    (["get", "job", "absent", "-o", "json"], 1, 'error: job "absent" not found'),
    (["get", "jobs", "-n", "../x"], 2, 'error: namespace "../x" must consist of lower case'),
    (["get", "jobs", "-n", ".."], 2, 'error: namespace ".." must consist of lower case'),
    (["get", "jobs", "--server", "hub"], 2, 'error: the federator\'s address "hub" is not a URL'),
    (["get", "jobs", "--context", "x"], 2, "error: kubeconfig (--kubeconfig, KUBECONFIG): "),
    (["queue", "create", "x", "-o", "wide"], 2, 'error: -o: "wide" is none of json|yaml|name'),
    (["describe", "job/x", "-o", "json"], 2, "error: describe has no -o"),
    (["get", "jobs", "--help=x"], 2, "error: --help takes no value"),
    (["cancel", "absent"], 1, 'error: job "absent" not found'),
    (["logs", "absent"], 1, 'error: job "absent" not found'),
    (["explain", "absent"], 1, 'error: job "absent" not found'),
    (["wait", "absent"], 1, 'error: job "absent" not found'),
    (["submit", "absent.yaml"], 1, 'error: read "absent.yaml": No such file or directory'),
    (["cluster", "accept", "absent"], 1, 'error: cluster "absent" has not asked to join; '),
    (["cluster", "token", "create", "GPU"], 2, 'error: cluster "GPU": the name must '),
]


@pytest.mark.parametrize("args, code, said", SAID, ids=[" ".join(args) for args, *_ in SAID])
def test_errors_are_one_line_that_names_what_is_wrong(memory_hub, args, code, said):
    done = memory_hub.fedctl(args, check=False)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""


def test_a_kind_that_is_not_served_is_told_with_what_is(memory_hub):
    for args, stdin in ((["get", "pods"], None), (["submit", "-"], yaml.safe_dump(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}}))):
        done = memory_hub.fedctl(args, stdin=stdin, check=False)
        assert done.returncode == 1
        assert " does not serve pods; it serves " in done.stderr
        assert "jobs" in done.stderr and "pods/log" not in done.stderr


@pytest.fixture(scope="module")
def lonely_hub(run):
    """A hub whose etcd is nowhere; its kubeconfig, and what it says of its trouble."""
    block = run.ports()
    hub_port, nowhere = block.take(), block.take()
    state = run.dir("lonely-hub")
    hub = run.process("lonely-hub", argv.federator(state, hub_port, f"http://127.0.0.1:{nowhere}"),
                      sanitized=True).start()
    hub.wait_log("does not answer")
    yield (hub, argv.admin_kubeconfig(state),
           f"the state store (etcd at http://127.0.0.1:{nowhere}) does not answer: "
           "Connection refused")
    run.forget(hub)


def said(run, kubeconfig, args):
    done = subprocess.run(argv.fedctl(kubeconfig, args), capture_output=True, text=True,
                          timeout=60, env=run.env)
    return done.returncode, done.stderr.splitlines()


def test_a_federator_that_cannot_answer_says_why_and_fedctl_tells_that_it_waits(run, lonely_hub):
    """Its etcd is nowhere: the user learns of it, and of no path in it."""
    hub, kubeconfig, trouble = lonely_hub
    code, lines = said(run, kubeconfig, ["get", "jobs", "--timeout", "4s"])
    assert code == 4 and len(lines) == 2, lines
    assert lines[0].startswith("Warning: the federator is not able to answer yet: ")
    assert lines[1].startswith("error: timed out after 4s: ") and lines[1].endswith(trouble)
    assert hub.tail(20).count(f"WARN federator: {trouble}; goes on trying") == 1


@pytest.mark.parametrize("args", [
    ["get", "job", "a", "b"], ["get", "jobs", "--watch"], ["queue", "create", "x"],
    ["cluster", "list", "--watch"],
    ["submit", "-"], ["submit", "-", "--wait"], ["cancel", "a", "b"], ["cancel", "a", "--wait"],
    ["logs", "-f", "a"], ["wait", "a"]], ids=" ".join)
def test_timeout_ends_whatever_waits_for_the_federator(run, lonely_hub, args):
    begin = time.monotonic()
    done = subprocess.run(argv.fedctl(lonely_hub[1], [*args, "--timeout", "1s"]), text=True,
                          input=yaml.safe_dump(job("x")), capture_output=True, timeout=60,
                          env=run.env)
    assert done.returncode == 4, done.stderr
    assert done.stderr.startswith("error: timed out") and done.stderr.count("\n") == 1, done.stderr
    assert time.monotonic() - begin < 5


def test_who_watches_is_told_within_five_seconds_why_nothing_comes(run, lonely_hub):
    _, kubeconfig, trouble = lonely_hub
    code, lines = said(run, kubeconfig, ["wait", "x", "--timeout", "5s"])
    assert code == 4 and len(lines) == 2, lines
    assert lines[0].startswith("Warning: the federator is not able to answer yet: ")
    assert lines[0].endswith(trouble)
    assert lines[1].startswith("error: timed out: "), lines


def test_who_watches_is_told_that_the_federator_is_back(run):
    """With the first word of it."""
    hub = Hub(run, "brief-hub", etcd=Etcd(run, "brief-etcd").start()).start()
    with open(run.write("watch.err", ""), "r+") as heard, subprocess.Popen(
            argv.fedctl(hub.kubeconfig, ["get", "queues", "--watch"]), env=run.env, text=True,
            stdout=subprocess.PIPE, stderr=heard) as watcher:
        def warnings():
            with open(heard.name) as said:
                return said.read().splitlines()
        assert watcher.stdout.readline().startswith("NAME")
        try:
            hub.process.end()
            wait.until(lambda: len(warnings()) == 1, 30, what="the first warning")
            hub.start()
            hub.fedctl(["queue", "create", "news"])
            wait.until(lambda: len(warnings()) == 2, 60, what="the second warning")
        finally:
            watcher.kill()
    assert warnings()[0].startswith("Warning: lost the federator, trying again: ")
    assert warnings()[1] == "Warning: the federator is back"


def test_a_federator_that_speaks_tls_is_not_reached_without(memory_hub):
    url = memory_hub.url.replace("https", "http")
    done = memory_hub.fedctl(["get", "jobs", "--server", url], check=False)
    assert done.returncode == 3
    assert done.stderr == (f"error: the federator at {url}: the connection broke off; the "
                           "federator speaks https\n")


def test_who_has_no_kubeconfig_is_shown_one(run):
    env = dict(run.env, HOME="/nonexistent")
    env.pop("KUBECONFIG", None)
    done = subprocess.run([argv.fedctl("", [])[0], "get", "jobs"], capture_output=True, text=True,
                          timeout=60, env=env)
    assert done.returncode == 1
    assert done.stderr.endswith('; after a ./quickstart: eval "$(./quickstart env)"\n')


@pytest.mark.parametrize("args", [["get", "queues", "--timeout", "5s"],
                                  ["wait", "x", "--timeout", "5s"]], ids=" ".join)
def test_a_federator_that_says_nothing_is_named_within_five_seconds(run, memory_hub, args):
    port = run.ports().take()
    with socket.create_server(("127.0.0.1", port)):
        done = memory_hub.fedctl([*args, "--server", f"https://127.0.0.1:{port}"], check=False)
    assert done.stderr.splitlines()[0] == (
        f"Warning: the federator at https://127.0.0.1:{port} has not answered yet; still waiting")
