"""From a blueprint to a plan: every rack, device, circuit, source, hall and loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rackwright.catalog.loader import Catalogue, UnknownEntryError
from rackwright.model.aws import AwsSite
from rackwright.model.cluster import Blueprint
from rackwright.model.hardware import Node
from rackwright.model.instances import Instance
from rackwright.model.onprem import NodeGroup, OnPremSite
from rackwright.plan.aws.site import AwsPlanError, AwsSitePlan, plan_aws_site
from rackwright.plan.base import Path
from rackwright.plan.cooling.facility import Counts, totals_row
from rackwright.plan.cooling.plan import plan_cooling
from rackwright.plan.cooling.products import (
    check_supply,
    named_plants,
    with_plant_products,
)
from rackwright.plan.cooling.rear_door import check_doors, named_doors
from rackwright.plan.cooling.stages import check_water
from rackwright.plan.cost.references import find_cost_problems
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.racks import check_shared_racks
from rackwright.plan.facts import with_stated
from rackwright.plan.model import Plan
from rackwright.plan.naming.names import find_name_problems
from rackwright.plan.naming.standing import check_host_names
from rackwright.plan.operation_references import (
    find_operation_problems,
    find_provisioning_problems,
)
from rackwright.plan.power.consumers import check_consumers, consumers_of
from rackwright.plan.power.distribution import check_sources
from rackwright.plan.power.plan import plan_power
from rackwright.plan.power.products import (
    check_ratings,
    named_products,
    with_source_products,
)
from rackwright.plan.problems import PlanError, PlanProblem
from rackwright.plan.racks.kinds import BuiltRacks, build_racks, conductors_of, fed_racks
from rackwright.plan.racks.loops import check_loops
from rackwright.plan.racks.nvlink import nvlink_domains
from rackwright.plan.racks.placement import (
    AssignedRacks,
    Load,
    PlacedGroup,
    assign,
    list_loads,
    place_groups,
)
from rackwright.plan.racks.tap_offs import check_tap_offs, tap_offs
from rackwright.plan.reliability.failures import check_reliability
from rackwright.plan.reliability.interconnect import check_interconnects
from rackwright.plan.slurm.references import check_daemons
from rackwright.plan.storage.filesystem import check_file_systems
from rackwright.plan.storage.quotas import find_quota_problems
from rackwright.reading.suggest import did_you_mean


def expand(blueprint: Blueprint, catalogue: Catalogue) -> Plan:
    """Return the plan of ``blueprint``.

    Raises:
        PlanError: something is impossible; with every reason.
    """
    catalogue, problems = with_stated(blueprint.facts, catalogue)
    problems += find_cost_problems(blueprint, catalogue)
    problems += find_operation_problems(blueprint)
    problems += find_quota_problems(blueprint)
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
    if blueprint.workloads:
        from rackwright.plan.workload.references import check_workloads

        problems += check_workloads(blueprint, catalogue)
    if blueprint.scheduler is not None:
        from rackwright.plan.slurm.references import check_spot

        problems += check_spot(blueprint)
    if blueprint.burst:
        from rackwright.plan.slurm.bursts import check_bursts

        problems += check_bursts(blueprint)
    if problems:
        raise PlanError(problems)
    plan = Plan(blueprint, catalogue, tuple(onprem), tuple(aws))
    problems = [*_check_clusters(plan), *find_name_problems(plan)]
    if blueprint.burst and plan.scheduler is not None:
        from rackwright.plan.slurm.bursts import check_budgets

        problems += check_budgets(plan, plan.scheduler)
    for planned in plan.onprem:
        if planned.spec.provisioning is not None:
            hosts = {name for group in planned.groups for name in group.host_names}
            problems += find_provisioning_problems(planned.spec, planned.path, hosts)
        if any(fabric.adaptive_routing is not None for fabric in planned.spec.fabrics):
            from rackwright.plan.fabric.fabrics import check_adaptive_routing

            problems += check_adaptive_routing(planned.fabrics)
    if problems:
        raise PlanError(problems)
    return plan


def _check_clusters(plan: Plan) -> list[PlanProblem]:
    """Return daemons of the plan's clusters that no host can run."""
    if not plan.is_federated:
        return check_daemons(plan)
    from rackwright.plan.federation.members import check_federation

    return check_federation(plan, plan.members)


def _instances(site: AwsSite, catalogue: Catalogue) -> Mapping[str, Instance]:
    """Return the entries that the site may name: its own types, and all ids for a suggestion."""
    known = catalogue.ids(Instance)
    wanted = {group.type for group in site.node_groups} | {site.head.type}
    if site.login is not None:
        wanted.add(site.login.type)
    if not wanted <= set(known):
        wanted = set(known)  # a type is misspelt: its message suggests the nearest one
    return {name: catalogue.get(Instance, name) for name in sorted(wanted) if name in known}


def expand_site(site: OnPremSite, path: Path, catalogue: Catalogue) -> SitePlan:
    """Return the plan of one bare-metal site.

    Raises:
        PlanError: something is impossible; with every reason.
    """
    groups = place_groups(site, path)
    loads = list_loads(site, path)
    problems = _check(site, path, groups, loads, catalogue)
    if problems:
        raise PlanError(problems)
    site = with_plant_products(with_source_products(site, catalogue), catalogue)
    classes = assign(groups, loads, problems)
    problems += _check_supplies(classes, loads, catalogue)
    if problems:
        raise PlanError(problems)
    return _expanded(site, path, build_racks(classes, loads, site, catalogue), catalogue)


