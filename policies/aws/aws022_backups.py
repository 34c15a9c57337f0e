"""AWS-022: file systems have a backup or are declared as scratch."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.aws.file_systems import fsx


@rule(
    "AWS-022",
    "File systems have a backup or are declared as scratch",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.LAB,
)
class Backups(Policy):
    """Each file system that is made has backups, is linked to buckets as a whole, or is scratch by the blueprint's word."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each file system of FSx that the stacks make."""
        for site in plan.aws:
            for index, system in enumerate(site.file_systems):
                if system.existing is not None:
                    continue
                path = (*site.path, "file_systems", index, "scratch")
                at = Subject(f"{site.name} {system.name}", path)
                if not system.data_repositories:
                    yield Finding(at, ok=True, message="FSx makes a backup each day")
                elif not fsx.unlinked(system):
                    yield Finding(at, ok=True, message="all of it is linked to a bucket")
                elif system.scratch:
                    yield Finding(
                        at, ok=True, message="files outside the linked directories may be lost"
                    )
                else:
                    linked = ", ".join(f"'{one.path}'" for one in system.data_repositories)
                    yield Finding(
                        at,
                        ok=False,
                        message=f"FSx makes no backup of '{system.name}', which has data repositories: files outside "
                        f"{linked} are in no bucket and are lost with the file system",
                        fix="set 'scratch: true' if they may be lost, link '/', or keep them on a file system without "
                        "data repositories",
                    )
