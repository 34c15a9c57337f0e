"""Slurm's packages: which hosts are refused, and what a real apt makes of what is held."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment

from collection_support import ROOT
from role_cases import failure_of, play_cases, role_tasks, write_program

ROLE = ROOT / "roles/slurm_config"
DEFAULTS: dict[str, Any] = yaml.safe_load((ROLE / "defaults/main.yml").read_text(encoding="utf-8"))
SCHEDMD: dict[str, Any] = {
    "slurm_config_packages": {"Debian": ["slurm-smd-client", "slurm-smd-slurmd"], "RedHat": []},
    "slurm_config_package_sources": ["slurm-smd"],
    "slurm_config_package_others": ["slurm-wlm"],
}
OWN: dict[str, Any] = {
    "slurm_config_packages": {"Debian": ["acme-slurm", "acme-slurmd"], "RedHat": []},
    "slurm_config_package_sources": [],
    "slurm_config_package_others": [],
}
OF_DEBIAN = "slurm-client: /usr/bin/scontrol\nslurmd: /usr/sbin/slurmd-wlm"
OF_SCHEDMD = "slurm-smd-client: /usr/bin/scontrol\nslurm-smd-slurmd:amd64: /usr/sbin/slurmd"
OFFERED = " slurm-client | 22.05.8-4 | http://mirror bookworm/main amd64 Packages"
NO_OWNER = "file /usr/bin/scontrol is not owned by any package"
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "as-chosen": ({}, OF_DEBIAN, ""),
    "as-chosen-of-schedmd": (SCHEDMD, OF_SCHEDMD, ""),
    "nothing-yet": ({"slurm_config_version": "22.05"}, "", ""),
    "nothing-yet-and-not-offered": (
        {"slurm_config_version": "24.11"},
        "",
        "offer slurm-client 22.05.8-4, and not 24.11",
    ),
    "another-version-is-there": ({"slurm_config_version": "24.11"}, OF_DEBIAN, ""),
    "of-schedmd-where-debian-s-are-wanted": (
        {},
        OF_SCHEDMD,
        "has Slurm from slurm-smd-client, slurm-smd-slurmd, and not from slurm-client, slurmctld",
    ),
    "of-debian-where-schedmd-s-are-wanted": (
        SCHEDMD,
        OF_DEBIAN,
        "Nothing is taken away unasked",
    ),
    "a-team-s-own": (OWN, "acme-slurm: /usr/bin/scontrol", ""),
    "of-debian-where-a-team-s-own-are-wanted": (
        OWN,
        OF_DEBIAN,
        "has Slurm from slurm-client, slurmd",
    ),
    "rpm": ({"case_family": "RedHat"}, f"slurm: /\n{NO_OWNER}", ""),
    "rpm-of-others": ({"case_family": "RedHat"}, "acme-slurm: /", "has Slurm from acme-slurm"),
}


def test_a_host_with_packages_of_others_is_refused_before_anything(tmp_path: Path) -> None:
    hosts = {}
    for name, (given, owners, _) in CASES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "owners").write_text(owners + "\n")
        for program in ("dpkg-query", "rpm"):
            write_program(folder / program, f"cat {folder}/owners")
        write_program(folder / "apt-cache", f"echo '{OFFERED}'")
        hosts[name] = {
            **DEFAULTS,
            "case_family": "Debian",
            **given,
            "case_folder": str(folder),
            "case_tasks": "packages",
        }
    tasks = role_tasks("slurm_config", ["packages"], {"slurm_config_family": "{{ case_family }}"})
    said = play_cases(tmp_path, hosts, tasks)
    for name, (_, _, reason) in CASES.items():
        told = " ".join(failure_of(said, name).split())
        assert reason in told if reason else told == "", (name, said)


def preferences(**given: Any) -> str:
    """The file of the role for a Debian host."""
    variables = {**DEFAULTS, **given}
    environment = Environment(trim_blocks=True, keep_trailing_newline=True)
    environment.filters |= {
        "comment": lambda text: f"# {text}",
        "regex_escape": re.escape,
        "regex_replace": lambda text, old, new: re.sub(old, new, text, count=1),
    }
    known = yaml.safe_load((ROLE / "vars/main.yml").read_text(encoding="utf-8"))
    made = {"ansible_managed": "Managed by Ansible", **variables}
    for name in ("pattern", "held_names", "refused_names"):
        expression = known[f"slurm_config_{name}"]
        if expression.startswith("{{"):
            compiled = environment.compile_expression(expression.strip()[2:-2].strip())
            made[f"slurm_config_{name}"] = compiled(**made)
        else:
            made[f"slurm_config_{name}"] = environment.from_string(expression).render(made)
    text = (ROLE / "templates/preferences.j2").read_text(encoding="utf-8")
    return environment.from_string(text).render(made)


OFFERS = (
    *(("slurmd", version, "slurm-wlm") for version in ("22.05.8-4", "24.11.5-2", "24.11.50-1", "26.05.5-1")),
    ("libslurm42", "24.11.5-2", "slurm-wlm"),
    ("libslurm42", "24.11.50-1", "slurm-wlm"),
    ("slurm-smd-slurmd", "24.11.5-1", "slurm-smd"),
    ("slurm-smd-slurmd", "25.05.1-1", "slurm-smd"),
    ("acme-slurmd", "24.11.5", "acme-slurm"),
    ("acme-slurmd", "25.05.0", "acme-slurm"),
    ("slurm", "0.4.4-1", "slurm"),
)  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for apt, with a list of what a repository offers."""
    folder = tmp_path_factory.mktemp("apt")
    stanzas = [
        f"Package: {name}\nVersion: {version}\nSource: {source}\nArchitecture: all\n"
        f"Maintainer: x <x@example.com>\nDescription: x\nFilename: ./{name}_{version}.deb\nSize: 1\n"
        f"SHA256: {'0' * 64}\n"
        for name, version, source in OFFERS
    ]
    (folder / "Packages").write_text("\n".join(stanzas))
    (folder / "sources.list").write_text(f"deb [trusted=yes] file:{folder} ./\n")
    (folder / "status").touch()
    for name in ("lists/partial", "cache", "preferences.d"):
        (folder / name).mkdir(parents=True)
    apt(folder, "apt-get", "update")
    return folder


