"""A whole federation in small: etcd, hub, one cluster and its agent.

Lanes share nothing and run side by side, so that what must be done dozens of times does not take
as many minutes.
"""
from . import jobs, wait
from .etcd import Etcd
from .federation import Agent, Hub, Sandbox

LEASE = "/apis/coordination.k8s.io/v1/namespaces/federator-system/leases/member-agent"


def end_lease(member):
    """Lets the lease of an agent that is dead end within two seconds; it still did not leave."""
    if member.get(LEASE):
        member.merge(LEASE, {"spec": {"leaseDurationSeconds": 1}})


class Lane:
    """A member of one's own is given with its kubeconfig; else it is a sandbox of that shape."""

    def __init__(self, run, name, shape=None, member=None, kubeconfig=None, more=()):
        self.run, self.name = run, name
        self.etcd = Etcd(run, f"{name}-etcd")
        self.hub = Hub(run, f"{name}-hub", etcd=self.etcd)
        self.member = member or Sandbox(run, name, shape)
        self._owns_member, self._kubeconfig, self._more = member is None, kubeconfig, more
        self.agent = None

    def start(self):
        self.etcd.start()
        self.hub.start()
        if self._owns_member:
            self.member.start()
        self.agent = Agent(self.run, self.hub, self.member.name,
                           self._kubeconfig or self.member.kubeconfig, more=self._more).join()
        return self

    def end(self):
        for process in (self.agent.process, self.hub.process, self.etcd.process):
            process.end()
        if self._owns_member:
            self.member.process.end()

    # a lease of a process that is dead ends with no more than a second's wait

    def end_lease_of_dead_agent(self):
        assert not self.agent.process.alive()
        end_lease(self.member)

    def end_lease_of_dead_hub(self):
        assert not self.hub.process.alive()
        for lease in self.etcd.request("POST", "/v3/lease/leases", {})[1].get("leases", []):
            self.etcd.request("POST", "/v3/lease/revoke", {"ID": lease["ID"]})

    # what is left of a job

    def remains(self, uid):
        """What still stands of it, in words; empty when all is gone but the Job."""
        placements = [p for p in self.hub.items(f"{jobs.FEDERATOR}/placements")
                      if p["spec"]["job"]["uid"] == uid]
        return [f"{what} {found['metadata']['name']}" for what, list_of in (
            ("placement", placements), ("twin", jobs.twins_of(self.member, uid)),
            ("pod", jobs.pods_of(self.member, uid))) for found in list_of]

    def wait_over(self, name, uid, timeout=60.0, phase="Completed"):
        """The Job, once it has ended and nothing else is left of it."""
        found = jobs.wait_phase(self.hub, name, phase, timeout)

        def nothing_left():
            left = self.remains(uid)
            assert not left, f"left of {name}: {', '.join(left)}"
            return True
        wait.until(nothing_left, timeout)
        return found
