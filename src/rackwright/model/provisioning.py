"""Provisioning of bare-metal hosts: their controllers, images, firmware files and order."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.addresses import split_span
from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY, PART, OnChange
from rackwright.model.names import Name, refuse_twins
from rackwright.model.operations import FirmwareComponent
from rackwright.model.users import ControlPath, PublicKey

_IN_PLACE = OnChange("in place", "used when hosts are discovered or provisioned next")
_FLASHED = OnChange("drain", "firmware is written on idle nodes")
_REIMAGED = OnChange("drain", "hosts are installed again, wave by wave")

MOST_CONTROLLERS = 65_536
"""Addresses in which controllers of one site are looked for."""

Serial = Annotated[str, Field(pattern=r"^[\x21-\x7e]([\x20-\x7e]{0,98}[\x21-\x7e])?$")]
"""A serial number as the maker writes it."""
Digest = Annotated[str, Field(pattern=r"^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$")]
"""A checksum with its algorithm, like ``sha256:`` and 64 hex digits."""
FileUrl = Annotated[
    str, Field(pattern=r"^(https?://[A-Za-z0-9.\[\]:_-]+|file://)/[!-~]*$", max_length=500)
]
"""A file by ``https://``, ``http://`` or ``file://``; without a name or a password in it."""


def _check_bmc_range(text: str) -> str:
    first, last = split_span(text)
    if int(last) - int(first) >= MOST_CONTROLLERS:
        raise ValueError(f"'{text}' has more than {MOST_CONTROLLERS:,} addresses")
    return text


BmcRange = Annotated[str, AfterValidator(_check_bmc_range)]
"""One address, or a first and a last one like ``10.21.0.16-10.21.1.15``."""


def _without_credentials(text: str) -> str:
    if "@" in text.split("/", 3)[2]:
        raise ValueError("the address of a file holds no credentials")
    return text


SafeUrl = Annotated[FileUrl, AfterValidator(_without_credentials)]


class Controllers(Model):
    """Management controllers (BMC) of a site, reached by Redfish over TLS."""

    user: Annotated[str, Field(pattern=r"^[A-Za-z0-9._@+-]{1,64}$"), HARDWARE, _IN_PLACE]
    """User that Rackwright and Ironic log in with."""
    password_file: Annotated[
        str,
        Field(pattern=r"^(/[A-Za-z0-9_{][A-Za-z0-9._@+{}-]*)+$", max_length=250),
        HARDWARE,
        _IN_PLACE,
    ]
    """File with the password of the user, one line, readable by its owner only. ``{host}`` in the path
    stands for the name of the host, where each controller has its own password."""
    ca: Annotated[ControlPath | None, HARDWARE, _IN_PLACE] = None
    """Certificates (PEM) of the authority that signs the certificates of controllers. Those that the
    machine trusts if omitted."""
    verify: Annotated[Literal["name", "chain"], HARDWARE, _IN_PLACE] = "name"
    """Check of a controller's certificate: ``name`` compares the address with the names in it as well,
    ``chain`` only checks the signature and the dates."""
    port: Annotated[int, Field(gt=0, lt=65536), HARDWARE, _IN_PLACE] = 443
    """TCP port of Redfish."""
    ranges: Annotated[tuple[BmcRange, ...], HARDWARE, _IN_PLACE] = ()
    """Addresses in which controllers are looked for, like ``10.21.0.16-10.21.1.15``. The addresses of the
    networks of kind ``bmc`` if omitted."""


