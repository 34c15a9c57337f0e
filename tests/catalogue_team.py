"""A team's repository with products and prices of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from factories import a_blueprint, a_site, some_nodes
from policy_team import FILE, Team
from rackwright.catalog.loader import load_catalogue
from rackwright.model.hardware import Node

SERVER = Path("hardware/nodes/acme-8x.yaml")
PRICES = Path("prices/acme-capex.yaml")


def a_server(**changes: Any) -> dict[str, Any]:
    """The product that a team buys: like a DGX H100, by another name."""
    document = yaml.safe_load(load_catalogue().source_of(Node, "dgx-h100").read_text("utf-8"))
    made = {**document, "id": "acme-8x", "vendor": "Acme", "name": "Acme 8X", **changes}
    return {key: value for key, value in made.items() if value is not None}


def a_price(value: float = 250_000, **source: Any) -> dict[str, Any]:
    """What it costs."""
    sheet = {"title": "Offer 7", "date": "2026-10-01", "confidence": "official", **source}
    return {
        "id": "acme-capex",
        "offer": "capex",
        "region": "world",
        "currency": "USD",
        "unit": "unit",
        "prices": {"acme-8x": {"value": value, "source": "offer"}},
        "sources": {"offer": sheet},
    }


def an_entry(kind: str, name: str, numbers: Mapping[str, str]) -> dict[str, Any]:
    """A product with numbers of one data sheet."""
    sheet = {"title": "A data sheet", "date": "2026-10-01", "confidence": "official"}
    facts = {key: {"value": value, "source": "sheet"} for key, value in numbers.items()}
    named = {"kind": kind, "id": name, "vendor": "Acme", "name": "Acme One"}
    return {**named, **facts, "sources": {"sheet": sheet}}


def write(top: Path, path: Path, document: Any) -> None:
    """Write a document of a team."""
    whole = top / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text(yaml.safe_dump(document), encoding="utf-8")


def edit(top: Path, path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a document of a team."""
    document = yaml.safe_load((top / path).read_text("utf-8"))
    change(document)
    write(top, path, document)


def with_products(team: Team, **site: Any) -> Team:
    """A team whose blueprint is of its own servers, and which has no pack of policies."""
    write(team.top, Path("rackwright.yaml"), {"catalogue": [{"path": "hardware"}]})
    write(team.top, SERVER, a_server())
    whole = a_blueprint(a_site(node_groups=[some_nodes(type="acme-8x")], **site))
    write(team.top, FILE, whole)
    return team
