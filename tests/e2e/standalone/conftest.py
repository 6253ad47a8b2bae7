"""One real cluster and its agent, which has no hub."""
import pytest
from harness import jobs, paths
from harness.cluster import MemberCluster
from harness.nodes import NodeShape
from harness.paths import ROOT

CRDS = ROOT / "api" / "crds"
ROLE = ROOT / "member-agent" / "deploy" / "role.yaml"
EXPLAIN_SECONDS = 60


def argv(kubeconfig, name, *more):
    return [paths.binary("member-agent", "member-agent"), "--standalone", "--name", name,
            "--kubeconfig", kubeconfig, *more]


class Alone:
    """The cluster, its agent, and what is asked of them."""

    def __init__(self, run, name, crds, shape, *more):
        self.run = run
        self.cluster = MemberCluster(run, name).start()
        self.cluster.add_nodes(shape)
        for manifest in crds:
            self.cluster.kubectl(["apply", "-f", str(manifest)])
        self.kubeconfig = self.cluster.service_account_kubeconfig(ROLE)
        self.agent = run.process(f"{name}-agent", argv(
            self.kubeconfig, name, "--shutout-wait", "2s", "--keep-pods", "1s", *more),
            sanitized=True)

    def start(self):
        self.agent.start()
        self.agent.wait_log("schedules")
        return self

    def succeed(self):
        """The next agent, after one that died: it does not wait long for the Lease to expire."""
        assert not self.agent.alive()
        self.cluster.merge(
            "/apis/coordination.k8s.io/v1/namespaces/federator-system/leases/member-agent",
            {"spec": {"leaseDurationSeconds": 1}})
        self.agent.start()

    def submit(self, job):
        return self.cluster.must("POST", f"{jobs.JOBS}/namespaces/default/jobs", job)

    def apply(self, path):
        self.cluster.kubectl(["apply", "-f", str(path)])

    def job(self, name):
        return self.cluster.get(jobs.path(name, "default"))

    def wait(self, name, check, timeout=30.0):
        return self.cluster.wait_for(jobs.path(name, "default"), check, timeout)

    def wait_phase(self, name, phase, timeout=30.0):
        return jobs.wait_phase(self.cluster, name, phase, timeout)

    def wait_pending(self, name, code, timeout=15.0):
        return jobs.wait_pending(self.cluster, name, lambda why: why["code"] == code, timeout)

    def pods(self, name):
        return self.cluster.pods("default", f"volcano.sh/job-name={name}")

    def twins(self, name):
        found = self.cluster.items("/apis/federator.dev/v1alpha1/namespaces/default/placements")
        return [twin for twin in found if twin["spec"]["job"]["name"] == name]

    def events(self, name):
        found = self.cluster.items("/api/v1/namespaces/default/events")
        return [e for e in found if e["involvedObject"]["kind"] == "Job"
                and e["involvedObject"]["name"] == name]

    def posts(self, since):
        """Names of pods that a POST made, dry runs apart."""
        made = self.cluster.audit.events(since, verb="create", resource="pods")
        return sorted(e["objectRef"]["name"] for e in made
                      if e["responseStatus"]["code"] == 201 and "dryRun" not in e["requestURI"])

    def explain(self, name):
        """What `member-agent --explain` prints, and its exit code."""
        process = self.run.process(f"explain-{name}", argv(
            self.kubeconfig, self.cluster.name, "--log-level", "error", "--explain",
            f"default/{name}"), sanitized=True)
        process.start()
        code = process.wait_exit(EXPLAIN_SECONDS)
        text = process.text().partition("\n")[2]
        self.run.forget(process)
        return code, text

    def clear(self):
        """Removes all jobs, and waits until nothing of them is left."""
        if not self.agent.alive():
            self.succeed()
        for job in self.cluster.items(f"{jobs.JOBS}/jobs"):
            self.cluster.api("DELETE", jobs.path(job["metadata"]["name"], "default"))
        for job in self.cluster.items("/apis/federator.dev/v1alpha1/placements"):
            self.cluster.wait_for(
                "/apis/federator.dev/v1alpha1/namespaces/default/placements/"
                + job["metadata"]["name"], lambda twin: twin is None, 30)


@pytest.fixture(scope="session")
def cluster_alone(run):
    shape = NodeShape(2, cpu="16", extended={"nvidia.com/gpu": "4"})
    return Alone(run, "alone", sorted(CRDS.glob("*.yaml")), shape).start()


@pytest.fixture
def alone(cluster_alone):
    yield cluster_alone
    cluster_alone.clear()
