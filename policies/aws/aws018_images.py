"""AWS-018: images match their instance types."""

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
from rackwright.model.aws_instances import AwsNodeGroup, AwsServer
from rackwright.plan.aws.images import ImageFacts

Host = AwsNodeGroup | AwsServer


@rule(
    "AWS-018",
    "Images match their instance types",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.LAB,
)
class Images(Policy):
    """Each image has the architecture, the root device and the kernel that the blueprint counts on."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for each group of nodes and of servers."""
        for site in plan.aws:
            for group in site.groups:
                at = Subject(f"{site.name} {group.spec.name}", (*group.path, "image"))
                image = site.image_facts(group.spec.image)
                yield _architecture(site, at, image, group.instance.architecture, group.spec)
                yield _root_device(site, at, image, group.spec, group.path)
                yield from _kernel(plan, site, at, image, group.spec, group.spec.name)
            for servers in site.servers:
                at = Subject(f"{site.name} {servers.role}", (*servers.path, "image"))
                server, known = servers.server, servers.instance
                built = None if known is None else known.architecture
                image = site.image_facts(server.image)
                yield _architecture(site, at, image, built, server)
                yield from _kernel(plan, site, at, image, server)


def _unknown(
    site: AwsSitePlan, at: Subject, message: str, spec: Host, what: str, fact: str
) -> Finding:
    words = (
        f"{what} of '{spec.image}': name the image by a public parameter, or state '{fact}' of it"
    )
    path: FieldPath = (*at.path[:2], "images")
    record = site.image_record(spec.image)
    if record is not None:
        path = (*path, record, fact)
    missing = Missing(words, path)
    return Finding(at, ok=None, message=message, missing=(missing,), what=what)


def _architecture(
    site: AwsSitePlan, at: Subject, image: ImageFacts, needed: str | None, spec: Host
) -> Finding:
    """Return the finding on the CPUs that an image is built for."""
    built = image.architecture
    message = f"'{spec.type}' runs images built for {needed}"
    if needed is None or built is None:
        asked = f"whether the image runs on '{spec.type}'"
        return _unknown(site, at, asked, spec, "architecture", "architecture")
    if built != needed:
        return Finding(
            at,
            ok=False,
            message=f"{message}, and the image is built for {built}",
            fix=f"name the image for {needed}",
            what="architecture",
        )
    return Finding(at, ok=True, message=message, what="architecture")


def _root_device(
    site: AwsSitePlan, at: Subject, image: ImageFacts, spec: AwsNodeGroup, path: FieldPath
) -> Finding:
    """Return the finding on the device that becomes the encrypted root volume."""
    device, stated = image.root_device, spec.root_device
    if device is None:
        asked = f"whether '{stated}' is the root device"
        return _unknown(site, at, asked, spec, "root device", "root_device")
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
    plan: Plan,
    site: AwsSitePlan,
    at: Subject,
    image: ImageFacts,
    spec: Host,
    group: str | None = None,
) -> Iterator[Finding]:
    """Yield the finding on the kernel of an image, where the software versions state one for its hosts."""
    software = plan.software.get(site.name)
    bill = None if software is None else software.bill
    own = None if bill is None or group is None else bill.kernel_of_group(group)
    kernel = own or (None if bill is None else bill.kernel)
    if kernel is None:
        return
    if image.floats:
        yield Finding(
            at,
            ok=False,
            message=f"the software versions pin the kernel {kernel}, but '{spec.image}' may name a newer "
            "image later, whose hosts 'configure' rejects",
            fix="name an AMI id, or a parameter with a date, that has this kernel",
            what="kernel",
        )
    elif image.kernel is not None and image.kernel != kernel:
        yield Finding(
            at,
            ok=False,
            message=f"the software versions pin the kernel {kernel}, but '{spec.image}' boots {image.kernel}: "
            "'configure' rejects its hosts",
            fix=f"name an image that has this kernel, or pin {image.kernel}",
            what="kernel",
        )
    elif image.floats is None and image.kernel is None:
        asked = f"whether the image stays with the kernel {kernel}"
        yield _unknown(site, at, asked, spec, "kernel", "kernel")
    else:
        yield Finding(
            at,
            ok=True,
            message=f"the image is fixed, as the kernel {kernel} is",
            what="kernel",
        )
