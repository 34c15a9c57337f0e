"""Comparisons for the policies of federations: accounts, addresses, releases and job ids.

Bits of a job id and ranges are those of SchedMD's guide to federated scheduling (``federation.html``);
the window of releases is that of its guide to upgrades.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import combinations

from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.records.names import NamePlan
from rackwright.plan.slurm.releases import ReleaseError, name_of, readable_from, release_of

LOCAL_BITS = 26
"""Bits of a federated job id that number the jobs of one cluster."""
LARGEST_LOCAL = 2**LOCAL_BITS - 1
"""Largest ``MaxJobId``, which is the default as well."""


@dataclass(frozen=True, slots=True)
class UidDifference:
    """An account with different numbers at two sites."""

    account: str
    number: int
    site: str
    own: int


def uid_differences(plan: Expansion, site: str) -> tuple[UidDifference, ...] | None:
    """Return the accounts of a site that have other numbers elsewhere; None where no map is known.

    A site that states no numbers has those of ``users``: its accounts, or its directory.
    """
    maps, common = _uid_maps(plan)
    own = maps.get(site, {})
    if own is None:
        return None
    reference = dict(common)
    for other, numbers in maps.items():
        for account, number in (numbers or {}).items() if other != site else ():
            reference.setdefault(account, number)
    return tuple(
        UidDifference(account, reference[account], site, number)
        for account, number in own.items()
        if reference.get(account, number) != number
    )


def _uid_maps(plan: Expansion) -> tuple[dict[str, dict[str, int] | None], dict[str, int]]:
    """Return the numbers of accounts at each site, None where none are known, and those of ``users``."""
    federation, users = plan.blueprint.federation, plan.users
    common = {} if users is None else {one.name: one.uid for one in users.accounts}
    shared = users is not None and (bool(users.accounts) or users.directory is not None)
    members = () if federation is None else federation.sites
    return {one.site: one.uids or (common if shared else None) for one in members}, common


@dataclass(frozen=True, slots=True)
class SharedUid:
    """A number that is one account here and another one at some site."""

    number: int
    account: str
    other: str
    site: str


def shared_uids(plan: Expansion, site: str) -> tuple[SharedUid, ...]:
    """Return the numbers of a site's accounts that other accounts have, here or elsewhere."""
    maps, _ = _uid_maps(plan)
    holders: dict[int, dict[str, str]] = {}
    for place, numbers in maps.items():
        for account, number in (numbers or {}).items():
            holders.setdefault(number, {}).setdefault(account, place)
    found = []
    for account, number in (maps.get(site) or {}).items():
        others = [(name, place) for name, place in holders[number].items() if name != account]
        found += [SharedUid(number, account, *other) for other in others[:1]]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SiteNetworks:
    """Networks of a site by which other sites reach it; None where they are unknown."""

    site: str
    path: Path
    prefixes: tuple[IPv4Network | IPv6Network, ...] | None


def site_networks(plan: Expansion, names: NamePlan) -> tuple[SiteNetworks, ...]:
    """Return the management networks and VPCs of the sites of the federation."""
    federation = plan.blueprint.federation
    if federation is None:
        return ()
    found: dict[str, SiteNetworks] = {}
    for site in plan.onprem:
        own = {
            one.whole
            for one in names.networks
            if one.site == site.name and one.kind == "management"
        }
        prefixes = tuple(sorted(own, key=str)) or None
        found[site.name] = SiteNetworks(site.name, (*site.path, "addresses"), prefixes)
    for cloud in plan.aws:
        cidr = ip_network(cloud.spec.network.cidr)
        found[cloud.spec.name] = SiteNetworks(
            cloud.spec.name, (*cloud.path, "network", "cidr"), (cidr,)
        )
    return tuple(found[one.site] for one in federation.sites)


def overlapping(sites: tuple[SiteNetworks, ...]) -> Iterator[tuple[SiteNetworks, str, str, str]]:
    """Yield each site with a network that meets one of an earlier site: both, and the other's site."""
    for one, other in combinations(sites, 2):
        for mine in one.prefixes or ():
            for its in other.prefixes or ():
                if mine.version == its.version and mine.overlaps(its):
                    yield other, str(its), str(mine), one.site


@dataclass(frozen=True, slots=True)
class ReleaseFit:
    """Release of one cluster beside that of slurmdbd.

    Attributes:
        fits: slurmdbd is as new or newer and still reads its messages; None where a release is unknown.
        window: oldest release that slurmdbd reads; None if unknown.
    """

    site: str
    path: Path
    version: str
    database: str
    fits: bool | None
    window: str | None


def release_fits(plan: Expansion) -> Iterator[ReleaseFit]:
    """Yield the release of each cluster of the federation beside that of slurmdbd."""
    federation, scheduler = plan.blueprint.federation, plan.scheduler
    if federation is None or scheduler is None:
        return
    database = federation.database.version or scheduler.version
    for index, member in enumerate(federation.sites):
        version = member.version or scheduler.version
        path = ("federation", "sites", index, "version")
        try:
            own, newest = release_of(version), release_of(database)
        except ReleaseError:
            yield ReleaseFit(member.site, path, version, database, None, None)
            continue
        readable = readable_from(newest)
        fits = own == newest or own in readable
        yield ReleaseFit(member.site, path, version, database, fits, name_of(readable[-1]))


@dataclass(frozen=True, slots=True)
class JobIds:
    """Job ids that one cluster gives: ``FirstJobId`` and ``MaxJobId``."""

    first: int
    last: int


def job_ids(extra: Mapping[str, str | int]) -> JobIds:
    """Return the job ids that each cluster gives, as ``extra`` of its scheduler sets them."""
    by_key = {key.lower(): int(value) for key, value in extra.items() if str(value).isdigit()}
    return JobIds(by_key.get("firstjobid", 1), by_key.get("maxjobid", LARGEST_LOCAL))
