"""Refused sites with parts left out: what is deleted, what is judged, what explains a pass.

A deletion must not make a refused site pass, unless there is less to judge: less hardware, or less
that is asked of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from rackwright.catalog.loader import Catalogue, load_catalogue
from rackwright.errors import RackwrightError
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan
from rackwright.policy.api import Enforcement, Policy
from rackwright.policy.engine import Result, evaluate
from rackwright.policy.packs.loader import load_packs
from rackwright.policy.policy_sets import Standing, regime_for, standing_with
from rackwright.policy.settings import configure
from rackwright.reading.tree import Item, Path, Tree

POLICIES = load_packs()
CATALOGUE = load_catalogue()


BUILT = {
    "federation.sites[].uids*": "its accounts are said to have the numbers of 'users'",
    "federation.sites[].version": "the cluster has the release of the scheduler",
    "operations.software[].cuda": "no toolkit is installed on the hosts",
    "operations.software[].slurm": "Slurm is of the scheduler's release",
    "scheduler*": "Slurm is set by what is left, and by the catalogue",
    "sites[].access": "AWS's own key encrypts volumes, which every node may use",
    "sites[].access.encryption_key": "AWS's own key encrypts volumes, which every node may use",
    "sites[].addresses.networks[].interface": "every interface on the fabric has an address",
    "sites[].fabrics[].attached[].interfaces": "every interface of the product is cabled",
    "sites[].fabrics[].attached[].rate": "the interfaces run at the rate of the product",
    "sites[].fabrics[].links[]": "nobody knows the cables of the group, as NET-005 says",
    "sites[].fabrics[].links[].count": "all cables of the group are of this kind",
    "sites[].fabrics[].links[].same_rack": "cables to all racks are of this kind",
    "sites[].fabrics[].links[].pod_switches": "pods are equal",
    "sites[].fabrics[].links[].pods": "the switches are cabled as one block",
    "sites[].fabrics[].links[].upper_cable": "both ends get the same transceiver",
    "sites[].fabrics[].patches*": "the cable follows the pattern",
    "sites[].fabrics[].segments*": "no partition, VLAN or range of addresses is given out",
    "sites[].fabrics[].tiers[].asn": "no BGP number is given out",
    "sites[].file_systems[].clients[]": "the group does not mount it",
    "sites[].file_systems[].data_repositories*": "the bucket is not linked",
    "sites[].file_systems[].metadata.data_on_metadata": "whole files lie on the object targets",
    "sites[].file_systems[].management.nids[]": "the server is not reached by that network",
    "sites[].file_systems[].networks": "its servers are on no network of RDMA",
    "sites[].file_systems[].networks[]": "its servers are not on the network",
    "sites[].head.data_volume.snapshots*": "one is made each day, and 14 are kept",
    "sites[].network.existing*": "a VPC is made, with subnets that are large enough",
    "sites[].network.zone_ids*": "a type that some zones of the region lack is not known to be offered",
    "sites[].network.cluster_subnets*": "the cluster has half of the VPC",
    "sites[].network.growth": "the subnet is made with room for a quarter more nodes",
    "sites[].network.ssh_from*": "the network may not reach the login nodes",
    "sites[].node_groups[].efa": "every EFA interface is attached",
    "sites[].fabrics[].tiers[].switch_names": "its switches are called by fabric, tier and a number",
    "sites[].node_groups[].host_names": "its hosts are called by the group and a number",
    "sites[].node_groups[].metadata_hops": "containers cannot reach the metadata",
    "sites[].node_groups[].placement_group": "the kind of capacity decides, and the group is made",
    "sites[].node_groups[].psus_per_feed": "the supplies are spread evenly over the feeds",
    "sites[].nfs[].read_only": "the folder is mounted to be written to",
    "sites[].node_groups[].root_device": "the root device of Ubuntu's images is encrypted",
    "sites[].fabrics[].tiers[].units*": "the switches take the highest free units",
    "sites[].node_groups[].units*": "the nodes take the lowest free units",
    "sites[].node_groups[].start_unit": "the nodes take the lowest free units",
    "reliability.jobs[].async_save": "the job stops until a checkpoint is written, and the stated stall is all of it",
    "users.accounts[]": "the account is made at no site, and its number is free",
    "workloads[].layout": "the fastest layout that fits is planned",
    "workloads[].layout.tensor": "the layers are not split over accelerators",
    "workloads[].precision": "products of matrices are in BF16",
}
"""Fields that say how something is built, and what is built without them: that is judged then."""

ASKED = {
    "federation": "each site schedules by itself",
    "operations.burn_in.results*": "the burn-in is planned, and no result is stated",
    "sites[].provisioning": "no machine is installed by management controllers",
    "sites[].provisioning.groups*": "the group is installed by other means",
    "costs": "no cost is asked for",
    "costs.budget_per_hour": "the cluster may cost what it costs in an hour",
    "costs.budget_per_year": "the cluster may cost what it costs in a year",
    "policies*": "the rule holds in full",
    "datasets": "no data set is moved or read",
    "datasets[]": "the data set is neither moved nor read",
    "reliability": "no job and no share of the hosts is asked for",
    "reliability.jobs[].parts[]": "the job does without these hosts",
    "reliability.least_after_site_loss": "no share of the hosts is asked for",
    "sites[].fabrics[].rail_optimized": "no rails are asked for",
    "sites[].halls[].power_limit": "the hall may draw what its sources and its cooling carry",
    "sites[].halls[].rows[].power_limit": "the row may draw what its sources carry",
    "workloads": "no job is planned, and nothing is asked of the cluster for one",
    "workloads[]": "the job is not planned, and nothing is asked of the cluster for it",
    "workloads[].dataset": "no reading of samples is asked for",
    "workloads[].target": "the job may get the tokens a day that it gets",
}
"""Fields by which an owner asks for more than hardware does, and what holds without them."""

GONE = {
    "operations.software[].amd": "versions of software for another vendor's accelerators stood there",
    "operations.drain_on_xids[]": "the XID that drained for no reason drains no more",
    "sites[].fabrics[].links[].fibre": "a fibre was stated for copper",
    "sites[].fabrics[].attached[].split": "the ports are whole, and have their full rate",
    "owner": "it is a tag of everything, of which there was one too many",
    "sites[].network.endpoints*": "a service without endpoints was named",
    "sites[].fabrics[].ecn": "no congestion marking is declared that would need pauses",
    "sites[].power.cabling": "nobody says how the cables lie, as PWR-020 says",
    "sites[].power.sources[].fault_current": "it follows from what feeds the source",
    "sites[].power.sources[].battery_room": "the batteries are in the room of their UPS",
    "sites[].power.sources[].route": "no trench or riser is named for the cables",
    "sites[].power.sources[].redundancy": "the load is carried with one source less, and checked so",
    "sites[].node_groups[].power_cap": "a cap that nobody knows to be kept holds nothing back any more",
    "sites[].facility_water[].freezing_point": "its fluid is taken to freeze as its maker tabulates",
    "sites[].plant[].rides_through": "it is taken to stop at once when it loses its power, and is judged so",
    "sites[].power.sources[].voltage": "the source has the nominal voltage of what it feeds",
    "sites[].tags*": "a password, or a tag that no service takes, stands there no more",
}
"""Fields that are themselves what is refused."""

EXPLAINED = BUILT | ASKED | GONE
"""A star stands for all that begins like this."""


def is_explained(name: str) -> bool:
    """Whether a field may be left out of a refused site, because its absence says something."""
    return any(explains(key, name) for key in EXPLAINED)


def explains(key: str, name: str) -> bool:
    """Whether an entry of the list is about a field."""
    return name.startswith(key[:-1]) if key.endswith("*") else name == key


def paths(data: Any, above: Path = ()) -> Iterator[Path]:
    """Every key and every entry of a list in a document."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in pairs:
        yield (*above, key)
        if isinstance(value, (dict, list)):
            yield from paths(value, (*above, key))


