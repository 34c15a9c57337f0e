"""The software bill of materials: which versions a site's nodes run."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from rackwright.model.base import Model
from rackwright.model.names import Name
from rackwright.model.systems import SYSTEMS, known_system

Version = Annotated[
    str, Field(pattern=r"^\d{1,9}(\.\d{1,9}){0,5}([-+~a-z][A-Za-z0-9.+~-]{0,60})?$")
]
"""A version as the package carries it, like ``595.112.07`` or ``2.4.0amzn5.0``."""

KernelRelease = Annotated[str, Field(pattern=r"^\d{1,3}\.\d{1,4}[A-Za-z0-9.+~_-]{0,80}$")]
"""What ``uname -r`` prints."""

SystemId = Annotated[
    str,
    AfterValidator(known_system),
    Field(json_schema_extra={"enum": [system.id for system in SYSTEMS]}),
]
"""An operating system in one release, like ``ubuntu-24.04``; ``docs/systems.md`` lists them."""


class KernelModules(Model):
    """Software that brings kernel modules; they load into the kernel they are built for."""

    version: Version
    """Its version."""
    kernel: KernelRelease | None = None
    """Kernel that the modules are built for."""
    ofed: Version | None = None
    """OFED whose symbols the modules are built against; for Lustre over InfiniBand."""


class SoftwareBill(Model):
    """Versions of one or more sites; absent is unknown."""

    name: Name
    """How the rest of the blueprint calls it."""
    sites: tuple[Name, ...] = ()
    """Sites that it covers; absent, all, and then there is no other bill."""
    system: SystemId | None = None
    """Operating system of the hosts; where it is stated, hosts that run another one are refused."""
    server_system: SystemId | None = None
    """That of the Lustre servers, where it is another one."""
    kernel: KernelRelease | None = None
    """Release of the kernel that runs, as ``uname -r`` prints it."""
    server_kernel: KernelRelease | None = None
    """Kernel of the Lustre servers, where it is another one."""
    driver: Version | None = None
    """The GPU driver."""
    fabric_manager: Version | None = None
    """Of NVSwitch nodes."""
    imex: Version | None = None
    """Of nodes whose NVLink spans several hosts."""
    cuda: Version | None = None
    """Version of the CUDA toolkit."""
    dcgm: Version | None = None
    """Version of DCGM."""
    nccl: Version | None = None
    """Version of NCCL."""
    nccl_tests: Version | None = None
    """Programs that measure NCCL, installed along with it."""
    ofi_plugin: Version | None = None
    """aws-ofi-nccl, which lets NCCL speak libfabric."""
    libfabric: Version | None = None
    """Version of libfabric."""
    efa_installer: Version | None = None
    """Version of AWS's EFA installer."""
    ofed: KernelModules | None = None
    """DOCA-OFED or MLNX_OFED."""
    lustre_client: KernelModules | None = None
    lustre_server: KernelModules | None = None
    enroot: Version | None = None
    """Containers for jobs, without root."""
    container_toolkit: Version | None = None
    """NVIDIA's container toolkit, by which containers of enroot have GPUs."""
    pyxis: Version | None = None
    """Slurm's plugin for enroot."""
    grafana: Version | None = None
    """Dashboards, on the host that watches the others."""
    slurm: Version | None = None
    """Its first two numbers are those of the scheduler's ``version``."""
