"""Requirements between versions of GPU software: tables and their conclusions.

One place for the policy that judges a bill and for the roles that install from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError

from rackwright.errors import RackwrightError
from rackwright.model.base import Model
from rackwright.model.software import Version
from rackwright.plan.expansion import Expansion
from rackwright.plan.software.versions import at_least, numbers

MATRIX_POLICY = "OPS-002"
"""The policy whose parameters are the tables."""


class NeedsError(RackwrightError):
    """The blueprint gives a table that cannot be one."""

    code = "software-needs"


class PluginNeeds(Model):
    """Requirements of aws-ofi-nccl from a version on."""

    plugin: Version
    nccl: Version
    libfabric: Version


class InstallerNeeds(Model):
    """The oldest EFA installer that works with NCCL from a version on."""

    nccl: Version
    installer: Version


class Bundle(Model):
    """Versions that an EFA installer brings."""

    installer: Version
    libfabric: Version
    plugin: Version


class Conflict(Model):
    """A release of NCCL that does not work over a series of libfabric, with the report of it."""

    nccl: Version
    libfabric: Version
    """First two numbers of the series, like 2.1."""
    report: str
    """Symptom and source."""


class CudaNeeds(Model):
    """The oldest driver with which programs of a major release of CUDA run."""

    cuda: Annotated[int, Field(gt=0)]
    """First number of the toolkit's version."""
    driver: Version


PLUGIN_NEEDS = (
    # Notes of the releases 1.19.2, 1.20.0 and 1.21.1 of aws-ofi-nccl. Those of the releases from 1.14.2 on were not
    # read: they are held to the same, which is not less than they need.
    PluginNeeds(plugin="1.14.2", nccl="2.17.1", libfabric="1.22"),
    # Notes of the release 1.9.1.
    PluginNeeds(plugin="1.9.0", nccl="2.4.8", libfabric="1.18"),
)
INSTALLER_NEEDS = (InstallerNeeds(nccl="2.19", installer="1.29"),)
BUNDLES = (
    Bundle(installer="1.51.0", libfabric="2.7.0amzn2.0", plugin="1.22.0"),
    Bundle(installer="1.50.0", libfabric="2.6.0amzn1.0", plugin="1.21.1"),
    Bundle(installer="1.43.2", libfabric="2.1.0amzn5.0", plugin="1.16.3"),
    Bundle(installer="1.43.1", libfabric="2.1.0amzn5.0", plugin="1.16.2"),
    Bundle(installer="1.43.0", libfabric="2.1.0amzn4.0", plugin="1.16.1"),
    Bundle(installer="1.42.0", libfabric="2.1.0amzn3.0", plugin="1.15.0"),
    Bundle(installer="1.41.0", libfabric="2.1.0amzn2.0", plugin="1.14.2"),
    Bundle(installer="1.40.0", libfabric="2.1.0amzn2.0", plugin="1.14.2"),
)
"""Amazon EC2 User Guide, "Elastic Fabric Adapter release notes"; what a release does not name is that of the one before."""
CONFLICTS = (
    Conflict(
        nccl="2.28.9", libfabric="2.1", report="collectives hang (issue 1055 of aws-ofi-nccl)"
    ),
)
CUDA_NEEDS = (
    # NVIDIA's guide 'CUDA Compatibility', minor version compatibility, table 1.
    CudaNeeds(cuda=11, driver="450"),
    CudaNeeds(cuda=12, driver="525"),
    CudaNeeds(cuda=13, driver="580"),
)


class SoftwareNeeds(Model):
    """All tables, as a blueprint has them."""

    plugin_needs: tuple[PluginNeeds, ...] = PLUGIN_NEEDS
    installer_needs: tuple[InstallerNeeds, ...] = INSTALLER_NEEDS
    bundles: tuple[Bundle, ...] = BUNDLES
    cuda_needs: tuple[CudaNeeds, ...] = CUDA_NEEDS
    conflicts: tuple[Conflict, ...] = CONFLICTS


def needs_of(plan: Expansion) -> SoftwareNeeds:
    """Return the tables that the policy judges this plan by.

    Raises:
        NeedsError: a table in the policy's parameters is not one.
    """
    setting = plan.policies.get(MATRIX_POLICY)
    given: dict[str, Any] = {} if setting is None else dict(setting.parameters)
    known = {key: value for key, value in given.items() if key in SoftwareNeeds.model_fields}
    try:
        return SoftwareNeeds.model_validate(known)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise NeedsError(
            f"policies.{MATRIX_POLICY}.parameters.{place}: {first['msg'].lower()}",
            hint="'rackwright check' shows the line",
        ) from None


def plugin_need(plugin: str, table: Sequence[PluginNeeds]) -> PluginNeeds | None:
    """Return the newest entry that is not newer than ``plugin``; None where every entry is."""
    fitting = [need for need in table if at_least(plugin, need.plugin)]
    return max(fitting, key=lambda one: numbers(one.plugin)) if fitting else None


def oldest_installer(nccl: str, table: Sequence[InstallerNeeds]) -> str | None:
    """Return the oldest EFA installer that works with ``nccl``; None where any does."""
    needed = [need.installer for need in table if at_least(nccl, need.nccl)]
    return max(needed, key=numbers) if needed else None


def bundle_of(installer: str, table: Sequence[Bundle]) -> Bundle | None:
    """Return the versions that ``installer`` brings; None if unknown."""
    same = (bundle for bundle in table if numbers(bundle.installer) == numbers(installer))
    return next(same, None)


def conflict_of(nccl: str, libfabric: str, table: Sequence[Conflict]) -> Conflict | None:
    """Return the known conflict of a release of NCCL with a libfabric; None without one."""
    for one in table:
        series = numbers(one.libfabric)
        same = numbers(libfabric)[: len(series)] == series
        if same and numbers(nccl)[:3] == numbers(one.nccl):
            return one
    return None


def oldest_driver(cuda: str, table: Sequence[CudaNeeds]) -> str | None:
    """Return the oldest driver for the toolkit ``cuda``; None where its major release is not known."""
    major = numbers(cuda)[:1]
    return next((need.driver for need in table if (need.cuda,) == major), None)
