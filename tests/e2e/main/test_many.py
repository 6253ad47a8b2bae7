"""Fifty jobs of mixed size from four clients."""
import collections
import concurrent.futures

from harness import jobs, wait

SIZES = [1, 2, 3, 5, 8]


def client(fed, name, number):
    for i in range(number, 50, 4):
        requests = {"cpu": str(1 + i % 4), "memory": f"{1 + i % 3}Gi"}
        jobs.submit(fed.hub, jobs.job(f"{name}-{i}", jobs.task(
            replicas=SIZES[i % len(SIZES)], requests=requests, run_seconds=i % 3)))


def cpu_of(pod):
    return sum(int(c["resources"]["requests"]["cpu"]) for c in pod["spec"]["containers"])


def over_allocatable(watch, limit):
    """Replays the events of a watch of pods; the most cpu that a node ever held above its limit."""
    pods, worst = {}, 0
    for kind, pod in watch.events:
        if kind == "BOOKMARK":
            continue
        uid = pod["metadata"]["uid"]
        ended = pod["status"].get("phase") in ("Succeeded", "Failed")
        if kind == "DELETED" or ended or "nodeName" not in pod["spec"]:
            pods.pop(uid, None)
        else:
            pods[uid] = pod
        used = collections.Counter()
        for live in pods.values():
            used[live["spec"]["nodeName"]] += cpu_of(live)
        worst = max([worst, *(n - limit for n in used.values())])
    return worst


def test_fifty_jobs_all_complete_each_pod_posted_once(fed, name):
    real = {n: fed.members[n] for n in ("gpu", "large")}
    marks = {n: member.audit.mark() for n, member in real.items()}
    watches = {n: member.watch("/api/v1/pods") for n, member in real.items()}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(client, fed, name, n) for n in range(4)]:
            done.result()

    def left():
        found = fed.hub.items(f"{jobs.JOBS}/namespaces/default/jobs")
        return [j["metadata"]["name"] for j in found if jobs.phase(j) != "Completed"]
    wait.until(lambda: not left(), 120, every=0.5, what="fifty jobs to complete")

    for cluster, member in real.items():
        posts = collections.Counter(
            e["objectRef"]["name"]
            for e in member.audit.events(marks[cluster], verb="create", resource="pods")
            if e["objectRef"].get("name", "").startswith(f"{name}-")
            and "dryRun" not in e["requestURI"])
        assert not {pod: n for pod, n in posts.items() if n > 1}
        assert over_allocatable(watches[cluster], 32) <= 0
