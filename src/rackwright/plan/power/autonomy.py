"""Autonomy: how long the batteries of UPSs and the fuel of generators last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.model.power import PowerSource
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.records.power import Autonomy, SourceLoad


def autonomies(tree: PowerTree, rows: Sequence[SourceLoad]) -> Iterator[Autonomy]:
    """Yield the UPSs and generators of a site with generators; none of a site without them."""
    if not any(source.kind == "generator" for source in tree.sources.values()):
        return
    for row in rows:
        source = tree.sources[row.source]
        if source.kind == "ups":
            load = row.facility_worst_w if row.redundancy == "N-1" else row.facility_w
            runtime = battery_runtime(source.backup, row.capacity_w, load)
            yield Autonomy(
                source=row.source, kind="ups", path=row.path, load_w=load, runtime_s=runtime
            )
        elif source.kind == "generator":
            yield Autonomy(
                source=row.source,
                kind="generator",
                path=row.path,
                load_w=None,
                runtime_s=_fuel_time(source),
            )


def battery_runtime(
    backup: float | None, capacity: float | None, load: float | None
) -> float | None:
    """Return seconds for which batteries carry ``load`` that last for ``backup`` seconds at ``capacity``, both in W.

    Their energy is taken to be the same at less load, which it is at least (Peukert's law). Beyond its
    capacity a UPS carries nothing.
    """
    if backup is None or capacity is None or load is None:
        return None
    if load > capacity:
        return 0.0
    return backup if load <= 0 else backup * capacity / load


def _fuel_time(generator: PowerSource) -> float | None:
    """Return the seconds for which the fuel lasts at its capacity; at less load it burns no more."""
    if generator.fuel is None or generator.consumption is None:
        return None
    return generator.fuel * 1000 / generator.consumption * 60
