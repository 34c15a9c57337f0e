"""A repository with a server, PDU, CDU and prices of its own, from the first line to a pull request.

The server is imported from a device type of NetBox, PDU and CDU are begun by ``catalogue new``. By hand: four
servers of 10 kW in a rack are 40 kW; 8 kW of each go into the plates, 32 kW into the loop of two CDUs of 35 kW,
one of which may be lost; two feeds of 400 V and 63 A carry √3 × 400 × 63 × 0.8 × 0.95 = 33.17 kW each.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalogue_team import PRICES, edit, write
from ci_team import git
from factories import a_blueprint, a_hall, a_rack_group, a_row, a_site, some_feeds, some_nodes
from rackwright.cli import main

SERVER, PDU, CDU = (
    Path("hardware") / p
    for p in ("nodes/acme-a-1.yaml", "pdus/acme-pdu.yaml", "cdus/acme-cdu.yaml")
)
DEVICE = {
    "manufacturer": "Acme",
    "model": "A-1",
    "slug": "acme-a-1",
    "u_height": 4,
    "weight": 80,
    "weight_unit": "kg",
    "power-ports": [
        {"name": f"p{n}", "type": "iec-60320-c20", "maximum_draw": 3000} for n in range(4)
    ],
}
SHEET = {"sheet": {"title": "Acme sheets, rev. 3", "date": "2026-10-01", "confidence": "official"}}
OF_63_A = math.sqrt(3) * 400 * 63 * 0.8 * 0.95
RULES = ("RACK-002", "COOL-004", "PWR-001")


def fill_in(path: Path, **fields: Any) -> None:
    """Take the '#' before fields of a new entry, and write what the sheet says."""
    text = (
        path.read_text("utf-8")
        .replace("vendor: ''", "vendor: Acme")
        .replace("name: ''", "name: Own")
    )
    for name, value in fields.items():
        said = (
            value
            if isinstance(value, int) or value in {"wye", "delta"}
            else f"{{value: {value}, source: sheet}}"
        )
        text, found = re.subn(
            rf"^# {name}: .*$", f"{name}: {said}", text, count=1, flags=re.MULTILINE
        )
        assert found == 1, name
    path.write_text(text.replace("sources: {}", f"sources: {json.dumps(SHEET)}"), "utf-8")


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository, its products and its blueprint merged, on a branch with a change to come."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main", ".")
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        Path("rackwright.yaml"),
        {"catalogue": [{"path": "hardware"}], "prices": [{"path": "prices"}]},
    )
    write(tmp_path, Path("device.yaml"), DEVICE)
    for folder in ("hardware", "prices"):
        (tmp_path / folder).mkdir()
    assert (
        main(
            [
                "catalogue",
                "import",
                "device.yaml",
                "--kind",
                "nodes",
                "--date",
                "2026-11-20",
                "--title",
                "Library at 7d1f",
            ]
        )
        == 0
    )
    for product in ("pdus/acme-pdu", "cdus/acme-cdu"):
        assert main(["catalogue", "new", product]) == 0
    fill_in(tmp_path / PDU, voltage="400 V", current="63 A", phases=3, wiring="wye", height="0 U")
    fill_in(tmp_path / CDU, capacity="35 kW", flow="100 L/min", approach="4 K", power="1 kW")

    def known(server: dict[str, Any]) -> None:
        server["medium"] = "hybrid"
        server["max_power"] = {"value": "10 kW", "source": "sheet"}
        server["liquid"] = {"heat": {"value": "8 kW", "source": "sheet"}}
        server["sources"] |= SHEET

    edit(tmp_path, SERVER, known)
    prices = {
        "id": "acme-capex",
        "offer": "capex",
        "region": "world",
        "currency": "USD",
        "unit": "unit",
    }
    cost = {
        name: {"value": value, "source": "sheet"}
        for name, value in (("acme-a-1", 300_000), ("acme-cdu", 40_000))
    }
    write(tmp_path, PRICES, {**prices, "prices": cost, "sources": SHEET})
    circuit = {"voltage": "400 V", "current": "63 A", "phases": 3}
    cooling = {"mode": "liquid", "loop": "plates", "power_limit": "45 kW"}
    feeds = [{**feed, "circuit": circuit} for feed in some_feeds("AB", pdu="acme-pdu")]
    loop = {
        "name": "plates",
        "cdu": "acme-cdu",
        "count": 2,
        "fluid": "water",
        "temperature_rise": "10 K",
        "flow_limit": "200 L/min",
    }
    site = a_site(
        halls=[a_hall(rows=[a_row(a_rack_group(feeds=feeds, cooling=cooling))])],
        loops=[{**loop, "approach": "4 K"}],
        node_groups=[some_nodes(type="acme-a-1")],
    )
    write(tmp_path, Path("blueprint.yaml"), a_blueprint(site))
    assert main(["catalogue", "test"]) == 0
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message=products")
    git(tmp_path, "switch", "--quiet", "--create=change")
    return tmp_path


@pytest.fixture
def judged(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a pull request is told: values with their limits by rule and words, and what it lowers."""

    def run(*options: str) -> tuple[dict[tuple[str, str], tuple[float, float]], set[str]]:
        only = [f"--only={rule}" for rule in RULES]
        capsys.readouterr()
        main(["check", "--json", *options, *only, "--", "blueprint.yaml"])
        report = json.loads(capsys.readouterr().out)
        numbers = {
            (one["policy"], one["message"].split(" is ")[0]): (one["value"], one["limit"])
            for one in report["results"]
            if one["value"] is not None
        }
        notices = report["hygiene"]["notices"] if report["hygiene"] else []
        return numbers, {one["id"] for one in notices if one["kind"] == "lowered"}

    return run


POWER = ("RACK-002", "power with cooling mode 'liquid'")
HEAT = ("COOL-004", "heat into the loop, one CDU lost,")
LINE = ("PWR-001", "load implied by the busiest line")


def test_products_and_prices_of_its_own_are_judged_by_the_base(
    top: Path, judged: Callable[..., Any]
) -> None:
    """Eight supplies of a feed are 3, 3 and 2 on its lines: as 9 × 2.5 kW."""
    numbers, lowered = judged("--base-ref=main")
    assert numbers[POWER] == (40_000, 45_000)
    assert numbers[HEAT] == (32_000, 35_000)
    assert numbers[LINE] == (22_500, pytest.approx(OF_63_A))
    assert lowered == set()

    edit(top, SERVER, lambda server: server["max_power"].update(value="9 kW"))
    edit(top, PDU, lambda pdu: pdu["current"].update(value="32 A"))
    edit(top, CDU, lambda cdu: cdu["capacity"].update(value="70 kW"))
    edit(top, PRICES, lambda prices: prices["prices"]["acme-cdu"].update(value=10_000))
    alone, _ = judged()
    assert (alone[POWER][0], alone[HEAT][1], alone[LINE][0]) == (36_000, 70_000, 20_250)
    held, lowered = judged("--base-ref=main")
    assert held[POWER] == (40_000, 45_000)
    assert held[HEAT] == (32_000, 35_000)
    assert held[LINE] == (20_250, pytest.approx(OF_63_A * 32 / 63)), (
        "the change as it is written is worse here"
    )
    assert lowered == {"acme-a-1: max_power", "acme-cdu: capacity", "acme-cdu (capex, world)"}

    git(top, "commit", "--all", "--quiet", "--message=change")
    git(top, "branch", "--force", "main")
    merged, lowered = judged("--base-ref=main")
    assert (merged[POWER][0], merged[HEAT][1], lowered) == (36_000, 70_000, set())
