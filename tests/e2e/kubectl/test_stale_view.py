"""A replica whose view is held back: it waits or says that it cannot, and never shows what was."""
import concurrent.futures
import json
import os
import shutil
import signal
import time

import pytest
from harness import wait
from harness.etcd import Etcd
from harness.federation import Hub
from kubectl.samples import CONFIGMAP, LEASE

MERGE = {"Content-Type": "application/merge-patch+json"}


class Replica(Hub):
    """A second process on the etcd of a hub, with its keys, that lags on demand."""

    def __init__(self, run, first, etcd):
        super().__init__(run, "replica", etcd=etcd, env={"FEDERATOR_LAG": "1"})
        shutil.copytree(os.path.join(first.state, "pki"), os.path.join(self.state, "pki"))

    def hold(self):
        self._signal(signal.SIGUSR1, "held back")

    def release(self):
        self._signal(signal.SIGUSR2, "caught up")

    def _signal(self, number, said):
        before = self.process.text().count(said)
        self.process.signal(number)
        wait.until(lambda: self.process.text().count(said) > before, what=f"the view {said}")


@pytest.fixture(scope="module")
def pair(run):
    """Two processes on one etcd, apart from the other tests: either may come to lead."""
    etcd = Etcd(run, "shared-etcd").start()
    first = Hub(run, "first", etcd=etcd).start()
    second = Replica(run, first, etcd).start()
    yield first, second
    for process in (second.process, first.process, etcd.process):
        run.forget(process)


@pytest.fixture
def hub(pair):
    return pair[0]


@pytest.fixture
def replica(pair):
    return pair[1]


@pytest.fixture
def held(replica):
    """Holds the view of the replica once the test has made what shall be old."""
    yield replica.hold
    replica.release()


@pytest.fixture
def path(hub, name):
    """Leases in the namespace of a cluster, which its agent may read."""
    hub.must("POST", "/api/v1/namespaces", {"metadata": {"name": f"cluster-{name}"}})
    return LEASE.path(f"cluster-{name}")


@pytest.fixture
def agent(replica, client, name):
    """The agent of the test's cluster as a client of the replica."""
    return client(replica, f"system:cluster:{name}", "system:clusters")


def make(server, path):
    return server.must("POST", path, {"metadata": {"name": "a"}, "spec": {"holderIdentity": "old"}})


def change(server, path, holder="new"):
    changed = server.merge(f"{path}/a", {"spec": {"holderIdentity": holder}})
    return int(changed["metadata"]["resourceVersion"])


def see(replica, path):
    """Waits until the replica shows the object."""
    wait.until(lambda: replica.get(f"{path}/a"), what="the object on the replica")


QUERIES = ["/a?resourceVersion={}", "?resourceVersion={}",
           "?resourceVersion={}&resourceVersionMatch=NotOlderThan",
           "?resourceVersion={}&watch=1&timeoutSeconds=5"]


def ask_all(server, paths):
    """Answers in the order of the paths; asked together, as each waits for seconds."""
    with concurrent.futures.ThreadPoolExecutor(len(paths)) as pool:
        return list(pool.map(lambda path: server.api("GET", path, timeout=15), paths))


def test_an_agent_that_names_a_newer_version_gets_504(hub, agent, replica, path, held):
    """a stale view: a replica's cache is held back, an agent asks for a newer version (get, list, watch)
    | 504 that says why and when to ask again; never the older view"""
    make(hub, path)
    see(agent, path)
    held()
    version = change(hub, path)
    for answer in ask_all(agent, [path + query.format(version) for query in QUERIES]):
        assert answer.status == 504
        assert answer.json()["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
        assert answer.headers["Retry-After"] == "1"
    replica.release()
    answer = agent.api("GET", f"{path}/a?resourceVersion={version}")
    assert answer.json()["spec"]["holderIdentity"] == "new"


def test_an_agent_that_waits_is_answered_as_soon_as_the_view_is_there(hub, agent, replica, path,
                                                                     held):
    """a stale view is released while an agent waits for the newer version
    | answered at once, with what is new"""
    make(hub, path)
    see(agent, path)
    held()
    version = change(hub, path)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        asked = pool.submit(agent.api, "GET", f"{path}/a?resourceVersion={version}")
        wait.holds(lambda: not asked.done(), 1, what="the replica to wait")
        replica.release()
        answer = asked.result(5)
    assert answer.json()["spec"]["holderIdentity"] == "new"
    assert time.monotonic() - began < 3


def test_who_names_no_version_gets_nothing_rather_than_what_was(hub, agent, path, held):
    """a stale view, and an agent names no version: get, list, watch, an absent name
    | 503 and Retry-After; never the older view"""
    make(hub, path)
    see(agent, path)
    held()
    change(hub, path)
    for answer in ask_all(agent, [f"{path}/a", path, f"{path}/absent", f"{path}?watch=1"]):
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")


def test_what_is_not_old_is_served_at_once(hub, agent, path, held):
    """a stale view, and an agent names a version that it has reached | served"""
    version = int(make(hub, path)["metadata"]["resourceVersion"])
    see(agent, path)
    held()
    answer = agent.api("GET", f"{path}/a?resourceVersion={version}")
    assert answer.json()["spec"]["holderIdentity"] == "old"


def test_a_write_on_an_old_view_overwrites_nothing(hub, replica, name, held):
    """writes by way of a replica whose view is stale
    | 503, nothing overwritten; once it has caught up, 409 for the old version"""
    path = CONFIGMAP.path("default")
    made = hub.must("POST", path, {"metadata": {"name": name}, "data": {"a": "1"}})
    wait.until(lambda: replica.get(f"{path}/{name}"))
    held()
    hub.merge(f"{path}/{name}", {"data": {"b": "2"}})
    stale = dict(made, data={"c": "3"})
    answers = [replica.api("PUT", f"{path}/{name}", stale, timeout=15),
               replica.api("PATCH", f"{path}/{name}", json.dumps({"data": {"c": "3"}}), MERGE,
                           timeout=15),
               replica.api("POST", path, {"metadata": {"name": name}}, timeout=15)]
    assert [a.status for a in answers] == [503] * 3
    assert hub.get(f"{path}/{name}")["data"] == {"a": "1", "b": "2"}
    replica.release()
    assert replica.api("PUT", f"{path}/{name}", stale).status == 409
    assert replica.merge(f"{path}/{name}", {"data": {"c": "3"}})["data"] == {
        "a": "1", "b": "2", "c": "3"}


def test_a_watch_goes_on_where_the_view_was_held(hub, replica, name, held):
    """a watch on a replica whose view is held back
    | silent; then each change once, in order"""
    path = CONFIGMAP.path("default")
    made = hub.must("POST", path, {"metadata": {"name": name}})
    version = made["metadata"]["resourceVersion"]
    with replica.watch(path, resourceVersion=version,
                       fieldSelector=f"metadata.name={name}") as watch:
        held()
        versions = [hub.merge(f"{path}/{name}", {"data": {"n": str(n)}})["metadata"]
                    ["resourceVersion"] for n in range(5)]
        wait.holds(lambda: not watch.events, 0.5, what="a held watch to be silent")
        replica.release()
        wait.until(lambda: len(watch.events) == 5)
        assert [o["metadata"]["resourceVersion"] for _, o in watch.events] == versions
