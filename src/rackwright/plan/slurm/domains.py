"""Loss of jobs in an NVLink domain after the loss of a compute tray."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackwright.plan.expansion import Expansion
from rackwright.plan.missing import Missing
from rackwright.plan.records.racks import NvlinkDomains
from rackwright.plan.slurm.checks import blocked
from rackwright.plan.slurm.nodes import NodeSet
from rackwright.plan.slurm.topology import TOPOLOGY, base_block


@dataclass(frozen=True, slots=True)
class TrayLoss:
    """The loss of one compute tray of a node group, in hosts.

    Attributes:
        block: base size of Slurm's blocks; None where the group is not scheduled by blocks.
        taken: hosts that jobs lose; None when unknown.
        of: hosts of the group.
        missing: what would have to be known.
    """

    site: str
    domains: NvlinkDomains
    block: int | None
    taken: int | None
    of: int
    missing: tuple[str, ...] = ()


def tray_losses(plan: Expansion, nodes: Sequence[NodeSet]) -> Iterator[TrayLoss]:
    """Yield the loss of each compute group with NVLink domains after the loss of one tray.

    A job that asks for blocks gets whole ones alone (manual of topology.conf, block plugin): with the
    tray goes the block that it belongs to, and nothing where it is a spare beside the blocks.

    Args:
        plan: the plan.
        nodes: those of its Slurm cluster; none without one.
    """
    if not any(site.nvlink_domains for site in plan.onprem):
        return
    scheduler = plan.scheduler
    sets = blocked(scheduler, nodes) if scheduler is not None else ()
    in_blocks = {(one.site, one.group) for one in sets}
    sizes = () if scheduler is None else scheduler.topology.block_sizes or base_block(sets)
    for site in plan.onprem:
        roles = {group.name: group.spec.role for group in site.groups}
        for domains in site.nvlink_domains:
            if roles[domains.group] != "compute":
                continue
            of = domains.domains * domains.trays
            if (site.name, domains.group) not in in_blocks:
                yield TrayLoss(site.name, domains, None, 1, of)
            elif not sizes:
                missing = Missing(
                    "one size of a block for units that differ", (*TOPOLOGY, "block_sizes")
                )
                yield TrayLoss(site.name, domains, None, None, of, (missing,))
            else:
                taken = blocks_lost(domains.trays, sizes[0])
                yield TrayLoss(site.name, domains, sizes[0], taken, of)


def blocks_lost(trays: int, block: int) -> int:
    """Return the hosts of the blocks of ``block`` hosts that a domain of ``trays`` loses with one of them."""
    return trays // block * block - (trays - 1) // block * block
