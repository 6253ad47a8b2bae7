"""One job for each write of a process, which is ended or left without an answer at that write."""
import http.client
import itertools
import threading

from . import jobs, wait
from .lane import Lane

EXIT_STATUS = 86  # of a process that FEDERATOR_FAULT ended

_serial = itertools.count(1)


def two_tasks(name):
    """One pod each; together they fill a lane's only node, so that room that leaks is missed."""
    return jobs.job(name, jobs.task("a"), jobs.task("b"))


def account(found):
    """What a disturbed run may not change."""
    status = found["status"]
    return {"phase": jobs.phase(found), "succeeded": status.get("succeeded"),
            "tasks": status.get("taskStatusCount"), "retries": status.get("retryCount", 0),
            "record": status["dispatch"]["phase"],
            "attempts": [(a["cluster"], a["generation"], a.get("how"))
                         for a in jobs.attempts(found)]}


class SweepLane(Lane):
    """A lane that sees every pod of its member, and knows how an undisturbed run ends."""

    def start(self):
        super().start()
        self.seen = self.member.watch("/api/v1/pods")
        name = f"sweep-{next(_serial)}"
        uid = jobs.submit(self.hub, two_tasks(name))["metadata"]["uid"]
        self.undisturbed = account(self.check(name, uid))
        return self

    def pods_made(self, uid):
        return sorted({(p["metadata"]["name"], p["metadata"]["uid"])
                       for kind, p in self.seen.events if kind != "BOOKMARK"
                       and p["metadata"].get("labels", {}).get("federator.dev/uid") == uid})

    def check(self, name, uid):
        """Waits for the end; each pod was made once, nothing but the Job is left."""
        found = self.wait_over(name, uid)
        made = [pod for pod, _ in self.pods_made(uid)]
        assert made == [f"{name}-a-0", f"{name}-b-0"], made
        return found

    def disturb(self, process, fault, end_lease):
        """Runs a job while a process lives under a fault; true when that ended the process."""
        name, uid, codes = f"sweep-{next(_serial)}", None, []

        def over():
            nonlocal uid
            if not process.alive():
                codes.append(process.wait_exit())
                end_lease()
                process.start()
            uid = uid or self.try_submit(name)
            return uid and self.is_over(name, uid)
        process.end()
        process.start(fault)
        try:
            wait.until(over, 90, every=0.1, what=f"job {name} to be over")
        except wait.TimedOut as error:
            raise wait.TimedOut(f"{error}; {self.state_of(name, uid)}") from None
        assert codes in ([], [EXIT_STATUS]) or fault.startswith("lose-answer"), codes
        found = account(self.check(name, uid))
        if process.end() == EXIT_STATUS:
            end_lease()
        process.start()
        assert found == self.undisturbed, f"{found}, undisturbed {self.undisturbed}"
        return bool(codes)

    def try_submit(self, name):
        """The job's uid; None while the hub does not say that it has it. As a client would."""
        try:
            answer = self.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs", two_tasks(name))
            if answer.status == 201:
                return answer.json()["metadata"]["uid"]
            if answer.status == 409:
                return self.hub.get(jobs.path(name))["metadata"]["uid"]
            assert answer.status >= 500, repr(answer)
        except (OSError, http.client.HTTPException):
            pass
        return None

    def is_over(self, name, uid):
        try:
            self.wait_over(name, uid, timeout=0)
            return True
        except (OSError, http.client.HTTPException, AssertionError):
            return False

    def state_of(self, name, uid):
        try:
            return f"{jobs.phase(self.hub.get(jobs.path(name)))}, left: {self.remains(uid)}"
        except (OSError, http.client.HTTPException) as error:
            return repr(error)


class Sweep:
    """disturb(lane, n) for each n, on all lanes at once; a lane on which one fails is left."""

    def __init__(self, lanes, disturb):
        self._lanes, self._disturb = lanes, disturb
        self._lock = threading.Lock()
        self._failures = []

    def run(self, numbers):
        """Takes from numbers until they end, or disturb returns False: there is no such write.

        Returns the highest n for which it returned True.
        """
        self._numbers, self._last, self._struck = iter(numbers), None, 0
        threads = [threading.Thread(target=self._work, args=[lane]) for lane in self._lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self._failures, "\n".join(self._failures)
        return self._struck

    def _next(self):
        with self._lock:
            n = None if self._last else next(self._numbers, None)
        return n

    def _work(self, lane):
        while (n := self._next()) is not None:
            try:
                struck = self._disturb(lane, n)
            except Exception as error:
                self._failures.append(f"write {n} on {lane.name}: {error!r}")
                return
            if struck:
                self._struck = max(self._struck, n)
            elif struck is not None:
                self._last = n
