"""From a blueprint to a plan: every rack, device, circuit, source, hall and loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rackwright.catalog.loader import Catalogue, UnknownEntryError
from rackwright.model.aws import AwsSite
from rackwright.model.cluster import Blueprint
from rackwright.model.hardware import Instance, Node
from rackwright.model.onprem import NodeGroup, OnPremSite
from rackwright.plan import rack as racks
from rackwright.plan.assignment import (
    AssignedRacks,
    Load,
    PlacedGroup,
    assign,
    list_loads,
    place_groups,
)
from rackwright.plan.aws import AwsPlanError, AwsSitePlan, plan_aws_site
from rackwright.plan.base import Path
from rackwright.plan.cost_references import find_cost_problems
from rackwright.plan.distribution import (
    FeedDemand,
    Tree,
    add_legs,
    check_sources,
    idle_sources,
    judge_sources,
)
from rackwright.plan.electrical import Legs, imbalance, rotate
from rackwright.plan.expansion import SitePlan
from rackwright.plan.facility import Counts, hall_rows, loop_rows, row_rows, totals_row
from rackwright.plan.facts import with_facts
from rackwright.plan.filesystem import check_file_systems
from rackwright.plan.interconnect import check_interconnects
from rackwright.plan.model import Plan
from rackwright.plan.names import find_name_problems
from rackwright.plan.operation_references import find_operation_problems
from rackwright.plan.outages import Outages
from rackwright.plan.overhead import carriers, of_facility, peak_of_facility
from rackwright.plan.problems import PlanError, PlanProblem
from rackwright.plan.records.power import (
    CircuitAfterLoss,
    CircuitLoad,
    DevicesAfterLoss,
    FeedLoad,
    SourceLoad,
)
from rackwright.plan.records.racks import RackClass, RackDevice, RackPosition
from rackwright.plan.reliability import check_reliability
from rackwright.plan.scheduler import check_daemons
from rackwright.spec.suggest import did_you_mean


def expand(blueprint: Blueprint, catalogue: Catalogue) -> Plan:
    """The plan of ``blueprint``.

    Raises:
        PlanError: something is impossible; with every reason.
    """
    catalogue, problems = with_facts(blueprint, catalogue)
    problems += find_cost_problems(blueprint, catalogue)
    problems += find_operation_problems(blueprint)
    onprem: list[SitePlan] = []
    aws: list[AwsSitePlan] = []
    for index, site in enumerate(blueprint.sites):
        path: Path = ("sites", index)
        try:
            if isinstance(site, AwsSite):
                aws.append(plan_aws_site(site, path, _instances(site, catalogue)))
            else:
                onprem.append(expand_site(site, path, catalogue))
        except (PlanError, AwsPlanError) as error:
            problems += [PlanProblem(p.path, p.message, p.hint) for p in error.problems]
    problems += check_interconnects(blueprint)
    problems += check_reliability(blueprint, catalogue)
    if problems:
        raise PlanError(problems)
    plan = Plan(blueprint, catalogue, tuple(onprem), tuple(aws))
    if problems := [*check_daemons(plan), *find_name_problems(plan)]:
        raise PlanError(problems)
    return plan


def _instances(site: AwsSite, catalogue: Catalogue) -> Mapping[str, Instance]:
    """The entries that the site may name: its own types, and all ids for a suggestion."""
    known = catalogue.ids(Instance)
    wanted = {group.type for group in site.node_groups} | {site.head.type}
    if site.login is not None:
        wanted.add(site.login.type)
    if not wanted <= set(known):
        wanted = set(known)  # a type is misspelt: its message suggests the nearest one
    return {name: catalogue.get(Instance, name) for name in sorted(wanted) if name in known}


def expand_site(site: OnPremSite, path: Path, catalogue: Catalogue) -> SitePlan:
    """The plan of one bare-metal site.

    Raises:
        PlanError: something is impossible; with every reason.
    """
    groups = place_groups(site, path)
    loads = list_loads(site, path)
    problems = _check(site, path, groups, loads, catalogue)
    if problems:
        raise PlanError(problems)
    classes = assign(groups, loads, problems)
    problems += _check_supplies(classes, loads, catalogue)
    if problems:
        raise PlanError(problems)
    built = _build(classes, loads, site, catalogue)
    return _tabulate(site, path, classes, built, catalogue)


def _check(
    site: OnPremSite,
    path: Path,
    groups: Sequence[PlacedGroup],
    loads: Sequence[Load],
    catalogue: Catalogue,
) -> list[PlanProblem]:
    """References that lead nowhere."""
    problems = check_sources(site.power, path)
    sources = {source.name for source in site.power.sources}
    loops = {loop.name for loop in site.loops}
    for placed in groups:
        for index, feed in enumerate(placed.group.feeds):
            if feed.source not in sources:
                message = f"feed {feed.name} comes from '{feed.source}', which does not exist"
                where = (*placed.path, "feeds", index, "source")
                problems.append(PlanProblem(where, message, did_you_mean(feed.source, sources)))
        loop = placed.group.cooling.loop
        if loop is not None and loop not in loops:
            where = (*placed.path, "cooling", "loop")
            message = f"there is no cooling loop '{loop}' in this site"
            problems.append(PlanProblem(where, message, did_you_mean(loop, loops)))
    problems += check_file_systems(site, path)
    problems += _check_entries(site, path, groups, loads, catalogue)
    return problems


def _check_entries(
    site: OnPremSite,
    path: Path,
    groups: Sequence[PlacedGroup],
    loads: Sequence[Load],
    catalogue: Catalogue,
) -> list[PlanProblem]:
    """Products that are not in the catalogue."""
    from rackwright.model.hardware import (
        AirHandler,
        Cable,
        Cdu,
        Pdu,
        PowerShelf,
        RackType,
        Switch,
    )

    wanted: list[tuple[Any, str, Path]] = []
    for load in loads:
        kind: Any = Switch if load.is_switch else Node
        wanted.append((kind, load.group.type, (*load.path, "type")))
    for placed in groups:
        wanted.append((RackType, placed.group.type, (*placed.path, "type")))
        wanted += [
            (Pdu, feed.pdu, (*placed.path, "feeds", index, "pdu"))
            for index, feed in enumerate(placed.group.feeds)
            if feed.pdu
        ]
        if placed.group.shelves:
            where = (*placed.path, "shelves", "type")
            wanted.append((PowerShelf, placed.group.shelves.type, where))
    for index, hall in enumerate(site.halls):
        if hall.air:
            wanted.append((AirHandler, hall.air.type, (*path, "halls", index, "air", "type")))
    for index, loop in enumerate(site.loops):
        wanted.append((Cdu, loop.cdu, (*path, "loops", index, "cdu")))
    for index, fabric in enumerate(site.fabrics):
        for number, link in enumerate(fabric.links):
            where = (*path, "fabrics", index, "links", number)
            ends = (("cable", link.cable), ("upper_cable", link.upper_cable))
            wanted += [(Cable, part, (*where, end)) for end, part in ends if part]
    problems = []
    for kind, entry_id, where in wanted:
        try:
            catalogue.get(kind, entry_id)
        except UnknownEntryError as error:
            problems.append(PlanProblem(where, error.summary, error.hint))
    return problems


def _check_supplies(
    classes: Sequence[AssignedRacks], loads: Sequence[Load], catalogue: Catalogue
) -> list[PlanProblem]:
    """Devices without a feed, and power supplies on feeds that are not there."""
    found: dict[tuple[Path, str], PlanProblem] = {}
    for cls in classes:
        feeds = [feed.name for feed in cls.group.group.feeds]
        for problem in _misplaced_shelves(cls.group, feeds):
            found[problem.path, problem.message] = problem
        if cls.content and not feeds:
            where = (*cls.group.path, "feeds")
            found[where, ""] = PlanProblem(
                where, f"'{cls.group.group.racks}' holds devices and has no feed"
            )
            continue
        for load in [loads[index] for index, _ in cls.content]:
            where = (*load.path, "psus_per_feed")
            for name in _psus_per_feed(load):
                if name not in feeds:
                    message = f"the racks of '{load.group.name}' have no feed {name}"
                    hint = f"their feeds are {', '.join(feeds)}"
                    found[where, name] = PlanProblem((*where, name), message, hint)
    for load in loads:
        chosen = _psus_per_feed(load)
        if chosen and not any(chosen.values()):
            where = (*load.path, "psus_per_feed")
            found[where, ""] = PlanProblem(where, "no power supply is placed on any feed")
            continue
        supplies = catalogue.get(Node, load.group.type).power_supplies if chosen else None
        if supplies is not None and sum(chosen.values()) != supplies.count:
            where = (*load.path, "psus_per_feed")
            message = (
                f"{sum(chosen.values())} power supplies are placed; "
                f"'{load.group.type}' has {supplies.count}"
            )
            found[where, ""] = PlanProblem(where, message)
    return list(found.values())


def _misplaced_shelves(placed: PlacedGroup, feeds: Sequence[str]) -> Iterator[PlanProblem]:
    """Power shelves on feeds that are not there, and more or fewer of them than there are."""
    shelves = placed.group.shelves
    if shelves is None or shelves.per_feed is None:
        return
    where = (*placed.path, "shelves", "per_feed")
    for name in shelves.per_feed:
        if name not in feeds:
            message = f"the racks '{placed.group.racks}' have no feed {name}"
            yield PlanProblem((*where, name), message, f"their feeds are {', '.join(feeds)}")
    on_feeds = sum(shelves.per_feed.values())
    if on_feeds != shelves.count:
        yield PlanProblem(where, f"{on_feeds} shelves are placed; there are {shelves.count}")


def _psus_per_feed(load: Load) -> Mapping[str, int]:
    group = load.group
    return (group.psus_per_feed or {}) if isinstance(group, NodeGroup) else {}


def _build(
    classes: Sequence[AssignedRacks], loads: Sequence[Load], site: OnPremSite, catalogue: Catalogue
) -> list[racks.Rack]:
    """One rack for each class; classes that differ in name and source only share the work."""
    made: dict[Any, racks.Rack] = {}
    built = []
    for cls in classes:
        group = cls.group.group
        key = (
            cls.content,
            cls.group.hall,
            group.type,
            group.shelves.key if group.shelves else None,
            group.cooling,
            tuple((f.name, f.pdu, f.pdus, f.circuit) for f in group.feeds),
        )
        if key not in made:
            made[key] = racks.build_rack(cls, loads, site, catalogue)
        built.append(replace(made[key], group=group))
    return built


def _tabulate(
    site: OnPremSite,
    path: Path,
    classes: Sequence[AssignedRacks],
    built: Sequence[racks.Rack],
    catalogue: Catalogue,
) -> SitePlan:
    rack_classes: list[RackClass] = []
    positions: list[RackPosition] = []
    devices: list[RackDevice] = []
    feeds: list[FeedLoad] = []
    circuits: list[CircuitLoad] = []
    losses: list[CircuitAfterLoss] = []
    device_losses: list[DevicesAfterLoss] = []
    for number, (cls, rack) in enumerate(zip(classes, built, strict=True)):
        where = cls.group.path
        own = racks.class_row(rack, cls, site, number)
        rack_classes.append(own)
        positions += [
            RackPosition(rack=name, rack_class=number, hall=own.hall, row=own.row, position=place)
            for name, place in zip(cls.racks, cls.positions, strict=True)
        ]
        devices += racks.device_rows(rack, where, number)
        feeds += racks.feed_rows(rack, where, number)
        circuits += racks.circuit_rows(rack, where, number, site.power.power_factor)
        lost, fates = racks.loss_rows(rack, where, number)
        losses += lost
        device_losses += fates
    tree = Tree(site.power.sources, (*path, "power", "sources"))
    return SitePlan(
        site=site,
        path=path,
        racks=tuple(positions),
        rack_classes=tuple(rack_classes),
        devices=tuple(devices),
        feeds=tuple(feeds),
        circuits=tuple(circuits),
        losses=tuple(losses),
        device_losses=tuple(device_losses),
        sources=_source_rows(site, path, tree, classes, built),
        rows=row_rows(site, path, rack_classes),
        halls=hall_rows(site, path, rack_classes, catalogue),
        loops=loop_rows(site, path, rack_classes, catalogue),
        totals=totals_row(site, rack_classes, _count(site, catalogue)),
        distribution=tree,
    )


def _source_rows(
    site: OnPremSite,
    path: Path,
    tree: Tree,
    classes: Sequence[AssignedRacks],
    built: Sequence[racks.Rack],
) -> tuple[SourceLoad, ...]:
    demands = [_demands(cls, rack, tree.outages) for cls, rack in zip(classes, built, strict=True)]
    judged = judge_sources(site.power, tree, [demand for demand, _ in demands])
    peaks = judge_sources(site.power, tree, [peak for _, peak in demands])
    legs = _legs(tree, classes, built)
    idle, facility = idle_sources(site), carriers(tree)
    pues = {name: site.pue if name in facility else 1.0 for name in tree.sources}
    return tuple(
        SourceLoad(
            source=load.name,
            kind=source.kind,
            path=(*path, "power", "sources", index),
            redundancy=source.redundancy,
            capacity_w=load.capacity,
            overload_w=source.overload,
            load_w=load.load,
            worst_w=load.worst,
            worst_lost=load.worst_lost,
            carries_facility=load.name in facility,
            facility_w=of_facility(load.load, pues[load.name]),
            facility_worst_w=of_facility(load.worst, pues[load.name]),
            peak_w=peak_of_facility(peak.load, load.load, pues[load.name]),
            peak_worst_w=peak_of_facility(peak.worst, load.worst, pues[load.name]),
            peak_lost=peak.worst_lost,
            imbalance=None
            if load.name in tree.unsure or (lines := legs[load.name]) is None
            else imbalance(lines),
            ancestors=tuple(sorted(tree.ancestors(load.name))),
            missing_parents=source.missing_parents,
            idle=load.name in idle,
        )
        for index, (source, load, peak) in enumerate(
            zip(site.power.sources, judged, peaks, strict=True)
        )
    )


def _demands(
    cls: AssignedRacks, rack: racks.Rack, outages: Outages
) -> tuple[FeedDemand, FeedDemand]:
    """The rack's draw on its feeds, and its peak, for every set of feeds that one lost source kills."""
    sources = tuple(feed.source for feed in rack.group.feeds)
    normal, peak = rack.feed_draws(frozenset())
    without = {dead: rack.feed_draws(dead) for dead in outages.dead_feeds(sources)}
    return (
        FeedDemand(
            sources, len(cls.racks), normal, {d: draws for d, (draws, _) in without.items()}
        ),
        FeedDemand(sources, len(cls.racks), peak, {d: peaks for d, (_, peaks) in without.items()}),
    )


