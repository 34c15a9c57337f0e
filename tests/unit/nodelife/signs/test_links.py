"""Health of links over time, the work that follows, and the parts of a plan."""

from __future__ import annotations

from pathlib import Path

import yaml

from rackwright.catalog.fault_table import builtin_faults
from rackwright.nodelife.signs.links import link_health, link_work
from rackwright.nodelife.signs.plan_parts import part_map, partitions_of
from rackwright.nodelife.signs.recordings import read_recording
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.resources import bundled

GOOD = "0 mlx5_0/1 symbol_error 0\n3600 mlx5_0/1 symbol_error 3\n"
BAD = "0 mlx5_1/1 link_downed 0\n60 mlx5_1/1 link_downed 2\n120 mlx5_1/1 optic_temperature_c 71\n"
DIM = "0 mlx5_2/1 optic_rx_power_dbm -1.0\n86400 mlx5_2/1 optic_rx_power_dbm -3.5\n"
ONCE = "0 mlx5_3/1 symbol_error 900\n"


def plan(folder: Path) -> Plan:
    place = bundled("templates") / "blueprints/onprem-h100/template-test.yaml"
    answers = yaml.safe_load(place.read_text())["cases"]["three-feeds"]
    return load_plan(
        write_blueprint(find_template("onprem-h100"), folder / "site", answers)[0]
    ).plan


def test_links_are_judged_by_the_table_and_by_their_light() -> None:
    samples = read_recording({"ports": GOOD + BAD + DIM + ONCE}).samples
    found = {one.port: one for one in link_health(builtin_faults(), {"dgx-01": samples})}
    assert {port: one.verdict for port, one in found.items()} == {
        "mlx5_1/1": "bad", "mlx5_2/1": "degraded", "mlx5_0/1": "good", "mlx5_3/1": "unknown",
    }  # fmt: skip
    assert found["mlx5_1/1"].reasons == ("port-flaps",)
    assert found["mlx5_1/1"].text == "2 flaps, 71 °C in 0.0 h"
    assert "received power fell by 2.5 dB" in found["mlx5_2/1"].text


def test_work_names_rack_unit_and_both_ends_of_the_cable(tmp_path: Path) -> None:
    made = plan(tmp_path)
    samples = read_recording({"ports": BAD.replace("mlx5_1/1", "2")}).samples
    (item,) = link_work(made, link_health(builtin_faults(), {"dgx-03": samples}))
    assert item.rack
    assert item.unit is not None
    assert "compute-leaf-2" in item.cable
    assert "2 flaps" in str(item)


def test_parts_of_a_plan_have_their_nodes_and_places(tmp_path: Path) -> None:
    parts = part_map(plan(tmp_path)).parts
    found = {(part.kind, part.name): (part.place, len(nodes)) for part, nodes in parts.items()}
    place, nodes = found["leaf", "one of compute-leaf-[1-8]"]  # a leaf for each rail
    assert place.startswith("n01 U7 to n0")
    assert nodes == 32
    assert found["rack", "c01"] == ("", 4)
    assert found["pdu", "one of c01/A1,c01/B1,c01/C1"] == ("c01", 4)
    assert {kind for kind, _ in found} == {"leaf", "rack", "pdu", "feed", "firmware"}
    assert {
        name: len(nodes) for name, nodes in partitions_of(plan(tmp_path / "again")).items()
    } == {"train": 32}
