"""The software entry of materials: which versions a site's nodes run."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY, PART, OnChange
from rackwright.model.names import DISTINCT, Name, refuse_twins
from rackwright.model.systems import SYSTEMS, known_system

_BY_SERVER = "server by server; its partner has its targets meanwhile"
_EXCHANGED = "exchanged on idle nodes, wave by wave"
_LATER = "jobs that start later use it"
_REINSTALLED = "hosts must be reinstalled, which Rackwright does not do: it refuses hosts that run another system"

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

    version: Annotated[Version, HARDWARE]
    """Version of the modules."""
    kernel: Annotated[KernelRelease | None, HARDWARE] = None
    """Kernel that the modules are built for."""
    ofed: Annotated[Version | None, HARDWARE] = None
    """OFED whose symbols the modules are built against; for Lustre over InfiniBand."""


class GroupKernel(Model):
    """Kernel of a node group that differs from that of its site, like that of arm64 trays beside x86 heads."""

    group: Annotated[Name, KEY]
    """Node group."""
    kernel: Annotated[KernelRelease, HARDWARE]
    """Release of its kernel, as ``uname -r`` prints it. OFED of the group is built for it."""


class AmdSoftware(Model):
    """Software of AMD's accelerators."""

    driver: Annotated[Version, HARDWARE, OnChange("drain", _EXCHANGED)]
    """Version of the driver (``amdgpu-dkms``), like ``6.12.12``."""
    rocm: Annotated[Version, HARDWARE, OnChange("drain", _EXCHANGED)]
    """Version of ROCm, like ``6.4.1``; RCCL and ``amd-smi`` are those of it."""
    exporter: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of the exporter of measurements (``amdgpu-exporter``). None is installed if omitted."""


class NeuronSoftware(Model):
    """Software of AWS's accelerators, Trainium and Inferentia."""

    driver: Annotated[Version, HARDWARE, OnChange("drain", _EXCHANGED)]
    """Version of the driver (``aws-neuronx-dkms``), like ``2.24.7.0``."""
    tools: Annotated[Version, HARDWARE, OnChange("rolling", _LATER)]
    """Version of the tools (``aws-neuronx-tools``)."""
    runtime: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of the runtime library (``aws-neuronx-runtime-lib``). None is installed if omitted."""
    collectives: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of the library for collectives (``aws-neuronx-collectives``). None is installed if omitted."""


class SoftwareBill(Model):
    """Versions of one or more sites; absent is unknown."""

    name: Annotated[Name, KEY]
    """Name of the software versions, by which the rest of the blueprint refers to them."""
    sites: Annotated[tuple[Name, ...], DISTINCT, HARDWARE] = ()
    """Sites that the versions cover. All sites, with no other entry, if omitted."""
    system: Annotated[SystemId | None, HARDWARE, OnChange("drain", _REINSTALLED)] = None
    """Operating system of the hosts; where it is stated, hosts that run another one are refused."""
    server_system: Annotated[SystemId | None, HARDWARE, OnChange("drain", _REINSTALLED)] = None
    """Operating system of the Lustre servers, where it is another one."""
    kernel: Annotated[KernelRelease | None, HARDWARE, OnChange("drain", _EXCHANGED)] = None
    """Release of the kernel that runs, as ``uname -r`` prints it."""
    group_kernels: Annotated[tuple[GroupKernel, ...], PART, OnChange("drain", _EXCHANGED)] = ()
    """Kernels of node groups that have another one, like ``6.8.0-60-generic-64k``."""
    server_kernel: Annotated[KernelRelease | None, HARDWARE, OnChange("rolling", _BY_SERVER)] = None
    """Kernel of the Lustre servers, where it is another one."""
    driver: Annotated[Version | None, HARDWARE, OnChange("drain", _EXCHANGED)] = None
    """Version of NVIDIA's driver."""
    amd: Annotated[AmdSoftware | None, PART, OnChange("drain", _EXCHANGED)] = None
    neuron: Annotated[NeuronSoftware | None, PART, OnChange("drain", _EXCHANGED)] = None
    fabric_manager: Annotated[Version | None, HARDWARE, OnChange("drain", _EXCHANGED)] = None
    """Version of NVIDIA's fabric manager on NVSwitch nodes."""
    imex: Annotated[Version | None, HARDWARE, OnChange("drain", _EXCHANGED)] = None
    """Version of NVIDIA's IMEX on nodes whose NVLink spans several hosts."""
    cuda: Annotated[Version | None, HARDWARE, OnChange("drain", _EXCHANGED)] = None
    """Version of the CUDA toolkit."""
    dcgm: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of DCGM."""
    nccl: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of NCCL."""
    nccl_tests: Annotated[Version | None, HARDWARE] = None
    """Version of nccl-tests, the programs that measure NCCL, installed along with it."""
    ofi_plugin: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of aws-ofi-nccl, which lets NCCL speak libfabric."""
    libfabric: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of libfabric."""
    efa_installer: Annotated[Version | None, HARDWARE, OnChange("drain", _EXCHANGED)] = None
    """Version of AWS's EFA installer."""
    ofed: Annotated[KernelModules | None, PART, OnChange("drain", _EXCHANGED)] = None
    """Version of DOCA-OFED or MLNX_OFED, with its kernel."""
    lustre_client: Annotated[KernelModules | None, PART, OnChange("drain", _EXCHANGED)] = None
    lustre_server: Annotated[KernelModules | None, PART, OnChange("rolling", _BY_SERVER)] = None
    enroot: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of enroot: containers for jobs, without root."""
    container_toolkit: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of NVIDIA's container toolkit, by which containers of enroot have GPUs."""
    pyxis: Annotated[Version | None, HARDWARE, OnChange("rolling", _LATER)] = None
    """Version of pyxis, Slurm's plugin for enroot."""
    grafana: Annotated[
        Version | None,
        HARDWARE,
        OnChange("in place", "Grafana starts again; nothing is measured less meanwhile"),
    ] = None
    """Version of Grafana: dashboards, on the host that watches the others."""
    slurm: Annotated[
        Version | None,
        HARDWARE,
        OnChange("rolling", "slurmdbd first, then slurmctld, then slurmd node by node"),
    ] = None
    """Version of Slurm; its first two numbers are those of the scheduler's ``version``."""

    @model_validator(mode="after")
    def _groups_differ(self) -> SoftwareBill:
        refuse_twins("node group", (own.group for own in self.group_kernels))
        return self

    def kernel_of_group(self, group: str) -> str | None:
        """Return the kernel that is stated for a node group alone; None where it has that of its site."""
        return next((own.kernel for own in self.group_kernels if own.group == group), None)
