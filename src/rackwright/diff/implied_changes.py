"""Changes that no line of a blueprint states: subnets that move, hosts that are renamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackwright.diff.changes import Change, shorten
from rackwright.model.field_kinds import OnChange
from rackwright.model.names import compress_hostlist
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.load import LoadedPlan
from rackwright.plan.model import Plan
from rackwright.reading.tree import Path, Tree

CLUSTER_SUBNET = "sites/aws/(cluster-subnet)"
SUBNETS = "sites/aws/(subnets)"
HOSTS = "sites/onprem/node_groups/*/(hosts)"
LOGINS = "sites/aws/login/(subnet)"
CLOUD_HOSTS = "sites/aws/node_groups/*/(hosts)"

_RENAMED = OnChange(
    "refused",
    "hosts are renamed: Slurm ends the jobs of nodes that leave its configuration; keep the names, or "
    "replace the hosts in a group of another name",
)

IMPLIED_ROLLOUTS: Mapping[str, OnChange] = {
    CLUSTER_SUBNET: OnChange(
        "replace",
        "a subnet cannot be resized or moved: everything in it is replaced",
        keeps_data=True,
    ),
    SUBNETS: OnChange("replace", "gateways, endpoints and public login nodes in them are replaced"),
    LOGINS: OnChange(
        "replace",
        "an instance stays in its subnet for life: others take the places of the login nodes, with new root volumes",
    ),
    HOSTS: _RENAMED,
    CLOUD_HOSTS: _RENAMED,
}
"""Roll-outs of the implied changes, by pattern."""


def derive(before: LoadedPlan, after: LoadedPlan) -> tuple[Change, ...]:
    """Return the changes that follow from the plans of both sides."""
    return (
        *_subnets(before.plan, after),
        *_moved_logins(before.plan, after),
        *_renamed_hosts(before.plan, after),
    )


def _subnets(before: Plan, after: LoadedPlan) -> Iterator[Change]:
    old = {site.name: site for site in before.aws}
    for site in after.plan.aws:
        was = old.get(site.name)
        if was is None:
            continue
        then, now = _addresses(was), _addresses(site)
        for index, name in enumerate(then):
            if name in now and now[name] != then[name]:
                yield _change(
                    f"sites.{site.name}.subnet {name}",
                    SUBNETS if index else CLUSTER_SUBNET,
                    (then[name], now[name]),
                    after.tree,
                    (*site.path, "network"),
                    was.spec.model_dump(mode="json"),
                )
        first, new_first = next(iter(then), None), next(iter(now), None)
        if first is not None and new_first is not None and first != new_first:
            yield _change(
                f"sites.{site.name}.cluster subnet",
                CLUSTER_SUBNET,
                (f"{first} {then[first]}", f"{new_first} {now[new_first]}"),
                after.tree,
                (*site.path, "network", "availability_zones"),
                was.spec.model_dump(mode="json"),
            )


def _moved_logins(before: Plan, after: LoadedPlan) -> Iterator[Change]:
    old = {site.name: site for site in before.aws}
    for site in after.plan.aws:
        was = old.get(site.name)
        if was is None or was.login is None or site.login is None:
            continue
        then, now = (_login_subnet(one) for one in (was, site))
        if then != now:
            yield _change(
                f"sites.{site.name}.login subnet",
                LOGINS,
                (then, now),
                after.tree,
                (*site.path, "login"),
                was.spec.model_dump(mode="json"),
            )


def _login_subnet(site: AwsSitePlan) -> str:
    """Return the tier of the subnet of login nodes."""
    return "public" if any(one.public for one in site.servers) else "private"


def _addresses(site: AwsSitePlan) -> dict[str, str]:
    """Return the addresses and zone of each subnet, the cluster's first."""
    return {plan.name: f"{plan.cidr} in {plan.zone}" for plan in site.subnets}


def _renamed_hosts(before: Plan, after: LoadedPlan) -> Iterator[Change]:
    old = {(one.site, one.group): one for one in _named_groups(before)}
    for one in _named_groups(after.plan):
        was = old.get((one.site, one.group))
        if was is None:
            continue
        leaving = set(was.hosts) - set(one.hosts)
        # Hosts that a smaller group gives up are no renames.
        if len(leaving) > max(0, len(was.hosts) - len(one.hosts)):
            then, now = leaving, set(one.hosts) - set(was.hosts)
            yield _change(
                f"sites.{one.site}.node_groups.{one.group} hosts",
                one.pattern,
                (compress_hostlist(then), compress_hostlist(now)),
                after.tree,
                one.place,
                was.owner,
            )


@dataclass(frozen=True, slots=True)
class _NamedGroup:
    """A node group with the names of its hosts."""

    site: str
    group: str
    pattern: str
    hosts: tuple[str, ...]
    place: Path
    owner: Mapping[str, object]


def _named_groups(plan: Plan) -> Iterator[_NamedGroup]:
    for site in plan.onprem:
        for group in site.groups:
            data, where = group.spec.model_dump(mode="json"), (*group.path, "name")
            yield _NamedGroup(site.name, group.name, HOSTS, group.host_names, where, data)
    for cloud in plan.aws:
        for nodes in cloud.groups:
            data, where = nodes.spec.model_dump(mode="json"), (*nodes.path, "name")
            name = nodes.spec.name
            yield _NamedGroup(cloud.name, name, CLOUD_HOSTS, nodes.host_names, where, data)


def _change(
    path: str,
    pattern: str,
    values: tuple[str, str],
    tree: Tree,
    place: Path,
    owner: Mapping[str, object],
) -> Change:
    before, after = values
    return Change(
        path=path,
        pattern=pattern,
        kind="changed",
        before=before,
        after=after,
        shown_before=shorten(before),
        shown_after=shorten(after),
        location=tree.locate(place),
        owner=owner,
    )
