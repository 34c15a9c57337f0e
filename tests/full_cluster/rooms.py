"""A hall of a full site with its racks and what stands in them."""

from __future__ import annotations

from typing import Any

from full_cluster.halls import CIRCUIT, COPPER, LANES, NODES_PER_RACK, SHIPPING, Hall
from rackwright.model.names import compress_hostlist


def room(hall: Hall) -> dict[str, Any]:
    """The hall ithall."""
    return {
        "name": hall.name,
        "clear_height": "4 m",
        "air": {
            "type": "crah-spec-100kw",
            "count": 12 * len(hall.rows),
            "supplies": hall.supplies(12 * len(hall.rows)),
            "water": f"chilled-{hall.name}",
            "restart": "20 s",
            "volume": f"{500 * len(hall.rows)} m3",
            "inlet_temperature": "24 °C",
            "temperature_rise": "14 K",
            "ashrae_class": "A2",
            "containment": "hot-aisle",
        },
        "floor": {"uniform": "1221 kg/m2", "concentrated": "680 kg", "rolling": "680 kg"},
        "delivery": {
            "height": "2.6 m",
            "width": "1.3 m",
            "rating": "2000 kg",
            "rolling": "680 kg",
            "slope": "0 %",
        },
        "trays": {
            "height": "2.7 m",
            "row_pitch": "3 m",
            "joined": "both",
            "section": {"width": "600 mm", "depth": "150 mm"},
        },
        "rows": [
            *({"name": f"row-{n}", "rack_groups": [_air(hall, n)]} for n in range(len(hall.rows))),
            {"name": "row-l", "rack_groups": [_liquid(hall), _tanks(hall)]},
        ],
    }


def _air(hall: Hall, row: int) -> dict[str, Any]:
    return {
        "racks": compress_hostlist(hall.rows[row]),
        "type": "rack-48u",
        "feeds": [
            {
                "name": lane.upper(),
                "source": f"rpp-{hall.name}-{lane}{row}",
                "pdu": "pdu-415v-60a-24c19",
                "circuit": CIRCUIT,
                "conductors": {**COPPER, "cross_section": "16 mm2"},
            }
            for lane in LANES
        ],
        "cooling": {"mode": "air", "power_limit": "45 kW"},
        "blanking": True,
        "aisle_depth": "0.6 m",
        "cable_allowance": "100 mm",
        "cable_weight": "40 kg",
        "shipping": SHIPPING,
    }


def _liquid(hall: Hall) -> dict[str, Any]:
    return {
        "racks": compress_hostlist(hall.liquid),
        "type": "rack-mgx-48u",
        "feeds": [
            {
                "name": lane.upper(),
                "source": f"liquid-{hall.name}-{lane}",
                "circuit": {"voltage": "415 V", "current": "300 A", "phases": 3},
                "conductors": {**COPPER, "cross_section": "120 mm2"},
            }
            for lane in "ab"
        ],
        "cooling": {
            "mode": "liquid",
            "loop": f"plates-{hall.name}",
            "power_limit": "140 kW",
            "leak_detection": True,
            "isolation": True,
            "coolant_weight": "30 kg",
            "manifolds": {"count": 0, "height": "0 U"},
        },
        "shelves": {"type": "mgx-33kw", "count": 8, "backup": "30 s"},
        "blanking": True,
        "aisle_depth": "0.6 m",
        "cable_allowance": "100 mm",
        "cable_weight": "40 kg",
        "shipping": SHIPPING,
    }


def _tanks(hall: Hall) -> dict[str, Any]:
    return {
        "racks": compress_hostlist(hall.tanks),
        "type": "tank-spec-24u",
        "feeds": [
            {
                "name": lane.upper(),
                "source": f"tanks-{hall.name}-{lane}",
                "pdu": "pdu-415v-60a-24c19",
                "circuit": CIRCUIT,
                "tap_off": {"current": "63 A", "racks": 1},
                "conductors": {**COPPER, "cross_section": "16 mm2"},
            }
            for lane in LANES
        ],
        "cooling": {
            "mode": "immersion",
            "loop": f"tanks-{hall.name}",
            "lift_allowance": "0.6 m",
            "power_limit": "30 kW",
            "leak_detection": True,
            "isolation": True,
        },
        "aisle_depth": "0.6 m",
        "cable_weight": "40 kg",
        "shipping": SHIPPING,
    }


def node_groups(hall: Hall) -> list[dict[str, Any]]:
    """Its nodes and servers."""
    dgx = {
        "name": f"{hall.stem}-dgx",
        "role": "compute",
        "type": "dgx-h100",
        "count": hall.nodes,
        "racks": compress_hostlist(hall.compute),
        "per_rack": NODES_PER_RACK,
    }
    nvl = {
        "name": f"{hall.stem}-nvl",
        "role": "compute",
        "type": "gb200-nvl72",
        "count": len(hall.liquid),
        "racks": compress_hostlist(hall.liquid),
        "per_rack": 1,
    }
    tanks = {
        "name": f"{hall.stem}-cpu",
        "role": "compute",
        "type": "cpu-2u-immersion",
        "count": 12 * len(hall.tanks),
        "racks": compress_hostlist(hall.tanks),
        "per_rack": 12,
    }
    servers = [
        {
            "name": f"{hall.stem}-{name}",
            "role": role,
            "type": "cpu-2u",
            "count": each * len(hall.servers),
            "racks": compress_hostlist(hall.servers),
            "per_rack": each,
        }
        for name, role, each in (("mds", "storage", 1), ("oss", "storage", 4))
    ]
    return [dgx, nvl, tanks, *servers]
