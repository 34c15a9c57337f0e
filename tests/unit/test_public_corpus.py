"""The table of the public corpus counts what is right, what is refused, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import public_corpus
import public_netbox
from fabric_factories import layout_of
from plan_dumps import ibnetdiscover
from public_corpus import _wrong, measure, table

SLURM = "ClusterName=c\nSlurmctldHost=ctl\nNodeName=n[1-4] CPUs=4{}\nPartitionName=p Nodes=ALL MaxTime=INFINITE\n"
SWITCH = (
    "manufacturer: Acme\nmodel: X32\nslug: acme-x32\nu_height: 1\ninterfaces:\n"
    + "".join(f"  - {{name: e{n}, type: 400gbase-x-qsfpdd}}\n" for n in range(1, 33))
    + "  - {name: s1, type: 10gbase-x-sfpp}\n  - {name: s2, type: 10gbase-x-sfpp}\n"
)
PDU = "manufacturer: Acme\nmodel: P\nslug: p\nu_height: 0\npower-outlets:\n  - {name: o1, type: iec-60320-c13}\n"
PANEL = "manufacturer: Acme\nmodel: PP\nslug: pp\nu_height: 1\nfront-ports:\n  - {name: f1, type: 8p8c}\n"


def test_files_are_counted_by_what_becomes_of_them(tmp_path: Path) -> None:
    for name, text in {
        "a/slurm.conf": SLURM.format(""),
        "b/slurm.conf": SLURM.format(" ThreadsPerCore=2RealMemory=4"),
        "x32.yaml": SWITCH,
        "pdu.yaml": PDU,
        "panel.yaml": PANEL,
        "seen.txt": ibnetdiscover(layout_of()),
        "notes.txt": "nothing of a hall\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    made = {
        path.name if path.name != "slurm.conf" else path.parent.name: one
        for path, one in measure([tmp_path]).items()
    }
    assert {name: one.result for name, one in made.items()} == {
        "a": "usable",
        "b": "refused",
        "x32.yaml": "right (switches)",
        "pdu.yaml": "right (pdus)",
        "panel.yaml": "refused as what it is",
        "seen.txt": "read",
    }
    assert "8 leaf, 4 spine; 32 hosts, 512 cables" in made["seen.txt"].detail
    assert "| slurm.conf | usable | 1 |" in table(measure([tmp_path]))


def test_slower_uplinks_and_outlets_are_wrong() -> None:
    interfaces = [{"name": f"e{n}", "type": "400gbase-x-osfp"} for n in range(8)]
    interfaces += [{"name": f"s{n}", "type": "10gbase-x-sfpp"} for n in range(2)]
    data = {
        "u_height": 1, "interfaces": interfaces, "power-outlets": [{"name": "o"}], "weight": 10, "weight_unit": "lb",
        "airflow": "front-to-rear", "is_full_depth": False, "power-ports": [{"type": "iec-60320-c14"}],
    }  # fmt: skip
    made = {
        "radix": 8, "uplinks": {"count": 2}, "height": {"value": "2 U"}, "weight": {"value": "10 kg"},
        "power_supplies": {"count": 2, "inlet": "C14"},
    }  # fmt: skip
    assert list(_wrong(data, "switches", made)) == [
        "a device with outlets became a product that draws power",
        "height {'value': '2 U'} of 1",
        "weight 10 kg of 10 lb",
        "air None of front-to-rear",
        "full depth None of False",
        "supplies {'count': 2, 'inlet': 'C14'} of 1 iec-60320-c14",
        "2 slower ports became uplinks",
    ]


EXPORT = (
    "Name,Status,Site,Location,Rack,Role,Manufacturer,Type,Position,Rack face\n"
    "ER1-9200L-03,Active,DC,H,R1,Access Switch,Acme,X32,40,Front\n"
    "n1,Active,DC,H,R1,Server,NVIDIA,DGX H100,2,Front\n"
    "panel,Active,DC,H,R1,Fiber Plant,Acme,PP,42,Front\n"
)


def test_export_with_its_mapping_file_has_tiers_by_role(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export, library = tmp_path / "netbox_devices.csv", tmp_path / "library"
    export.write_text(EXPORT)
    library.mkdir()
    (library / "x32.yaml").write_text(SWITCH)
    (library / "pp.yaml").write_text(PANEL)
    monkeypatch.setattr(public_corpus, "LIBRARY", [library])
    ((_, made),) = measure([export]).items()
    assert (made.result, made.detail) == (
        "usable with 3 flags", "3 devices, 2 in the blueprint, 3 flags; tiers: 1 access",
    )  # fmt: skip


def test_switch_in_another_tier_than_its_role_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = tmp_path / "netbox_devices.csv"
    export.write_text(EXPORT.replace("Acme,X32", "NVIDIA,SN2201"))
    monkeypatch.setattr(public_netbox, "_roles", lambda _: [("er1-9200l-03", "Core Switch")])
    ((_, made),) = measure([export]).items()
    assert made.result == "wrong"
    assert "'ER1-9200L-03' is 'Core Switch', and in the tier 'access'" in made.detail
