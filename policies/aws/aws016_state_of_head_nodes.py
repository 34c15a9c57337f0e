"""AWS-016: Slurm's state and database survive the loss of the head node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

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
from rackwright.policy.helpers.aws import state_of_heads

_HOUR, _DAY = 3_600, 86_400


@rule(
    "AWS-016",
    "Slurm's state and database survive the loss of the head node",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.PRODUCTION,
)
class StateOfHeadNodes(Policy):
    """They lie on a volume apart from the root, of which there are snapshots, young ones and old ones."""

    longest: Annotated[int, Field(ge=1, le=24)] = 24
    """Hours between two snapshots: what is lost with the volume."""
    least_days: Annotated[int, Field(ge=1, le=365)] = 7
    """Days that snapshots reach back: until then a mistake has to be found."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each site whose head nodes hold state, and two measures where there are snapshots."""
        for site, held in state_of_heads(plan):
            place = (*site.path, "head", "data_volume")
            at = Subject(f"{site.name} head", place)
            volume = site.data_volume
            told = f"{held} of '{site.name}'"
            if volume is None:
                yield Finding(
                    at,
                    ok=False,
                    message=f"{told} are on a root volume and are lost with the instance",
                    fix="give 'head' a 'data_volume', and run 'rackwright configure'",
                )
            elif volume.snapshots is None:
                yield Finding(
                    at,
                    ok=False,
                    message=f"{told} are on a volume without snapshots",
                    fix="leave out 'snapshots: null' of 'data_volume'",
                )
            else:
                message = f"{told} are on a data volume with snapshots"
                yield Finding(at, ok=True, message=message)
                every, keep = volume.snapshots.every, volume.snapshots.keep
                yield Measure(
                    at,
                    value=every / _HOUR,
                    limit=self.longest,
                    unit="h",
                    what="snapshot interval",
                    fix=f"set 'every' of 'snapshots' to {self.longest} h or less",
                )
                yield Measure(
                    at,
                    value=every * keep / _DAY,
                    limit=self.least_days,
                    unit="d",
                    what="retention of snapshots",
                    sense="at_least",
                    fix=f"set 'keep' of 'snapshots' to {-(-self.least_days * _DAY // int(every))} or more",
                )
