"""What of a bare-metal site there is to protect."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Fabric
from rackwright.model.hardware import Node, Switch
from rackwright.plan.base import Path
from rackwright.plan.expansion import SitePlan


def infiniband_fabrics(site: SitePlan, catalogue: Catalogue) -> Iterator[tuple[Fabric, Path]]:
    """The InfiniBand fabrics of ``site`` with their places in the blueprint."""
    for index, fabric in enumerate(site.site.fabrics):
        technologies = {catalogue.get(Switch, tier.type).technology for tier in fabric.tiers}
        if fabric.technology == "infiniband" or (
            fabric.technology is None and "infiniband" in technologies
        ):
            yield fabric, (*site.path, "fabrics", index)


def has_accelerators(site: SitePlan, catalogue: Catalogue) -> bool:
    """Whether any node of ``site`` has GPUs or the like."""
    types = {group.type for group in site.site.node_groups}
    return any(catalogue.get(Node, entry).accelerators is not None for entry in types)
