"""Cables between the switches of two tiers, in blocks in which each is connected with each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rackwright.model.fabric import Cables, Fabric
from rackwright.plan.fabric.sizing import ceil_div


@dataclass(frozen=True, slots=True)
class TierLink:
    """Cables between the switches of two tiers; equal ones connect alike, by whatever cables.

    Attributes:
        parallel: cables of one connected pair; None where the blueprint does not say.
        blocks: number of blocks in which each is connected with each.
        by_plane: the n-th lower switch of each pod belongs to block n.
        per_block: lower switches of each block but the last; None where blocks are equal.
    """

    cables: Cables = field(compare=False)
    lower: int
    upper: int
    parallel: int | None
    blocks: int
    by_plane: bool
    per_block: int | None = None

    def block(self, lower: int, switches: int) -> int:
        """Return the block of the lower switch with this index, of ``switches`` in all."""
        if self.by_plane:
            return lower % self.blocks
        if self.per_block is not None:
            return min(lower // self.per_block, self.blocks - 1)
        return lower * self.blocks // switches

    def connected(self, lowers: int, uppers: int) -> Iterator[tuple[int, range]]:
        """Yield each of so many lower switches with those of the upper ones that it is cabled to."""
        for lower in range(lowers):
            block = self.block(lower, lowers)
            yield lower, range(block * uppers // self.blocks, (block + 1) * uppers // self.blocks)

    def largest_block(self, switches: int) -> int:
        """Lower switches of the largest block, of ``switches`` in all."""
        if self.per_block is None:
            return ceil_div(switches, self.blocks)
        return max(min(self.per_block, switches), switches - self.per_block * (self.blocks - 1))


def tier_links(fabric: Fabric) -> Iterator[TierLink]:
    """Yield the cables between switches, in the order of the blueprint."""
    indexes = {tier.name: index for index, tier in enumerate(fabric.tiers)}
    for link in fabric.links:
        if link.lower in indexes:
            yield TierLink(
                cables=link,
                lower=indexes[link.lower],
                upper=indexes[link.upper],
                parallel=link.parallel,
                blocks=link.pods or link.planes or 1,
                by_plane=link.planes is not None,
                per_block=link.pod_switches,
            )
