"""One run of the tests: its folder, its processes, and the leftovers of earlier runs.

The folder lies in memory (/dev/shm) where there is such a place. A run holds a lock on its folder
and notes each pid with its start time; a later run ends what an unlocked folder still lists.
"""
import contextlib
import fcntl
import os
import shutil
import signal
import tempfile

from . import paths
from .ports import PortBlock
from .process import Process, end_all, process_start_time


def base_dir():
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
    path = os.path.join(parent, f"federator-e2e-{os.getuid()}")
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def lock_folder(path):
    """An open, locked file, or None when the folder's owner still lives."""
    lock = open(os.path.join(path, "lock"), "a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock


@contextlib.contextmanager
def alone(base):
    """No other run begins meanwhile: a folder is new before it is locked."""
    with open(os.path.join(base, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def end_leftovers(base):
    """Ends the processes and removes the folders of runs that were killed."""
    for entry in os.listdir(base):
        folder = os.path.join(base, entry)
        if not entry.startswith("run-"):
            continue
        lock = lock_folder(folder)
        if lock is None:
            continue
        for pid, started in noted_pids(folder):
            if process_start_time(pid) == started:
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def noted_pids(folder):
    try:
        with open(os.path.join(folder, "pids")) as notes:
            return [(int(line.split()[0]), line.split()[1]) for line in notes]
    except OSError:
        return []


class Run:
    """label: the folder of build-check/e2e-logs in which logs are kept."""

    def __init__(self, label="run"):
        base = base_dir()
        with alone(base):
            end_leftovers(base)
            self.folder = tempfile.mkdtemp(prefix="run-", dir=base)
            self._lock = lock_folder(self.folder)
        self.label = label
        self._ports_dir = os.path.join(base, "ports")
        self.logs = self.dir("logs")
        self.home = self.dir("home")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.home, "TZ": "UTC",
                    "LANG": "C.UTF-8"}
        self.processes = []
        self._marks = {}
        self._blocks = []

    def dir(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def write(self, name, text, mode=0o600):
        """Writes a file below the run's folder and returns its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as out:
            out.write(text)
        return path

    def ports(self):
        block = PortBlock(self._ports_dir)
        self._blocks.append(block)
        return block

    def process(self, name, argv, **options):
        """A Process, not yet started; its name is the name of its log."""
        assert all(p.name != name for p in self.processes), f"two processes named {name}"
        process = Process(self, name, argv, **options)
        self.processes.append(process)
        return process

    def forget(self, process):
        """Ends a process that only one test uses, and checks it for the last time."""
        process.end()
        self._raise_on_reports([process])
        self.processes.remove(process)

    def note_pid(self, pid, name):
        with open(os.path.join(self.folder, "pids"), "a") as notes:
            notes.write(f"{pid} {process_start_time(pid)} {name}\n")

    # what pytest asks

    def mark_logs(self):
        """From here on new_logs() counts as new."""
        for process in self.processes:
            self._marks[process.log] = os.path.getsize(process.log) \
                if os.path.exists(process.log) else 0

    def new_logs(self, lines=60):
        """(process name, last new lines) for each process that said something."""
        for process in self.processes:
            if not os.path.exists(process.log):
                continue
            with open(process.log, errors="replace") as log:
                log.seek(self._marks.get(process.log, 0))
                new = log.read().splitlines()
            if new:
                yield process.name, "\n".join(new[-lines:])

    def check(self):
        """Raises when a process died by itself or a sanitizer spoke."""
        for process in self.processes:
            if process.died_by_itself():
                process._exit_was_asked_for = True
                raise AssertionError(f"{process.name} exited by itself with "
                                     f"{process.returncode()}:\n{process.tail(30)}")
        self._raise_on_reports(self.processes)

    def _raise_on_reports(self, processes):
        reports = [report for p in processes for report in p.sanitizer_reports()]
        if reports:
            raise AssertionError("\n".join(f"{path}:\n{text}" for path, text in reports))

    def close(self, keep_logs=False):
        """Ends everything; raises when that brings a sanitizer report to light."""
        ours = [p for p in self.processes if p.sanitized]
        foreign = [p for p in self.processes if not p.sanitized]
        try:
            end_all(ours)
            for process in reversed(foreign):
                process.kill()
            self._raise_on_reports(ours)
        except BaseException:
            keep_logs = True
            raise
        finally:
            self._finish(keep_logs)

    def _finish(self, keep_logs):
        for block in self._blocks:
            block.close()
        if keep_logs:
            kept = paths.ROOT / "build-check" / "e2e-logs" / self.label
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(self.logs, kept)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()
