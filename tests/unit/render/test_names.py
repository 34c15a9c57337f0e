"""Files of names and addresses, compared whole with those in ``tests/golden/names``.

``UPDATE_GOLDEN=1`` writes them anew; the difference is then for people to read.
"""

from __future__ import annotations

import json
import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.names import render_names

GOLDEN = Path(__file__).parents[2] / "golden" / "names"
FIXTURE = builtin_pack() / "fixtures" / "slurm.yaml"
LAYER = GOLDEN / "layer.yaml"


def a_plan(*layers: Path) -> Plan:
    return load_plan(FIXTURE, [LAYER, *layers]).plan


def test_the_files_are_the_golden_ones() -> None:
    made = dict(render_names(a_plan()))
    if os.environ.get("UPDATE_GOLDEN"):
        for path in GOLDEN.iterdir():
            if path != LAYER:
                path.unlink()
        for name, text in made.items():
            (GOLDEN / name).write_text(text, encoding="utf-8")
    kept = {p.name: p.read_text(encoding="utf-8") for p in GOLDEN.iterdir() if p != LAYER}
    assert made == kept


def with_sites(tmp_path: Path, *sites: dict[str, Any]) -> Plan:
    """The blueprint with more said of its site, and with copies of that under other names."""
    whole = yaml.safe_load(FIXTURE.read_text(encoding="utf-8"))
    own = yaml.safe_load(LAYER.read_text(encoding="utf-8"))["sites"][0]
    whole["sites"] = [{**whole["sites"][0], **own, **more} for more in sites]
    del whole["scheduler"]  # two sites with nodes of one name would be refused
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump(whole), encoding="utf-8")
    return load_plan(path).plan


def addresses(domain: str, prefix: str, first: str, **more: Any) -> dict[str, Any]:
    """A site's addresses with the name server outside of its hosts and DGX in one network."""
    ranges = [{"of": "dgx", "first": first}]
    network = {"name": "mgmt", "kind": "management", "prefix": prefix, "ranges": ranges}
    servers = [{"host": "ns", "address": "10.9.0.53"}]
    return {"domain": domain, "name_servers": servers, "networks": [network], **more}


def test_nothing_is_made_where_nothing_is_declared() -> None:
    assert render_names(load_plan(FIXTURE).plan) == {}


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert list(render_names(a_plan()).items()) == list(render_names(a_plan()).items())


def test_without_name_servers_there_are_no_zones(tmp_path: Path) -> None:
    declared = addresses("a.example.com", "10.0.0.0/25", "10.0.0.1", name_servers=[])
    assert set(render_names(with_sites(tmp_path, {"addresses": declared}))) == {"hosts"}


def records(text: str, kind: str) -> dict[str, str]:
    """What the lines of a kind in a zone file say, by their names."""
    rows = [line.split() for line in text.splitlines() if f" IN {kind} " in line]
    return {row[0]: row[3] for row in rows}


def test_reverse_lookup_returns_the_name() -> None:
    files = render_names(a_plan())
    forward = files["db.sjc1.example.com"]
    there = {**records(forward, "A"), **records(forward, "AAAA")}
    back = {
        f"{relative}.{name.removeprefix('db.')}": label.removesuffix(".sjc1.example.com.")
        for name, text in files.items()
        if name.endswith(".arpa")
        for relative, label in records(text, "PTR").items()
    }
    del there["ns"]  # it stands outside of the networks
    assert {ip_address(address).reverse_pointer: name for name, address in there.items()} == back
    assert len(back) == 2 + 64 + 16 + 8 + 2 + 64 + 64 + 64


def test_sites_of_one_reverse_zone_share_its_file(tmp_path: Path) -> None:
    files = render_names(
        with_sites(
            tmp_path,
            {"addresses": addresses("a.example.com", "10.0.0.0/25", "10.0.0.1", serial=7)},
            {
                "name": "far",
                "addresses": addresses("b.example.com", "10.0.0.128/25", "10.0.0.129", serial=9),
            },
        )
    )
    assert set(files) - {"hosts", "zones.conf"} == {
        "db.a.example.com",
        "db.b.example.com",
        "db.0.0.10.in-addr.arpa",
    }
    shared = files["db.0.0.10.in-addr.arpa"]
    assert "SOA ns.a.example.com. hostmaster.a.example.com. (9 " in shared
    assert "@ IN NS ns.a.example.com.\n@ IN NS ns.b.example.com.\n" in shared
    assert records(shared, "PTR")["129"] == "dgx-01.b.example.com."
    assert "10.0.0.1 dgx-01.a.example.com\n" in files["hosts"], "the short name would be of two"


@pytest.mark.parametrize(
    ("prefix", "first", "zone"),
    [
        ("10.0.0.0/8", "10.1.2.3", "10.in-addr.arpa"),
        ("10.16.0.0/12", "10.17.2.3", "17.10.in-addr.arpa"),
        ("10.17.0.0/16", "10.17.2.3", "17.10.in-addr.arpa"),
        ("10.17.0.0/17", "10.17.2.3", "2.17.10.in-addr.arpa"),
        ("10.17.2.0/24", "10.17.2.3", "2.17.10.in-addr.arpa"),
        ("10.17.2.0/25", "10.17.2.3", "2.17.10.in-addr.arpa"),
        ("fd00::/43", "fd00::3", "0.0.0.0.0.0.0.0.0.d.f.ip6.arpa"),
        ("fd00::/80", "fd00::3", "0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa"),
    ],
)
def test_a_reverse_zone_ends_inside_the_network(
    tmp_path: Path, prefix: str, first: str, zone: str
) -> None:
    plan = with_sites(tmp_path, {"addresses": addresses("a.example.com", prefix, first)})
    assert f"db.{zone}" in render_names(plan)


def test_only_networks_with_ethernet_addresses_are_for_dhcp(tmp_path: Path) -> None:
    declared = addresses("a.example.com", "10.0.0.0/25", "10.0.0.1")
    assert "kea-subnet4.json" not in render_names(with_sites(tmp_path, {"addresses": declared}))
    declared["networks"][0]["macs"] = {"dgx-02": "02:00:00:00:00:02"}
    text = render_names(with_sites(tmp_path, {"addresses": declared}))["kea-subnet4.json"]
    (subnet,) = json.loads(text.partition("\n")[2])
    assert subnet == {
        "id": 10 << 24,
        "subnet": "10.0.0.0/25",
        "option-data": [
            {"name": "domain-name-servers", "data": "10.9.0.53"},
            {"name": "domain-name", "data": "a.example.com"},
            {"name": "domain-search", "data": "a.example.com"},
        ],
        "reservations": [
            {"hw-address": "02:00:00:00:00:02", "ip-address": "10.0.0.2", "hostname": "dgx-02"}
        ],
    }
