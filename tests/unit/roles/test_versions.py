"""Versions that roles verify: what is installed must be the one that is wanted, up to the revision.

Each case is a host of one run of Ansible on this machine, with programs that answer what the case
says.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment, meta

from role_cases import failure_of, play_cases, write_program

ROLES = Path(__file__).parents[3] / "roles"
WANTED = "3.4.1"
SAME = ("3.4.1", "3.4.1-1", "1:3.4.1-1", "3.4.1-0ubuntu1~22.04", "3.4.1+cuda12.4", "3.4.1-1.el9")
OTHER = ("3.4.10", "3.4.10-1", "3.4", "3.4.1.2", "13.4.1", "3.4.11-1", "3x4.1", "")
PINNED = sorted(
    path.parents[1].name
    for path in ROLES.glob("*/tasks/install.yml")
    if "_chosen" in path.read_text(encoding="utf-8")
)
"""Roles that choose a version among those that a repository offers."""


def patterns(role: str) -> list[str]:
    """The patterns of versions in a role's variables, with every version the same."""
    environment = Environment()
    environment.filters["regex_escape"] = re.escape
    environment.filters["regex_replace"] = lambda text, this, that: re.sub(this, that, text)
    environment.filters["zip"] = zip
    found = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, str) and "map('regex_escape')" in value:  # one for each package
            wanted = [{"name": "rccl", "version": WANTED}]
            known = {f"{role}_wanted": wanted, f"{role}_names": ["rccl"]}
            expression = value.strip(" {}").replace("\\", r"\\")  # which Ansible does as well
            by_name = environment.compile_expression(expression)(known)
            assert by_name
            found.extend(by_name.values())
        elif isinstance(value, str) and "regex_escape" in value and value.startswith("^"):
            names = meta.find_undeclared_variables(environment.parse(value))
            kinds = ("libfabric", "plugin", "driver", "openmpi")
            known = {n: dict.fromkeys(kinds, WANTED) if n.endswith("s") else WANTED for n in names}
            found.append(environment.from_string(value).render(known))

    walk(yaml.safe_load((ROLES / role / "vars/main.yml").read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("role", PINNED)
def test_a_version_is_compared_up_to_the_revision(role: str) -> None:
    made = patterns(role)
    assert made
    begins = {"3.4.1.2"} if role == "pmix" else set()  # its version is how it begins, and says so
    for pattern in made:
        assert [version for version in SAME if not re.match(pattern, version)] == []
        assert {version for version in OTHER if re.match(pattern, version)} == begins


@pytest.mark.parametrize("role", PINNED)
def test_a_role_that_installs_a_version_verifies_it(role: str) -> None:
    text = (ROLES / role / "tasks/verify.yml").read_text(encoding="utf-8")
    variables = yaml.safe_load((ROLES / role / "vars/main.yml").read_text(encoding="utf-8"))
    if f"{role}_wrong" in text and f"{role}_wrong" in variables:  # what differs from the patterns
        text = variables[f"{role}_wrong"]
    assert re.search(rf"{role}\w*_patterns?\b", text)


ENROOT, PYXIS = ("enroot", "enroot+caps"), ("nvslurm-plugin-pyxis",)
TOOLKIT = (
    "libnvidia-container1",
    "libnvidia-container-tools",
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
)
CASES: dict[str, tuple[str, str, str, str, str]] = {
    # role, wanted, package version, what the program prints, what the role says
    "same": ("enroot", "3.4.1", "3.4.1-1", "3.4.1", ""),
    "with-revision": ("enroot", "3.4.1-1", "3.4.1-1", "3.4.1", ""),
    "shorter": ("enroot", "3.4.10", "3.4.1-1", "3.4.1", "enroot must be 3.4.10"),
    "longer": ("enroot", "3.4.1", "3.4.10-1", "3.4.10", "enroot must be 3.4.1;"),
    "other-revision": ("enroot", "3.4.1-2", "3.4.1-1", "3.4.1", "enroot must be 3.4.1-2"),
    "none": ("enroot", "3.4.1", "", "3.4.1", "enroot must be 3.4.1; installed are:"),
    "program-silent": ("enroot", "3.4.1", "3.4.1-1", "", "says '', wanted 3.4.1"),
    "program-older": ("enroot", "3.4.10", "3.4.10-1", "3.4.1", "says '3.4.1', wanted 3.4.10"),
    "toolkit": ("enroot", "3.4.1", "3.4.1-1", "3.4.1", ""),
    "toolkit-other": (
        "enroot",
        "3.4.1",
        "3.4.1-1",
        "3.4.1",
        "nvidia-container-toolkit must be 1.17.8; ",
    ),
    "toolkit-blind": (
        "enroot",
        "3.4.1",
        "3.4.1-1",
        "3.4.1",
        "finds no GPU for containers: no driver",
    ),
    "plugin": ("pyxis", "0.20.0", "0.20.0-1", "--container-image", ""),
    "plugin-other": ("pyxis", "0.20.0", "0.2-1", "--container-image", "pyxis must be 0.20.0"),
    "plugin-none": ("pyxis", "0.20.0", "", "--container-image", "pyxis must be 0.20.0"),
    "plugin-off": ("pyxis", "0.20.0", "0.20.0-1", "", "has no --container-image"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the roles say of each case."""
    folder = tmp_path_factory.mktemp("versions")
    programs = {
        "dpkg-query": 'printf "%b" "$CASE_INSTALLED"',
        "enroot": 'echo "$CASE_PRINTS"',
        "srun": 'echo "$CASE_PRINTS"',
        "nvidia-container-cli": '[ -z "$CASE_BLIND" ] || { echo "no driver" >&2; exit 1; }',
    }
    for name, text in programs.items():
        write_program(folder / name, text)
    hosts = {}
    for name, (role, wanted, version, prints, _) in CASES.items():
        packages = ENROOT if role == "enroot" else PYXIS
        lines = "".join(f"{package} | {version} | installed\\n" for package in packages)
        if name.startswith("toolkit"):
            version = "1.17.7-1" if name == "toolkit-other" else "1.17.8-1"
            lines += "".join(f"{package} | {version} | installed\\n" for package in TOOLKIT)
        hosts[name] = {
            "case_role": role,
            f"{role}_version": wanted,
            "case_installed": lines if version else "",
            "case_prints": prints,
            "case_blind": "yes" if name == "toolkit-blind" else "",
        }
        if name.startswith("toolkit"):
            hosts[name]["enroot_toolkit_version"] = "1.17.8"
    told = play_cases(
        folder,
        hosts,
        [
            {
                "ansible.builtin.include_role": {"name": "{{ case_role }}", "tasks_from": "verify"},
                "vars": {f"{role}_family": "Debian" for role in ("enroot", "pyxis")},
            }
        ],
        environment={
            "CASE_INSTALLED": "{{ case_installed }}",
            "CASE_PRINTS": "{{ case_prints }}",
            "CASE_BLIND": "{{ case_blind }}",
        },
    )
    return {name: failure_of(told, name) for name in CASES}


@pytest.mark.parametrize("case", CASES)
def test_a_prefix_and_an_empty_answer_are_not_the_version(said: dict[str, str], case: str) -> None:
    expected = CASES[case][-1]
    assert expected in said[case]
    assert bool(expected) == bool(said[case])
