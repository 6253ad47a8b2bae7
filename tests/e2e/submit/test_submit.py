"""From submission to its end on etcd 3.6; all other suites have 3.4 below the hub."""
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import jobs

CLIENTS, JOBS_OF_A_CLIENT = 4, 10


def test_the_hub_stands_on_etcd_3_6(etcd, fed):
    _, version = etcd.request("GET", "/version")
    assert version["etcdserver"].startswith("3.6.")


@pytest.mark.parametrize("version", ["1.36", "1.32"])
def test_kubectl_create(fed, name, version):
    """kubectl {version} create of a job, twice, on etcd 3.6 | it is there once and runs to its end"""
    manifest = json.dumps(jobs.job(name, jobs.task(replicas=2)))
    made = fed.kubectl(["create", "-f", "-"], version, stdin=manifest)
    assert made.stdout == f"job.batch.volcano.sh/{name} created\n"
    again = fed.kubectl(["create", "-f", "-"], version, stdin=manifest, check=False)
    assert again.returncode == 1 and "AlreadyExists" in again.stderr
    assert jobs.wait_phase(fed, name, "Completed")["status"]["succeeded"] == 2


def test_fedctl_submit(fed, name):
    """fedctl submit --wait of a job on etcd 3.6 | tells its end"""
    said = fed.fedctl(["submit", "-", "--wait"], stdin=json.dumps(jobs.job(name, jobs.task())))
    assert said.stdout.splitlines()[-1] == f"job {name} completed"


def test_acknowledged_jobs_outlive_etcd_and_hub(etcd, fed, name):
    """40 jobs from 4 clients, then SIGKILL of etcd 3.6 and of the hub
    | each is there afterwards, with its uid, and runs to its end"""
    def client(number):
        names = [f"{name}-{number}-{i}" for i in range(JOBS_OF_A_CLIENT)]
        return {n: jobs.submit(fed, jobs.job(n, jobs.task(run_seconds=0)))["metadata"]["uid"]
                for n in names}
    with ThreadPoolExecutor(CLIENTS) as pool:
        made = {n: uid for part in pool.map(client, range(CLIENTS)) for n, uid in part.items()}
    fed.process.kill()
    etcd.process.kill()
    etcd.start()
    fed.start()
    assert {n: fed.get(jobs.path(n))["metadata"]["uid"] for n in made} == made
    for n in made:
        jobs.wait_phase(fed, n, "Completed", 60)
