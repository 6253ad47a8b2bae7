"""The hub's etcd, killed again and again while clients submit and one watches."""
import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import jobs, wait
from harness.lane import Lane
from harness.nodes import NodeShape

KILLS, EVERY_S, CLIENTS = 10, 6, 4


class Client:
    """Submits a job about twice a second, and tries again what was not acknowledged."""

    def __init__(self, hub, number, stop):
        self.hub, self.number, self.stop = hub, number, stop
        self.acknowledged = {}

    def run(self):
        for i in range(1000):
            if self.stop.wait(0.5):
                return
            name = f"c{self.number}-{i}"
            while name not in self.acknowledged:
                self.submit(name)

    def submit(self, name):
        """201 acknowledges; 409 too, when an earlier try had no answer."""
        try:
            answer = self.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs",
                                  jobs.job(name, jobs.task(run_seconds=0)), timeout=5)
            if answer.status == 409:
                answer = self.hub.api("GET", jobs.path(name))
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
            return
        if answer.status in (200, 201):
            self.acknowledged[name] = answer.json()["metadata"]["uid"]
        else:
            assert answer.status >= 500 or answer.status == 429, repr(answer)
            time.sleep(0.2)


class Watcher:
    """Follows jobs as a client does: from the version that it saw last."""

    def __init__(self, hub):
        self.hub, self.version, self.events, self.stop = hub, None, [], False
        found = hub.must("GET", f"{jobs.JOBS}/jobs")
        self.version = found["metadata"]["resourceVersion"]
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stop:
            try:
                watch = self.hub.watch(f"{jobs.JOBS}/jobs", resourceVersion=self.version)
            except (OSError, AssertionError, http.client.HTTPException):
                time.sleep(0.2)
                continue
            taken = 0
            while not self.stop and not (watch.ended and taken == len(watch.events)):
                taken = self.take(watch, taken)
                time.sleep(0.05)
            watch.close()

    def take(self, watch, taken):
        for kind, found in watch.events[taken:]:
            taken += 1
            self.version = found["metadata"]["resourceVersion"]
            self.events.append((kind, found["metadata"].get("uid"), int(self.version)))
        return taken


@pytest.fixture
def lane(run):
    made = Lane(run, "etcdkills", NodeShape(4, cpu="64", pods="500"), more=("--keep-pods", "1s"))
    yield made.start()
    made.end()


@pytest.mark.timeout(300)
def test_etcd_killed_while_clients_submit(lane):
    """etcd is killed 10 times in 60 s under 4 clients that submit
    | each acknowledged job is there, runs once, and a watcher sees it once, in order"""
    stop, watcher = threading.Event(), Watcher(lane.hub)
    pods = lane.member.watch("/api/v1/pods")
    clients = [Client(lane.hub, n, stop) for n in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        running = [pool.submit(client.run) for client in clients]
        try:
            for _ in range(KILLS):
                next_kill = time.monotonic() + EVERY_S
                lane.etcd.process.kill()
                lane.etcd.process.start()
                lane.etcd.wait_ready()
                wait.until(lambda: time.monotonic() >= next_kill, EVERY_S + 1)
        finally:
            stop.set()
        for client in running:
            client.result()
    acknowledged = {uid: name for c in clients for name, uid in c.acknowledged.items()}
    assert len(acknowledged) > 50

    def all_over():
        found = {j["metadata"]["uid"]: jobs.phase(j) for j in lane.hub.items(f"{jobs.JOBS}/jobs")}
        assert set(found) >= set(acknowledged), "acknowledged jobs are missing"
        left = [uid for uid, phase in found.items() if phase != "Completed"]
        assert not left, f"{len(left)} of {len(found)} are not Completed"
        return True
    wait.until(all_over, 90, every=0.5)
    made = {}
    for kind, pod in pods.events:
        if kind == "ADDED":
            owner = pod["metadata"]["labels"]["federator.dev/uid"]
            made.setdefault(owner, set()).add(pod["metadata"]["uid"])
    assert {uid for uid in acknowledged if len(made.get(uid, ())) != 1} == set()

    def all_seen():
        added = [uid for kind, uid, _ in watcher.events if kind == "ADDED"]
        return set(added) >= set(acknowledged)
    try:
        wait.until(all_seen, 20, what="the watcher to see each acknowledged job")
    finally:
        watcher.stop = True
        watcher.thread.join()
    added = [uid for kind, uid, _ in watcher.events if kind == "ADDED"]
    assert len(added) == len(set(added)), "a job was added twice"
    versions = [version for _, _, version in watcher.events]
    assert all(a < b for a, b in zip(versions, versions[1:])), "versions do not grow"
