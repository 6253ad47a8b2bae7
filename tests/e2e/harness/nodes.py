"""Shapes of nodes, and the Node objects that they become."""
import dataclasses


@dataclasses.dataclass
class NodeShape:
    count: int
    cpu: str = "32"
    memory: str = "128Gi"
    arch: str = "amd64"
    pods: str = "110"
    extended: dict = dataclasses.field(default_factory=dict)
    labels: dict = dataclasses.field(default_factory=dict)
    taints: list = dataclasses.field(default_factory=list)

    def resources(self):
        return {"cpu": self.cpu, "memory": self.memory, "pods": self.pods, **self.extended}

    def node(self, name):
        """A Node that kwok brings to Ready."""
        return {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {
                "kubernetes.io/hostname": name, "kubernetes.io/arch": self.arch,
                "kubernetes.io/os": "linux", **self.labels}},
            "spec": {"taints": self.taints},
            "status": {"capacity": self.resources(), "allocatable": self.resources(),
                       "nodeInfo": {"architecture": self.arch, "operatingSystem": "linux"}},
        }


def is_ready(node):
    conditions = node.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


GPU = NodeShape(4, extended={"nvidia.com/gpu": "8"})
LARGE = NodeShape(20)
ARM = NodeShape(8, arch="arm64")
