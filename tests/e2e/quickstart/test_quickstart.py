"""./quickstart in a clone, as a new user runs it; its ports are the test's own."""
import os
import shutil
import signal
import socket
import subprocess
import time

import pytest
from harness import jobs, wait
from harness.paths import ROOT
from harness.rest import ApiServer

pytestmark = pytest.mark.timeout(900)  # a first run builds everything

JOBS = ("hello", "example-job", "near-data")


class Checkout:
    def __init__(self, run):
        self.path = run.dir("checkout")
        shutil.rmtree(self.path)
        subprocess.run(["git", "clone", "-q", str(ROOT), self.path], check=True)
        ports = run.ports()
        self.port = ports.take()
        etcd = ports.take()
        ports.take()  # etcd's peers
        first = ports.take()
        ports.take(), ports.take()  # of the other two sandboxes
        self.env = dict(run.env, FEDERATOR_PORT=str(self.port), FEDERATOR_ETCD_PORT=str(etcd),
                        FEDERATOR_SANDBOX_PORT=str(first))

    def start(self, *args, env=None):
        # Where the tests themselves run in the background, SIGINT is ignored, and would be here too.
        return subprocess.Popen(["./quickstart", *args], cwd=self.path, text=True,
                                env=dict(self.env, **(env or {})),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def run(self, *args, env=None, timeout=300):
        process = self.start(*args, env=env)
        out, error = process.communicate(timeout=timeout)
        return process.returncode, out, error

    def home(self):
        return os.path.join(self.path, ".quickstart")

    def pid(self, server):
        with open(os.path.join(self.home(), "run", f"{server}.pid")) as source:
            return int(source.read())

    def kill(self, *servers):
        """As a crash does; returns when none is there any more."""
        count = len(self.processes())
        for server in servers:
            os.kill(self.pid(server), signal.SIGKILL)
        wait.until(lambda: len(self.processes()) == count - len(servers), 10)

    def processes(self):
        """Of servers that have this checkout's state on their command line."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as source:
                    command = source.read().decode(errors="replace")
            except OSError:
                continue
            if f"{self.path}/.quickstart/" in command:
                found.append(command.replace("\0", " "))
        return found


@pytest.fixture(scope="module")
def checkout(run):
    made = Checkout(run)
    yield made
    made.run("clean")


def one_line(error):
    lines = [line for line in error.splitlines() if line]
    return len(lines) == 1 and lines[0].startswith("quickstart: ")


def assert_three_ran(out):
    assert "3 of 3 completed" in out
    for row in ("hello        large ", "example-job  gpu ", "near-data    arm "):
        assert row in out, out
    assert 'hello said:  "Hello from large-' in out


# --- before anything is done: nothing is left behind ---

@pytest.mark.parametrize("ports, said", [
    ({"FEDERATOR_PORT": "https"}, "FEDERATOR_PORT=https is no port: a number from 1 to 65533"),
    ({"FEDERATOR_ETCD_PORT": "0"}, "FEDERATOR_ETCD_PORT=0 is no port"),
    ({"FEDERATOR_SANDBOX_PORT": "65534"}, "FEDERATOR_SANDBOX_PORT=65534 is no port"),
    ({"FEDERATOR_PORT": "21000", "FEDERATOR_ETCD_PORT": "20999"}, "port 21000 is used twice"),
    ({"FEDERATOR_PORT": "21002", "FEDERATOR_SANDBOX_PORT": "21000"}, "port 21002 is used twice"),
])
def test_0_wrong_ports_are_named_at_once(checkout, ports, said):
    code, out, error = checkout.run(env=ports, timeout=20)
    assert code == 1 and out == ""
    assert one_line(error) and said in error
    assert not os.path.exists(checkout.home())


def test_0_a_busy_port_is_named_with_its_holder_before_the_build(checkout):
    with socket.create_server(("127.0.0.1", checkout.port)):
        code, out, error = checkout.run(timeout=20)
    assert code == 1 and out == ""
    assert one_line(error) and f"port {checkout.port} is taken" in error
    assert f"pid {os.getpid()}" in error and "FEDERATOR_PORT" in error
    assert not os.path.exists(checkout.home())


def test_0_wrong_words_are_told_and_help_names_the_ports(checkout):
    code, _, error = checkout.run("strat")
    assert code == 1 and one_line(error) and '"strat"' in error
    assert checkout.run("stop", "now")[0] == 1
    code, out, _ = checkout.run("--help")
    assert code == 0
    for variable in ("FEDERATOR_PORT", "FEDERATOR_ETCD_PORT", "FEDERATOR_SANDBOX_PORT"):
        assert variable in out


def write_script(folder, name, text):
    path = os.path.join(folder, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o700), "w") as out:
        out.write("#!/bin/sh\n" + text)


def test_0_a_tool_that_cannot_be_installed_is_named(checkout, run):
    """Debian's own tools, but one package is absent and no mirror has it."""
    folder = run.dir("no-mirror")
    write_script(folder, "dpkg-query", 'case "$*" in *" jq") exit 1 ;; esac\n'
                 f'exec {shutil.which("dpkg-query")} "$@"\n')
    write_script(folder, "apt-get", 'echo "E: Unable to locate package" >&2\nexit 100\n')
    code, _, error = checkout.run(env={"PATH": f"{folder}:{os.environ['PATH']}"}, timeout=60)
    assert code == 1
    assert one_line(error) and "apt-get update failed" in error
    assert not os.path.exists(checkout.home())


def test_0_a_disk_that_is_too_small_is_told_before_anything_is_done(checkout, run):
    disk = run.dir("disk")
    script = (f'mount -t tmpfs -o size=100m none {disk} && cp -a {checkout.path} {disk}/c && '
              f'cd {disk}/c && ./quickstart; code=$?; [ ! -e .quickstart ] || exit 9; exit $code')
    done = subprocess.run(["unshare", "--mount", "--map-root-user", "bash", "-c", script],
                          env=checkout.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert one_line(done.stderr) and f"needs 500 MB of disk at {disk}/c" in done.stderr


@pytest.mark.parametrize("number, seen", [
    (signal.SIGINT, "The Meson build system"), (signal.SIGTERM, "Compiling")], ids=["SIGINT", "SIGTERM"])
def test_0_a_first_run_that_is_interrupted_in_its_build_leaves_nothing(checkout, number, seen):
    process = checkout.start()
    log = os.path.join(checkout.home(), "log", "build.log")
    wait.until(lambda: os.path.exists(log) and seen in open(log).read(), 300)
    began = time.monotonic()
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 1
    assert one_line(error) and "interrupted" in error
    assert time.monotonic() - began < 5
    assert not os.path.exists(checkout.home())
    assert checkout.processes() == []


def test_0_a_build_that_fails_says_where_its_log_is(checkout):
    with open(os.path.join(checkout.path, "base", "closest.c"), "a") as source:
        source.write("int broken = ;\n")
    code, _, error = checkout.run(timeout=300)
    log = os.path.join(checkout.home(), "log", "build.log")
    assert code == 1 and one_line(error)
    assert "error: expected expression" in error and log in error
    with open(log) as source:
        assert "int broken" in source.read()
    subprocess.run(["git", "checkout", "-q", "base/closest.c"], cwd=checkout.path, check=True)


# --- on what is there ---

def test_1_first_run_ends_with_the_screen(checkout):
    code, out, error = checkout.run(timeout=600)
    assert code == 0, out + error
    assert_three_ran(out)


def test_2_second_run_reuses_what_is_there_within_15_seconds(checkout):
    before, began = checkout.processes(), time.monotonic()
    code, out, error = checkout.run()
    assert code == 0, out + error
    assert time.monotonic() - began < 15
    assert sorted(checkout.processes()) == sorted(before)


def test_3_env_gives_a_working_fedctl(checkout):
    _, out, _ = checkout.run("env")
    said = subprocess.run(["bash", "-c", out + "\nfedctl get jobs -o name"], env=checkout.env,
                          capture_output=True, text=True, check=True).stdout
    assert sorted(said.split()) == sorted(f"job.batch.volcano.sh/{name}" for name in JOBS)


def test_4_two_at_once_are_refused(checkout):
    first = checkout.start()
    time.sleep(0.3)
    code, _, error = checkout.run()
    assert code == 1 and "another quickstart is running" in error
    assert first.wait(120) == 0


def test_5_stop_ends_all_and_a_run_after_it_starts_all_again(checkout):
    assert checkout.run("stop")[:2] == (0, "")
    assert checkout.processes() == []
    code, out, error = checkout.run()
    assert code == 0, out + error


def test_5_stop_tells_of_jobs_that_run(checkout, run):
    hub = ApiServer(run, "hub", os.path.join(checkout.home(), "hub", "admin.kubeconfig"))
    jobs.submit(hub, jobs.job("long", jobs.task(run_seconds=3600)))
    jobs.wait_phase(hub, "long", "Running")
    code, out, _ = checkout.run("stop")
    assert code == 0
    assert out.startswith("running jobs: 1; ") and out.count("\n") == 1
    code, out, error = checkout.run()
    assert code == 0, out + error
    hub.wait_for(jobs.path("long"), lambda j: jobs.dispatch_phase(j) == "Uncertain", 20)
    jobs.delete(hub, "long")


@pytest.mark.parametrize("servers", [("sandbox-gpu",), ("agent-arm",), ("federator",), ("etcd",),
                                     ("sandbox-large", "agent-large", "federator", "etcd")])
def test_6_what_was_killed_is_started_again(checkout, servers):
    checkout.kill(*servers)
    code, out, error = checkout.run()
    assert code == 0, out + error
    assert_three_ran(out)


def test_6_a_cluster_that_was_removed_joins_again(checkout, run):
    """Its agent still has a certificate of the one that is gone."""
    hub = ApiServer(run, "hub", os.path.join(checkout.home(), "hub", "admin.kubeconfig"))
    hub.must("DELETE", "/apis/federator.dev/v1alpha1/clusters/gpu")
    wait.until(lambda: hub.get("/apis/federator.dev/v1alpha1/clusters/gpu") is None, 10)
    code, out, error = checkout.run()
    assert code == 0, out + error
    assert_three_ran(out)


def test_6_ports_stay_while_it_runs(checkout):
    code, _, error = checkout.run(env={"FEDERATOR_PORT": "21000"})
    assert code == 1 and one_line(error)
    assert f"it runs with {checkout.port}: ./quickstart stop first" in error
    code, out, error = checkout.run(env=dict.fromkeys(
        ("FEDERATOR_PORT", "FEDERATOR_ETCD_PORT", "FEDERATOR_SANDBOX_PORT"), ""))
    assert code == 0, out + error
    assert f"https://127.0.0.1:{checkout.port}" in out


def test_6_a_busy_port_is_named_with_its_holder(checkout):
    checkout.run("stop")
    with socket.create_server(("127.0.0.1", checkout.port)):
        code, _, error = checkout.run()
    assert code == 1
    assert one_line(error) and f"port {checkout.port} is taken" in error
    assert checkout.processes() == []


def test_7_interrupted_it_leaves_nothing_that_it_started(checkout):
    process = checkout.start()
    while process.stdout.readline() and not checkout.processes():
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert one_line(error) and "interrupted" in error
    assert checkout.processes() == []


def test_8_clean_removes_everything(checkout):
    assert checkout.run("clean")[0] == 0
    assert not os.path.exists(f"{checkout.path}/.quickstart")
    assert checkout.processes() == []
