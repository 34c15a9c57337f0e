"""Which value of a product's field is the milder one.

A change that edits a product of its team's catalogue does not decide how it is judged: where its
value is milder than that of the base, the base's holds (``rackwright.catalog.approved``). A field
that is in neither table fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping

from rackwright.model import hardware, instances, plant
from rackwright.model.base import Model
from rackwright.model.milder import Absent, Milder, higher, lower, other

_LESS, _MORE = lower(), higher()
"""Of what a rule needs: without it, nothing is known."""
_LESS_OR_NONE, _MORE_OR_NONE = lower(Absent.ELSEWHERE), higher(Absent.ELSEWHERE)
"""Of what a rule can go without: another number, or none, stands for it then."""
_EITHER = other()

PROSE = frozenset({"id", "kind", "vendor", "name", "description", "sources", "notes"})
"""Fields of an entry that no rule looks at; what a source says is compared with its numbers."""

_DEVICE = {
    "height": _LESS,
    "depth": _LESS,
    "weight": _LESS,
    "max_power": _LESS,
    "typical_power": _LESS_OR_NONE,
    "peak_power": _LESS_OR_NONE,
    "heat": _LESS_OR_NONE,
    "airflow": _LESS_OR_NONE,
    "inlet_min": _LESS_OR_NONE,
    "inlet_max": _MORE_OR_NONE,
    "voltage_min": _LESS_OR_NONE,
    "voltage_max": _MORE_OR_NONE,
    **dict.fromkeys(("medium", "airflow_direction", "liquid", "power_supplies"), _EITHER),
}
_SIZE = {"height": _LESS_OR_NONE, "weight": _LESS_OR_NONE}


def _either(*names: str) -> dict[str, Milder]:
    return dict.fromkeys(names, _EITHER)


PRODUCT_CLASSES: Mapping[type[Model], Mapping[str, Milder]] = {
    hardware.Node: {
        **_DEVICE,
        **_either(
            "hosts", "cpus", "sockets", "threads_per_core", "host_memory", "accelerators",
            "whole_rack", "rack_weight_included", "ports", "local_drives",
        ),
    },
    hardware.Switch: {
        **_DEVICE,
        **_either("technology", "radix", "switches", "rate", "uplinks", "cages", "ports_per_cage"),
    },
    hardware.Pdu: {
        "current": _MORE,
        "short_circuit_rating": _MORE,
        **_either("voltage", "phases", "wiring", "outlets", "branch_count", "branch_rating"),
        **_SIZE,
    },
    hardware.PowerShelf: {
        "rating": _MORE,
        "rating_n_plus_1": _MORE_OR_NONE,
        "backup": _MORE_OR_NONE,
        "supplies": _EITHER,
        **_SIZE,
    },
    hardware.RackType: {
        "weight": _LESS,
        "static_rating": _MORE,
        "gross_rating": _MORE_OR_NONE,
        "dynamic_rating": _MORE,
        **_either("height", "width", "depth", "casters", "immersion"),
    },
    hardware.Immersion: dict.fromkeys(("fluid_weight", "top"), _LESS),
    plant.Ups: {
        "rating": _MORE,
        "max_altitude": _MORE,
        "overload": _MORE,
        "efficiency": _MORE_OR_NONE,
        "recharge": _LESS,
        "backup": _MORE,
        "voltage_tolerance": _LESS,
        "short_circuit_rating": _MORE,
    },
    plant.Transformer: {
        "max_altitude": _MORE,
        "losses": _LESS_OR_NONE,
        "impedance": _MORE,
        # More power is more to carry, and a larger fault current; a higher voltage is a smaller one.
        **_either("rating", "voltage"),
    },
    plant.Generator: {
        "rating": _MORE,
        "max_altitude": _MORE,
        "max_ambient": _MORE,
        "step_load": _MORE,
        "consumption": _LESS,
        "voltage_tolerance": _LESS,
    },
    plant.Cdu: {
        "capacity": _MORE,
        "flow": _MORE_OR_NONE,
        "head": _MORE,
        "shutoff_head": _MORE,
        "power": _LESS_OR_NONE,
        "flow_pump_lost": _MORE,
        "airflow": _LESS_OR_NONE,
        "voltage_min": _LESS_OR_NONE,
        "voltage_max": _MORE_OR_NONE,
        **_either("approach", "in_rack", "power_supplies"),
        **_SIZE,
    },
    plant.AirHandler: {
        "capacity": _MORE,
        "airflow": _MORE_OR_NONE,
        "power": _LESS_OR_NONE,
        "return_temperature": _EITHER,
    },
    plant.Chiller: {
        "capacity": _MORE,
        "supply_temperature": _LESS,
        "outdoor_temperature": _MORE,
        "condenser_temperature": _MORE,
        "power": _LESS_OR_NONE,
        "restart": _LESS,
    },
    plant.DryCooler: {
        "capacity": _MORE,
        "supply_temperature": _LESS,
        "outdoor_temperature": _MORE,
        "power": _LESS_OR_NONE,
    },
    plant.RearDoor: {
        "capacity": _MORE,
        "difference": _LESS,
        "pressure_drop": _LESS,
        "weight": _LESS,
        # More flow is more to carry, and less of the pressure drop that is stated at it.
        "flow": _EITHER,
    },
    hardware.Cable: {
        "reach": _MORE,
        "reach_om3": _MORE_OR_NONE,
        "diameter": _LESS_OR_NONE,
        "bend_space": _LESS_OR_NONE,
        **_either("part", "medium", "technology", "rate", "joined_ports"),
    },
    hardware.Connector: dict.fromkeys(("flow", "max_fluid", "max_pressure"), _MORE_OR_NONE),
    instances.Instance: _either(
        "provider", "instance_type", "accelerators", "hosts", "vcpus", "memory", "efa_interfaces",
        "cards", "bandwidth", "local_storage", "quota", "architecture",
    ),
    hardware.Accelerators: _either(
        "count", "model", "vendor", "tdp", "memory", "domain", "gres", "all_reduce",
    ),
    hardware.PowerSupplies: {
        "full_performance": _LESS_OR_NONE,
        "degraded": _LESS_OR_NONE,
        "degraded_power": _LESS_OR_NONE,
        "efficiency": _MORE_OR_NONE,
        "input_current": _LESS_OR_NONE,
        **_either("count", "rating", "inlet"),
    },
    hardware.LiquidCooling: {
        "pressure_drop": _LESS,
        "max_supply": _MORE_OR_NONE,
        "max_pressure": _MORE_OR_NONE,
        # More flow is more to carry, and less of the pressure drop that is stated at it.
        **_either("flow", "heat", "water_class", "coolant_class", "connector", "cdu_in_rack"),
    },
    hardware.LocalDrives: _either("count", "size"),
    hardware.Uplinks: _either("count", "rate"),
}  # fmt: skip
"""By model: each field that a rule may look at, and what is milder of it.

Entries of lists (ports, outlets, cards) are compared as a whole.
"""
