"""The smallest site that still shows a difference, for people to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from calculator.blueprints import blueprint_of
from calculator.things import Site
from rackwright.errors import RackwrightError

Fails = Callable[[Site], bool]


def smallest(site: Site, fails: Fails) -> Site:
    """``site`` with as much taken away as leaves ``fails`` true."""
    found = True
    while found:
        found = False
        for less in _less(site):
            if _still(less, fails):
                site, found = less, True
                break
    return site


def _still(site: Site, fails: Fails) -> bool:
    try:
        return fails(site)
    except (RackwrightError, ValueError, StopIteration, KeyError):
        return False  # it is no site any more


def _less(site: Site) -> Iterator[Site]:
    """Sites with one thing less."""
    for number in range(len(site.fabrics)):
        yield replace(site, fabrics=site.fabrics[:number] + site.fabrics[number + 1 :])
    for number, group in enumerate(site.groups):
        rest = site.groups[:number] + site.groups[number + 1 :]
        if rest:
            yield replace(site, groups=rest)
        if group.count > 1:
            for count in (1, group.count // 2):
                fewer = replace(group, count=count)
                yield replace(
                    site, groups=(*site.groups[:number], fewer, *site.groups[number + 1 :])
                )
    for hall in site.halls:
        for number, racks in enumerate(hall.groups):
            if len(racks.racks) > 1 and not site.fabrics:
                one = replace(racks, racks=racks.racks[:1])
                groups = (*hall.groups[:number], one, *hall.groups[number + 1 :])
                halls = (replace(hall, groups=groups),)
                nodes = tuple(
                    replace(group, racks=kept, count=min(group.count, group.per_rack))
                    for group in site.groups
                    if (kept := tuple(rack for rack in group.racks if rack not in racks.racks[1:]))
                )
                yield replace(site, halls=halls, groups=nodes)
    if site.plant:
        yield replace(site, plant=())


def described(site: Site) -> str:
    """The blueprint of a site, as YAML."""
    import yaml

    return yaml.safe_dump(blueprint_of(site), sort_keys=False, allow_unicode=True, width=110)
