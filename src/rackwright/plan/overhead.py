"""What a facility draws beside its racks: cooling, pumps, and losses of UPSs and transformers.

A blueprint states it as the PUE at full load: power of the facility over that of the IT equipment (The
Green Grid, ISO/IEC 30134-2). It is drawn above the UPSs, so that what lies there carries it, each source
in proportion to the racks that hang on it. A UPS and what is below it carry the racks alone.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from rackwright.plan.distribution import Tree

_CARRIERS = frozenset({"utility", "generator", "transformer", "switchgear"})
"""Kinds of sources that feed cooling beside IT."""


def carriers(tree: Tree) -> AbstractSet[str]:
    """The sources that carry the facility: of those kinds, and behind no UPS."""
    found = set()
    for name, source in tree.sources.items():
        above = tree.ancestors(name)
        behind_ups = any(tree.sources[other].kind == "ups" for other in above)
        if source.kind in _CARRIERS and not behind_ups:
            found.add(name)
    return found


def of_facility(racks: float | None, pue: float | None) -> float | None:
    """W that the facility draws whose racks draw ``racks`` W."""
    return None if racks is None or pue is None else racks * pue


def peak_of_facility(peak: float | None, racks: float | None, pue: float | None) -> float | None:
    """W while all devices peak at ``peak`` W for milliseconds, in which cooling does not change.

    Args:
        peak: of the racks, in W.
        racks: what they draw otherwise, in W.
        pue: power of the facility over that of its racks.
    """
    if peak is None or racks is None or pue is None:
        return None
    return peak + racks * (pue - 1)
