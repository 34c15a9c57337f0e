"""Files of switches, those of a leaf and a spine of each system compared whole with ``tests/golden/switches``.

``UPDATE_GOLDEN=1`` writes them again; the difference is then for people to read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

import sonic_yang
from rackwright.errors import UsageError
from rackwright.render.generated import apply, compare, generate
from rackwright.render.names import render_names
from rackwright.render.switches.files import FILES, render_switches
from rackwright.render.switches.nvue import to_yaml
from switch_plans import GOLDEN, a_layer, fabric_of, for_system, plan_of

SYSTEMS = ("cumulus", "eos", "frr", "sonic")
SHOWN = ("compute-leaf-02", "compute-spine-01")


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_files_are_the_golden_ones(system: str, tmp_path: Path) -> None:
    made = render_switches(plan_of(tmp_path, for_system(system)))
    shown = {name: text for name, text in made.items() if name.startswith(SHOWN)}
    folder = GOLDEN / system
    if os.environ.get("UPDATE_GOLDEN"):
        for name, text in shown.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    kept = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert shown == kept


def test_every_system_of_the_blueprint_has_files() -> None:
    from rackwright.model.switching import SYSTEMS as KNOWN

    assert set(FILES) == set(KNOWN)


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_file_has_a_secret_and_each_names_its_switch(system: str, tmp_path: Path) -> None:
    made = render_switches(plan_of(tmp_path, for_system(system)))
    assert not [name for name, text in made.items() if "PRIVATE KEY" in text]
    for name, text in made.items():
        if name.endswith(("frr.conf", "config_db.json", "startup.yaml", "startup-config")):
            assert name.split("/")[0] in text


@pytest.mark.parametrize("system", ["cumulus", "nvos"])
def test_yaml_of_nvue_is_read_back_as_it_is_meant(system: str) -> None:
    tree = {
        "on": {"10.0.0.1/32": {}, "swp1s0": "up", "2x": {}},
        "vlan": {"101": {"vni": {"10101": {}}}},
        "text": "it's 'on': [a, b] #1",
        "enable": "on",
        "number": 4200000101,
    }
    assert yaml.safe_load(to_yaml(tree)) == [{"set": tree}]


def test_switch_without_marking_on_cumulus_uses_its_profile(tmp_path: Path) -> None:
    made = render_switches(plan_of(tmp_path, for_system("cumulus")))
    (tree,) = yaml.safe_load(made["compute-leaf-01/startup.yaml"])
    assert tree["set"]["qos"] == {"roce": {"enable": "on", "mode": "lossless"}}


def test_infiniband_switch_has_names_of_its_cables(tmp_path: Path) -> None:
    layer = a_layer()
    fabric = fabric_of(layer)
    fabric.update(
        technology="infiniband", switching={"system": "nvos", "ztp_url": "http://10.20.0.9/s"}
    )
    fabric.update(pfc=None, ecn=None, roce=None, mtu=None, segments=[])
    fabric["attached"] = [{"group": "dgx", "interfaces": 2}]
    for tier in fabric["tiers"]:
        tier.update(type="q3400-ra", split=1)
    del layer["sites"][0]["addresses"]["networks"][1]
    made = render_switches(plan_of(tmp_path, layer))
    (tree,) = yaml.safe_load(made["compute-leaf-01/startup.yaml"])
    assert tree["set"]["interface"]["sw1p1"] == {"description": "dgx-01 mlx5_0"}
    assert "router" not in tree["set"]
    ztp = json.loads(made["compute-leaf-01/ztp.json"])["ztp"]
    assert ztp["01-startup-file"]["url"] == "http://10.20.0.9/s/compute-leaf-01/startup.yaml"


def test_dhcp_tells_a_switch_where_its_first_file_is(tmp_path: Path) -> None:
    def options(system: str) -> dict[str, object]:
        text = render_names(plan_of(tmp_path, for_system(system)))["kea-subnet4.json"]
        (subnet,) = json.loads("\n".join(text.splitlines()[1:]))
        (one,) = subnet["reservations"][0]["option-data"]
        found: dict[str, object] = one
        return found

    assert options("sonic")["data"] == "http://10.20.0.9/switches/compute-leaf-01/ztp.json"
    assert options("eos")["data"] == "http://10.20.0.9/switches/compute-leaf-01/startup-config"
    cumulus = options("cumulus")
    assert cumulus["code"] == 239
    assert (
        bytes.fromhex(str(cumulus["data"])) == b"http://10.20.0.9/switches/compute-leaf-01/ztp.sh"
    )


def test_file_of_a_switch_that_goes_is_removed_and_that_of_others_is_not_touched(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    layer = for_system("sonic")
    apply(compare(generate(plan_of(tmp_path, layer)), out))
    foreign = out / "switches/compute-spine-02/notes.json"
    foreign.write_text("{}")
    fabric_of(layer)["tiers"][1].update(count=1)
    fabric_of(layer)["links"] = [{"name": "spines", "parallel": 4}]
    apply(compare(generate(plan_of(tmp_path, layer)), out))
    assert not (out / "switches/compute-spine-02/config_db.json").exists()
    assert foreign.exists()
    assert {one.action for one in compare(generate(plan_of(tmp_path, layer)), out)} == {"unchanged"}


def test_json_that_was_not_generated_is_not_overwritten(tmp_path: Path) -> None:
    files = generate(plan_of(tmp_path, for_system("sonic")))
    path = tmp_path / "out/switches/compute-leaf-01/config_db.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    with pytest.raises(UsageError, match="was not generated"):
        apply(compare(files, tmp_path / "out"))


def test_list_of_files_leads_to_no_file_outside(tmp_path: Path) -> None:
    outside = tmp_path / "keep.json"
    outside.write_text("{}")
    out = tmp_path / "out"
    files = generate(plan_of(tmp_path, for_system("sonic")))
    apply(compare(files, out))
    index = out / "switches/files"
    index.write_text(f"{index.read_text()}../../keep.json\n{outside}\n")
    apply(compare(files, out))
    assert outside.exists()


@pytest.mark.soak
def test_config_db_is_accepted_by_yanglint(tmp_path: Path) -> None:
    folder = sonic_yang.models()
    if folder is None:
        pytest.skip(
            f"no package has SONiC's YANG models: name a folder with them in {sonic_yang.VARIABLE}"
        )
    made = render_switches(plan_of(tmp_path, for_system("sonic")))
    for name in SHOWN:
        tables = json.loads(made[f"{name}/config_db.json"])
        assert not sonic_yang.lint(folder, tables, tmp_path)
        tables["VLAN_MEMBER"] = {"Vlan999|Ethernet0": {"tagging_mode": "untagged"}}
        assert "Vlan999" in sonic_yang.lint(folder, tables, tmp_path)
