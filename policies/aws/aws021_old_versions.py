"""AWS-021: buckets have a lifecycle for old versions."""

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

_DAY = 86_400  # s


@rule(
    "AWS-021",
    "Buckets have a lifecycle for old versions",
    Severity.MEDIUM,
    since="0.4",
    stage="build",
    profile=Profile.LAB,
)
class OldVersions(Policy):
    """Each versioned bucket that is made has a time after which old versions are removed, or keeps them on purpose."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each bucket that the stacks make."""
        for site in plan.aws:
            for bucket in site.bucket_names:
                at = Subject(f"{site.name} bucket {bucket}", (*site.path, "file_systems"))
                kept = site.kept_versions(bucket)
                if kept is None:
                    yield Finding(
                        at,
                        ok=False,
                        message=f"overwritten and deleted files of '{bucket}' are kept and paid for indefinitely: "
                        "the bucket has versioning but no lifecycle",
                        fix="set 'keep_versions: 30 d' of its data repositories, or 'forever'",
                    )
                else:
                    how = "forever, as declared" if kept == "forever" else f"{kept / _DAY:g} days"
                    yield Finding(at, ok=True, message=f"old versions are kept {how}")
