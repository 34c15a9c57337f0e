"""Sheets of a hall: every device, cable and circuit, and no cell that a program for tables runs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cli_support import run_here
from rackwright.plan.fabric.cables import wires
from rackwright.plan.load import load_plan
from rackwright.render.sheets import cell
from rackwright.resources import bundled

FABRIC = bundled("policies") / "fixtures" / "fabric.yaml"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    folder = tmp_path_factory.mktemp("sheets")
    ended = run_here(folder, "sheets", str(FABRIC), "--output", "out")
    assert ended.code == 0, ended.err
    found = {}
    for line in ended.out.splitlines():
        path, _, rows = line.partition(": ")
        with (folder / path).open(newline="", encoding="utf-8") as file:
            found[Path(path).stem] = list(csv.DictReader(file))
        assert rows == f"{len(found[Path(path).stem]):,} rows"
    return found


def test_elevations_hold_every_device(written: dict[str, list[dict[str, str]]]) -> None:
    (site,) = load_plan(FABRIC).plan.onprem
    rows = written["elevations"]
    racks = [row for row in rows if row["kind"] == "rack"]
    assert [row["rack"] for row in racks] == [name for rack in site.racks for name in rack.names]
    assert {(row["product"], row["weight_kg"]) for row in racks} == {("rack-48u", "150")}
    devices = sum(rack.count * len(rack.kind.devices) for rack in site.racks)
    assert len(rows) == devices + len(racks)
    (first,) = [row for row in rows if row["name"] == "dgx-01"]
    assert {key: first[key] for key in ("rack", "lowest_unit", "highest_unit", "supplies")} == {
        "rack": "c01", "lowest_unit": "1", "highest_unit": "8", "supplies": "A:2 B:2 C:2",
    }  # fmt: skip
    beside = [row for row in rows if not row["lowest_unit"] and row["kind"] != "rack"]
    assert {row["note"] for row in beside} == {"beside the rails"}


def test_cables_have_rack_unit_port_and_label_at_both_ends(
    written: dict[str, list[dict[str, str]]],
) -> None:
    (site,) = load_plan(FABRIC).plan.onprem
    rows = written["cables"]
    assert len(rows) == sum(sum(1 for _ in wires(one)) for one in site.layouts)
    for row in rows:
        for end in ("from", "to"):
            own, _, other = row[f"{end}_label"].partition(" / ")
            said = (row[f"{end}_{part}"] for part in ("rack", "unit", "device", "port"))
            assert own == "{} U{} {} {}".format(*said)
            assert row["to_label" if end == "from" else "from_label"] == f"{other} / {own}"
    used = [(row[f"{end}_device"], row[f"{end}_port"]) for row in rows for end in ("from", "to")]
    assert len(used) == len(set(used))
    assert rows[0]["from_port"] == "mlx5_0"
    assert float(rows[0]["length_m"]) > 3


def test_cables_have_labels_by_tia606_at_both_ends(
    written: dict[str, list[dict[str, str]]],
) -> None:
    """Space, cabinet, highest unit of the device from the bottom and port; the near end first."""
    rows = written["cables"]
    tops = {row["name"]: int(row["highest_unit"]) for row in written["elevations"] if row["name"]}
    halls = {row["rack"]: row["hall"] for row in written["elevations"]}
    for row in rows:
        near, far = (
            f"{halls[row[f'{end}_rack']]}.{row[f'{end}_rack']}-{tops[row[f'{end}_device']]:02}:"
            for end in ("from", "to")
        )
        assert row["from_tia606"].startswith(near)
        assert f"/{far}" in row["from_tia606"]
        assert row["to_tia606"] == "/".join(reversed(row["from_tia606"].split("/")))
    assert rows[0]["from_tia606"].startswith("hall-1.c01-08:mlx5_0/")
    labels = [row[key] for row in rows for key in ("from_tia606", "to_tia606")]
    assert len(set(labels)) == len(labels)


def test_circuits_add_up_to_their_sources(written: dict[str, list[dict[str, str]]]) -> None:
    (site,) = load_plan(FABRIC).plan.onprem
    for source in site.power.sources:
        own = [row for row in written["power"] if row["source"] == source.source]
        if own:
            assert sum(float(row["load_w"]) for row in own) == pytest.approx(source.load_w, abs=1)
    worst = [one for one in site.racks[0].kind.losses if one.feed == "A"]
    (row,) = [one for one in written["power"] if (one["rack"], one["feed"]) == ("c01", "A")]
    assert float(row["after_loss_w"]) == pytest.approx(max(one.load_w or 0 for one in worst))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("\t=1", "\\t=1"),
        ("\r\n=1", "\\r\\n=1"),
        ("c01", "c01"),
        (None, ""),
        (2.0, 2),
        (1.239, 1.24),
    ],
)
def test_no_cell_is_a_formula(value: str | float | None, shown: str | float) -> None:
    assert cell(value) == shown


def test_a_site_that_is_not_there_is_refused(tmp_path: Path) -> None:
    ended = run_here(tmp_path, "sheets", str(FABRIC), "--output", "out", "--site", "nowhere")
    ended.refused("there is no bare-metal site 'nowhere'")
    aws = str(FABRIC.parent / "aws.yaml")
    run_here(tmp_path, "sheets", aws, "--output", "out").refused("no bare-metal site")