def without(data: Any, path: Path) -> Any:
    """A document less one key or entry."""
    first, *rest = path
    if isinstance(data, list):
        if not rest:
            return [child for index, child in enumerate(data) if index != first]
        return [without(c, tuple(rest)) if n == first else c for n, c in enumerate(data)]
    if not rest:
        return {key: child for key, child in data.items() if key != first}
    return {**data, first: without(data[first], tuple(rest))}


def changed(data: Any, path: Path, value: Any) -> Any:
    """A document with another value at one place, which its mapping may not have had."""
    first, *rest = path
    new = changed(data[first], tuple(rest), value) if rest else value
    if isinstance(data, list):
        return [new if index == first else child for index, child in enumerate(data)]
    return {**data, first: new}


def field_of(path: Path) -> str:
    """The place of a path in the model: ``sites[].power.sources[].fed_by[]``."""
    return ".".join("[]" if isinstance(part, int) else part for part in path).replace(".[]", "[]")


def plan_of(data: Any, catalogue: Catalogue = CATALOGUE) -> Plan | None:
    """The plan of a document; None where it is no blueprint, or an impossible one."""
    try:
        return expand(Blueprint.model_validate(data), catalogue)
    except (ValidationError, RackwrightError):
        return None


def hardware(plan: Plan) -> Counter[tuple[str, ...]]:
    """What stands at the sites of a plan, in pieces."""
    found: Counter[tuple[str, ...]] = Counter()
    for site in plan.onprem:
        name = site.spec.name
        for racks in site.racks:
            for device in racks.kind.devices:
                found[name, device.entry] += racks.count
            for feed in racks.kind.feeds:
                if feed.pdu_entry is not None:
                    found[name, feed.pdu_entry] += feed.pdus * racks.count
        for hall in site.spec.halls:
            found[name, "air handler"] += hall.air.count if hall.air else 0
        for loop in site.spec.loops:
            found[name, loop.cdu] += loop.count
        for plant in site.spec.plant or ():
            found[name, "plant", plant.name] += plant.count
        found.update((name, "source", source.name) for source in site.spec.power.sources)
        found.update((name, "file system", system.name) for system in site.spec.file_systems)
    for cloud in plan.aws:
        for group in cloud.spec.node_groups:
            found[cloud.spec.name, group.type] += group.most
        for server in (cloud.spec.head, cloud.spec.login):
            if server is not None:
                found[cloud.spec.name, server.type] += server.count
        found.update(
            (cloud.spec.name, "file system", system.name) for system in cloud.spec.file_systems
        )
        found.update((cloud.spec.name, "file system", system.name) for system in cloud.spec.efs)
    return found


