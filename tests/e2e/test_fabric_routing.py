"""A real opensm routes planned fabrics on ibsim."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fabric_factories import a_fabric, a_patch, in_racks, layout_of, three_tiers, top_of_rack
from rackwright.cli import main
from rackwright.errors import ExternalToolError
from rackwright.plan.fabric.discovered.differences import CableComparison, CableDifference
from rackwright.plan.fabric.discovered.dump import Discovery, read_discovery
from rackwright.plan.fabric.ibsim import network
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.ports import misplaced
from rackwright.plan.fabric.routes import complaints, loaded_engine
from rackwright.policy.packs.loader import builtin_pack
from rackwright.provision.fabric_simulator import TOOLS, discover, route, simulate
from rackwright_lab.system import wait_for

PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
MISSING = [tool for tool in (*TOOLS, "ibnetdiscover") if shutil.which(tool, path=PATH) is None]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces are made by root"),
]


@pytest.mark.parametrize("engine", ["ftree", "updn", "minhop"])
def test_a_scalable_unit_is_routed_evenly(engine: str) -> None:
    made = route(layout_of(), engine)
    assert (made.engine, made.balance, made.complaints) == (engine, 1.0, ())


def test_four_units_with_room_for_the_fabric_manager() -> None:
    made = route(layout_of(a_fabric(32, 16), nodes=127), "ftree")
    assert made.engine == "ftree"
    assert made.balance is not None
    assert made.balance <= 1.05


def test_three_tiers_are_a_fat_tree() -> None:
    made = route(layout_of(three_tiers(2), nodes=256), "ftree")
    assert (made.engine, made.complaints) == ("ftree", ())


def test_leaves_at_the_top_of_racks_are_a_fat_tree() -> None:
    made = route(in_racks(top_of_rack(8), racks=8), "ftree")
    assert (made.engine, made.complaints) == ("ftree", ())
    assert made.balance == 1.0


def misplaced_cables(layout: Layout, seen: Discovery) -> tuple[CableDifference, ...]:
    """Return the differences in place: links of the simulator are slower than any that is planned."""
    found = CableComparison(layout, seen).differences()
    return tuple(one for one in found if "the link runs at" not in one.message)


def test_hosts_that_were_cabled_leaf_after_leaf_are_told_in_a_top_of_rack_fabric() -> None:
    as_built = network(in_racks(top_of_rack(top_of_rack=False)))
    found = misplaced_cables(in_racks(), read_discovery(discover(as_built)))
    # The hosts of the first rack, and no others, are on the leaf and the ports that are meant.
    assert {difference.cable.partition(" ")[0] for difference in found} == {
        f"dgx-{n}" for n in range(3, 9)
    }


def test_swapped_rails_are_routed_without_a_word_and_found_by_the_plan() -> None:
    patches = [a_patch("dgx-01", 1, "compute-leaf-2", 1), a_patch("dgx-01", 2, "compute-leaf-1", 1)]
    layout = layout_of(a_fabric(patches=patches))
    made = route(layout, "ftree")
    assert (made.engine, made.complaints) == ("ftree", ())
    assert len(misplaced(layout)) == 2


def test_a_leaf_that_misses_a_spine_is_not_routed_as_a_fat_tree() -> None:
    net = network(layout_of())
    records = net.text.split("\n\n")
    for index, record in enumerate(records):
        for here, there in (("leaf", "spine"), ("spine", "leaf")):
            if f'Switch\t64 "compute-{here}-1"' in record:
                lost = rf'\n\[\d+\]\t"compute-{there}-1"\[\d+\]'
                records[index], count = re.subn(lost, "", record)
                assert count == 8
    broken = dataclasses.replace(net, text="\n\n".join(records))
    tables = simulate(broken, "ftree")
    assert loaded_engine(tables.log) == "minhop"
    assert complaints(tables.log)


def test_what_ibnetdiscover_sees_of_swapped_rails_is_told() -> None:
    patches = [a_patch("dgx-01", 1, "compute-leaf-2", 1), a_patch("dgx-01", 2, "compute-leaf-1", 1)]
    as_built = network(layout_of(a_fabric(patches=patches)))
    seen = read_discovery(discover(as_built))
    (found,) = misplaced_cables(layout_of(), seen)
    assert "swapped with dgx-01 port 2" in found.message
    assert misplaced_cables(layout_of(a_fabric(patches=patches)), seen) == ()


def test_the_record_is_printed_for_the_blueprint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fabric", "route", str(builtin_pack() / "fixtures" / "fabric.yaml")]) == 0
    printed = capsys.readouterr().out
    assert re.fullmatch(
        r"routing_run: \{date: \d{4}-\d\d-\d\d, engine: ftree, balance: 1\.\d{4}, "
        r'fabric: "[0-9a-f]{16}"\}\n',
        printed,
    )
    recorded = (builtin_pack() / "fixtures" / "fabric.yaml").read_text()
    assert printed.split("engine")[1].strip() in recorded


def test_two_cables_in_one_port_are_refused_by_the_simulator() -> None:
    fabric = a_fabric(patches=[a_patch("dgx-01", 1, "compute-leaf-1", 33)])
    with pytest.raises(ExternalToolError, match="ibsim refused the fabric"):
        route(layout_of(fabric), "ftree")


def test_an_engine_that_takes_too_long_is_ended() -> None:
    with pytest.raises(ExternalToolError, match="did not route the fabric within"):
        route(layout_of(), "ftree", timeout_s=0.001)


def test_no_simulator_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # other tests have simulators as well
    with ThreadPoolExecutor() as pool:
        routed = pool.submit(route, layout_of(), "ftree")
        assert wait_for(lambda: bool(simulators(tmp_path)) or routed.done(), 300, 0.01)
        assert not routed.done(), "it was seen while it ran"
        routed.result()
    with pytest.raises(ExternalToolError):
        route(layout_of(), "ftree", timeout_s=0.001)
    assert not simulators(tmp_path)


def simulators(folder: Path) -> set[str]:
    """Processes called ibsim that work below ``folder``, by their ids."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_simulator = (process / "comm").read_text().strip() == "ibsim"
            if is_simulator and (process / "cwd").readlink().is_relative_to(folder):
                found.add(process.name)
    return found
