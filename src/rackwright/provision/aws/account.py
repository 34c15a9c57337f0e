"""Questions to the account of a site before anything is made: offerings, quotas, reservations and a dry run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from rackwright.model.aws_instances import CapacityBlock, Reservation
from rackwright.plan.aws.site import STANDARD_QUOTA, AwsSitePlan, GroupPlan
from rackwright.provision.access.errors import error_code
from rackwright.provision.aws.calls import make_client
from rackwright.provision.targets import Target


@dataclass(frozen=True, slots=True)
class AccountAnswer:
    """Answer of AWS to one need of a site.

    Attributes:
        outcome: ``unknown`` where AWS could not be asked.
    """

    need: str
    outcome: Literal["ok", "refused", "unknown"]
    told: str

    def __str__(self) -> str:
        return f"{self.outcome}: {self.need}: {self.told}"


def ask_account(site: AwsSitePlan, target: Target) -> Iterator[AccountAnswer]:
    """Yield the answers for all that the site launches at its largest; nothing is changed.

    Raises:
        BotoCoreError: AWS cannot be reached.
    """
    ec2 = make_client(target, "ec2", site.region)
    yield from _offerings(site, ec2)
    yield from _quotas(site, make_client(target, "service-quotas", site.region))
    for group in site.groups:
        capacity = group.spec.capacity
        if isinstance(capacity, Reservation | CapacityBlock):
            yield _reservation(site, group, capacity, ec2)
        yield _dry_run(group, ec2, make_client(target, "ssm", site.region))


def _offerings(site: AwsSitePlan, ec2: Any) -> Iterator[AccountAnswer]:
    zone = site.network.availability_zones[0]
    types = sorted(
        {group.spec.type for group in site.groups} | {s.server.type for s in site.servers}
    )
    filters = [
        {"Name": "instance-type", "Values": types},
        {"Name": "location", "Values": [zone]},
    ]
    told = _call(
        ec2.describe_instance_type_offerings, LocationType="availability-zone", Filters=filters
    )
    for name in types:
        if isinstance(told, str):
            yield AccountAnswer(f"{name} in {zone}", "unknown", told)
            continue
        offered = any(one["InstanceType"] == name for one in told["InstanceTypeOfferings"])
        words = "offered" if offered else "not offered: choose another zone or type"
        yield AccountAnswer(f"{name} in {zone}", "ok" if offered else "refused", words)


def _quotas(site: AwsSitePlan, quotas: Any) -> Iterator[AccountAnswer]:
    needs: dict[str, int | None] = {}
    rows = [
        (group.quota, group.vcpus)
        for group in site.groups
        if not isinstance(group.spec.capacity, CapacityBlock)  # counts against no quota
    ]
    rows += [
        (STANDARD_QUOTA if s.instance is None else s.instance.quota, s.vcpus) for s in site.servers
    ]
    for code, vcpus in rows:
        if code is not None:
            before = needs.get(code, 0)
            needs[code] = None if before is None or vcpus is None else before + vcpus
    for code, need in needs.items():
        what = f"quota {code}, {'unknown' if need is None else f'{need:,}'} vCPUs"
        told = _call(quotas.get_service_quota, ServiceCode="ec2", QuotaCode=code)
        if isinstance(told, str) or need is None:
            words = told if isinstance(told, str) else "the vCPUs of a type are unknown"
            yield AccountAnswer(what, "unknown", words)
            continue
        limit = float(told["Quota"]["Value"])
        yield AccountAnswer(what, "ok" if need <= limit else "refused", f"AWS grants {limit:,.0f}")


def _reservation(
    site: AwsSitePlan, group: GroupPlan, capacity: Reservation | CapacityBlock, ec2: Any
) -> AccountAnswer:
    what = f"'{capacity.id}' for {group.spec.most:,} × {group.spec.type}"
    told = _call(ec2.describe_capacity_reservations, CapacityReservationIds=[capacity.id])
    if isinstance(told, str):
        gone = "NotFound" in told
        return AccountAnswer(what, "refused" if gone else "unknown", told)
    (one,) = told["CapacityReservations"]
    wrong = []
    if one["State"] not in ("active", "scheduled"):
        wrong.append(f"it is {one['State']}")
    if one["InstanceType"] != group.spec.type:
        wrong.append(f"it is for {one['InstanceType']}")
    if one["AvailabilityZone"] != site.network.availability_zones[0]:
        wrong.append(f"it is in {one['AvailabilityZone']}")
    if one["TotalInstanceCount"] < group.spec.most:
        wrong.append(f"it has {one['TotalInstanceCount']:,} instances")
    words = "; ".join(wrong) or f"{one['State']}, {one['TotalInstanceCount']:,} instances"
    return AccountAnswer(what, "refused" if wrong else "ok", words)


def _dry_run(group: GroupPlan, ec2: Any, ssm: Any) -> AccountAnswer:
    """Ask for one instance as a dry run, which checks rights, image and type, and no capacity.

    Amazon EC2 API Reference, "RunInstances": an allowed dry run ends with ``DryRunOperation``.
    """
    spec, what = group.spec, f"dry run of '{group.spec.name}'"
    image = spec.image
    if image.startswith("ssm:"):
        found = _call(ssm.get_parameter, Name=image.removeprefix("ssm:"))
        if isinstance(found, str):
            missing = "ParameterNotFound" in found
            return AccountAnswer(what, "refused" if missing else "unknown", f"'{image}': {found}")
        image = found["Parameter"]["Value"]
    told = _call(
        ec2.run_instances,
        DryRun=True,
        ImageId=image,
        InstanceType=spec.type,
        MinCount=1,
        MaxCount=1,
    )
    if isinstance(told, str):
        if told.startswith("DryRunOperation"):
            return AccountAnswer(what, "ok", "AWS would launch it")
        unsure = told.startswith(("UnauthorizedOperation", "AccessDenied"))
        return AccountAnswer(what, "unknown" if unsure else "refused", told)
    return AccountAnswer(what, "unknown", "AWS gave no answer to a dry run")


def _call(call: Any, **arguments: Any) -> Any:
    """Return the answer of a call, or code and message of AWS's error as text."""
    from botocore.exceptions import ClientError

    try:
        return call(**arguments)
    except ClientError as error:
        message = str(error.response.get("Error", {}).get("Message", "")).strip()
        return f"{error_code(error)}: {message}"