@dataclass(frozen=True)
class Refused:
    """A site that is refused.

    Attributes:
        name: what is wrong with it.
        data: its document.
        policies: those that judge it, with their parameters.
    """

    name: str
    data: Any
    policies: Sequence[Policy]
    catalogue: Catalogue = CATALOGUE

    @cached_property
    def plan(self) -> Plan:
        plan = plan_of(self.data, self.catalogue)
        assert plan is not None, self.name
        return plan

    @cached_property
    def refusing(self) -> Sequence[Policy]:
        """The policies that refuse it."""
        return [policy for policy in self.policies if blocking(self.plan, [policy])]

    @cached_property
    def whole(self) -> set[tuple[str, str]]:
        """What any policy finds against it: the rule and the subject."""
        return against(self.plan)

    def verdict(self, omitted: Sequence[Path]) -> str | None:
        """What comes of it without some parts; None where that is no blueprint.

        One of ``refused``, ``less hardware`` and ``passes``.
        """
        data = self.data
        for path in sorted(omitted, key=_place, reverse=True):
            data = without(data, path)
        plan = plan_of(data, self.catalogue)
        if plan is None:
            return None
        if blocking(plan, self.refusing):
            return "refused"
        if hardware(self.plan) - hardware(plan):
            return "less hardware"
        if against(plan) - self.whole:
            return "refused"
        return "passes"


def _place(path: Path) -> list[tuple[int, str]]:
    """By which paths are sorted: what is deleted last moves nothing that another one names."""
    return [(part, "") if isinstance(part, int) else (-1, part) for part in path]


def blocking(plan: Plan, policies: Sequence[Policy]) -> list[Result]:
    """What ``policies`` find that refuses a plan, each standing as if it were in force."""
    standings = {policy.id: Standing(policy.enforcement) for policy in policies}
    results = evaluate(plan, policies, standings, lambda _: None).results
    return [result for result in results if result.blocks]


def configured(blueprint: Blueprint) -> list[Policy]:
    """All policies, with the parameters that a blueprint gives them."""
    nowhere = Tree(Item({}, "<blueprint>", 1, 1), {}, ("<blueprint>",))
    return [*configure(POLICIES, blueprint.policies, nowhere)]


def in_force(blueprint: Blueprint) -> list[Policy]:
    """The policies that refuse a blueprint, as it sets them."""
    regime = regime_for(blueprint.profile, blueprint.policy_set, blueprint.stage)
    mandatory = Enforcement.MANDATORY
    return [
        policy
        for policy in configured(blueprint)
        if standing_with(policy, blueprint.policies, regime).enforcement == mandatory
    ]


def against(plan: Plan) -> set[tuple[str, str]]:
    """What refuses a plan by the released policy set, each rule as the blueprint sets it."""
    found = blocking(plan, in_force(plan.blueprint))
    return {(result.policy, result.subject.name) for result in found}


def verdict_of(site: Refused, omitted: Sequence[Path]) -> str:
    """What comes of a site without some parts, and whether a pass is explained by one of them."""
    verdict = site.verdict(omitted) or "no blueprint"
    explained = verdict == "passes" and any(is_explained(field_of(path)) for path in omitted)
    return "explained" if explained else verdict
