"""``rackwright catalogue``: a team's products from the first line to a pull request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue_team import PRICES, SERVER, a_price, a_server, edit, write
from ci_team import git
from factories import a_blueprint, a_site, some_nodes
from rackwright.cli import main

CONFIG = Path("rackwright.yaml")


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The team's repository, which is the working directory."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main", ".")
    write(tmp_path, CONFIG, {"catalogue": [{"path": "hardware"}]})
    write(tmp_path, SERVER, a_server())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commit(top: Path) -> None:
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message=more")


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str, expect: int = 0) -> str:
        capsys.readouterr()
        code = main(["catalogue", *words])
        found = capsys.readouterr()
        assert code == expect, found.err
        return found.out + found.err

    return run


def test_list_says_whose_each_product_is(top: Path, said: Any) -> None:
    rows = json.loads(said("list", "--json"))["products"]
    own = [row for row in rows if row["own"]]
    assert [(row["id"], row["kind"], row["name"]) for row in own] == [
        ("acme-8x", "nodes", "Acme 8X")
    ]
    assert len(rows) > 80
    assert said("list", "--own").startswith("nodes          acme-8x ")
    assert "dgx-h100" in said("list", "--kind", "nodes")
    assert "dgx-h100" not in said("list", "--kind", "pdus")
    assert "did you mean 'nodes'?" in said("list", "--kind", "node", expect=2)
    (top / CONFIG).unlink()
    assert said("list", "--own", expect=3) == ""


def test_show_says_where_each_number_is_from_and_what_is_lacking(top: Path, said: Any) -> None:
    edit(top, SERVER, lambda server: server.pop("depth"))
    edit(top, SERVER, lambda server: server["power_supplies"].pop("full_performance"))
    text = said("show", "acme-8x")
    assert "NVIDIA DGX H100/H200 User Guide, introduction (2026-11-23, official)" in text
    shown = json.loads(said("show", "acme-8x", "--json"))
    assert {"depth", "power_supplies.full_performance"} <= set(shown["lacks"])
    (power,) = [one for one in shown["facts"] if one["field"] == "max_power"]
    assert (power["value"], power["confidence"]) == ("10200 W", "official")
    assert "did you mean 'acme-8x'?" in said("show", "acme-8", expect=2)


def test_new_begins_an_entry_that_test_refuses_until_it_is_filled_in(top: Path, said: Any) -> None:
    assert "wrote hardware/pdus/acme-pdu.yaml" in said("new", "pdus/acme-pdu")
    text = said("test", expect=2)
    assert "hardware/pdus/acme-pdu.yaml:1:1: 'voltage' is missing" in text
    path = top / "hardware/pdus/acme-pdu.yaml"
    filled = path.read_text().replace("vendor: ''", "vendor: Acme").replace("name: ''", "name: P1")
    filled = filled.replace("# voltage: {value: … V", "voltage: {value: 400 V")
    filled = filled.replace("# current: {value: … A", "current: {value: 32 A")
    filled = filled.replace("# phases: 1 | 3", "phases: 3").replace(
        "# wiring: wye | delta", "wiring: wye"
    )
    filled = filled.replace(
        "sources: {}", "sources:\n  sheet: {title: S, date: 2026-01-01, confidence: official}"
    )
    path.write_text(filled)
    assert "valid: 2 products" in said("test")
    assert "has the id 'acme-pdu'" in said("new", "pdus/acme-pdu", expect=2)
    assert "has the id 'dgx-h100'" in said("new", "nodes/dgx-h100", expect=2)
    for place in ("nodes", "nodes/", "nodes/A", "nodes/../x", "nodes/x/y"):
        assert "is not KIND/ID" in said("new", place, expect=2)
    assert "there is no kind of product 'node'" in said("new", "node/acme", expect=2)
    assert "list the folder in rackwright.yaml" in said("new", "nodes/acme-9", "--folder", "other")


def test_test_tells_every_mistake_of_products_and_prices(top: Path, said: Any) -> None:
    write(top, CONFIG, {"catalogue": [{"path": "hardware"}], "prices": [{"path": "prices"}]})
    write(top, PRICES, a_price())
    assert "valid: 1 product, 1 price list" in said("test")
    edit(top, SERVER, lambda server: server["max_power"].update(value="10 kg"))
    edit(top, PRICES, lambda listed: listed.update(currency="EUR"))
    text = said("test", expect=2)
    assert "hardware/nodes/acme-8x.yaml:" in text
    assert "prices/acme-capex.yaml:" in text
    assert "'kg' is not a unit of power" in said("test", "hardware", expect=2)


def test_diff_says_what_changes_and_what_a_pull_request_is_judged_by(top: Path, said: Any) -> None:
    write(top, CONFIG, {"catalogue": [{"path": "hardware"}], "prices": [{"path": "prices"}]})
    write(top, PRICES, a_price())
    commit(top)
    assert said("diff", "main") == "nothing changes\n"
    edit(top, SERVER, lambda server: server["max_power"].update(value="5 kW"))
    edit(top, SERVER, lambda server: server["weight"].update(value="200 kg"))
    write(top, Path("hardware/nodes/acme-9x.yaml"), {**a_server(), "id": "acme-9x"})
    write(top, PRICES, a_price(200_000))
    changes = json.loads(said("diff", "main", "--json"))["changes"]
    assert {(one["name"], one["field"], one["held"]) for one in changes} == {
        ("nodes/acme-8x", "max_power", True),
        ("nodes/acme-8x", "weight", False),
        ("nodes/acme-9x", "", False),
        ("acme-8x (capex, world)", "", True),
    }
    text = said("diff", "main")
    assert "nodes/acme-8x: max_power  10200 W (NVIDIA DGX" in text
    assert "(a pull request is judged by what it was)" in text
    assert "there is no revision 'nowhere'" in said("diff", "nowhere", expect=2)


def test_an_imported_server_is_checked_in_a_pull_request(
    top: Path, said: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """From NetBox's device type to a change that lowers a number and is judged by the base."""
    device = {
        "manufacturer": "Acme",
        "model": "A-1",
        "slug": "acme-a-1",
        "u_height": 8,
        "weight": 130,
        "weight_unit": "kg",
        "power-ports": [{"name": f"p{n}", "type": "iec-60320-c20"} for n in range(6)],
    }
    write(top, Path("device.yaml"), device)
    text = said(
        "import",
        "device.yaml",
        "--kind",
        "nodes",
        "--date",
        "2026-11-20",
        "--title",
        "Library at 7d1f",
    )
    assert "wrote hardware/nodes/acme-a-1.yaml" in text
    assert "max_power" in text
    made = yaml.safe_load((top / "hardware/nodes/acme-a-1.yaml").read_text())
    assert made["sources"]["netbox"] == {
        "title": "Library at 7d1f",
        "date": "2026-11-20",
        "confidence": "secondary",
    }
    assert "has the id 'acme-a-1'" in said("import", "device.yaml", "--kind", "nodes", expect=2)
    assert "is not NAME=ROLE" in said("import", "device.yaml", "--role", "x=y", expect=2)
    assert "is not a day" in said("import", "device.yaml", "--date", "today", expect=2)
    site = a_site(node_groups=[some_nodes(type="acme-a-1")])
    write(top, Path("blueprint.yaml"), a_blueprint(site))
    commit(top)
    git(top, "switch", "--quiet", "--create=change")
    path = Path("hardware/nodes/acme-a-1.yaml")
    edit(top, path, lambda server: server["weight"].update(value="13 kg"))
    capsys.readouterr()
    main(["check", "--json", "--base-ref=main", "blueprint.yaml"])
    notices = json.loads(capsys.readouterr().out)["hygiene"]["notices"]
    assert [one["id"] for one in notices if one["kind"] == "lowered"] == ["acme-a-1: weight"]
