"""Comparisons of the sites of a federation: accounts, addresses, releases and job ids.

The bits and ranges of job ids are from SchedMD's Federated Scheduling Guide (``federation.html``), the supported
releases from its Upgrade Guide.
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
"""Bits of a federated job id for the number of the job in its cluster."""
LARGEST_LOCAL = 2**LOCAL_BITS - 1
"""Largest valid ``MaxJobId`` of a federation; also Slurm's default."""


@dataclass(frozen=True, slots=True)
class UidDifference:
    """Account with different UIDs at two sites.

    Attributes:
        account: name of the account.
        number: UID at another site.
        own: deviating UID at the site.
    """

    account: str
    number: int
    own: int


def uid_differences(plan: Expansion, site: str) -> tuple[UidDifference, ...] | None:
    """Return the accounts of a site with other UIDs at other sites; None if its UIDs are unknown.

    A site without ``uids`` has those of ``users``: its accounts or its directory.
    """
    maps, common = _uid_maps(plan)
    own = maps.get(site, {})
    if own is None:
        return None
    # ``users`` of the blueprint wins over the UIDs that other sites report.
    reference = dict(common)
    for other, numbers in maps.items():
        for account, number in (numbers or {}).items() if other != site else ():
            reference.setdefault(account, number)
    return tuple(
        UidDifference(account, reference[account], number)
        for account, number in own.items()
        if reference.get(account, number) != number
    )


def _uid_maps(plan: Expansion) -> tuple[dict[str, dict[str, int] | None], dict[str, int]]:
    """Return the UIDs of accounts by site, None if unknown, and the UIDs of ``users``."""
    federation, users = plan.blueprint.federation, plan.users
    common = {} if users is None else {one.name: one.uid for one in users.accounts}
    shared = users is not None and (bool(users.accounts) or users.directory is not None)
    members = () if federation is None else federation.sites
    return {one.site: one.uids or (common if shared else None) for one in members}, common


@dataclass(frozen=True, slots=True)
class SharedUid:
    """UID that belongs to different accounts at two sites.

    Attributes:
        number: UID.
        account: account at this site.
        other: account at the other site.
        site: other site.
    """

    number: int
    account: str
    other: str
    site: str


def shared_uids(plan: Expansion, site: str) -> tuple[SharedUid, ...]:
    """Return the UIDs of a site's accounts that also belong to other accounts, at any site."""
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
    """Networks of a site through which other sites reach it.

    Attributes:
        site: name of the site.
        path: place of the addresses in the blueprint.
        prefixes: networks; None if unknown.
    """

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
    """Yield each site with a network that overlaps one of an earlier site, both networks, and the earlier site."""
    for one, other in combinations(sites, 2):
        for mine in one.prefixes or ():
            for its in other.prefixes or ():
                if mine.version == its.version and mine.overlaps(its):
                    yield other, str(its), str(mine), one.site


@dataclass(frozen=True, slots=True)
class ReleaseFit:
    """Compatibility of the release of one cluster with slurmdbd.

    Attributes:
        site: site of the cluster.
        path: place of the release in the blueprint.
        version: release of slurmctld.
        database: release of slurmdbd.
        fits: True if slurmdbd supports the release; None if a release is unknown.
        window: oldest release that slurmdbd supports; None if unknown.
    """

    site: str
    path: Path
    version: str
    database: str
    fits: bool | None
    window: str | None


def release_fits(plan: Expansion) -> Iterator[ReleaseFit]:
    """Yield the compatibility of each cluster of the federation with slurmdbd."""
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
        # A newer slurmctld is in neither: slurmdbd must be upgraded first.
        fits = own == newest or own in readable
        yield ReleaseFit(member.site, path, version, database, fits, name_of(readable[-1]))


@dataclass(frozen=True, slots=True)
class JobIds:
    """Range of the job ids of one cluster: ``FirstJobId`` and ``MaxJobId``."""

    first: int
    last: int


def job_ids(extra: Mapping[str, str | int]) -> JobIds:
    """Return the range of job ids of each cluster, from ``extra`` of the scheduler or Slurm's defaults."""
    by_key = {key.lower(): int(value) for key, value in extra.items() if str(value).isdigit()}
    return JobIds(by_key.get("firstjobid", 1), by_key.get("maxjobid", LARGEST_LOCAL))