def _check(
    site: OnPremSite,
    path: Path,
    groups: Sequence[PlacedGroup],
    loads: Sequence[Load],
    catalogue: Catalogue,
) -> list[PlanProblem]:
    """Return the references that lead nowhere."""
    problems = check_sources(site.power, path)
    sources = {source.name for source in site.power.sources}
    loops = {loop.name for loop in site.loops}
    for placed in groups:
        for index, feed in enumerate(placed.spec.feeds):
            if feed.source not in sources:
                message = f"feed {feed.name} comes from '{feed.source}', which does not exist"
                where = (*placed.path, "feeds", index, "source")
                problems.append(PlanProblem(where, message, did_you_mean(feed.source, sources)))
        cooling = placed.spec.cooling
        for name, loop in (("loop", cooling.loop), ("rear_door_loop", cooling.rear_door_loop)):
            if loop is None or loop in loops:
                continue
            where = (*placed.path, "cooling", name)
            message = f"there is no cooling loop '{loop}' in this site"
            problems.append(PlanProblem(where, message, did_you_mean(loop, loops)))
    problems += check_tap_offs(site, groups)
    problems += [*check_water(site, path), *check_supply(site, path)]
    problems += check_file_systems(site, path)
    problems += check_shared_racks(site, path, [rack for placed in groups for rack in placed.racks])
    unknown = _check_entries(site, path, groups, loads, catalogue)
    if not unknown:
        problems += check_ratings(site, path, catalogue)
        problems += check_consumers(consumers_of(site, path, catalogue), sources)
        problems += check_loops(site, path, groups, catalogue)
        problems += check_doors([(placed.spec, placed.path) for placed in groups], catalogue)
        problems += check_host_names(site, path, catalogue)
    return problems + unknown


def _check_entries(
    site: OnPremSite,
    path: Path,
    groups: Sequence[PlacedGroup],
    loads: Sequence[Load],
    catalogue: Catalogue,
) -> list[PlanProblem]:
    """Return the products that are not in the catalogue."""
    from rackwright.model.connections import Cable
    from rackwright.model.hardware import Pdu, PowerShelf, Switch
    from rackwright.model.plant import AirHandler, Cdu
    from rackwright.model.racks import RackType

    wanted: list[tuple[Any, str, Path]] = []
    for load in loads:
        kind: Any = Switch if load.is_switch else Node
        wanted.append((kind, load.group.type, (*load.path, "type")))
    for placed in groups:
        wanted.append((RackType, placed.spec.type, (*placed.path, "type")))
        wanted += [
            (Pdu, feed.pdu, (*placed.path, "feeds", index, "pdu"))
            for index, feed in enumerate(placed.spec.feeds)
            if feed.pdu
        ]
        if placed.spec.shelves:
            where = (*placed.path, "shelves", "type")
            wanted.append((PowerShelf, placed.spec.shelves.type, where))
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
    wanted += [*named_products(site, path), *named_plants(site, path)]
    wanted += named_doors((placed.spec, placed.path) for placed in groups)
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
    """Return the devices without a feed, and power supplies on feeds that are not there."""
    found: dict[tuple[Path, str], PlanProblem] = {}
    for cls in classes:
        feeds = [feed.name for feed in cls.group.spec.feeds]
        for problem in _misplaced_shelves(cls.group, feeds):
            found[problem.path, problem.message] = problem
        if cls.content and not feeds:
            where = (*cls.group.path, "feeds")
            found[where, ""] = PlanProblem(
                where, f"'{cls.group.spec.racks}' holds devices and has no feed"
            )
            continue
        for load in [loads[one.load] for one in cls.content]:
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
    """Yield the power shelves on feeds that are not there, and more or fewer of them than there are."""
    shelves = placed.spec.shelves
    if shelves is None or shelves.per_feed is None:
        return
    where = (*placed.path, "shelves", "per_feed")
    for name in shelves.per_feed:
        if name not in feeds:
            message = f"the racks '{placed.spec.racks}' have no feed {name}"
            yield PlanProblem((*where, name), message, f"their feeds are {', '.join(feeds)}")
    on_feeds = sum(shelves.per_feed.values())
    if on_feeds != shelves.count:
        yield PlanProblem(where, f"{on_feeds} shelves are placed; there are {shelves.count}")


def _psus_per_feed(load: Load) -> Mapping[str, int]:
    group = load.group
    return (group.psus_per_feed or {}) if isinstance(group, NodeGroup) else {}


def _expanded(
    site: OnPremSite, path: Path, built: Sequence[BuiltRacks], catalogue: Catalogue
) -> SitePlan:
    racks = tuple(one.racks for one in built)
    consumers = consumers_of(site, path, catalogue)
    fed = [fed_racks(one) for one in built]
    boxes = tap_offs(built, site)
    power = plan_power(site, path, consumers, racks, fed, conductors_of(built), boxes)
    cooling = plan_cooling(site, path, racks, consumers, power.tree, catalogue)
    return SitePlan(
        spec=site,
        path=path,
        catalogue=catalogue,
        racks=racks,
        power=power,
        cooling=cooling,
        nvlink_domains=tuple(nvlink_domains(site, path, catalogue)),
        totals=totals_row(site, racks, _count(site, catalogue), power.overhead),
    )


def _count(site: OnPremSite, catalogue: Catalogue) -> Counts:
    accelerators = nodes = hosts = 0
    for group in site.node_groups:
        entry = catalogue.get(Node, group.type)
        nodes += group.count
        hosts += group.count * entry.hosts
        if entry.accelerators is not None:
            accelerators += group.count * entry.accelerators.count
    return Counts(accelerators, nodes, hosts)
