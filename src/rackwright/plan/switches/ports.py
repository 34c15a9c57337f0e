"""Names of the ports of a switch in its operating system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rackwright.model.hardware import PortNames, Switch
from rackwright.model.switching import SYSTEMS, SwitchSystem
from rackwright.plan.fabric.layout import Tier


@dataclass(frozen=True)
class PortNaming:
    """The ports of the switches of one tier.

    Attributes:
        tier: of the fabric's layout, whose port numbers count the parts of split ports.
        product: from the catalogue.
        names: patterns of the operating system.
    """

    tier: Tier
    product: Switch
    names: PortNames

    @property
    def count(self) -> int:
        """Number of ports, uplinks included."""
        return self.tier.radix + self.tier.uplinks

    @property
    def split(self) -> int:
        """Parts of each port of the radix."""
        return self.tier.radix // self.product.radix

    def place(self, number: int) -> tuple[int, int, int]:
        """Return the physical port, the part of it and its number of parts, of a port of the plan."""
        if number > self.tier.radix:
            return self.product.radix + number - self.tier.radix, 0, 1
        physical, part = divmod(number - 1, self.split)
        return physical + 1, part, self.split

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._name(number) for number in range(1, self.count + 1))

    def name(self, number: int) -> str:
        """Return the name of a port of the plan."""
        return self._names[number - 1]

    def _name(self, number: int) -> str:
        physical, part, parts = self.place(number)
        each = self.product.ports_per_cage
        split = self.names.split_port if parts > 1 else None
        pattern = split or self.names.port
        lanes = 0 if self.names.lanes is None else self.names.lanes.value
        within = part * lanes // parts
        return pattern.value.format(
            port=physical,
            cage=(physical - 1) // each + 1,
            plug=(physical - 1) % each + 1,
            part=part,
            lane=(physical - 1) * lanes + within,
            offset=within + 1,
        )

    @cached_property
    def _lanes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(self._lanes_of(number) for number in range(1, self.count + 1))

    def lanes(self, number: int) -> tuple[int, ...]:
        """Return the lanes of a port as the chip counts them; none where they are unknown."""
        return self._lanes[number - 1]

    def _lanes_of(self, number: int) -> tuple[int, ...]:
        physical, part, parts = self.place(number)
        if self.names.lanes is None or physical > self.product.radix:
            return ()
        each, listed = self.names.lanes.value, self.names.first_lanes
        start = (physical - 1) * each if listed is None else listed.value[physical - 1]
        width = each // parts
        return tuple(range(start + part * width, start + (part + 1) * width))


def port_naming(tier: Tier, product: Switch, system: SwitchSystem) -> PortNaming | None:
    """Return the names of the ports of a tier; None where the catalogue has none for the system."""
    found = next((one for one in product.port_names if one.system == system), None)
    if found is None or (tier.radix > product.radix and found.split_port is None):
        return None
    return PortNaming(tier, product, found)


def systems_of(product: Switch) -> Sequence[str]:
    """Return the operating systems for which the catalogue names the ports of a product."""
    known = {one.system for one in product.port_names}
    return [system for system in SYSTEMS if system in known]
