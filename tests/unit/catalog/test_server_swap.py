"""Each server instead of the DGX H100 of a hall that passes: a verdict, or the maker's missing numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rackwright.catalog.completeness import unanswered
from rackwright.catalog.loader import load_catalogue
from rackwright.model.hardware import Node
from rackwright.plan.missing import ProductField, fields_of
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.render.blueprints import find_template, write_blueprint
from template_support import example_answers

AIR = (
    "cisco-ucs-c880a-m8-b300", "cisco-ucs-c885a-m8-h200", "cisco-ucs-c885a-m8-mi300x", "dell-xe9680-h100", "dell-xe9680-h200",
    "dell-xe9680-mi300x", "dell-xe9780-b200", "dell-xe9780-b300",
    "hpe-xd670-h200", "hpe-xd685-h200", "lenovo-sr680a-v3-b200", "lenovo-sr680a-v3-h200", "lenovo-sr680a-v4-b300",
    "lenovo-sr685a-v3-mi300x", "supermicro-as-8125gs-tnmr2", "supermicro-as-8126gs-tnmr", "supermicro-sys-821ge-tnhr-h200",
    "supermicro-sys-822gs-nb3rt", "supermicro-sys-822gs-nbrt", "supermicro-sys-a22ga-nbrt",
)  # fmt: skip
LIQUID = (
    "dell-xe9680l-b200", "hpe-xd685-b200", "hpe-xd685-b300", "hpe-xd685-mi355x", "lenovo-sr780a-v3-b200",
    "supermicro-as-4126gs-nb3rt-lcc", "supermicro-as-4126gs-nmr-lcc", "supermicro-sys-421ge-nbrt-lcc",
    "supermicro-sys-422ga-nbrt-lcc",
)  # fmt: skip
COMPLETE = ("dgx-h100", "dgx-h200", "dgx-b300")
ORDERED = {"cpus", "sockets", "threads_per_core", "host_memory"}
"""Facts of an order, not of a product: processors and their memory are chosen."""
PORTS = "      attached: [{group: dgx, interfaces: 8}]\n"
"""Adapters of an order, where a server has slots and no adapters of its own."""


def hall(folder: Path, server: str) -> Path:
    """The hall of the template for DGX H100, with another server in its racks."""
    template = find_template("onprem-h100")
    (blueprint, *_) = write_blueprint(template, folder / "site", example_answers(template))
    text = blueprint.read_text("utf-8").replace("dgx-h100", server)
    ports = load_catalogue().get(Node, server).ports
    if not any(port.role == "compute" for port in ports):
        text = text.replace("      preset:", PORTS + "      preset:", 1)
    blueprint.write_text(text, encoding="utf-8")
    return blueprint


def unknown_fields(blueprint: Path) -> Iterator[ProductField]:
    """Every field of a product that an unknown result names."""
    for result in check_blueprint(blueprint).results:
        if result.outcome is Outcome.UNKNOWN:
            assert result.missing, f"{result.policy} does not say what is missing"
            for missing in result.missing:
                yield from (one for one in fields_of(missing) if isinstance(one, ProductField))


def test_the_servers_of_five_makers_are_at_least_18() -> None:
    makers = {"Cisco", "Dell", "HPE", "Lenovo", "Supermicro"}
    nodes = [load_catalogue().get(Node, one) for one in load_catalogue().ids(Node)]
    sold = {node.id for node in nodes if node.vendor in makers and node.accelerators}
    assert len(sold & {*AIR, *LIQUID}) >= 18
    assert {*AIR, *LIQUID} <= sold


@pytest.mark.parametrize("server", COMPLETE)
def test_a_complete_server_has_a_verdict_without_a_typed_fact(server: str, tmp_path: Path) -> None:
    assert unanswered(load_catalogue().get(Node, server)) == ()
    assert [one for one in unknown_fields(hall(tmp_path, server)) if one.product == server] == []


@pytest.mark.parametrize("server", AIR + LIQUID)
def test_only_missing_numbers_of_the_maker_are_unknown(server: str, tmp_path: Path) -> None:
    """Dell's XE9680 left 93 results unknown, Supermicro's A22GA 103."""
    found = set(unknown_fields(hall(tmp_path, server)))
    lacking = set(unanswered(load_catalogue().get(Node, server)))
    assert {one.product for one in found} == {server}
    follows = {"airflow"} if "max_power" in lacking else set()  # from the heat of its power
    assert {one.name for one in found} - lacking <= ORDERED | follows
