"""Wrong formulas for the plan: what a slip of the pen, or a wrong unit, would make of it.

Each replaces a piece of the text of one function of the plan; the rest of the function stays as it is.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import FunctionType


@dataclass(frozen=True, slots=True)
class Mutation:
    """One wrong formula.

    Attributes:
        module: of the plan, below ``rackwright.plan``.
        function: its name, with that of its class where it is a method.
        right: the text that is replaced; it stands once in the function.
        wrong: what replaces it.
    """

    module: str
    function: str
    right: str
    wrong: str

    def __str__(self) -> str:
        return f"{self.module}.{self.function}: '{self.right}' becomes '{self.wrong}'"


_ELECTRICAL, _WIRING, _DEVICES = "power.electrical", "racks.feeds.wiring", "racks.devices"
_THERMAL, _DOOR = "cooling.thermal", "cooling.rear_door"
_TREE, _LOSS = "power.distribution", "power.source_loss"
_SIZING, _PORTS, _LINKS, _LAYOUT = "fabric.sizing", "fabric.ports", "fabric.links", "fabric.layout"

MUTATIONS = (
    Mutation(_ELECTRICAL, "circuit_capacity", "math.sqrt(3)", "3.0"),
    Mutation(_ELECTRICAL, "circuit_capacity", "* derate ", ""),
    Mutation(_ELECTRICAL, "circuit_capacity", " * power_factor", ""),
    Mutation(_ELECTRICAL, "outlet_voltage", "voltage / math.sqrt(3)", "voltage / 2"),
    Mutation(_ELECTRICAL, "line_implied_power", "3 * max(legs)", "sum(legs)"),
    Mutation(_ELECTRICAL, "line_implied_power", " + a * b)", ")"),
    Mutation(_ELECTRICAL, "spread", "(start + index)", "index"),
    Mutation(_WIRING, "device_state", "alive >= device.full_performance", "alive > device.full_performance"),
    Mutation(_WIRING, "device_state", "alive < device.degraded:", "alive <= device.degraded:"),
    Mutation(_WIRING, "plug_in", "next_leg[index] % 3", "0"),
    Mutation(_WIRING, "circuit_loads", "share = draw / alive[plug.device]", "share = draw / sum(device.psus or ())"),
    Mutation(_DEVICES, "_as_far_as_it_goes", "max(power_cap,", "min(power_cap,"),
    Mutation(_DEVICES, "_liquid_heat", "published * share", "published"),
    Mutation(_DEVICES, "describe_device", "max(power or 0.0, published * share)", "power"),
    Mutation("racks.feeds.shelves", "shelves_on_feeds", "shelves.per_feed.get(feed, 0)", "1"),
    Mutation("racks.mechanical", "footprint", "2 * aisle_depth", "aisle_depth"),
    Mutation("racks.kinds", "_describe", "0.0 if included else fact_value(rack.type.weight)", "fact_value(rack.type.weight)"),
    Mutation("racks.kinds", "_describe", "else -captured", "else 0.0"),
    Mutation("racks.coolant", "_device_flow", "max(needed, device.flow_lpm or 0.0)", "needed"),
    Mutation(_THERMAL, "airflow_for", "CFM_PER_WATT_KELVIN", "3.16"),
    Mutation(_THERMAL, "volumetric_heat", "density * heat_capacity", "heat_capacity"),
    Mutation(_THERMAL, "density_ratio", "** _DENSITY_EXPONENT", "** (_DENSITY_EXPONENT + 1)"),
    Mutation(_THERMAL, "at_density", "capacity * density", "capacity"),
    Mutation(_THERMAL, "without_largest", "(count - 1)", "count"),
    Mutation(_DOOR, "heat_taken", "min(1.0, max(0.0, air - water) / rated)", "1.0"),
    Mutation(_DOOR, "heat_taken", "min(heat, capacity * share)", "capacity * share"),
    Mutation("racks.tap_offs", "_of_class", "min(box.racks, group_racks)", "box.racks"),
    Mutation("racks.tap_offs", "_worst", "if load > worst * _NOISE", "if load < worst"),
    Mutation("racks.cooling_fixtures", "cooling_fixtures", "[one] * manifolds.count", "[one]"),
    Mutation("cooling.facility", "_hottest_rack", "_largest(heats)", "heats[-1]"),
    Mutation("cooling.facility", "loop_rows", "(behind.air_into_loop_w, 1)", "(here.air_into_loop_w, 1)"),
    Mutation("cooling.facility", "loop_rows", "(flow, loop.count - 1)", "(flow, loop.count)"),
    Mutation(_TREE, "capacity_of", "needed * source.modules", "source.modules.count * source.modules"),
    Mutation(_LOSS, "Outages._carrier", "for parent in parents if", "for parent in parents[:1] if"),
    Mutation(_LOSS, "_changes", "more *= gain[name]", "more *= 1"),
    Mutation("power.overhead", "losses_of", "100 / source.efficiency", "source.efficiency / 100"),
    Mutation("power.overhead", "Overhead.of", "declared + racks * self.beyond", "declared"),
    Mutation("power.overhead", "Overhead.of_site", "self.declared_w + racks", "racks"),
    Mutation("racks.fixtures", "fixtures", "[made] * feed.pdus", "[made]"),
    Mutation(_SIZING, "spines_for", "if up % s == 0", "if s"),
    Mutation(_SIZING, "down_ports", "radix * ratio / (1 + ratio)", "radix / 2"),
    Mutation(_PORTS, "_needed_uplinks", "layout.fabric.oversubscription * ", ""),
    Mutation(_PORTS, "_cores", "blocks * ceil_div(each * up, core.radix)", "ceil_div(spines * up, core.radix)"),
    Mutation(_PORTS, "_cores", "(ratio * spine.up_rate)", "spine.up_rate"),
    Mutation(_PORTS, "_spines", "down_ports(down, layout.fabric.tiers[1].oversubscription or 1.0)", "down // 2"),
    Mutation("fabric.cables", "_below", "(layout.down_links(tier) or 0)", "layout.tiers[tier].radix // 2"),
    Mutation(_LINKS, "TierLink.block", "lower % self.blocks", "lower * self.blocks // switches"),
    Mutation(_LAYOUT, "Run.place", "divmod(interface, len(self.leaves))", "(0, 0)"),
)  # fmt: skip


@contextmanager
def mutated(mutation: Mutation) -> Iterator[None]:
    """The plan with one wrong formula, wherever its function is called from.

    Raises:
        ValueError: the function has no such text any more.
    """
    found = import_module(f"rackwright.plan.{mutation.module}")
    for name in mutation.function.split("."):
        found = getattr(found, name)
    assert isinstance(found, FunctionType)
    text = textwrap.dedent(inspect.getsource(found))
    if text.count(mutation.right) != 1:
        raise ValueError(f"stands {text.count(mutation.right)} times: {mutation}")
    made: dict[str, FunctionType] = {}
    exec(
        f"from __future__ import annotations\n{text.replace(mutation.right, mutation.wrong)}",
        {**found.__globals__},
        made,
    )
    right, found.__code__ = found.__code__, made[found.__name__].__code__
    try:
        yield
    finally:
        found.__code__ = right
