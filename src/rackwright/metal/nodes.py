"""Requests to Ironic for the hosts of a blueprint, as pure functions of the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.metal.discovery.expected import ExpectedMachine
from rackwright.metal.waves import PowerLimits, PowerPlace
from rackwright.model.provisioning import (
    Controllers,
    DeployAgent,
    Engine,
    FirmwareFile,
    Image,
    ProvisionedGroup,
    Provisioning,
)
from rackwright.plan.expansion import SitePlan

FIRMWARE_ORDER = ("bmc", "bios", "cpld", "nvswitch", "gpu", "nic", "nvme", "psu")
"""Order of firmware updates: the controller comes first because it writes the others."""
REHEARSAL = "fake-hardware"
"""Driver of Ironic that simulates every step."""
_FAKE = {f"{name}_interface": "fake" for name in
         ("boot", "deploy", "management", "power", "inspect", "firmware")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostPlan:
    """Plan to provision one host through Ironic.

    Attributes:
        machine: planned machine of the host.
        group: installation settings of its node group.
        image: image to install.
        agent: agent that installs the image; None if the blueprint has none for the architecture.
        place: rack and power sources of the host.
        domain: domain of its name; empty without one.
        address: management address of the installed host; None if the blueprint has none.
        firmware: files for its product by component, in the order of the updates.
    """

    machine: ExpectedMachine
    group: ProvisionedGroup
    image: Image
    agent: DeployAgent | None
    place: PowerPlace
    domain: str = ""
    address: str | None = None
    firmware: Mapping[str, FirmwareFile] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the host, and of its node."""
        return self.machine.host


def host_plans(
    site: SitePlan,
    provisioning: Provisioning,
    machines: Sequence[ExpectedMachine],
    addresses: Mapping[str, tuple[str, str]],
) -> tuple[HostPlan, ...]:
    """Return the provisioned hosts, in the order of the blueprint.

    Args:
        site: plan of the site.
        provisioning: provisioning settings of the site.
        machines: all machines of the site.
        addresses: domain and management address of each host that has one.
    """
    groups = {one.group: one for one in provisioning.groups}
    images = {one.name: one for one in provisioning.images}
    agents = {one.architecture: one for one in provisioning.agents}
    files: dict[str, list[FirmwareFile]] = {}
    for file in provisioning.firmware:
        files.setdefault(file.type, []).append(file)
    feeds = {
        name: tuple(dict.fromkeys(racks.sources)) for racks in site.racks for name in racks.names
    }
    made = []
    for machine in machines:
        group = groups.get(machine.group)
        if group is None:
            continue
        image = images[group.image]
        # Of several files for a component, prefer the one with the planned version.
        own: dict[str, FirmwareFile] = {}
        for file in files.get(machine.product, ()):
            if file.version == machine.firmware.get(file.component) or file.component not in own:
                own[file.component] = file
        domain, address = addresses.get(machine.host, ("", None))
        made.append(
            HostPlan(
                machine=machine,
                group=group,
                image=image,
                agent=agents.get(image.architecture),
                place=PowerPlace(machine.rack, feeds.get(machine.rack, ())),
                domain=domain,
                address=address,
                firmware={part: own[part] for part in FIRMWARE_ORDER if part in own},
            )
        )
    return tuple(made)


def limits_of(provisioning: Provisioning) -> PowerLimits:
    """Return the limits on hosts that are powered on together."""
    stated = provisioning.power_on
    if stated is None:
        return PowerLimits(16)
    return PowerLimits(stated.together, stated.per_rack, stated.per_feed)


def node_body(
    plan: HostPlan, cluster: str, engine: Engine, bmc: Controllers, password: str
) -> dict[str, Any]:
    """Return the request that creates a node.

    Args:
        plan: plan of the host.
        cluster: name of the cluster, which marks the node as its own.
        engine: Ironic of the site.
        bmc: access to the controllers.
        password: password of the controller, which Ironic never shows.
    """
    body: dict[str, Any] = {
        "name": plan.name,
        "driver": engine.driver,
        "resource_class": plan.machine.product,
        "properties": {
            "cpu_arch": plan.image.architecture,
            "capabilities": ",".join(_capabilities(plan)),
        },
        "extra": {"rackwright": {"cluster": cluster, "rack": plan.machine.rack}},
        "automated_clean": True,
    }
    if engine.conductor_group is not None:
        body["conductor_group"] = engine.conductor_group
    if engine.driver == REHEARSAL:
        return body | _FAKE | {"driver_info": {}}
    host = plan.machine.bmc or ""
    shown = f"[{host}]" if ":" in host else host
    info: dict[str, Any] = {
        "redfish_address": f"https://{shown}:{bmc.port}",
        "redfish_username": bmc.user,
        "redfish_password": password,
        "redfish_verify_ca": bmc.ca or True,
    }
    if plan.agent is not None:
        info |= {"deploy_kernel": plan.agent.kernel, "deploy_ramdisk": plan.agent.ramdisk}
    return body | {"driver_info": info, "boot_interface": plan.group.boot}


def _capabilities(plan: HostPlan) -> Iterator[str]:
    yield "boot_mode:uefi"
    if plan.group.secure_boot is not None:
        yield f"secure_boot:{str(plan.group.secure_boot).lower()}"


def port_body(plan: HostPlan, uuid: str) -> dict[str, Any] | None:
    """Return the request that creates the port from which a host boots; None if its address is unknown."""
    if plan.machine.mac is None:
        return None
    # Only this port boots the host: ports that inspection adds have pxe_enabled set to false.
    return {"node_uuid": uuid, "address": plan.machine.mac, "pxe_enabled": True}


def instance_patch(plan: HostPlan) -> list[dict[str, Any]]:
    """Return the patch that sets the image of a host.

    Raises:
        ValueError: the image has no checksum.
    """
    if plan.image.checksum is None:
        raise ValueError(f"the image '{plan.image.name}' has no checksum")
    kind, _, digest = plan.image.checksum.partition(":")
    info: dict[str, Any] = {
        "image_source": plan.image.url,
        "image_os_hash_algo": kind,
        "image_os_hash_value": digest,
        "image_disk_format": "raw" if plan.image.url.endswith((".raw", ".img")) else "qcow2",
    }
    if plan.group.secure_boot is not None:
        info["capabilities"] = {"secure_boot": str(plan.group.secure_boot).lower()}
    # Replace the whole object: Ironic rejects the replacement of a key that does not exist yet.
    return [{"op": "replace", "path": "/instance_info", "value": info}]


def config_drive(plan: HostPlan, keys: Sequence[str]) -> dict[str, Any]:
    """Return the config drive with name and authorised keys of a host, for cloud-init in the image."""
    name = f"{plan.name}.{plan.domain}" if plan.domain else plan.name
    return {
        "meta_data": {
            "name": plan.name,
            "hostname": name,
            "public_keys": {f"key-{number}": key for number, key in enumerate(keys)},
        }
    }


def firmware_steps(plan: HostPlan, component: str, *, rehearsal: bool) -> list[dict[str, Any]]:
    """Return the clean steps that update one component; in a rehearsal, a simulated step."""
    file = plan.firmware[component]
    if rehearsal:
        setting = {"component": component, "url": file.url}
        return [{"interface": "firmware", "step": "update", "args": {"settings": [setting]}}]
    # Ironic has two steps that update firmware. Only this one verifies the checksum.
    image = {"url": file.url, "checksum": (file.checksum or "").partition(":")[2]}
    step = {"interface": "management", "step": "update_firmware"}
    return [{**step, "args": {"firmware_images": [image]}}]
