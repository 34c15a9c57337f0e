"""What feeds a hall of a full site."""

from __future__ import annotations

from typing import Any

from full_cluster.halls import COPPER, LANES, Hall, divided

ROWS_PER_BLOCK = 4
"""Rows that share a transformer, a generator and a board in each lane."""


def sources(hall: Hall) -> list[dict[str, Any]]:
    """What feeds it, from the transformers on."""
    made: list[dict[str, Any]] = []
    for block in range(divided(len(hall.rows), ROWS_PER_BLOCK)):
        for lane in LANES:
            made += _block(f"{hall.name}-{lane}{block}")
    for row in range(len(hall.rows)):
        for lane in LANES:
            board = f"board-{hall.name}-{lane}{row // ROWS_PER_BLOCK}"
            made += _lane(f"{hall.name}-{lane}{row}", board)
    made += [_panel(hall, lane) for lane in LANES]
    made += [part for lane in LANES for part in _busways(hall, lane)]
    return made


def _block(name: str) -> list[dict[str, Any]]:
    fault = {"voltage": "415 V", "voltage_tolerance": "5 %"}
    generator = {
        "name": f"gen-{name}",
        "kind": "generator",
        "capacity": "2.4 MW",
        "fuel": "14_000 L",
        "consumption": "600 L/h",
        "fault_current": "20 kA",
        "step_load": "2 MW",
        "overload": "2.6 MW",
        **fault,
    }
    transformer = {
        "name": f"trafo-{name}",
        "kind": "transformer",
        "fed_by": ["utility"],
        "capacity": "2.4 MW",
        "efficiency": "99 %",
        "rating": "2.5 MVA",
        "impedance": "5.75 %",
        **fault,
    }
    board = {
        "name": f"board-{name}",
        "kind": "switchgear",
        "fed_by": [f"trafo-{name}", f"gen-{name}"],
        "capacity": "2.4 MW",
        "short_circuit_rating": "65 kA",
        "conductors": {**COPPER, "parallel": 8, "cross_section": "240 mm2"},
    }
    return [generator, transformer, board]


def _lane(name: str, board: str) -> list[dict[str, Any]]:
    """A UPS and an RPP of one row."""
    return [
        {
            "name": f"ups-{name}",
            "kind": "ups",
            "fed_by": [board],
            "modules": {"count": 6, "capacity": "100 kW", "spare": 1},
            "overload": "600 kW",
            "backup": "5 min",
            "recharge": "20 kW",
            "efficiency": "96 %",
            "short_circuit_rating": "65 kA",
            "voltage_tolerance": "1 %",
        },
        {
            "name": f"rpp-{name}",
            "kind": "rpp",
            "fed_by": [f"ups-{name}"],
            "circuit": {"voltage": "415 V", "current": "1600 A", "phases": 3},
            "short_circuit_rating": "65 kA",
            "conductors": {**COPPER, "parallel": 4, "cross_section": "240 mm2"},
        },
    ]


def _panel(hall: Hall, lane: str) -> dict[str, Any]:
    """What feeds the machines that cool it."""
    return {
        "name": f"mech-{hall.name}-{lane}",
        "kind": "panel",
        "fed_by": [f"board-{hall.name}-{lane}0"],
        "capacity": "2 MW",
        "short_circuit_rating": "65 kA",
        "conductors": {**COPPER, "parallel": 8, "cross_section": "240 mm2"},
    }


def _busways(hall: Hall, lane: str) -> list[dict[str, Any]]:
    """A UPS with a busway over the racks on liquid, and one over the tanks."""
    name = f"{hall.name}-{lane}"
    ups, _ = _lane(f"{name}l", f"board-{name}0")
    liquid, tanks = (
        {
            "name": f"{use}-{name}",
            "kind": kind,
            "fed_by": [f"ups-{name}l"],
            "circuit": {"voltage": "415 V", "current": f"{current} A", "phases": 3},
            "short_circuit_rating": "65 kA",
            "conductors": {**COPPER, "parallel": 6, "cross_section": "240 mm2"},
        }
        for use, kind, current in (("liquid", "panel", 2500), ("tanks", "busway", 400))
    )
    return [
        {**ups, "modules": {"count": 16, "capacity": "100 kW", "spare": 1}, "overload": "2 MW"},
        liquid,
        tanks,
    ]
