"""What the daemons say of settings that are wrong: one line, exit 2, and nothing was begun."""
import os
import subprocess

import pytest
from harness import paths

JOIN = ["--name", "gpu", "--kubeconfig", "member.kubeconfig", "--state", "state"]
HASH = "sha256:" + "0" * 64

# program, arguments, what it says behind its name
WRONG = [
    ("federator", ["--store", "disk"], '--store: "disk" is none of etcd|memory'),
    ("federator", ["--stor", "etcd"], 'unknown flag "--stor"; did you mean "--store"?'),
    ("federator", ["--store"], "--store needs a value: etcd|memory"),
    ("federator", ["--help=store"], "--help takes no value"),
    ("federator", ["serve"], 'unexpected argument "serve"; see: federator --help'),
    ("federator", ["--etcd", "127.0.0.1:2379"], '--etcd: "127.0.0.1:2379" is not a URL'),
    ("federator", ["--etcd", "http://a:1,b:2"], '--etcd: "http://a:1,b:2" '),
    ("federator", ["--listen", "localhost:7443"],
     '--listen: "localhost:7443" is not an IP address and a port, like 127.0.0.1:7443'),
    ("federator", ["--etcd-key-file", "k"], "--etcd-key-file needs --etcd-cert-file too"),
    ("federator", ["--log-level", "loud"],
     '--log-level: "loud" is none of error|warn|info|debug'),
    ("sandbox", [], "--state is required; see: sandbox --help"),
    ("sandbox", ["--state", "state"], "--shape is required; see: sandbox --help"),
    ("sandbox", ["--shpae", "x"], 'unknown flag "--shpae"; did you mean "--shape"?'),
    ("member-agent", [], "--name is required; see: member-agent --help"),
    ("member-agent", ["--name", "GPU"], '--name: "GPU" must consist of lower case letters'),
    ("member-agent", ["--name", "gpu", "--hub", "hub:7443"], '--hub: "hub:7443" '),
    ("member-agent", ["--name", "gpu", "--hub", "http://hub:7443"],
     '--hub: "http://hub:7443" does not begin with https://'),
    ("member-agent", JOIN + ["--ca-hash", "sha256:12"],
     '--ca-hash: "sha256:12" is not sha256: and 64 hexadecimal digits'),
    ("member-agent", JOIN, "this member has not joined yet: --token-file is required (fedctl "
                           "cluster token create gpu)"),
    ("member-agent", JOIN + ["--token-file", "absent", "--ca-hash", HASH],
     '--token-file: read "absent": No such file or directory'),
    ("member-agent", JOIN + ["--token-file", "not-a-token", "--ca-hash", HASH],
     '--token-file: "not-a-token" holds no token (one line ID.SECRET, as fedctl cluster token '
     'create gpu prints it)'),
    ("member-agent", JOIN + ["--token-file", "token"],
     "this member has not joined yet: --ca-hash (or --ca-file) is required"),
    ("member-agent", JOIN + ["--token-file", "token", "--ca-file", "token"],
     '--ca-file: "token" holds no certificate'),
    ("member-agent", ["--name", "gpu", "--explain", "default/x"],
     "--explain needs --standalone; with a hub: fedctl explain job/x"),
    ("member-agent", ["--name", "gpu", "--standalone", "--explain", "x"],
     '--explain: "x" is not NS/JOB'),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "token").write_text("id.secret\n")
    (tmp_path / "not-a-token").write_text("<html>\n")
    return tmp_path


def run_in(folder, program, args):
    return subprocess.run([paths.binary(program, program), *args], cwd=folder, text=True,
                          capture_output=True, timeout=30, env={"HOME": str(folder)})


@pytest.mark.parametrize("program, args, text", WRONG,
                         ids=[f"{program} {' '.join(args)}" for program, args, _ in WRONG])
def test_wrong_settings_are_told_before_anything_is_begun(folder, program, args, text):
    before = sorted(os.listdir(folder))
    ended = run_in(folder, program, args)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith(f"{program}: {text}"), ended.stderr
    assert ended.stderr.count("\n") == 1 and not ended.stdout
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("program", ["federator", "member-agent", "sandbox", "fedctl"])
def test_help_and_version_are_asked_for_alike(folder, program):
    long, short = run_in(folder, program, ["--help"]), run_in(folder, program, ["-h"])
    assert long.returncode == short.returncode == 0
    assert long.stdout == short.stdout and program in long.stdout
    assert run_in(folder, program, ["--bogus", "--help"]).stdout == long.stdout
    version = run_in(folder, program, ["--version"])
    assert version.returncode == 0 and version.stdout.startswith(f"{program} ")
    assert "--help takes no value" in run_in(folder, program, ["--help=x"]).stderr


SHAPES = [
    ("", "nodes: Required value"),
    ("nodes: [{count: 2, capacity: {cpu: 1}}]", "nodes[0]: name: Required value"),
    ("nodes: [{name: a}]", "nodes[0]: capacity: Required value"),
    ("nodes: [{name: a, capacity: {cpu: 1}}, 7]", "nodes[1]: is no mapping"),
    ("nodes: [{name: a, cout: 2, capacity: {cpu: 1}}]",
     'nodes[0]: cout: unknown field; did you mean "count"?'),
    ("nodes: [{name: a, count: two, capacity: {cpu: 1}}]", "nodes[0]: count: must be a whole "),
    ("nodes: [{name: a, count: -1, capacity: {cpu: 1}}]", "nodes[0]: count: -1: "),
    ("nodes: [{name: a, count: 9223372036854775807, capacity: {cpu: 1}}]", "nodes[0]: count: "),
    ("nodes: [{name: A_B, capacity: {cpu: 1}}]", "nodes[0]: name: Invalid value: "),
    ("nodes: [{name: a, capacity: {cpu: much}}]", "nodes[0]: capacity[cpu]: Invalid value: "),
    ("nodes: [{name: a, capacity: {cpu: 1}, labels: {a b: c}}]", "nodes[0]: labels[a b]: Invalid "),
]


@pytest.mark.parametrize("text, said", SHAPES)
def test_a_wrong_shape_names_its_field_and_nothing_is_begun(folder, text, said):
    (folder / "shape.yaml").write_text(text)
    ended = run_in(folder, "sandbox", ["--state", "state", "--shape", "shape.yaml"])
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"sandbox: shape.yaml: {said}"), ended.stderr
    assert not (folder / "state").exists()