class Engine(Model):
    """Ironic of a site."""

    url: Annotated[
        str,
        Field(
            pattern=r"^(https://[A-Za-z0-9.\[\]:_-]+|http://(127\.[0-9.]+|localhost)(:[0-9]+)?)(/[!-~]*)?$"
        ),
        HARDWARE,
        _IN_PLACE,
    ]
    """Address of Ironic's API: ``https://``, or ``http://`` on the machine that runs ``provision``."""
    user: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9._@+-]{1,64}$"), HARDWARE, _IN_PLACE] = (
        None
    )
    """User of the API. No credentials are sent if omitted."""
    password_file: Annotated[ControlPath | None, HARDWARE, _IN_PLACE] = None
    """File with the password of the user, one line, readable by its owner only."""
    ca: Annotated[ControlPath | None, HARDWARE, _IN_PLACE] = None
    """Certificates (PEM) of the authority of the API. Those that the machine trusts if omitted."""
    conductor_group: Annotated[Name | None, HARDWARE, _IN_PLACE] = None
    """Group of conductors that look after the site. Any conductor if omitted."""
    driver: Annotated[Literal["redfish", "fake-hardware"], HARDWARE, _IN_PLACE] = "redfish"
    """Driver of the hosts. ``fake-hardware`` rehearses: Ironic pretends, and no machine is touched."""

    @model_validator(mode="after")
    def _has_a_password(self) -> Engine:
        if (self.user is None) != (self.password_file is None):
            raise ValueError("'user' and 'password_file' of the engine need each other")
        return self


class Image(Model):
    """Disk image with an operating system."""

    name: Annotated[Name, KEY]
    """Name of the image, by which node groups refer to it."""
    url: Annotated[SafeUrl, HARDWARE, _REIMAGED]
    """File of the image, by ``https://``, ``http://`` or ``file://``."""
    checksum: Annotated[Digest | None, HARDWARE, _REIMAGED] = None
    """Checksum of the file, like ``sha256:`` and 64 hex digits. The image is not written if omitted."""
    architecture: Annotated[Literal["x86_64", "aarch64"], HARDWARE, _REIMAGED] = "x86_64"
    """Architecture of its kernel."""


class DeployAgent(Model):
    """Kernel and RAM disk with the agent that inspects, cleans and installs hosts."""

    architecture: Annotated[Literal["x86_64", "aarch64"], KEY]
    """Architecture of the hosts."""
    kernel: Annotated[SafeUrl, HARDWARE, _IN_PLACE]
    """File of the kernel."""
    ramdisk: Annotated[SafeUrl, HARDWARE, _IN_PLACE]
    """File of the RAM disk."""


class FirmwareFile(Model):
    """File that brings one component of a product to one version."""

    name: Annotated[Name, KEY]
    """Name of the file, by which messages refer to it."""
    type: Annotated[str, HARDWARE, _FLASHED]
    """Catalogue id of the product."""
    component: Annotated[FirmwareComponent, HARDWARE, _FLASHED]
    """Component that it is for."""
    version: Annotated[str, Field(min_length=1, max_length=80), HARDWARE, _FLASHED]
    """Version that the component has afterwards, in the maker's own words."""
    url: Annotated[SafeUrl, HARDWARE, _FLASHED]
    """The file, by ``https://``, ``http://`` or ``file://``."""
    checksum: Annotated[Digest | None, HARDWARE, _FLASHED] = None
    """Checksum of the file. The file is not written if omitted."""


class Measurement(Model):
    """Accepted values of one register (PCR) of a TPM."""

    index: Annotated[int, Field(ge=0, le=23), KEY]
    """Number of the register in the bank of SHA-256: 0 has the firmware, 4 what it started, 7 the keys of secure boot."""
    values: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")], ...],
        Field(min_length=1, max_length=16),
        HARDWARE,
        _IN_PLACE,
    ]
    """Accepted values, as 64 hex digits; several while an update rolls out."""


class Attestation(Model):
    """Proof by the TPM 2.0 of a host that it started accepted software, before it is configured."""

    tpm_ca: Annotated[ControlPath, HARDWARE, _IN_PLACE]
    """Certificates (PEM) of the makers of TPMs, up to their roots."""
    pcrs: Annotated[tuple[Measurement, ...], Field(min_length=1), PART, _IN_PLACE]
    """Registers that are compared."""

    @model_validator(mode="after")
    def _names_each_register_once(self) -> Attestation:
        refuse_twins("register", (str(one.index) for one in self.pcrs))
        return self


