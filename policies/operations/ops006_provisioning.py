"""OPS-006: provisioned hosts have BMC addresses and files with checksums."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.provisioning import Provisioning
from rackwright.plan.naming.controllers import controller_addresses


@rule(
    "OPS-006",
    "Provisioned hosts have BMC addresses and files with checksums",
    Severity.HIGH,
    since="0.4",
    stage="build",
)
class ProvisionedHosts(Policy):
    """Every host that is provisioned has a controller to be found, and every file that is written a checksum."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure and a finding for each site that provisions hosts."""
        for site in plan.onprem:
            found = controller_addresses(site, plan.names)
            if found is None or site.provisioning is None:
                continue
            path = (*site.path, "provisioning")
            networks = (*site.path, "addresses", "networks")
            yield Measure(
                Subject(f"{site.name} controllers", path),
                value=found.hosts,
                limit=found.addresses,
                unit="hosts",
                what="hosts whose controllers need an address",
                fix="give 'provisioning.bmc.ranges' an address for each host",
                missing=tuple(
                    Missing(f"a network of kind 'bmc' with a range of '{group}'", networks)
                    for group in found.unnamed
                ),
            )
            yield _checksums(site.name, path, site.provisioning)


def _checksums(name: str, path: FieldPath, provisioning: Provisioning) -> Finding:
    used = {group.image for group in provisioning.groups}
    lacking = [
        f"the image '{one.name}'"
        for one in provisioning.images
        if one.name in used and one.checksum is None
    ]
    lacking += [
        f"the firmware file '{one.name}'" for one in provisioning.firmware if one.checksum is None
    ]
    return Finding(
        Subject(f"{name} files", path),
        ok=not lacking,
        message=f"no checksum: {', '.join(lacking)}" if lacking else "each file has a checksum",
        fix="add the 'checksum' that the file has at its source",
    )
