"""Run unit tests in another environment than that of `make test`.

python tests/other_environments.py oldest-dependencies   the oldest releases that are admitted
python tests/other_environments.py next-python           Debian 13 and its Python, as root only

They are those of `portable` in suites.toml; with the word `whole` they are all.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rackwright.errors import ExternalToolError
from rackwright.files import cache_folder
from rackwright.locks import turn
from rackwright_lab.base import clear, machine_repository
from rackwright_lab.system import run
from suites import ROOT, read_portable, read_suites

TOOLS = ("test", "release", "dev")
"""Extras that users do not install."""
SUITE = "trixie"
PACKAGES = ("ca-certificates", "git", "openssh-client", "patch", "python3", "python3-venv")
QUIET = ("--quiet", "--disable-pip-version-check", "--no-compile")
INSIDE = """\
mount --bind "$1" "$1"
mount --bind "$2" "$1/mnt"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
  cp --dereference "$file" "$1$file"
done
exec chroot "$1" /usr/bin/python3 -c "$3"
"""
"""Mounts what a root file system needs, in a namespace of its own, and goes there.

It is mounted on itself, since a root that is no mount cannot be made private by what runs in it.
"""

UNIT_TESTS = """\
import os, subprocess, sys
os.chdir("/mnt")
print(sys.version, flush=True)
python = "/opt/tests/bin/python"
if not os.path.exists("/opt/tests/bin/pip"):  # made last: a run may have been killed before
    subprocess.run([sys.executable, "-m", "venv", "--clear", "/opt/tests"], check=True)
install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
subprocess.run([*install, "-c", CONSTRAINTS, "--editable", ".[all,test]"], check=True)
sys.exit(subprocess.run([python, "-m", "pytest", *WORDS]).returncode)
"""


def oldest_dependencies() -> int:
    """Run the unit tests with the oldest direct dependencies; the exit code of pytest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    users = [line for name, lines in extras.items() if name not in TOOLS for line in lines]
    pins = oldest([*project["dependencies"], *users])
    key = hashlib.sha256("\n".join([*pins, *extras["test"]]).encode()).hexdigest()[:12]
    folder = ROOT / ".rackwright/oldest"
    python = folder / "bin/python"
    if not (folder / key).exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        (folder / "constraints.txt").write_text("\n".join(pins))
        install = (python, "-m", "pip", "install", *QUIET, "-c", folder / "constraints.txt")
        subprocess.run([*install, "--editable", ".[all,test]"], cwd=ROOT, check=True)
        (folder / key).touch()
    return subprocess.run([python, "-m", "pytest", *_words()], cwd=ROOT, check=False).returncode


def oldest(requirements: list[str]) -> list[str]:
    """The oldest release that each of ``requirements`` admits, as constraints for pip."""
    found = {}
    for requirement in map(Requirement, requirements):
        lowest = [one.version for one in requirement.specifier if one.operator == ">="]
        if lowest:
            found[requirement.name] = f"{requirement.name}=={lowest[0]}"
    return sorted(found.values())


def next_python() -> int:
    """Run the unit tests on Debian 13; the exit code of pytest, or 0 where it cannot be had."""
    if os.geteuid() != 0:
        print("left out: to make a root file system needs root")
        return 0
    constraints = ROOT / ".rackwright/next-python.txt"
    constraints.parent.mkdir(exist_ok=True)
    constraints.write_text("\n".join(installed()))
    key = hashlib.sha256("\n".join(PACKAGES).encode()).hexdigest()[:12]
    folder = cache_folder("tests") / f"{SUITE}-{key}"
    with turn(folder.with_suffix(".lock")):
        if not folder.exists():
            _debootstrap(folder)
        inside = Path("/mnt") / constraints.relative_to(ROOT)
        code = f"WORDS = {_words()!r}\nCONSTRAINTS = {str(inside)!r}\n{UNIT_TESTS}"
        unshare = ("unshare", "--mount", "--propagation", "private", "sh", "-euc", INSIDE, "sh")
        command = (*unshare, str(folder), str(ROOT), code)
        environment = {**os.environ, "HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        return subprocess.run(command, env=environment, check=False).returncode


def installed() -> list[str]:
    """Return the releases of this environment, as constraints for pip.

    Without them pip tries older releases of one package after the other, and Python 3.13 builds few.
    """
    found = {
        canonicalize_name(one.name): one.version
        for one in distributions()
        if canonicalize_name(one.name) != "rackwright"  # installed from the folder
    }
    return sorted(f"{name}=={version}" for name, version in found.items())


def _debootstrap(folder: Path) -> None:
    repository = machine_repository().uri
    unfinished = folder.with_suffix(".new")
    clear(unfinished)
    print(f"installing Debian {SUITE}: about two minutes, once", flush=True)
    run(
        *("unshare", "--mount", "--propagation", "private", "debootstrap", "--variant=minbase"),
        *(f"--include={','.join(PACKAGES)}", SUITE, unfinished, repository),
        timeout_s=1800,
    )
    unfinished.rename(folder)


def _words() -> list[str]:
    """Return the arguments of pytest."""
    paths = list(read_portable())
    if "whole" in sys.argv[2:]:
        paths = [path for suite in read_suites() if suite.always for path in suite.paths]
    options = ("-n2", "--dist", "loadfile", "-q", "-p", "no:cacheprovider")
    return [*options, "-m", "not e2e and not bench", *paths]


if __name__ == "__main__":
    try:
        sys.exit(
            {"oldest-dependencies": oldest_dependencies, "next-python": next_python}[sys.argv[1]]()
        )
    except (ExternalToolError, subprocess.CalledProcessError) as error:
        sys.exit(f"the environment cannot be made: {error}")