class ProvisionedGroup(Model):
    """Installation of the hosts of one node group."""

    group: Annotated[Name, KEY]
    """Node group."""
    image: Annotated[Name, HARDWARE, _REIMAGED]
    """Image that its hosts are installed from, by its name under ``images``."""
    boot: Annotated[
        Literal["redfish-virtual-media", "redfish-https", "ipxe", "http-ipxe"], HARDWARE, _IN_PLACE
    ] = "redfish-virtual-media"
    """Way in which the agent is started on hosts."""
    secure_boot: Annotated[bool | None, HARDWARE, _REIMAGED] = None
    """True if hosts start signed software only. Left as it is if omitted."""
    attestation: Annotated[Attestation | None, PART, _IN_PLACE] = None
    """TPM and measurements that hosts have to prove. Hosts are not attested if omitted."""


class PowerOnLimits(Model):
    """Most hosts that are powered on together; the inrush current of power supplies adds up."""

    per_rack: Annotated[int | None, Field(gt=0), HARDWARE, _IN_PLACE] = None
    """Most hosts of one rack. No limit if omitted."""
    per_feed: Annotated[int | None, Field(gt=0), HARDWARE, _IN_PLACE] = None
    """Most hosts on one power source. No limit if omitted."""
    together: Annotated[int, Field(gt=0, le=1000), HARDWARE, _IN_PLACE] = 16
    """Most hosts of the site."""


class Provisioning(Model):
    """Provisioning of the hosts of a site, from their controllers to their operating system."""

    bmc: Annotated[Controllers, PART]
    engine: Annotated[Engine | None, PART, _IN_PLACE] = None
    """Ironic that installs the hosts. Machines are discovered only if omitted."""
    serials: Annotated[
        dict[Name, Serial],
        HARDWARE,
        OnChange("replace", "another machine has the place of the host"),
    ] = {}
    """Serial numbers of machines by the name of their host, as far as they are known."""
    images: Annotated[
        tuple[Image, ...], PART, OnChange("in place", "no host uses it yet", event="added")
    ] = ()
    agents: Annotated[tuple[DeployAgent, ...], PART, _IN_PLACE] = ()
    firmware: Annotated[tuple[FirmwareFile, ...], PART, _FLASHED] = ()
    """Files that bring components to the versions in ``operations.firmware``."""
    groups: Annotated[tuple[ProvisionedGroup, ...], PART, _IN_PLACE] = ()
    power_on: Annotated[PowerOnLimits | None, PART, _IN_PLACE] = None
    """Most hosts that are powered on together. 16 of the site if omitted."""
    at_once: Annotated[int, Field(gt=0, le=10_000), HARDWARE, _IN_PLACE] = 100
    """Most hosts that are inspected, cleaned or installed at the same time. 100 if omitted."""
    ssh_user: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$"), HARDWARE, _IN_PLACE] = (
        "root"
    )
    """User of installed hosts that ``provision`` logs in as, with the keys of ``ssh_keys``."""
    ssh_keys: Annotated[tuple[PublicKey, ...], HARDWARE, _IN_PLACE] = ()
    """Public keys that installed hosts accept for their first user."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Provisioning:
        refuse_twins("image", (image.name for image in self.images))
        refuse_twins("firmware file", (file.name for file in self.firmware))
        refuse_twins("agent for", (agent.architecture for agent in self.agents))
        refuse_twins("node group of 'provisioning'", (group.group for group in self.groups))
        refuse_twins("serial number", self.serials.values())
        names = {image.name for image in self.images}
        for group in self.groups:
            if group.image not in names:
                raise ValueError(
                    f"there is no image '{group.image}', which the group '{group.group}' names"
                )
        return self
