"""A hall of a full site, and what the parts of its blueprint share."""

from __future__ import annotations

from typing import Any

NODES_PER_RACK, RACKS_PER_ROW, MOST_ROWS = 4, 20, 40
"""Of DGX H100, and the rows of them in a hall."""
LANES = "abc"
COPPER = {"length": "20 m", "parallel": 1, "material": "copper"}
CIRCUIT = {"voltage": "415 V", "current": "60 A", "phases": 3}
SHIPPING = {"height": "2.3 m", "width": "0.6 m", "weight": "200 kg"}


def divided(number: int, by: int) -> int:
    """Rounded up."""
    return -(-number // by)


class Hall:
    """One hall of a site, by its racks.

    Args:
        site: number of the site, from 1.
        number: of the hall in the site, from 1.
        racks: of DGX H100.
    """

    def __init__(self, site: int, number: int, racks: int) -> None:
        self.site, self.number = site, number
        self.name = f"h{number}"
        self.stem = f"s{site}-h{number}"
        self.nodes = NODES_PER_RACK * racks
        self.pods = divided(self.nodes, 128)
        self.network_racks = 4 * self.pods
        self.compute = self.names("c", racks)
        rows = [self.compute[n : n + RACKS_PER_ROW] for n in range(0, racks, RACKS_PER_ROW)]
        network = self.names("n", self.network_racks)
        rows += [network[n : n + RACKS_PER_ROW] for n in range(0, len(network), RACKS_PER_ROW)]
        self.servers = self.names("s", 8)
        self.liquid, self.tanks = self.names("g", 8), self.names("t", 4)
        self.rows = [*rows, self.servers]

    def names(self, letter: str, count: int) -> list[str]:
        """Its racks of one kind, which a letter stands for."""
        return [f"{letter}{self.name[1:]}{n:04}" for n in range(1, count + 1)]

    def supplies(self, count: int) -> list[dict[str, Any]]:
        """What feeds so many machines that cool it, in equal shares."""
        share = count // len(LANES)
        shares = [count - 2 * share, share, share]
        return [
            {"count": each, "fed_by": [f"mech-{self.name}-{lane}"]}
            for lane, each in zip(LANES, shares, strict=True)
            if each
        ]
