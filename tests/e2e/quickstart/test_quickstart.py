"""./quickstart in a clone, as a new user runs it; its ports are the test's own."""
import os
import shutil
import signal
import socket
import subprocess
import time

import pytest
from harness.paths import ROOT

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

    def start(self, *args):
        # Where the tests themselves run in the background, SIGINT is ignored, and would be here too.
        return subprocess.Popen(["./quickstart", *args], cwd=self.path, env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def run(self, *args, timeout=300):
        process = self.start(*args)
        out, error = process.communicate(timeout=timeout)
        return process.returncode, out, error

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


def test_1_first_run_ends_with_the_screen(checkout):
    code, out, error = checkout.run(timeout=600)
    assert code == 0, out + error
    assert "3 of 3 completed" in out
    for row in ("hello        large ", "example-job  gpu ", "near-data    arm "):
        assert row in out
    assert 'hello said:  "Hello from large-' in out


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
    assert checkout.run("stop")[0] == 0
    assert checkout.processes() == []
    code, out, error = checkout.run()
    assert code == 0, out + error


def test_6_a_busy_port_is_named_with_its_holder(checkout):
    checkout.run("stop")
    with socket.create_server(("127.0.0.1", checkout.port)):
        code, _, error = checkout.run()
    assert code == 1
    assert one_line(error) and f"port {checkout.port} is taken" in error
    assert f"pid {os.getpid()}" in error and "FEDERATOR_PORT" in error
    assert checkout.processes() == []


def test_7_interrupted_it_leaves_nothing_that_it_started(checkout):
    process = checkout.start()
    while process.stdout.readline() and not checkout.processes():
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted" in error
    assert checkout.processes() == []


def test_8_clean_removes_everything(checkout):
    assert checkout.run("clean")[0] == 0
    assert not os.path.exists(f"{checkout.path}/.quickstart")
    assert checkout.processes() == []
