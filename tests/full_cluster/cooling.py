"""What carries the heat of a hall of a full site outside."""

from __future__ import annotations

from typing import Any

from full_cluster.halls import Hall


def loops(hall: Hall) -> list[dict[str, Any]]:
    """The loops of the racks on liquid and of the tanks."""
    common = {
        "temperature_rise": "10 K",
        "approach": "5 K",
        "facility_temperature": "30 °C",
        "facility_class": "W32",
        "dew_point": "15 °C",
        "pressure_drop": "60 kPa",
        "volume": "2 m3",
        "water": f"warm-{hall.name}",
        "restart": "10 s",
    }
    plates = {
        "name": f"plates-{hall.name}",
        "cdu": "cdu-spec-1mw",
        "count": 3,
        "fluid": "pg25",
        "supply_temperature": "35 °C",
        "pressure": "250 kPa",
        "flow_limit": "4000 L/min",
        "supplies": hall.supplies(3),
    }
    tanks = {
        "name": f"tanks-{hall.name}",
        "cdu": "cdu-spec-tank-30kw",
        "count": 1,
        "in_rack": True,
        "fluid": "dielectric",
        "heat_capacity": "1.8 kJ/L/K",
        "supply_temperature": "40 °C",
        "pressure": "100 kPa",
        "flow_limit": "80 L/min",
    }
    return [{**common, **plates}, {**common, **tanks}]


def facility_water(hall: Hall) -> list[dict[str, Any]]:
    """The water that carries its heat outside."""
    return [
        {"name": f"{kind}-{hall.name}", "fluid": "water", "volume": "40 m3", "warming": "4 K"}
        for kind in ("chilled", "warm")
    ]


def plant(hall: Hall) -> list[dict[str, Any]]:
    """The machines that do."""
    megawatts = len(hall.rows)
    return [
        {
            "name": f"{name}-{hall.name}",
            "kind": kind,
            "count": count,
            "power": power,
            "capacity": "1 MW",
            "water": f"{water}-{hall.name}",
            "restart": "30 s",
            "supplies": hall.supplies(count),
            **outside,
        }
        for name, kind, count, power, water, outside in (
            (
                "chillers",
                "chiller",
                megawatts + 2,
                "20 kW",
                "chilled",
                {"rejects_to": "outdoors", "outdoor_temperature": "40 °C"},
            ),
            ("pumps", "pump", megawatts + 2, "5 kW", "chilled", {}),
            ("coolers", "dry-cooler", 3, "10 kW", "warm", {"outdoor_temperature": "40 °C"}),
        )
    ]
