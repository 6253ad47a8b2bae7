"""Where things are: the checkout, the binaries under test, the pinned tools."""
import functools
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLACEMENT_CRD = ROOT / "api" / "crds" / "federator.dev_placements.yaml"
HERE = pathlib.Path(__file__).resolve().parent


class MissingTool(Exception):
    """A binary that the tests need is not there; never a reason to skip."""


def build_dir():
    """The build under test: FEDERATOR_BUILD, else the sanitizer build that ./check makes."""
    return pathlib.Path(os.environ.get("FEDERATOR_BUILD", ROOT / "build-asan"))


def binary(folder, name):
    """A program of this project, such as binary("federator", "federator")."""
    path = build_dir() / folder / name
    if not path.exists():
        raise MissingTool(f"{path} is not built")
    return str(path)


@functools.lru_cache(maxsize=None)
def pinned_tools():
    """{name: path} as tests/tools/build-tools --list prints them."""
    out = subprocess.run([ROOT / "tests/tools/build-tools", "--list"], check=True,
                         capture_output=True, text=True).stdout
    return dict(line.split(" ", 1) for line in out.splitlines())


def tool(name):
    """A pinned tool, such as "kube-apiserver", "kubectl-1.32", "etcd-3.6"."""
    path = pinned_tools()[name]
    if not os.path.exists(path):
        raise MissingTool(f"{path} is not built: run tests/tools/build-tools")
    return path


def system_tool(name):
    """A program of the distribution."""
    path = shutil.which(name)
    if path is None:
        raise MissingTool(f"{name} is not installed: run tests/tools/install")
    return path
