"""Logs through the agent's own connection, by fedctl, from a pod that really runs."""
import subprocess
import threading
import time

import yaml
from harness import argv, jobs, wait
from harness.paths import ROOT


class Follower:
    """fedctl logs -f as a process; each line with the time at which it came."""

    def __init__(self, fed, name):
        self.process = subprocess.Popen(
            argv.fedctl(fed.hub.kubeconfig, ["logs", "-f", name]), env=fed.hub.run.env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.time(), line.rstrip("\n")))

    def wait(self, timeout=60):
        code = self.process.wait(timeout)
        self._thread.join(5)
        return code, self.process.stderr.read()


def clock(name, seconds):
    """A job that prints the time each half second."""
    task = jobs.task()
    task["template"]["metadata"]["annotations"]["sandbox.federator.dev/runtime"] = "process"
    task["template"]["spec"]["containers"][0]["command"] = [
        "sh", "-c", f"for i in $(seq {seconds * 2}); do date +%s.%N; sleep 0.5; done"]
    return jobs.job(name, task, placement=jobs.only_in("arm"))


def test_each_line_comes_within_a_second_and_the_log_ends_with_the_job(fed, name):
    """a job that prints, on a sandbox
    | `fedctl logs -f` prints each line within 1 s and ends with the job"""
    jobs.submit(fed.hub, clock(name, 4))
    follower = Follower(fed, name)
    code, error = follower.wait()
    assert (code, error) == (0, "")
    assert len(follower.lines) == 8
    late = [came - float(said) for came, said in follower.lines[2:]]  # after the start
    assert max(late) < 1, late
    jobs.wait_phase(fed.hub, name, "Completed")


def test_a_job_that_is_cancelled_does_not_end_well(fed, name):
    """a job is cancelled under `fedctl logs -f` | it says so, exit 1"""
    jobs.submit(fed.hub, clock(name, 600))
    follower = Follower(fed, name)
    wait.until(lambda: follower.lines, 30)
    fed.hub.fedctl(["cancel", name])
    assert follower.wait() == (1, f"error: job {name} was deleted before it had ended\n")


def hello_in(fed, cluster):
    """The file of examples/hello.yaml, for that cluster alone."""
    hello = yaml.safe_load((ROOT / "examples" / "hello.yaml").read_text())
    hello["spec"]["placement"] = jobs.only_in(cluster)
    return fed.hub.run.write("hello.yaml", yaml.safe_dump(hello))


def test_hello_says_where_it_is(fed):
    """hello, on a sandbox | its log names its node, line by line what its shell printed"""
    fed.hub.fedctl(["submit", hello_in(fed, "arm")])
    follower = Follower(fed, "hello")
    assert follower.wait() == (0, "")
    found = jobs.wait_phase(fed.hub, "hello", "Completed")
    pod, = jobs.pods_of(fed.members["arm"], found["metadata"]["uid"])
    node = pod["spec"]["nodeName"]
    assert node in [f"arm-{i}" for i in range(8)] and jobs.attempts(found)[-1]["nodes"] == node
    said = [f"Hello from {node}, task 0 of 1", "Bye"]
    assert [line for _, line in follower.lines] == said
    assert fed.hub.fedctl(["logs", "hello"]).stdout.splitlines() == said


def test_an_agent_that_dies_in_between_is_told_of(fed, name):
    """the agent is restarted in the middle of `fedctl logs -f`
    | a clear error, or it resumes; the log is whole afterwards"""
    jobs.submit(fed.hub, clock(name, 10))
    jobs.wait_phase(fed.hub, name, "Running")
    follower = Follower(fed, name)
    agent = fed.agents["arm"].process
    while len(follower.lines) < 2:
        time.sleep(0.05)
    agent.kill()
    agent.start()
    code, error = follower.wait()
    whole = len(follower.lines) == 20
    assert (code == 0 and whole) or (code == 1 and error.startswith("error: ")), (code, error)
    jobs.wait_phase(fed.hub, name, "Completed", 60)
    assert len(fed.hub.fedctl(["logs", name]).stdout.splitlines()) == 20
