"""Records of a federation: what one cluster knows of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.plan.base import Path


@dataclass(frozen=True, slots=True)
class DatabaseHost:
    """A host with slurmdbd and MariaDB.

    Attributes:
        site: its site.
        host: its name.
        address: address by which other sites reach it; None where the blueprint plans none.
    """

    site: str
    host: str
    address: str | None

    @property
    def reached_by(self) -> str:
        """Address of the host, or its name where no address is planned."""
        return self.address or self.host


@dataclass(frozen=True, slots=True)
class Membership:
    """Part that one cluster takes in a federation.

    Attributes:
        federation: name of the federation in Slurm.
        clusters: names of all its clusters.
        state: ``active``, ``drain`` or ``leave``.
        features: words of the cluster that jobs may ask for.
        database: hosts of the shared database, the primary first.
        partitions: places of its partitions in the list of the blueprint.
        nodes: places of its node settings in the list of the blueprint.
    """

    federation: str
    clusters: tuple[str, ...]
    state: str
    features: tuple[str, ...]
    database: tuple[DatabaseHost, ...]
    partitions: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()


def place_of(
    membership: Membership | None, section: Literal["partitions", "nodes"], index: int
) -> Path:
    """Return the place in the blueprint of an entry of a cluster's scheduler.

    A cluster of a federation has some of the entries that the blueprint has.
    """
    if membership is not None:
        index = getattr(membership, section)[index]
    return ("scheduler", section, index)
