"""The workbook of a hall: its sheets agree with the plan to the piece, and no cell is a formula."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.workbook import Workbook

from cli_support import run_here
from rackwright.page import workbook
from rackwright.page.workbook import tables, write_workbook
from rackwright.plan.fabric.cables import wires
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.bom import bill_of_materials
from rackwright.render.sheets import Sheet

FIXTURES = sorted((builtin_pack() / "fixtures").glob("*.yaml"))
SHEETS = ["bill of materials", "elevations", "cables", "circuits", "addresses", "open questions"]
HALL = """apiVersion: rackwright/v1
name: atlas
derive: "1"
sites:
  - name: sjc1
    provider: onprem
    power: {{continuous_derate: 80 %, power_factor: 0.95, contract: 1100 kW, utility: 1200 kW, feeds: [A, B, C],
            feed_path: [{{kind: ups, modules: {{count: 6, capacity: 100 kW, spare: 1}}}},
                        {{kind: rpp, circuit: {{voltage: 415 V, current: 800 A, phases: 3}}}}],
            pdu: pdu-415v-60a-24c19, circuit: {{voltage: 415 V, current: 60 A, phases: 3}}}}
    halls: [{{name: hall-1, air: {{type: crah-spec-100kw, count: 9, inlet_temperature: 24 °C,
                                 temperature_rise: 14 K, ashrae_class: A2, containment: hot-aisle}}}}]
    racks: {{power_limit: {limit} kW}}
    node_groups: [{{name: dgx, role: compute, type: {type}, count: {count}}}]
    fabric: {{preset: rail-optimized, technology: infiniband, rate: 400 Gbps, oversubscription: 1,
              links: [{{name: nodes, cable: mms4x00-ns, fibre: OS2, length: {length} m}}]}}
"""


def rows_of(book: Workbook, title: str) -> list[dict[str, object]]:
    head, *rows = book[title].iter_rows(values_only=True)
    return [dict(zip(map(str, head), row, strict=True)) for row in rows]


def agrees(path: Path, folder: Path) -> None:
    """Assert that the sheets of a blueprint count what its plan has, each device and cable one by one."""
    loaded = load_plan(path)
    plan = loaded.plan
    write_workbook(folder / "hall.xlsx", tables(plan, ()))
    book = openpyxl.load_workbook(folder / "hall.xlsx")
    assert book.sheetnames == SHEETS
    bill = rows_of(book, "bill of materials")
    assert [(one["product"], one["quantity"]) for one in bill] == [
        (line.product, line.quantity) for line in bill_of_materials(plan)
    ]
    stood: Counter[str] = Counter()
    racks = 0
    circuits = 0
    for site in plan.onprem:
        for own in site.racks:
            for _ in own.names:
                racks += 1
                circuits += len(own.kind.circuits)
                stood.update(device.entry for device in own.kind.devices)
    elevations = rows_of(book, "elevations")
    assert sum(one["kind"] == "rack" for one in elevations) == racks
    placed = Counter(str(one["product"]) for one in elevations if one["kind"] != "rack")
    assert placed == stood
    kinds = {"node", "switch", "pdu", "shelf", "cdu", "manifold", "door"}
    bought: Counter[str] = Counter()
    for one in bill:
        if one["category"] in kinds and str(one["product"]) in stood:
            bought[str(one["product"])] += int(str(one["quantity"]))
    assert bought == {entry: stood[entry] for entry in bought}
    cables = rows_of(book, "cables")
    assert len(cables) == sum(
        sum(1 for _ in wires(fabric.layout))
        for site in plan.onprem
        for fabric in site.fabrics
        if fabric.layout is not None
    )
    labels = [(one["site"], one["from_label"]) for one in cables]
    assert len(set(labels)) == len(labels)
    assert all(one["from_label"] != one["to_label"] for one in cables)
    assert len(rows_of(book, "circuits")) == circuits
    addresses = rows_of(book, "addresses")
    assert len(addresses) == sum(1 for _ in plan.names.addresses())
    assert book["cables"].freeze_panes == "A2"
    cells = (cell for page in book for row in page.iter_rows() for cell in row)
    assert not [cell.coordinate for cell in cells if cell.data_type == "f"]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_sheets_of_a_fixture_agree_with_its_plan(path: Path, tmp_path: Path) -> None:
    agrees(path, tmp_path)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    count=st.integers(1, 70),
    limit=st.integers(20, 60),
    length=st.integers(1, 90),
    product=st.sampled_from(["dgx-h100", "dgx-h200"]),
)
def test_sheets_of_any_hall_agree_with_its_plan(
    tmp_path: Path, count: int, limit: int, length: int, product: str
) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(HALL.format(count=count, limit=limit, length=length, type=product), "utf-8")
    agrees(path, tmp_path)


def test_sheets_writes_one_workbook_with_the_open_questions(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(
        HALL.format(count=8, limit=45, length=20, type="dgx-h200"), "utf-8"
    )
    ended = run_here(tmp_path, "sheets", "b.yaml", "--output", "out/hall.xlsx", "--json")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["rows"]
    assert list(rows) == [f"out/hall.xlsx, {name}" for name in SHEETS]
    book = openpyxl.load_workbook(tmp_path / "out/hall.xlsx")
    asked = rows_of(book, "open questions")
    assert len(asked) == rows["out/hall.xlsx, open questions"] > 10
    assert {one["who can answer"] for one in asked} >= {"facility team", "you"}
    assert {one["answer"] for one in asked} == {None}
    assert not list((tmp_path / "out").glob(".*"))


def test_text_that_looks_like_a_formula_stays_text(tmp_path: Path) -> None:
    write_workbook(tmp_path / "x.xlsx", [Sheet("a", ("note",), iter([["=1+1"], ["+2"], [3.5]]))])
    page = openpyxl.load_workbook(tmp_path / "x.xlsx")["a"]
    assert [(cell.value, cell.data_type) for (cell,) in page["A2:A4"]] == [
        ("'=1+1", "s"), ("'+2", "s"), (3.5, "n"),
    ]  # fmt: skip


def test_sheet_of_more_rows_than_programs_read_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 4)
    counts = write_workbook(tmp_path / "x.xlsx", [Sheet("a", ("n",), ([n] for n in range(7)))])
    assert counts == {"a": 7}
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    assert [(page.title, page.max_row) for page in book] == [("a", 4), ("a 2", 4), ("a 3", 2)]


def test_workbook_without_its_extra_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.yaml").write_text(
        HALL.format(count=8, limit=45, length=20, type="dgx-h200"), "utf-8"
    )
    monkeypatch.delitem(sys.modules, "rackwright.page.workbook", raising=False)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    ended = run_here(tmp_path, "sheets", "b.yaml", "--output", "hall.xlsx")
    assert ended.code == 4
    assert "needs the Python package 'openpyxl'" in ended.err
    assert "[workbook]" in ended.err
