"""Completion, in the shells themselves: what stands on the line when the tab key was pressed."""
import os
import pty
import re
import select
import shlex
import subprocess
import time

import pytest
from harness import argv, jobs

BASH = """
source <(fedctl completion bash)
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_fedctl
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# Its completion needs a terminal; ^Xs shows the line as it is then.
ZSH = r"""
autoload -Uz compinit; compinit -u -D
show() {{ print -r -- "<<$BUFFER>>" }}; zle -N show; bindkey '^Xs' show
{begin}
PS1=ready'> '
"""
SOURCED = "source <(fedctl completion zsh)"
IN_FPATH = """fedctl completion zsh >_fedctl; fpath=($PWD $fpath); compinit -u -D"""


@pytest.fixture(scope="module")
def env(run, memory_hub):
    folder = os.path.dirname(argv.fedctl("", [])[0])
    return dict(run.env, KUBECONFIG=memory_hub.kubeconfig, TERM="dumb", HOME=run.dir("home"),
                PATH=f"{folder}:{run.env['PATH']}")


@pytest.fixture(scope="module", autouse=True)
def names(memory_hub):
    jobs.submit(memory_hub, jobs.job("completed-word", jobs.task()))
    memory_hub.must("POST", f"{jobs.FEDERATOR}/clusters", {"metadata": {"name": "word-of-cluster"}})


def bash(env, folder, line):
    script = BASH.format(words=shlex.join(line.split(" ")))
    return subprocess.run(["bash", "-c", script], env=env, cwd=folder, check=True, timeout=60,
                          capture_output=True, text=True).stdout.split()


def fish(env, folder, line):
    done = subprocess.run(
        ["fish", "-c", f"fedctl completion fish | source; complete -C {shlex.quote(line)}"],
        env=env, cwd=folder, check=True, timeout=60, capture_output=True, text=True)
    return [offer.split("\t")[0] for offer in done.stdout.splitlines()]


def read_until(terminal, pattern):
    """What the terminal shows, up to the pattern."""
    shown, end = "", time.monotonic() + 30
    while not re.search(pattern, shown):
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def zsh(env, folder, line, begin=SOURCED):
    terminal, inner = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], env=env, cwd=folder, stdin=inner, stdout=inner,
                             stderr=inner, start_new_session=True)
    os.close(inner)
    try:
        os.write(terminal, ZSH.format(begin=begin).encode())
        read_until(terminal, "ready> ")
        os.write(terminal, line.encode() + b"\t\x18s")
        shown = re.search(r"<<(.*)>>", read_until(terminal, r"<<.*>>")).group(1)
    finally:
        shell.kill()
        shell.wait()
        os.close(terminal)
    return [shown.split(" ")[-2]] if shown.endswith(" ") else []


def zsh_in_fpath(env, folder, line):
    return zsh(env, folder, line, IN_FPATH)


@pytest.mark.parametrize("line, word", [
    ("fedctl su", "submit"), ("fedctl queue cr", "create"), ("fedctl submit --wa", "--wait"),
    ("fedctl cancel comp", "completed-word"), ("fedctl get jo", "jobs"),
    ("fedctl get jobs compl", "completed-word"), ("fedctl get -n default jobs c", "completed-word"),
    ("fedctl cluster cordon w", "word-of-cluster"), ("fedctl explain job/c", "job/completed-word"), ("fedctl get jobs -o wi", "wide"),
    ("fedctl wait completed-word --for r", "running")])
@pytest.mark.parametrize("shell", [bash, fish, zsh, zsh_in_fpath])
def test_the_tab_key_completes(env, tmp_path, shell, line, word):
    (tmp_path / "submit.yaml").write_text("")
    assert shell(env, tmp_path, line) == [word]


# bash falls back on files by itself where nothing is offered.
@pytest.mark.parametrize("shell", [fish, zsh, zsh_in_fpath])
def test_files_are_completed_where_nothing_else_fits(env, tmp_path, shell):
    (tmp_path / "train.yaml").write_text("")
    assert shell(env, tmp_path, "fedctl submit trai") == ["train.yaml"]


@pytest.mark.parametrize("shell", [bash, fish])
def test_all_that_fits_is_offered(env, tmp_path, shell):
    assert set(shell(env, tmp_path, "fedctl cluster ")) == {
        "list", "token", "accept", "cordon", "uncordon"}
