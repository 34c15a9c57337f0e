"""Packages that the roles install, and whether the distribution's own index has them.

    python tests/role_packages.py                       Debian, from the index of this machine's apt
    python tests/role_packages.py REPOSITORY KEYRING    Ubuntu, from a repository and its keys

Both write ``tests/roles/packages.json`` anew.

What is asked for is read from the files of the roles. The index is kept as the few names that are needed,
with its source and its date, so that a test compares them wherever it runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tests/roles/packages.json"
DEBIAN = "debian-12"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
UBUNTU: Mapping[str, str] = {"ubuntu-22.04": "jammy", "ubuntu-24.04": "noble"}
RENAMED: Mapping[str, Mapping[str, str]] = {
    "debian-13": {"libpmix2": "libpmix2t64"},
    "ubuntu-24.04": {"libpmix2": "libpmix2t64"},
}
"""Packages that a system has under another name, which the role that installs them takes there."""
FAMILIES = {"Debian": "dnf", "RedHat": "apt"}
"""Families with the module of Ansible that is for the other one."""
_NAMED = re.compile(r"_(packages?|held)$")
_INSTALLERS = ("package", "apt", "dnf")
_ONE_NAME = re.compile(r"^[a-z0-9][a-z0-9.+-]+$")
_OFFER = re.compile(r"^ *(\S+) +\| +(\S+) +\| +(\S+) ([^/\s]+)/(\S+) \S+ Packages$", re.MULTILINE)

OTHERS: Mapping[str, str] = {
    "amd-smi-lib": "AMD's repositories of its driver and of ROCm",
    "amdgpu-dkms": "AMD's repositories of its driver and of ROCm",
    "amdgpu-exporter": "AMD's repository of its exporter",
    "aws-neuronx-*": "AWS's repository of Neuron",
    "gdrdrv-dkms": "NVIDIA's CUDA repository, or a build of GDRCopy",
    "libgdrapi": "NVIDIA's CUDA repository, or a build of GDRCopy",
    "rccl": "AMD's repositories of its driver and of ROCm",
    "rocm": "AMD's repositories of its driver and of ROCm",
    "cuda-toolkit-*": "NVIDIA's CUDA repository",
    "datacenter-gpu-manager-*": "NVIDIA's CUDA repository",
    "libnccl*": "NVIDIA's CUDA repository",
    "nvidia-*": "NVIDIA's CUDA repository",
    "nvlsm": "NVIDIA's CUDA repository",
    "doca-ofed": "NVIDIA's DOCA repository",
    "mlnx-ofed-kernel-*": "NVIDIA's DOCA repository",
    "efa": "the EFA installer",
    "libfabric1-aws": "the EFA installer",
    "libfabric-aws-bin": "the EFA installer",
    "libnccl-ofi": "the EFA installer",
    "openmpi50-aws": "the EFA installer",
    "enroot": "enroot's releases",
    "enroot+caps": "enroot's releases",
    "libnvidia-container*": "NVIDIA's repository of its container toolkit",
    "nvslurm-plugin-pyxis": "NVIDIA's repository of Slurm's plugins",
    "grafana": "Grafana's repository",
    "lustre-*": "Lustre's releases, or a team's own build",
    "nccl-tests": "a team's own build; the role builds it where there is none",
    "sackd": "a newer Slurm, from 23.11 on: Debian 13, Ubuntu 24.04 or a team's own build",
}
"""Packages for Debian that its own index is not to have, by name or how it begins, and who has them."""

UNCOMPARED: Mapping[str, frozenset[str]] = {system: frozenset({"rsync"}) for system in UBUNTU}
"""Packages that roles ask for since the index of a system was read, which was not at hand again."""

UNREAD: Mapping[str, str] = {
    "el-9": "neither the index of a distribution of EL 9 nor that of EPEL was read",
    "amazon-linux-2023": "Amazon's index was not read",
    "dgx-os-6": "neither Canonical's index nor NVIDIA's was read",
    "dgx-os-7": "neither Canonical's index nor NVIDIA's was read",
}
"""Systems whose names of packages nothing has been compared with, and why."""


def names_of(family: str) -> dict[str, set[str]]:
    """Packages that roles ask for on a family of distributions, with the roles that do.

    A name of which a part follows from a variable has ``*`` there.
    """
    found: dict[str, set[str]] = {}
    for role in sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir()):
        for name in {*_of_variables(role, family), *_of_tasks(role, family)}:
            found.setdefault(name, set()).add(role.name)
    return found


def _of_variables(role: Path, family: str) -> Iterator[str]:
    for part in ("defaults", "vars"):
        path = role / part / "main.yml"
        for name, value in (_read(path) if path.is_file() else {}).items():
            if _NAMED.search(name):
                yield from _leaves(value, family)


def _leaves(value: Any, family: str) -> Iterator[str]:
    """Texts of a variable that are for every family or for this one."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == family or key not in {*FAMILIES, "Ubuntu"}:
                yield from _leaves(inner, family)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, family)
    elif isinstance(value, str) and "*" not in value:  # a query of what is installed has one
        name = re.sub(r"{{.*?}}", "*", value)
        if _ONE_NAME.match(name.replace("*", "0")):
            yield name


