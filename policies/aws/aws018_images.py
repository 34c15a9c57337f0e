"""AWS-018: images fit their instances."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    AwsSitePlan,
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.aws.images import image_facts


@rule(
    "AWS-018",
    "Images fit their instances",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.LAB,
)
class Images(Policy):
    """Each image has the architecture, the root device and the kernel that the blueprint counts on."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Findings for each group of nodes and of servers."""
        for site in plan.aws:
            for group in site.groups:
                at = Subject(f"{site.name} {group.spec.name}", (*group.path, "image"))
                image = group.spec.image
                yield _architecture(at, image, group.instance.architecture, group.spec.type)
                yield _root_device(at, image, group.spec.root_device, group.path)
                yield from _kernel(plan, site, at, image, group.spec.name)
            for servers in site.servers:
                at = Subject(f"{site.name} {servers.role}", (*servers.path, "image"))
                server, known = servers.server, servers.instance
                built = None if known is None else known.architecture
                yield _architecture(at, server.image, built, server.type)
                yield from _kernel(plan, site, at, server.image)


def _unknown(at: Subject, message: str, image: str, what: str) -> Finding:
    words = f"{what} of '{image}', as 'aws ec2 describe-images' shows it: name the image by a public parameter"
    return Finding(at, ok=None, message=message, missing=(Missing(words, at.path),), what=what)


def _architecture(at: Subject, image: str, needed: str | None, instance_type: str) -> Finding:
    """Return the finding on the CPUs that an image is built for."""
    built = image_facts(image).architecture
    message = f"'{instance_type}' runs images built for {needed}"
    if needed is None or built is None:
        return _unknown(at, f"whether the image runs on '{instance_type}'", image, "architecture")
    if built != needed:
        return Finding(
            at,
            ok=False,
            message=f"{message}, and the image is built for {built}",
            fix=f"name the image for {needed}",
            what="architecture",
        )
    return Finding(at, ok=True, message=message, what="architecture")


def _root_device(at: Subject, image: str, stated: str, path: FieldPath) -> Finding:
    """Return the finding on the device that becomes the encrypted root volume."""
    device = image_facts(image).root_device
    if device is None:
        return _unknown(at, f"whether '{stated}' is the root device", image, "root device")
    if device != stated:
        return Finding(
            Subject(at.name, (*path, "root_device")),
            ok=False,
            message=f"'root_device' is '{stated}', and that of the image is '{device}': the root volume "
            "would be unencrypted and small, with a second volume beside it",
            fix=f"set 'root_device: {device}'",
            what="root device",
        )
    return Finding(at, ok=True, message=f"'{device}' is the root device", what="root device")


def _kernel(
    plan: Plan, site: AwsSitePlan, at: Subject, image: str, group: str | None = None
) -> Iterator[Finding]:
    """Yield the finding on the kernel of an image, where the software versions state one for its hosts."""
    software = plan.software.get(site.name)
    bill = None if software is None else software.bill
    own = None if bill is None or group is None else bill.kernel_of_group(group)
    kernel = own or (None if bill is None else bill.kernel)
    if kernel is None:
        return
    floats = image_facts(image).floats
    if floats is None:
        yield _unknown(at, f"whether the image stays with the kernel {kernel}", image, "kernel")
    elif floats:
        yield Finding(
            at,
            ok=False,
            message=f"the software versions pin the kernel {kernel}, and '{image}' names a newer image "
            "from time to time: its hosts would be refused",
            fix="name an AMI id, or a parameter with a date, that has this kernel",
            what="kernel",
        )
    else:
        yield Finding(
            at,
            ok=True,
            message=f"the image is fixed, as the kernel {kernel} is",
            what="kernel",
        )
