"""Command lines and state folders of this project's programs: the only place that knows them."""
import json
import os

from . import paths


def federator(state, port, etcd_url=None):
    store = ["--etcd", etcd_url] if etcd_url else ["--store", "memory"]
    return [paths.binary("federator", "federator"), "--state", state,
            "--listen", f"127.0.0.1:{port}", *store]


def member_agent(name, state, kubeconfig, hub_url, token_file, ca_hash, more=()):
    kept = ["--state", state] if state else []  # else in a Secret of the member
    return [paths.binary("member-agent", "member-agent"), "--name", name, *kept,
            "--kubeconfig", kubeconfig, "--hub", hub_url, "--token-file", token_file,
            "--ca-hash", ca_hash, "--shutout-wait", "2s", *more]


def sandbox(state, port, shape_file):
    return [paths.binary("sandbox", "sandbox"), "--state", state,
            "--listen", f"127.0.0.1:{port}", "--shape", shape_file]


def fedctl(kubeconfig, args):
    return [paths.binary("fedctl", "fedctl"), "--kubeconfig", kubeconfig, *args]


def sandbox_shape(name, shape):
    """The text of a shape file: nodes <name>-0 to <name>-<count - 1>."""
    return json.dumps({"nodes": [{
        "name": name, "count": shape.count, "arch": shape.arch, "capacity": shape.resources(),
        "labels": shape.labels, "taints": shape.taints}]})


def admin_kubeconfig(state):
    return os.path.join(state, "admin.kubeconfig")


def authority_cert(state):
    return os.path.join(state, "pki", "ca.crt")
