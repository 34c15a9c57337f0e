"""RACK-007: all devices of a rack move air the same way."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Enforcement,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    ProductField,
    Profile,
    RackClass,
    RackDevice,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.missing import Field
from rackwright.plan.racks.contributors import subject


@rule(
    "RACK-007",
    "All devices of a rack move air the same way",
    Severity.MEDIUM,
    since="0.1",
    stage="design",
    enforcement=Enforcement.ADVISORY,
    mandatory_since="0.4",
    profile=Profile.PRODUCTION,
)
class AirflowDirection(Policy):
    """Air passes every device in the direction in which it passes the rack."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each group of devices in each class of racks."""
        for site in plan.onprem:
            for rack in site.racks:
                yield from _groups(site, rack)


def _groups(site: SitePlan, rack: RackClass) -> Iterator[Finding]:
    at = subject(site, rack)
    seen = set()
    for device in rack.kind.devices:
        path = rack.path_of(device)
        if device.kind not in {"node", "switch"} or path in seen or device.heat_air_w == 0:
            continue
        seen.add(path)
        where = Subject(f"{at.name} {device.group}", path)
        yield _judge(device, rack.kind.air_direction, where)


def _judge(device: RackDevice, rack: str, at: Subject) -> Finding:
    entry, own = device.entry, device.air_direction
    if own is None:
        ways: tuple[Field, ...] = (ProductField(entry, "airflow_direction"),)
        if device.kind == "switch":
            ways = ((*at.path, "air_direction"), *ways)
        return Finding(
            at,
            ok=None,
            message=f"air flows through the rack {rack}; the direction of {entry} is not stated",
            missing=(Missing(f"{entry}: airflow direction", *ways),),
        )
    if own in {rack, "passive"}:
        return Finding(
            at, ok=True, message=f"air flows through {entry} {own}, and through the rack {rack}"
        )
    return Finding(
        at,
        ok=False,
        message=f"air flows through {entry} {own}, but through the rack {rack}",
        fix=f"order {entry} with the airflow {rack}, or mount it the other way round",
    )
