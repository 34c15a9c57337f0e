"""Software versions: what a site's nodes need, which bill covers them, how versions compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.model.hardware import Accelerators
from rackwright.model.operations import Operations
from rackwright.model.software import SoftwareBill
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.storage.filesystem import serves_lustre

NVSWITCH = frozenset({"a100", "h100", "h200", "b200", "b300"})
"""GPUs whose 8-way boards have NVSwitches that the fabric manager of the node sets up."""

NVLINK_5 = frozenset({"b200", "b300"})
"""Those of them whose fabric manager needs NVLSM, the subnet manager of NVLink from the fifth on."""

WIDE_NVLINK = frozenset({"gb200", "gb300"})
"""GPUs whose NVLink spans hosts; memory is shared across them by IMEX."""

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class SiteSoftware:
    """Software of the nodes of one site, and the bill with its versions.

    Attributes:
        bill: None where no bill covers the site.
        path: place of the bill, or of ``operations`` where there is none.
        gpu: nodes have NVIDIA GPUs.
        nvswitch: some of them need a fabric manager.
        imex: some of them share memory across hosts.
        ofed: nodes have InfiniBand or Ethernet ports for RDMA.
        efa: GPU nodes speak EFA.
        lustre_client: jobs use Lustre.
        lustre_server: nodes of the site serve it.
        lustre_rdma: Lustre runs over the ports that ``ofed`` drives.
    """

    site: str
    bill: SoftwareBill | None
    path: Path
    gpu: bool
    nvswitch: bool = False
    imex: bool = False
    ofed: bool = False
    efa: bool = False
    lustre_client: bool = False
    lustre_server: bool = False
    lustre_rdma: bool = False


def site_software(plan: Expansion) -> Iterator[SiteSoftware]:
    """Yield the software of each site of ``plan``; sites without accelerators and Lustre as well."""
    operations = plan.operations
    for site in plan.onprem:
        yield _onprem(site, *bill_of(operations, site.name))
    for aws in plan.aws:
        yield _aws(aws, *bill_of(operations, aws.spec.name))


def bill_of(operations: Operations | None, site: str) -> tuple[SoftwareBill | None, Path]:
    """Return the bill that covers ``site`` and its place; None, and the place where bills are listed."""
    for index, bill in enumerate(operations.software if operations else ()):
        if not bill.sites or site in bill.sites:
            return bill, ("operations", "software", index)
    return None, ("operations", "software")


def kernel_of(plan: Expansion, site: str, group: str) -> str | None:
    """Return the kernel that is stated for the hosts of a group: its own, that of Lustre servers, or the site's."""
    bill, _ = bill_of(plan.operations, site)
    if bill is None:
        return None
    servers = bill.server_kernel if serves_lustre(plan, site, group) else None
    return bill.kernel_of_group(group) or servers or bill.kernel


def system_of(plan: Expansion, site: str, group: str) -> str | None:
    """Return the operating system that the bill states for the hosts of a group, by its id in ``SYSTEMS``."""
    bill, _ = bill_of(plan.operations, site)
    if bill is None:
        return None
    own = bill.server_system if serves_lustre(plan, site, group) else None
    return own or bill.system


def _onprem(site: SitePlan, bill: SoftwareBill | None, path: Path) -> SiteSoftware:
    nodes = [group.product for group in site.groups]
    boards = [node.accelerators for node in nodes if node.accelerators is not None]
    systems = site.spec.file_systems
    return SiteSoftware(
        site=site.name,
        bill=bill,
        path=path,
        gpu=any(board.vendor == "nvidia" for board in boards),
        nvswitch=any(has_nvswitch(board) for board in boards),
        imex=any(board.gres in WIDE_NVLINK for board in boards),
        ofed=any(port.role == "compute" for node in nodes for port in node.ports),
        lustre_client=bool(systems),
        lustre_server=bool(systems),
        lustre_rdma=any(n.name.startswith("o2ib") for s in systems for n in s.networks),
    )


def _aws(site: AwsSitePlan, bill: SoftwareBill | None, path: Path) -> SiteSoftware:
    running = [group for group in site.groups if group.spec.most]
    boards = [
        (group.instance.accelerators, group.spec.efa)
        for group in running
        if group.instance.accelerators is not None
    ]
    nvidia = [(board, efa) for board, efa in boards if board.vendor == "nvidia"]
    return SiteSoftware(
        site=site.spec.name,
        bill=bill,
        path=path,
        gpu=bool(nvidia),
        nvswitch=any(has_nvswitch(board) for board, _ in nvidia),
        imex=any(board.gres in WIDE_NVLINK for board, _ in nvidia),
        efa=any(efa for _, efa in nvidia),
        lustre_client=bool(site.spec.file_systems),
    )


def has_nvswitch(board: Accelerators) -> bool:
    """Return True if the host of ``board`` has NVSwitches that its own fabric manager sets up."""
    return board.gres in NVSWITCH and board.count >= 8


def has_nvlsm(board: Accelerators) -> bool:
    """True if the host of ``board`` runs NVLSM beside its fabric manager."""
    return board.gres in NVLINK_5 and has_nvswitch(board)


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers a version begins with, so that versions compare: ``2.4.0amzn5.0`` is (2, 4, 0).

    Trailing zeros make no difference.
    """
    match = _NUMBERS.match(version)
    found = [int(part) for part in match.group().split(".")] if match else []
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def upstream(version: str) -> str:
    """Return ``version`` without what a package adds: ``595.112.07-0ubuntu1`` is ``595.112.07``."""
    return re.split(r"[-+~]", version, maxsplit=1)[0]


def at_least(version: str, minimum: str) -> bool:
    """Return True if ``version`` is ``minimum`` or newer."""
    return numbers(version) >= numbers(minimum)
