"""IAC-001: no change destroys or replaces storage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.policy.helpers.attestation import declared


@rule(
    "IAC-001",
    "No change destroys or replaces storage",
    Severity.CRITICAL,
    since="0.2",
    stage="build",
)
class ProtectedStorage(Policy):
    """Blueprints with file systems state that changes leave them alone."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one finding for each file system; one that somebody else keeps is not changed anyway."""
        operations = plan.operations
        changes = operations.changes if operations else None
        names = [
            (system.site, system.system)
            for system in plan.file_systems
            if system.fsx is None or system.fsx.existing is None
        ]
        names += [(site.name, system.name) for site in plan.aws for system in site.made_efs]
        for site_name, name in names:
            path: FieldPath = ("operations", "changes", "protect_storage")
            found = declared(
                Subject(f"{site_name} file system {name}", path),
                value=changes.protect_storage if changes else None,
                yes="no change destroys or replaces the file system",
                no="a change may destroy or replace the file system",
                missing=Missing("'protect_storage' in 'operations.changes'", path),
                fix="set 'protect_storage: true'; take a file system away in a step of its own",
            )
            yield replace(found, suggest=Suggestion(path, value=True))
