"""The generated zones and subnets as BIND and Kea read them.

It needs ``named-checkconf`` and ``named-checkzone`` (Debian: bind9-utils), and ``kea-dhcp4``
(kea-dhcp4-server). Nothing is started and no port is opened: the programs only read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from factories import CATALOGUE, a_blueprint, a_hall, a_rack_group, a_row, a_site, some_nodes
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.names import render_names

FOLDERS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
"""Debian keeps servers where the PATH of others than root does not lead."""
FOUND = {
    name: shutil.which(name, path=FOLDERS)
    for name in ("named-checkconf", "named-checkzone", "kea-dhcp4")
}
MISSING = [name for name, path in FOUND.items() if path is None]
LAYER = Path(__file__).parents[2] / "golden" / "names" / "layer.yaml"
HOSTS = 12_500

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

OWN_KEA = """\
{"Dhcp4": {
  "interfaces-config": {"interfaces": []},
  "lease-database": {"type": "memfile", "persist": false},
  "client-classes": [
    {"name": "uefi", "test": "option[93].hex == 0x0007", "boot-file-name": "ipxe.efi"}
  ],
  "next-server": "10.20.0.9",
  "subnet4": <?include "kea-subnet4.json"?>
}}
"""
"""What a site writes itself: where Kea listens, where leases are, and what boots by network."""


def example() -> Plan:
    return load_plan(builtin_pack() / "fixtures" / "slurm.yaml", [LAYER]).plan


def large() -> Plan:
    """12,500 hosts and their management controllers, each with its Ethernet address."""
    width = len(str(HOSTS))

    def network(name: str, prefix: str, first: str, suffix: str, kind: str) -> dict[str, Any]:
        labels = [f"dgx-{number:0{width}d}{suffix}" for number in range(1, HOSTS + 1)]
        return {
            "name": name,
            "kind": kind,
            "prefix": prefix,
            "ranges": [{"of": "dgx", "first": first}],
            "macs": {
                label: f"02:00:{len(suffix):02x}:00:{number >> 8:02x}:{number & 255:02x}"
                for number, label in enumerate(labels)
            },
        }

    racks = a_hall(rows=[a_row(a_rack_group("c[0001-3125]"))])
    made = a_site(
        halls=[racks],
        node_groups=[some_nodes(count=HOSTS, racks="c[0001-3125]")],
        addresses={
            "domain": "big.example.com",
            "name_servers": [{"host": "ns", "address": "10.9.0.53"}],
            "networks": [
                network("mgmt", "10.64.0.0/18", "10.64.0.10", "", "management"),
                network("bmc", "10.65.0.0/18", "10.65.0.10", "-bmc", "bmc"),
            ],
        },
    )
    return expand(Blueprint.model_validate(a_blueprint(made)), CATALOGUE)


@pytest.fixture(scope="module", params=[example, large], ids=["example", "12,500 hosts"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("names")
    for name, text in render_names(request.param()).items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def run(program: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = FOUND[program]
    assert path is not None
    command = [path, *arguments]
    environment = {**os.environ, "KEA_LOCKFILE_DIR": "none", "KEA_PIDFILE_DIR": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def check_zones(folder: Path) -> subprocess.CompletedProcess[str]:
    """What BIND says of its configuration and of every zone that this names."""
    own = f'options {{ directory "{folder}"; }};\ninclude "{folder}/zones.conf";\n'
    (folder / "named.conf").write_text(own)
    return run("named-checkconf", "-z", str(folder / "named.conf"), folder=folder)


def test_bind_loads_every_zone(folder: Path) -> None:
    zones = sorted(path.name.removeprefix("db.") for path in folder.glob("db.*"))
    done = check_zones(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert sorted(line.split()[1].partition("/")[0] for line in lines) == zones
    assert all("loaded serial" in line for line in lines), done.stdout


def test_bind_finds_nothing_to_warn_of_in_a_zone(folder: Path) -> None:
    zones = [path.name.removeprefix("db.") for path in folder.glob("db.*")]
    assert len(zones) >= 6
    strict = ("-i", "local", "-k", "fail", "-n", "fail", "-r", "fail")  # and asks no server
    for zone in zones[:8]:
        done = run("named-checkzone", *strict, zone, f"db.{zone}", folder=folder)
        assert done.returncode == 0, done.stdout
        assert done.stdout.splitlines()[1:] == ["OK"], done.stdout


def test_kea_takes_the_subnets_into_a_configuration_of_the_site(folder: Path) -> None:
    (folder / "kea.conf").write_text(OWN_KEA)
    done = run("kea-dhcp4", "-t", "kea.conf", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ERROR" not in done.stdout + done.stderr


def test_invalid_files_are_refused_by_bind_and_kea(tmp_path: Path) -> None:
    for name, text in render_names(example()).items():
        (tmp_path / name).write_text(text.replace("10.20.0.232", "10.20.0.2320"))
    assert check_zones(tmp_path).returncode != 0
    (tmp_path / "kea.conf").write_text(OWN_KEA)
    assert run("kea-dhcp4", "-t", "kea.conf", folder=tmp_path).returncode != 0
