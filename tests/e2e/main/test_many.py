"""Fifty jobs of mixed size from four clients."""
import collections
import concurrent.futures

from harness import jobs, wait

JOBS, CLIENTS = 50, 4
SIZES = [1, 2, 3, 5, 8]
REAL = ("gpu", "large")


def requests_of(i):
    """Every third job wants GPUs, of which there are fewer than they all want together."""
    wanted = {"cpu": str(2 + 3 * (i % 4)), "memory": f"{4 + 8 * (i % 3)}Gi"}
    return {**wanted, "nvidia.com/gpu": str(1 + i % 4)} if i % 3 == 0 else wanted


def client(fed, name, number):
    for i in range(number, JOBS, CLIENTS):
        jobs.submit(fed.hub, jobs.job(f"{name}-{i}", jobs.task(
            replicas=SIZES[i % len(SIZES)], requests=requests_of(i), run_seconds=i % 3)))


def amounts(resources):
    """As integers, memory in Gi: this suite uses no other unit."""
    return collections.Counter({what: int(str(value).removesuffix("Gi"))
                                for what, value in resources.items()})


class Node:
    """What a watcher of pods sees on one node, event by event."""

    def __init__(self, node):
        self.limit, self.pods = amounts(node["status"]["allocatable"]), {}
        self.peak = collections.Counter()  # of each resource

    def see(self, kind, pod):
        uid = pod["metadata"]["uid"]
        if kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed"):
            self.pods.pop(uid, None)
            return
        self.pods[uid] = sum((amounts(c.get("resources", {}).get("requests", {}))
                              for c in pod["spec"]["containers"]), amounts({"pods": 1}))
        self.peak |= sum(self.pods.values(), collections.Counter())


def replay(member, watch):
    """{name: Node}, after all events of the watch."""
    nodes = {n["metadata"]["name"]: Node(n) for n in member.items("/api/v1/nodes")}
    for kind, pod in watch.events:
        node = nodes.get(pod["spec"].get("nodeName")) if kind != "BOOKMARK" else None
        if node:
            node.see(kind, pod)
    return nodes


def pods_by_cluster(fed):
    """{cluster: {pod}} that the jobs must have had there, by where the hub says that they ran."""
    wanted = collections.defaultdict(set)
    for found in fed.hub.items(f"{jobs.JOBS}/namespaces/default/jobs"):
        job = found["metadata"]["name"]
        wanted[jobs.cluster(found)] |= {
            f"{job}-w-{k}" for k in range(found["spec"]["tasks"][0]["replicas"])}
    return wanted


def test_fifty_jobs_from_four_clients(fed, name):
    """50 jobs of mixed size from four clients
    | all Completed; pods POSTed once each; no node over its allocatable at any event"""
    marks = {cluster: fed.members[cluster].audit.mark() for cluster in REAL}
    watches = {cluster: member.watch("/api/v1/pods") for cluster, member in fed.members.items()}
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(client, fed, name, n) for n in range(CLIENTS)]:
            done.result()

    def all_completed():
        found = fed.hub.items(f"{jobs.JOBS}/namespaces/default/jobs")
        left = [j["metadata"]["name"] for j in found if jobs.phase(j) != "Completed"]
        assert not left, f"{len(left)} of {len(found)}: {left[:5]}"
        return len(found) == JOBS
    wait.until(all_completed, 120, every=0.5, what="fifty jobs to complete")

    wanted = pods_by_cluster(fed)
    assert sum(map(len, wanted.values())) == sum(SIZES) * JOBS // len(SIZES)
    for cluster in REAL:
        audit = fed.members[cluster].audit
        assert set(audit.pod_posts(marks[cluster], name)) == wanted[cluster], cluster
        assert not audit.posted_again(marks[cluster], name), cluster
    for cluster, member in fed.members.items():
        nodes = replay(member, watches[cluster])
        over = {node: (seen.peak - seen.limit) for node, seen in nodes.items()
                if seen.peak - seen.limit}
        assert not over, f"{cluster}: {over}"
        made = collections.Counter(pod["metadata"]["name"] for kind, pod in watches[cluster].events
                                   if kind == "ADDED" and pod["metadata"]["name"].startswith(name))
        assert made == {pod: 1 for pod in wanted[cluster]}, cluster
        assert not watches[cluster].ended
        watches[cluster].close()
        if cluster == "gpu":  # else nothing was at stake
            assert any(seen.peak["nvidia.com/gpu"] >= 7 for seen in nodes.values())
