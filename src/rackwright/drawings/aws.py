"""Drawing of an AWS site: VPC with subnets and hosts, file systems, and connections to the outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.drawings.svg import Drawing, box, fitted, group, label, line
from rackwright.harmless import counted
from rackwright.plan.aws.site import AwsSitePlan, GroupPlan
from rackwright.plan.aws.subnets import SubnetPlan
from rackwright.report.wording import quantity_text

_WIDE, _SIDE, _PAD, _ROW, _HEAD = 470.0, 300.0, 12.0, 16.0, 24.0
_APART = 56.0
"""Gap between subnets and file systems for the lines of mounts, in pixels."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Box with a title and lines of text.

    Attributes:
        kind: CSS class.
        mounts: True if its hosts mount the file systems.
    """

    title: str
    lines: Sequence[str]
    kind: str
    mounts: bool = False

    @property
    def height(self) -> float:
        return _HEAD + _ROW * len(self.lines) + 6


def draw_aws(site: AwsSitePlan) -> Drawing:
    """Return the drawing of a site: VPC with subnets, hosts and placement, and the mounted file systems."""
    network = site.network
    vpc = f"VPC {network.existing.vpc}" if network.existing else "VPC"
    tops = [
        label(12, 22, f"{site.name} in {site.region}", class_="head"),
        label(12, 40, f"{vpc}, {network.cidr}; {_ways(site)}", class_="soft"),
    ]
    boxes, y, doors = [], 62.0 + _HEAD, []
    for subnet, title in _subnets(site):
        parts = _inside(site, subnet)
        height = _HEAD + sum(part.height + _PAD for part in parts) + (0 if parts else 6)
        boxes.append(box(24, y, _WIDE, height, class_="panel"))
        boxes.append(label(36, y + 17, fitted(title, _WIDE - 24), class_="sub"))
        at = y + _HEAD
        for part in parts:
            boxes.append(_draw(part, 36, at, _WIDE - 24))
            if part.mounts:
                doors.append((24 + _WIDE - 12, at + part.height / 2))
            at += part.height + _PAD
        y += height + _PAD
    stores = _file_systems(site)
    x, at = 24 + _WIDE + _APART, 62.0 + _HEAD
    wires = []
    for part in stores:
        boxes.append(_draw(part, x, at, _SIDE))
        wires += [_wire(door, (x, at + part.height / 2)) for door in doors]
        at += part.height + _PAD
    low = max(y, at)
    width = x + _SIDE + 24 if stores else 24 + _WIDE + 24
    frame = [
        box(12, 62, width - 24, low - 62, class_="frame"),
        label(24, 79, vpc, class_="sub soft"),
    ]
    body = "".join([*tops, *frame, *wires, *boxes])
    return Drawing(f"network of {site.name} on AWS", width, low + 12, body)


def _ways(site: AwsSitePlan) -> str:
    """Return the connections into and out of the site, in words."""
    network = site.network
    words = []
    if network.ssh_from:
        words.append(f"SSH from {', '.join(network.ssh_from)}")
    if network.on_premises:
        words.append(f"other sites {', '.join(network.on_premises)}")
    if network.endpoints:
        words.append(f"endpoints {', '.join(network.endpoints)}")
    return "; ".join([*words, f"NAT {network.nat}"])


def _subnets(site: AwsSitePlan) -> Sequence[tuple[SubnetPlan | None, str]]:
    """Return the subnets with their titles, the cluster subnet first; a single box without planned subnets."""
    if not site.subnets:
        existing = site.network.existing
        name = f"existing subnet {existing.private_subnet}" if existing else "subnets: size unknown"
        return [(None, name)]
    return [
        (one, f"{one.tier} subnet {one.name}, {one.zone}, {one.cidr}, {one.usable:,} addresses")
        for one in site.subnets
    ]


def _inside(site: AwsSitePlan, subnet: SubnetPlan | None) -> list[_Part]:
    """Return the hosts in a subnet."""
    first = subnet is None or subnet == site.subnets[0]
    public = next((one for one in site.subnets if one.tier == "public"), None)
    parts = []
    for server in site.servers:
        own = public if server.public and public is not None else (site.subnets or (None,))[0]
        if subnet is None or own == subnet:
            parts.append(_server(site, server.role, server.server.type, server.names))
    if first:
        parts += [_group(one) for one in site.groups]
    if subnet is not None and subnet == public and site.network.nat != "none":
        parts.append(_Part("NAT gateway", [], "slot"))
    return parts


def _server(site: AwsSitePlan, role: str, instance: str, names: Sequence[str]) -> _Part:
    lines = []
    if role == "head" and site.data_volume is not None:
        lines.append(f"data volume {quantity_text(site.data_volume.size, 'GiB')}")
    if role == "login" and site.login_address is not None:
        address = {
            "elastic": "Elastic IP addresses",
            "load-balancer": "Network Load Balancer",
            "changing": "public addresses that change",
        }
        lines.append(address[site.login_address])
    shown = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    mounts = role == "head" or bool(site.file_systems or site.efs)
    return _Part(f"{shown}: {len(names)} × {instance}", lines, "switch", mounts)


def _group(one: GroupPlan) -> _Part:
    spec, placement = one.spec, one.placement
    count = str(spec.most) if spec.least == spec.most else f"{spec.least} to {spec.most}"
    efa = one.efa_interfaces
    fabric = "interfaces unknown" if efa is None else counted(efa, "EFA interface") + " a host"
    places = {
        "none": "no placement group",
        "cluster": "cluster placement group",
        "existing": f"placement group {placement.group_name}",
    }
    market = "capacity block " if placement.market else "reservation "
    bought = f"{market}{placement.reservation}" if placement.reservation else "on demand"
    return _Part(
        f"{spec.name}: {count} × {spec.type}",
        (f"{fabric if spec.efa else 'no EFA'}; {places[placement.group]}", bought),
        "node",
        mounts=True,
    )


def _file_systems(site: AwsSitePlan) -> list[_Part]:
    parts = []
    for lustre in site.file_systems:
        size = lustre.size
        wires = "EFA and TCP" if lustre.efa else "TCP"
        lines = [
            f"{quantity_text(size.capacity, 'GiB')}, {quantity_text(size.throughput, 'MB/s/TiB')}",
            f"over {wires}" + (", existing" if lustre.existing else ""),
        ]
        lines += [f"data of {one.bucket}" for one in lustre.data_repositories]
        parts.append(_Part(f"FSx for Lustre {lustre.name}: {lustre.mount}", lines, "cdu"))
    for share in site.efs:
        lines = ["existing" if share.existing else f"{share.throughput} throughput"]
        parts.append(_Part(f"EFS {share.name}: {share.mount}", lines, "cdu"))
    return parts


def _draw(part: _Part, x: float, y: float, width: float) -> str:
    lines = [
        label(x + 10, y + _HEAD + 8 + _ROW * n, fitted(text, width - 20), class_="soft")
        for n, text in enumerate(part.lines)
    ]
    title = label(x + 10, y + 17, fitted(part.title, width - 20), class_="sub")
    return group([box(x, y, width, part.height, class_=f"device {part.kind}"), title, *lines])


def _wire(start: tuple[float, float], end: tuple[float, float]) -> str:
    bend = end[0] - _APART / 2
    return line([start, (bend, start[1]), (bend, end[1]), end], class_="wire")
