"""Versions of the software on GPU nodes, as variables of the roles that install it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rackwright.catalog.fault_signals import exporter_fields
from rackwright.catalog.fault_table import FaultTable
from rackwright.inventory.role_variables.amd import amd_software
from rackwright.inventory.role_variables.nccl import nccl_settings
from rackwright.inventory.role_variables.neuron import neuron_software
from rackwright.model.software import SoftwareBill
from rackwright.plan.accelerators_per_node import Board
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.software.needs import (
    SoftwareNeeds,
    bundle_of,
    oldest_driver,
    oldest_installer,
    plugin_need,
)
from rackwright.plan.software.versions import (
    WIDE_NVLINK,
    has_nvlsm,
    has_nvswitch,
    numbers,
    upstream,
)


def gpu_software(plan: Plan) -> dict[tuple[str, str], dict[str, Any]]:
    """Return variables of the roles for GPU nodes by site and node group.

    Only groups whose site has software versions are in it. A version that these do not state is
    absent, and so is everything about the driver where its own is. The roles are ``nvidia_driver``,
    ``cuda``, ``nccl``, ``dcgm_exporter`` and, on AWS, ``efa`` for NVIDIA's GPUs, and one of each
    other vendor.
    """
    needs, settings = plan.software_needs, nccl_settings(plan)
    devices = {} if plan.slurm is None else {(n.site, n.group): n for n in plan.slurm.nodes}
    found = {}
    for board in plan.boards:
        bill = plan.software[board.site].bill
        if bill is None or board.accelerators.count % board.hosts:
            continue
        if board.accelerators.vendor == "amd":
            found[board.site, board.group] = amd_software(
                bill.amd, board, devices.get((board.site, board.group))
            )
        if board.accelerators.vendor == "aws":
            found[board.site, board.group] = neuron_software(bill.neuron, board)
        if board.accelerators.vendor != "nvidia":
            continue
        known = {
            **_driver(bill, board),
            **_channels(plan, board),
            **_cuda(bill, needs),
            "nccl_version": bill.nccl,
            "nccl_tests_version": bill.nccl_tests if bill.nccl else None,
            "nccl_settings": settings.get((board.site, board.group)) if bill.nccl else None,
            **_dcgm(bill, board, plan.faults),
            **_efa(bill, board, needs),
            "enroot_toolkit_version": bill.container_toolkit if bill.enroot else None,
        }
        given = {key: value for key, value in known.items() if value is not None}
        found[board.site, board.group] = given
    return found


def nvlink_domains(plan: Plan, hosts: Iterable[Host]) -> Mapping[tuple[str, ...], list[str]]:
    """Return those of ``hosts`` that share memory over NVLink, as the inventory calls them.

    The keys are site, node group, rack and number in the rack.
    """
    wide = {(one.site, one.group) for one in plan.boards if one.accelerators.gres in WIDE_NVLINK}
    found: dict[tuple[str, ...], list[str]] = {}
    for host in hosts:
        if host.place is not None and (host.site, host.group) in wide:
            key = (host.site, host.group, host.place.rack, str(host.place.unit))
            found.setdefault(key, []).append(host.inventory_name)
    return found


def _driver(bill: SoftwareBill, board: Board) -> dict[str, Any]:
    if bill.driver is None:
        return {}
    return {
        "nvidia_driver_version": upstream(bill.driver),
        "nvidia_driver_gpus": board.gpus,
        "nvidia_driver_fabric_manager": has_nvswitch(board.accelerators),
        "nvidia_driver_fabric_manager_version": bill.fabric_manager,
        "nvidia_driver_nvlsm": has_nvlsm(board.accelerators) or None,
        "nvidia_driver_imex": board.accelerators.gres in WIDE_NVLINK,
        "nvidia_driver_imex_version": bill.imex,
    }


def _channels(plan: Plan, board: Board) -> dict[str, Any]:
    """Return that the driver makes no channel of IMEX for all users, where Slurm gives each job one."""
    options = {} if plan.scheduler is None else plan.scheduler.extra
    switch = {key.lower(): value for key, value in options.items()}.get("switchtype")
    if board.accelerators.gres not in WIDE_NVLINK or switch != "switch/nvidia_imex":
        return {}
    return {"nvidia_driver_imex_channel": False}


def _cuda(bill: SoftwareBill, needs: SoftwareNeeds) -> dict[str, Any]:
    if bill.cuda is None:
        return {}
    return {
        "cuda_version": bill.cuda,
        "cuda_driver_version": None if bill.driver is None else upstream(bill.driver),
        "cuda_driver_minimum": oldest_driver(bill.cuda, needs.cuda_needs),
    }


def _dcgm(bill: SoftwareBill, board: Board, faults: FaultTable) -> dict[str, Any]:
    if bill.dcgm is None:
        return {}
    return {
        "dcgm_exporter_dcgm_version": bill.dcgm,
        "dcgm_exporter_gpus": board.gpus,
        "dcgm_exporter_fault_counters": exporter_fields(faults),
        "dcgm_exporter_cuda": None if bill.cuda is None else numbers(bill.cuda)[0],
    }


def _efa(bill: SoftwareBill, board: Board, needs: SoftwareNeeds) -> dict[str, Any]:
    """Return no variables unless EFA is wanted, its devices are counted and both libraries are stated."""
    if not board.efa or bill.libfabric is None or bill.ofi_plugin is None:
        return {}
    plugin = plugin_need(bill.ofi_plugin, needs.plugin_needs)
    known: dict[str, Any] = {
        "efa_devices": board.efa,
        "efa_libfabric_version": bill.libfabric,
        "efa_plugin_version": bill.ofi_plugin,
        "efa_nccl_version": bill.nccl,
        "efa_installer_version": bill.efa_installer,
        "efa_nccl_minimum": None if plugin is None else plugin.nccl,
        "efa_libfabric_minimum": None if plugin is None else plugin.libfabric,
    }
    if bill.nccl is not None:
        known["efa_installer_minimum"] = oldest_installer(bill.nccl, needs.installer_needs)
    if bill.efa_installer is not None:
        bundle = bundle_of(bill.efa_installer, needs.bundles)
        if bundle is not None:
            brings = {"libfabric": bundle.libfabric, "plugin": bundle.plugin}
            known["efa_installer_brings"] = brings
    return known
