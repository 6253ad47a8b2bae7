"""A federation to break: a real cluster `real`, and a sandbox `other` where work may go instead."""
import dataclasses

import pytest
from harness import jobs, wait
from harness.cluster import MemberCluster
from harness.federation import Agent, Hub, Sandbox, is_cluster_ready
from harness.lane import end_lease
from harness.nodes import NodeShape
from harness.paths import PLACEMENT_CRD, ROOT

REAL = NodeShape(3, cpu="8", memory="32Gi", extended={"example.com/fpga": "4"})
CLOSED = {"key": "federator.dev/cordoned", "effect": "NoSchedule"}
OTHER = NodeShape(3, cpu="8", memory="32Gi", extended={"example.com/fpga": "4"})


@dataclasses.dataclass
class Faulty:
    hub: Hub
    real: MemberCluster
    other: Sandbox
    agents: dict

    @property
    def agent(self):
        """The process of real's agent."""
        return self.agents["real"].process

    def restart_killed_agent(self):
        end_lease(self.real)
        self.agent.start()

    def cluster(self, name):
        return self.hub.get(f"{jobs.FEDERATOR}/clusters/{name}")

    def prefer(self, preferred):
        """The other cluster takes nothing new."""
        for name in self.agents:
            self._set_taints(name, [] if name == preferred else [CLOSED])

    def admit_all(self):
        for name in self.agents:
            self._set_taints(name, [])

    def _set_taints(self, name, taints):
        self.hub.merge(f"{jobs.FEDERATOR}/clusters/{name}", {"spec": {"taints": taints}})

    def submit(self, name, *tasks, only=("real",), **more):
        """Returns the uid."""
        return jobs.submit(self.hub, jobs.job(name, *tasks, placement=jobs.only_in(*only),
                                              **more))["metadata"]["uid"]

    def wait_offer(self, uid, cluster="real", generation=1):
        def offered():
            found = self.hub.items(f"{jobs.FEDERATOR}/placements")
            names = [(p["metadata"]["namespace"], p["metadata"]["name"]) for p in found]
            assert (f"cluster-{cluster}", f"{uid}-0-{generation}") in names, [
                names, *(j["status"] for j in self.hub.items(f"{jobs.JOBS}/jobs"))]
            return True
        wait.until(offered, what=f"the offer to {cluster}")

    def pods(self, uid, cluster="real"):
        return jobs.pods_of(getattr(self, cluster), uid)

    def wait_pods(self, uid, check, timeout=20.0, what="pods"):
        def fit():
            found = self.pods(uid)
            assert check(found), str([(p["metadata"]["name"], p["status"].get("phase"),
                                       p["spec"].get("nodeName")) for p in found])
            return True
        wait.until(fit, timeout, what=what)
        return self.pods(uid)

    def posts(self, mark, job_name, code=None):
        """{pod of the job: how often it was POSTed to real since the mark}."""
        counts = {}
        for event in self.real.audit.events(mark, verb="create", resource="pods"):
            pod = event["objectRef"].get("name", "")
            if pod.startswith(f"{job_name}-") and "dryRun" not in event["requestURI"]:
                if code is None or event["responseStatus"]["code"] == code:
                    counts[pod] = counts.get(pod, 0) + 1
        return counts


@pytest.fixture(scope="session")
def faulty(run, hub):
    real = MemberCluster(run, "real", evicts=True).start()
    real.kubectl(["apply", "-f", str(PLACEMENT_CRD)])
    real.controller_manager.restart()  # else its collector learns of the kind half a minute later
    real.add_nodes(REAL)
    other = Sandbox(run, "other", OTHER).start()
    role = ROOT / "member-agent" / "deploy" / "role.yaml"
    agents = {
        "real": Agent(run, hub, "real", real.service_account_kubeconfig(role),
                      more=("--keep-pods", "3s")),
        "other": Agent(run, hub, "other", other.kubeconfig, more=("--keep-pods", "3s"))}
    for name, agent in agents.items():
        agent.join()
        hub.merge(f"{jobs.FEDERATOR}/clusters/{name}", {"metadata": {"labels": {"name": name}}})
    return Faulty(hub, real, other, agents)


@pytest.fixture
def fed(faulty):
    """All of it alive and empty."""
    for process in (*faulty.real.processes(), faulty.other.process, faulty.hub.process,
                    *(agent.process for agent in faulty.agents.values())):
        assert process.alive(), f"{process.name} was left dead by an earlier test"
    yield faulty
    mend(faulty)
    for found in faulty.hub.items(f"{jobs.JOBS}/jobs"):
        faulty.hub.api("DELETE", jobs.path(found["metadata"]["name"],
                                           found["metadata"]["namespace"]))
    for found in faulty.hub.items(f"{jobs.JOBS}/jobs"):
        jobs.delete(faulty.hub, found["metadata"]["name"], found["metadata"]["namespace"])


def mend(faulty):
    """What a test that failed has left down."""
    for process in faulty.real.processes():
        if not process.alive():
            process.wait_exit()
            process.start()
    faulty.real.wait_ready()
    if not faulty.hub.process.alive():
        faulty.hub.start()
    for agent in faulty.agents.values():
        if agent.process.alive():
            agent.process.cont()
            continue
        agent.process.wait_exit()
        end_lease(getattr(faulty, agent.cluster))
        agent.process.start()
    faulty.admit_all()
    for name in faulty.agents:
        faulty.hub.wait_for(f"{jobs.FEDERATOR}/clusters/{name}", is_cluster_ready, 30)
