"""One child process: started from an argv list, moved by signals, watched for how it ends."""
import os
import re
import signal
import subprocess
import time

from . import wait

SANITIZER = re.compile(
    rb"ERROR: AddressSanitizer|ERROR: LeakSanitizer|LeakSanitizer has encountered|"
    rb"WARNING: ThreadSanitizer|: runtime error: ")


class ProcessDied(Exception):
    """Not an AssertionError, so that no wait goes on for what can no longer come."""


class Process:
    """Made by Run.process(); its output goes to a log that outlives restarts."""

    def __init__(self, run, name, argv, env=None, cwd=None, sanitized=False):
        self.run, self.name, self.argv = run, name, [str(a) for a in argv]
        self.cwd = cwd or run.home
        self.sanitized = sanitized
        self.log = os.path.join(run.logs, name + ".log")
        self.env = dict(run.env, **(env or {}))
        if sanitized:
            self._add_sanitizer_options()
        self._child = None
        self._exit_was_asked_for = False
        self._scanned = {}

    def _add_sanitizer_options(self):
        report = os.path.join(self.run.logs, self.name + ".sanitizer")
        self.env.setdefault("ASAN_OPTIONS",
                            f"log_path={report}:detect_leaks=1:allocator_may_return_null=1")
        self.env.setdefault("UBSAN_OPTIONS",
                            f"log_path={report}:print_stacktrace=1:halt_on_error=1")

    # life

    def start(self, fault=None):
        """fault: what FEDERATOR_FAULT is in this one life of the process (base/fault.h)."""
        assert not self.alive(), f"{self.name} runs already"
        env = dict(self.env, FEDERATOR_FAULT=fault) if fault else self.env
        with open(self.log, "ab") as log:
            now = time.strftime("%H:%M:%S")
            log.write(f"--- {now} {fault or ''} start: {' '.join(self.argv)}\n".encode())
            log.flush()
            self._child = subprocess.Popen(
                self.argv, env=env, cwd=self.cwd, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True)
        self._exit_was_asked_for = False
        self.run.note_pid(self._child.pid, self.name)
        return self

    @property
    def pid(self):
        return self._child.pid if self._child else None

    def alive(self):
        return self._child is not None and self._child.poll() is None

    def returncode(self):
        """None while it runs; negative when a signal ended it."""
        return self._child.poll() if self._child else None

    def died_by_itself(self):
        return (self._child is not None and not self._exit_was_asked_for
                and self._child.poll() is not None)

    def assert_alive(self):
        if not self.alive():
            raise ProcessDied(f"{self.name} exited with {self.returncode()}:\n{self.tail(20)}")

    def wait_exit(self, timeout=10.0):
        """Waits for an end that the test expects, and returns the code."""
        self._exit_was_asked_for = True
        try:
            return self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise wait.TimedOut(f"{self.name} did not exit within {timeout} s") from None

    # signals

    def signal(self, number):
        self.assert_alive()
        self._child.send_signal(number)

    def kill(self):
        """SIGKILL: ends at once, cleans nothing up."""
        self._exit_was_asked_for = True
        if self.alive():
            self._child.kill()
            self._child.wait()

    def stop(self):
        """SIGSTOP: freezes it, sockets stay open."""
        self.signal(signal.SIGSTOP)

    def cont(self):
        self.signal(signal.SIGCONT)

    def end(self, timeout=10.0):
        """SIGTERM, and SIGKILL when that did not end it; returns the exit code."""
        self._exit_was_asked_for = True
        if self.alive():
            self._child.send_signal(signal.SIGCONT)
            self._child.terminate()
            try:
                self._child.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.returncode()

    def restart(self, gracefully=True):
        self.end() if gracefully else self.kill()
        return self.start()

    # what it said

    def text(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def tail(self, lines=80):
        if not os.path.exists(self.log):
            return ""
        return "\n".join(self.text().splitlines()[-lines:])

    def wait_log(self, pattern, timeout=10.0):
        """Waits until the log has a match, and returns it."""
        return wait.until(lambda: re.search(pattern, self.text()), timeout,
                          what=f"{pattern!r} in the log of {self.name}")

    def sanitizer_reports(self):
        """New reports of sanitizers since the last call, as (file, text) pairs."""
        if not self.sanitized:
            return []
        prefix = os.path.basename(self.log)[:-len("log")]
        found = []
        for entry in sorted(os.listdir(self.run.logs)):
            if entry.startswith(prefix):
                found += self._scan(os.path.join(self.run.logs, entry))
        return found

    def _scan(self, path):
        start = self._scanned.get(path, 0)
        with open(path, "rb") as log:
            log.seek(start)
            new = log.read()
        if self.alive():
            new = new[:new.rfind(b"\n") + 1]
        match = SANITIZER.search(new)
        self._scanned[path] = start + len(new)
        return [(path, new[match.start():][:8000].decode(errors="replace"))] if match else []


def process_start_time(pid):
    """Clock ticks since boot at which pid started, or None: tells a pid from its reuse."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[19]
    except OSError:
        return None


def end_all(processes, timeout=10.0):
    """SIGTERM to all of them, then SIGKILL to what is left."""
    for process in processes:
        process._exit_was_asked_for = True
        if process.alive():
            process._child.send_signal(signal.SIGCONT)
            process._child.terminate()
    deadline = time.monotonic() + timeout
    for process in processes:
        while process.alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
