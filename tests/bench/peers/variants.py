"""The bench's cluster of 12,500 nodes: as it is, and with every one of the twenty rules broken."""

from __future__ import annotations

from typing import Any

from bench.test_check import NODES_PER_RACK, RACKS_PER_ROW, cluster
from rackwright.model.names import compress_hostlist, expand_hostlist

RACKS = 3125
FIVES = 15


def clean() -> dict[str, Any]:
    """3,125 racks of four nodes."""
    return cluster(RACKS)


def broken() -> dict[str, Any]:
    """The same cluster, in which each of the twenty rules fails at least once.

    Most rows stay as they were; one hall fails as a whole, because a floor is weak for all of it.
    """
    document = cluster(RACKS)
    (site,) = document["sites"]
    rows = [row for hall in site["halls"] for row in hall["rows"]]
    groups = [group for row in rows for group in row["rack_groups"]]
    names = [expand_hostlist(group["racks"]) for group in groups]
    _break_sites(site, rows)
    _break_racks(groups)
    site["node_groups"] = _nodes(names)
    return document


def _break_sites(site: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    halls, power = site["halls"], site["power"]
    power["contract"] = "100 MW"
    halls[0]["power_limit"] = "20 MW"
    halls[1]["air"]["count"] = 250
    halls[2]["air"]["inlet_temperature"] = "31 °C"
    halls[3]["floor"]["uniform"] = "400 kg/m2"
    rows[11]["power_limit"] = "700 kW"
    # Row 10 has racks whose PDUs draw unevenly from the lines, which matters where those carry little.
    for rpp in (one for one in power["sources"] if one["name"] in {"rpp-a-10", "rpp-a-12"}):
        rpp["circuit"]["current"] = "400 A"
    # Row 3 has two feeds, and no UPS and panel of a third that would feed nothing.
    power["sources"] = [one for one in power["sources"] if not one["name"].endswith("-c-3")]


def _break_racks(groups: list[dict[str, Any]]) -> None:
    def circuit(row: int, volts: int, amperes: int) -> None:
        groups[row]["feeds"][0]["circuit"] = {
            "voltage": f"{volts} V",
            "current": f"{amperes} A",
            "phases": 3,
        }

    groups[0]["cooling"]["power_limit"] = "40 kW"
    groups[1]["blanking"] = False
    groups[2]["cable_allowance"] = "400 mm"
    groups[3]["feeds"].pop()  # two feeds: the loss of one takes three of six supplies
    circuit(4, 415, 20)
    circuit(5, 415, 100)
    groups[8]["air_direction"] = "back-to-front"
    circuit(9, 480, 60)
    for feed in groups[10]["feeds"]:
        feed["pdus"] = 24  # 72 PDUs of 12 kg


def _nodes(names: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    """12,500 nodes: some racks are too full, some start too high, and the last row is thin."""
    fives, high, thin = names[6][:FIVES], names[7], names[-1]
    special = {*fives, *high, *thin}
    rest = [rack for row in names for rack in row if rack not in special]
    moved = NODES_PER_RACK * (len(fives) + len(thin)) - 5 * len(fives) - len(thin)
    assert moved == 0, "as many nodes as before"
    assert len(high) == RACKS_PER_ROW
    return [
        _group("dgx", rest, NODES_PER_RACK),
        _group("full", fives, 5, start_unit="12 U", psus_per_feed={"A": 6, "B": 0, "C": 0}),
        _group("high", high, NODES_PER_RACK, start_unit="16 U"),
        _group("thin", thin, 1),
    ]


def _group(name: str, racks: Any, per_rack: int, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "role": "compute",
        "type": "dgx-h100",
        "count": per_rack * len(racks),
        "racks": compress_hostlist(racks),
        "per_rack": per_rack,
        **more,
    }