def _legs(
    tree: Tree, classes: Sequence[AssignedRacks], built: Sequence[racks.Rack]
) -> Mapping[str, Legs | None]:
    """Load of each line of every source; the start line is rotated from rack to rack."""
    found: dict[str, Legs | None] = dict.fromkeys(tree.order, (0.0, 0.0, 0.0))
    for cls, rack in zip(classes, built, strict=True):
        turns = [sum(1 for p in cls.positions if p % 3 == turn) for turn in range(3)]
        for load, circuit in zip(rack.normal, rack.circuits, strict=True):
            name = rack.group.feeds[circuit.feed].source
            for turn, times in enumerate(turns):
                legs = None if load.legs is None else rotate(load.legs, turn)
                found[name] = _add_legs(found[name], legs, times)
    for name in tree.order:
        parents = [parent for parent in tree.sources[name].fed_by if parent in found]
        if parents:
            found[parents[0]] = _add_legs(found[parents[0]], found[name], 1)
    return found


def _add_legs(total: Legs | None, legs: Legs | None, times: int) -> Legs | None:
    return None if total is None or legs is None else add_legs(total, legs, times)


def _count(site: OnPremSite, catalogue: Catalogue) -> Counts:
    accelerators = nodes = hosts = 0
    for group in site.node_groups:
        entry = catalogue.get(Node, group.type)
        nodes += group.count
        hosts += group.count * entry.hosts
        if entry.accelerators is not None:
            accelerators += group.count * entry.accelerators.count
    return Counts(accelerators, nodes, hosts)