def apt(folder: Path, *words: str) -> str:
    """What apt says, with nothing of this machine."""
    options = {
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": folder / "preferences.d",
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
        "APT::Architecture": "amd64",
    }
    program, *rest = words
    given = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    done = subprocess.run([program, *given, *rest], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def candidates(folder: Path, text: str) -> dict[str, str]:
    """By package what apt would install, with this file."""
    (folder / "preferences.d/90-rackwright-slurm").write_text(text)
    said = apt(folder, "apt-cache", "policy", *{name: None for name, _, _ in OFFERS})
    return dict(re.findall(r"^(\S+):\n.*\n  Candidate: (\S+)$", said, re.MULTILINE))


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="this machine has no apt")
def test_apt_installs_the_version_that_is_held_and_nothing_of_others(repository: Path) -> None:
    every = candidates(repository, "")
    assert every == {
        "slurmd": "26.05.5-1",
        "libslurm42": "24.11.50-1",
        "slurm-smd-slurmd": "25.05.1-1",
        "acme-slurmd": "25.05.0",
        "slurm": "0.4.4-1",
    }
    others = {"acme-slurmd": "25.05.0", "slurm": "0.4.4-1"}
    of_debian = candidates(repository, preferences(slurm_config_version="24.11.5"))
    assert of_debian == {
        "slurmd": "24.11.5-2",
        "libslurm42": "24.11.5-2",
        "slurm-smd-slurmd": "(none)",
        **others,
    }
    older = candidates(repository, preferences(slurm_config_version="22.05"))
    assert (older["slurmd"], older["libslurm42"]) == ("22.05.8-4", "(none)")
    of_schedmd = candidates(repository, preferences(**SCHEDMD, slurm_config_version="24.11"))
    assert of_schedmd == {
        "slurmd": "(none)",
        "libslurm42": "(none)",
        "slurm-smd-slurmd": "24.11.5-1",
        **others,
    }
    own = candidates(repository, preferences(**OWN, slurm_config_version="24.11"))
    assert own == {**every, "acme-slurmd": "24.11.5"}
    free = candidates(repository, preferences())
    assert free == {**every, "slurm-smd-slurmd": "(none)"}


def test_an_upgrade_holds_the_new_version_before_it_installs_it() -> None:
    playbook = ROOT / "stacks/baremetal/playbooks/slurm_upgrade.yml"
    (play,) = yaml.safe_load(playbook.read_text(encoding="utf-8"))
    (block,) = [task["block"] for task in play["tasks"] if "block" in task]
    names = [task["name"] for task in block]
    held = names.index("Hold the version that is wanted")
    assert held < names.index("Install the version that is wanted")
    assert (
        json.dumps(block[held]["vars"]) == '{"slurm_config_version": "{{ slurm_upgrade_version }}"}'
    )
