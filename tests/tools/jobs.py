"""Runs jobs side by side: what each says is shown whole when it has ended.

A job begins when the jobs that it needs have succeeded and its lane has room; one whose need failed
does not run, and counts as failed.
"""
import collections
import dataclasses
import os
import queue
import re
import signal
import subprocess
import threading
import time

COUNT = re.compile(r"(\d+) passed, (\d+) failed")
PERCENT = re.compile(r"\[ *(\d+)%\]$")
TELL_EVERY_S = 30
INTERRUPTED = None  # in the queue of runs that have ended
INTERRUPT_S = 60  # for servers to end in order
# Where the kernel shares time out by session (autogroup), niceness counts within a session only.
GIVE_WAY = """
n=$1; shift
if [ "$n" != 0 ] && [ -e /proc/self/autogroup ]; then echo "$n" 2>/dev/null >/proc/self/autogroup; fi
exec nice -n "$n" "$@"
"""


@dataclasses.dataclass
class Job:
    """argv ends with a line "N passed, N failed", else it is one test, by its exit status.

    needs: names of other jobs. nice: how much it gives way to others.
    """
    name: str
    argv: list
    lane: str
    needs: tuple = ()
    nice: int = 0


class Run:
    """One life of a job: a session of its own, and the lines that it has said so far."""

    def __init__(self, job, began, ended):
        self.job, self._began, self._ended = job, began, ended
        self.lines = []  # (seconds since the beginning of all, text)
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            ["bash", "-c", GIVE_WAY, "-", str(job.nice), *job.argv], text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        threading.Thread(target=self._wait, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic() - self._began, line.rstrip("\n")))

    def _wait(self):
        _, status, usage = os.wait4(self.process.pid, 0)
        self._reader.join(5)  # something that it left may hold the pipe
        if not self._reader.is_alive():
            self.process.stdout.close()
        self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.wall_s = time.monotonic() - self.started
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self._ended.put(self)

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def count(self):
        """(passed, failed)."""
        said = COUNT.fullmatch(self.lines[-1][1]) if self.lines else None
        if not said:
            return (1, 0) if self.status == 0 else (0, 1)
        passed, failed = map(int, said.groups())
        return passed, failed or int(self.status != 0)

    def progress(self):
        at = PERCENT.search(self.lines[-1][1]) if self.lines else None
        return self.job.name + (f" {at.group(1)} %" if at else "")


class Scheduler:
    """widths: {lane: how many of its jobs run at once}. Jobs of a lane begin in their order."""

    def __init__(self, jobs, widths, tell):
        self._waiting, self._widths, self._tell = list(jobs), widths, tell
        self._running, self._ended, self._queue = [], {}, queue.SimpleQueue()
        self._began = time.monotonic()
        self.passed = self.failed = 0
        self.failures = []  # lines that say what failed

    def run(self):
        """Runs all of them; False when interrupt() has ended those that ran."""
        told = self._began
        while self._waiting or self._running:
            self._start_ready()
            try:
                run = self._queue.get(timeout=0.5)
                if run is INTERRUPTED:
                    self._end_all()
                    return False
                self._finish(run)
            except queue.Empty:
                pass
            if time.monotonic() - told >= TELL_EVERY_S and self._running:
                told = time.monotonic()
                self._say("...", ", ".join(r.progress() for r in self._running))
        return True

    def interrupt(self, *_):
        """A signal handler."""
        self._queue.put(INTERRUPTED)

    def _start_ready(self):
        busy = collections.Counter(r.job.lane for r in self._running)
        for job in list(self._waiting):
            lost = [need for need in job.needs if self._ended.get(need) is False]
            if lost:
                self._waiting.remove(job)
                self._fail(job, f"FAILED {job.name}: not run, for want of {lost[0]}")
            elif busy[job.lane] < self._widths[job.lane] and all(map(self._ended.get, job.needs)):
                self._waiting.remove(job)
                busy[job.lane] += 1
                self._running.append(Run(job, self._began, self._queue))

    def _fail(self, job, line):
        self._ended[job.name] = False
        self.failed += 1
        self.failures.append(line)
        self._say(job.name, line)

    def _finish(self, run):
        self._running.remove(run)
        passed, failed = run.count()
        self._ended[run.job.name] = failed == 0
        self.passed, self.failed = self.passed + passed, self.failed + failed
        for second, line in run.lines:
            self._say(run.job.name, line, second)
        named = [line for _, line in run.lines if line.startswith("FAILED")]
        if failed:
            self.failures += named or [f"FAILED {run.job.name}: exit status {run.status}"]
        self._say(run.job.name, f"{'failed' if failed else 'ok'} after {run.wall_s:.0f} s, "
                                f"{run.cpu_s:.0f} s of CPU")

    def _say(self, name, line, second=None):
        second = time.monotonic() - self._began if second is None else second
        self._tell(f"[{second:4.0f} s] {name:<12} {line}")

    def _end_all(self):
        for run in self._running:
            run.signal(signal.SIGINT)
        deadline = time.monotonic() + INTERRUPT_S
        while self._running and time.monotonic() < deadline:
            try:
                ended = self._queue.get(timeout=1)
                self._running = [run for run in self._running if run is not ended]
            except queue.Empty:
                pass
        for run in self._running:
            run.signal(signal.SIGKILL)