def _of_tasks(role: Path, family: str) -> Iterator[str]:
    for path in sorted((role / "tasks").glob("*.yml")):
        for task in _read(path) or ():
            for module in set(_INSTALLERS) - {FAMILIES[family]}:
                asked = task.get(f"ansible.builtin.{module}", {}).get("name", ())
                listed = [asked] if isinstance(asked, str) else asked
                yield from (text for text in listed if _ONE_NAME.match(text))


def asked_of(system: str) -> set[str]:
    """Whole names that roles ask a system of Debian's family for."""
    renamed = RENAMED.get(system, {})
    return {renamed.get(name, name) for name in names_of("Debian") if "*" not in name}


def elsewhere(name: str) -> str | None:
    """Who has a package that the distribution is not to have."""
    for pattern, owner in OTHERS.items():
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return owner
    return None


def kept() -> dict[str, Any]:
    """What was read from indexes, by the id of the system."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def read_debian() -> dict[str, Any]:
    """The newest version of each needed package in the index that apt has, with source and date.

    Raises:
        OSError: there is no apt.
        subprocess.CalledProcessError: it ends with an error.
    """
    return _read_index(DEBIAN, "bookworm", Path("/var/lib/apt/lists"))


def read_debian_13() -> dict[str, Any]:
    """The same for Debian 13, from the repositories of this machine's Debian 12.

    Raises:
        OSError: there is no apt.
        subprocess.CalledProcessError: it ends with an error.
    """
    form = "$(REPO_URI) $(CODENAME) $(CREATED_BY)"
    words = ["apt-get", "indextargets", "--format", form]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    lines = [
        f"deb [signed-by={KEYRING}] {uri} {suite.replace('bookworm', 'trixie')} main\n"
        for uri, suite, kind in map(str.split, told.splitlines())
        if kind == "Packages" and suite.startswith("bookworm")
    ]
    with _apart(lines) as (lists, options):
        return _read_index("debian-13", "trixie", lists, options)


def read_ubuntu(repository: str, keyring: Path) -> dict[str, Any]:
    """The same for each Ubuntu, from its own repository, with an apt that has nothing of this machine.

    Raises:
        OSError: there is no apt.
        subprocess.CalledProcessError: it ends with an error.
    """
    lines = [
        f"deb [signed-by={keyring.resolve()}] {repository} {suite}{part} main universe\n"
        for suite in UBUNTU.values()
        for part in ("", "-updates", "-security")
    ]
    with _apart(lines) as (lists, options):
        made = {one: _read_index(one, suite, lists, options) for one, suite in UBUNTU.items()}
    for found in made.values():
        found["sources"] = [source.replace(repository, "Ubuntu") for source in found["sources"]]
    return made


@contextmanager
def _apart(sources: Iterable[str]) -> Iterator[tuple[Path, list[str]]]:
    """Lists of packages, and the words for apt that has these sources and nothing of this machine."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        lists = folder / "lists"
        (lists / "partial").mkdir(parents=True)
        (folder / "sources").write_text("".join(sources))
        options = {
            "Dir::Etc::sourcelist": folder / "sources",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::lists": lists,
            "Dir::Cache": folder,
            "APT::Sandbox::User": "root",
        }
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        subprocess.run(["apt-get", *words, "update", "-qq"], check=True)
        yield lists, words


def _read_index(
    system: str, release: str, lists: Path, options: Sequence[str] = ()
) -> dict[str, Any]:
    command = ["apt-cache", *options, "madison", *sorted(asked_of(system))]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    versions: dict[str, str] = {}
    sources, suites = set(), set()
    for name, version, site, suite, component in _OFFER.findall(told):
        if suite.startswith(release):
            versions.setdefault(name, version)  # the newest comes first
            sources.add(f"{site} {suite} {component}")
            suites.add(suite)
    dates = {}
    for path in lists.glob("*_InRelease"):
        text = path.read_text(encoding="utf-8", errors="replace")
        date = re.search(r"^Date: (.+)$", text, re.MULTILINE)
        suite = path.name.rpartition("_dists_")[2].removesuffix("_InRelease")
        if date and suite in suites:
            dates[suite] = date[1]
    return {"sources": sorted(sources), "dates": dates, "packages": dict(sorted(versions.items()))}


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def main() -> int:
    """Write what is kept."""
    arguments = sys.argv[1:]
    if arguments:
        repository, keyring = arguments
        made = kept() | read_ubuntu(repository, Path(keyring))
    else:
        made = kept() | {DEBIAN: read_debian(), "debian-13": read_debian_13()}
    for found in made.values():  # which mirror this machine asks is nobody's concern
        found["sources"] = [re.sub(r"^\S+/(\S+)", r"\1", source) for source in found["sources"]]
    KEPT.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
