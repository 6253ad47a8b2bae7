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
    """Submits a job about twice a second. What was not acknowledged it tries again, or gives up."""

    def __init__(self, hub, number, stop, gives_up):
        self.hub, self.number, self.stop, self.gives_up = hub, number, stop, gives_up
        self.acknowledged = {}  # {name: uid}, in the order of the answers
        self.versions = {}  # {uid: version}, of those whose making was answered
        self.unknown = set()  # names of jobs that may have been made and may not

    def run(self):
        for i in range(1000):
            if self.stop.wait(0.5):
                return
            name = f"c{self.number}-{i}"
            self.submit(name)
            while name not in self.acknowledged and not self.gives_up:
                time.sleep(0.2)
                self.submit(name)

    def submit(self, name):
        """201 acknowledges; 409 too, when an earlier try may have made it."""
        try:
            answer = self.hub.api("POST", f"{jobs.JOBS}/namespaces/default/jobs",
                                  jobs.job(name, jobs.task(run_seconds=0)), timeout=5)
            if answer.status == 409 and name in self.unknown:
                answer = self.hub.api("GET", jobs.path(name))
        except (OSError, http.client.HTTPException):
            self.unknown.add(name)
            return
        if answer.status in (200, 201):
            self.acknowledge(name, answer.json()["metadata"], answer.status == 201)
        elif answer.status != 429:
            assert answer.status >= 500, repr(answer)
            self.unknown.add(name)

    def acknowledge(self, name, meta, made_now):
        self.acknowledged[name] = meta["uid"]
        self.unknown.discard(name)
        if made_now:
            self.versions[meta["uid"]] = int(meta["resourceVersion"])


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

    def added(self):
        """[(uid, version)] of the jobs that it has seen come, in that order."""
        return [(uid, version) for kind, uid, version in list(self.events) if kind == "ADDED"]

    def newest(self):
        """{uid: the last version that it has seen}"""
        return {uid: version for _, uid, version in list(self.events)}


@pytest.fixture
def lane(run):
    made = Lane(run, "etcdkills", NodeShape(4, cpu="64", pods="500"), more=("--keep-pods", "1s"))
    yield made.start()
    made.end()


def kill_again_and_again(etcd):
    for _ in range(KILLS):
        next_kill = time.monotonic() + EVERY_S
        etcd.process.kill()
        etcd.process.start()
        etcd.wait_ready()
        wait.until(lambda: time.monotonic() >= next_kill, EVERY_S + 1)


def wait_settled(lane, watcher):
    """{uid: Job}, once each is Completed and the watcher has seen of each what the hub has of it."""
    found = {}

    def settled():
        found.clear()
        found.update({j["metadata"]["uid"]: j for j in lane.hub.items(f"{jobs.JOBS}/jobs")})
        left = [j["metadata"]["name"] for j in found.values() if jobs.phase(j) != "Completed"]
        assert not left, f"of {len(found)} are not Completed: {left}"
        stored = {uid: int(j["metadata"]["resourceVersion"]) for uid, j in found.items()}
        seen = watcher.newest()
        differ = {uid: (stored.get(uid), seen.get(uid)) for uid in {*stored, *seen}
                  if stored.get(uid) != seen.get(uid)}
        assert not differ, f"uid: (version stored, version seen): {differ}"
        return True
    wait.until(settled, 110, every=0.5)
    return found


def check_acknowledged(clients, found):
    """Each of them is there; what else is there was made by a write whose writer got no answer."""
    acknowledged = {name: uid for c in clients for name, uid in c.acknowledged.items()}
    unknown = set().union(*(c.unknown for c in clients))
    assert len(acknowledged) > 50
    names = {j["metadata"]["name"]: uid for uid, j in found.items()}
    assert len(names) == len(found)
    missing = {name: uid for name, uid in acknowledged.items() if names.get(name) != uid}
    assert not missing, f"{len(missing)} of {len(acknowledged)} acknowledged: {missing}"
    others = set(names) - set(acknowledged)
    assert others <= unknown, f"nobody made {others - unknown}"
    print(f"{len(acknowledged)} acknowledged; of {len(unknown)} writes without an outcome "
          f"{len(others)} were carried out: {sorted(others)}")


def check_seen(clients, found, watcher):
    """Each job came once, at the version that its writer was told, in the order of its writer."""
    added = watcher.added()
    uids = [uid for uid, _ in added]
    assert sorted(uids) == sorted(found), "not each job was seen to come once"
    for client in clients:
        ours = set(client.acknowledged.values())
        assert [uid for uid in uids if uid in ours] == list(client.acknowledged.values())
        told = client.versions
        assert {uid: version for uid, version in added if uid in told} == told
    assert {kind for kind, _, _ in watcher.events} <= {"ADDED", "MODIFIED"}
    versions = [version for _, _, version in watcher.events]
    assert all(a < b for a, b in zip(versions, versions[1:])), "versions do not grow"


def check_ran_once(found, pods):
    made = {}
    for kind, pod in pods.events:
        if kind == "ADDED":
            owner = pod["metadata"]["labels"]["federator.dev/uid"]
            made.setdefault(owner, []).append(pod["metadata"]["uid"])
    odd = {uid: made.get(uid) for uid in {*found, *made} if len(made.get(uid, ())) != 1}
    assert not odd and set(made) == set(found), f"uid: its pods: {odd}"


@pytest.mark.timeout(300)
def test_etcd_killed_while_clients_submit(lane):
    """etcd is killed 10 times in 60 s under 4 clients that submit
    | each acknowledged is there, seen once, in order, run once; else only what had no answer"""
    stop, watcher = threading.Event(), Watcher(lane.hub)
    pods = lane.member.watch("/api/v1/pods")
    clients = [Client(lane.hub, n, stop, gives_up=n % 2 == 1) for n in range(CLIENTS)]
    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            running = [pool.submit(client.run) for client in clients]
            try:
                kill_again_and_again(lane.etcd)
            finally:
                stop.set()
            for client in running:
                client.result()
        found = wait_settled(lane, watcher)
    finally:
        watcher.stop = True
        watcher.thread.join()
    check_acknowledged(clients, found)
    check_seen(clients, found, watcher)
    check_ran_once(found, pods)
