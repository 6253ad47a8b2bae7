"""The three example jobs, as users submit them."""
import pytest
from harness import jobs
from harness.paths import ROOT


EXAMPLES = {
    "hello": ("hello.yaml", "large", "fits in 3 of 3 clusters; least waste on large"),
    "example-job": ("tensorflow-two-tasks.yaml", "gpu", "arm, large: no node has nvidia.com/gpu"),
    "near-data": ("near-data.yaml", "arm", "data: 0 B to move; large would move 40Gi"),
}


@pytest.mark.parametrize("version", ["1.32", "1.36"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_example(fed, example, version):
    """example {example}, by kubectl {version}
    | runs where and why the screen of ./quickstart says, and nowhere else"""
    file, cluster, why = EXAMPLES[example]
    marks = {name: fed.members[name].audit.mark() for name in ("gpu", "large")}
    fed.hub.kubectl(["apply", "-f", str(ROOT / "examples" / file)], version=version)
    fed.hub.kubectl(["wait", "--for=condition=Completed", "--timeout=60s", f"vcjob/{example}"],
                    version=version)
    found = fed.hub.get(jobs.path(example))
    (attempt,), uid = jobs.attempts(found), found["metadata"]["uid"]
    assert (attempt["cluster"], attempt["why"]) == (cluster, why)
    assert attempt["nodes"].startswith(f"{cluster}-"), attempt
    assert {name for name, member in fed.members.items() if jobs.pods_of(member, uid)} == {cluster}
    made_in = {name for name, mark in marks.items()
               if fed.members[name].audit.pod_posts(mark, example)}
    assert made_in == {cluster} & set(marks)
