"""Settlement of each operation that was interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from rackwright.errors import ExternalToolError
from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.lost_creations import ec2, services
from rackwright.provision.lost_creations.checkpoint import Interrupted
from rackwright.provision.lost_creations.creation import (
    Finder,
    FoundResource,
    LostCreation,
    UnclearError,
)

POLL_S = 15.0
"""Seconds between two questions whether AWS has done with a resource."""
POLLS = 240
"""Questions at most, an hour: FSx takes up to half an hour for a file system."""


FINDERS: Mapping[str, Finder] = {**ec2.FINDERS, **services.FINDERS}
"""What finds each type."""
REPEATED = ec2.REPEATED | services.REPEATED
"""Types that AWS takes twice without harm."""


@dataclass
class Settlement:
    """Resources found of the creations that were interrupted.

    Attributes:
        found: creations and the ids of what they made, by URN.
        repeated: creations that made nothing, or that may be done twice.
    """

    found: dict[str, tuple[LostCreation, str]] = field(default_factory=dict)
    repeated: list[LostCreation] = field(default_factory=list)


def settle(
    interrupted: Interrupted,
    cloud: Cloud,
    *,
    label: str,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Settlement:
    """Find out of each creation what AWS has of it, and say it.

    Args:
        interrupted: what was cut off.
        cloud: where it is looked for.
        label: the stack, for people.
        say: takes lines about what was found.
        sleep: waits for as many seconds.

    Raises:
        ExternalToolError: of some it cannot be told, or AWS cannot be asked; nothing is forgotten.
    """  # noqa: DOC501 - _refusal() makes the ExternalToolError
    settlement = Settlement()
    unclear: list[tuple[LostCreation, UnclearError]] = []
    for lost in interrupted.creations:
        try:
            identity = _settle_one(lost, cloud, f"{label}: {lost.name}", say, sleep)
        except UnclearError as error:
            unclear.append((lost, error))
            continue
        if identity is None:
            settlement.repeated.append(lost)
        else:
            settlement.found[lost.urn] = (lost, identity)
    if unclear:
        raise _refusal(label, unclear)
    known = interrupted.recorded.union(identity for _, identity in settlement.found.values())
    for lost, identity in (*settlement.found.values(), *interrupted.unread):
        if finish := _FINISHERS.get(lost.type):
            finish(cloud, lost, identity, known)
    for urn in interrupted.changes:
        say(f"{label}: {_name(urn)}: its change did not end in the last run; it is read again")
    for urn in interrupted.deletions:
        say(f"{label}: {_name(urn)}: its deletion did not end in the last run; it is repeated")
    return settlement


def _settle_one(
    lost: LostCreation,
    cloud: Cloud,
    subject: str,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> str | None:
    """Return the id of what was made, once AWS has done with it; None where the creation is repeated.

    Raises:
        UnclearError: it cannot be told, or AWS does not get done with it.
    """
    if lost.type in REPEATED:
        say(f"{subject}: its creation did not end in the last run; it is repeated")
        return None
    finder = FINDERS.get(lost.type)
    if finder is None:
        raise UnclearError(
            f"rackwright cannot look for a '{lost.type}' in AWS",
            "look for it: if it is there, 'pulumi import' it into the stack, else "
            "'pulumi refresh --clear-pending-creates' forgets that it was begun",
        )
    found: FoundResource | None = None
    for polled in range(POLLS):
        found = _candidates(finder, cloud, lost)
        if found is None:
            say(f"{subject}: its creation did not end in the last run, and AWS has nothing of it")
            return None
        if not found.making:
            say(f"{subject}: its creation did not end in the last run; AWS has made {found.id}")
            return found.id
        if polled == 0:
            say(f"{subject}: waiting until AWS has made {found.id}")
        sleep(POLL_S)
    raise UnclearError(
        f"AWS is at work on '{found.id if found else lost.name}' for an hour",
        "wait until it is made, or remove it",
    )


def _candidates(finder: Finder, cloud: Cloud, lost: LostCreation) -> FoundResource | None:
    """Return the one candidate that nobody has recorded.

    Raises:
        UnclearError: there are several.
    """
    try:
        found = [one for one in finder(cloud, lost) if one.id not in lost.known]
    except (KeyError, StopIteration) as error:
        raise UnclearError(
            f"the checkpoint does not say {error} of it",
            "look for it in AWS: import it into the stack if it is there, "
            "else 'pulumi refresh --clear-pending-creates' forgets that it was begun",
        ) from None
    if len(found) > 1:
        ids = ", ".join(sorted(one.id for one in found))
        raise UnclearError(
            f"AWS has {len(found)} that could be it: {ids}",
            "remove those that nobody uses, or change their tags",
        )
    return found[0] if found else None


def close_security_group(
    cloud: Cloud, lost: LostCreation, identity: str, recorded: AbstractSet[str]
) -> None:
    """Take from a group the rule by which AWS lets everything out of a new one.

    The provider does it after it has made the group, and reads the rule as none of its own later. A rule
    that is ``recorded`` is one that somebody wants.
    """
    if lost.inputs.get("egress"):
        return
    unwanted = [
        str(one["SecurityGroupRuleId"])
        for one in ec2.rules_of(cloud, identity)
        if one["IsEgress"]
        and one["IpProtocol"] == "-1"
        and (one.get("CidrIpv4") == "0.0.0.0/0" or one.get("CidrIpv6") == "::/0")
        and one["SecurityGroupRuleId"] not in recorded
    ]
    if unwanted:
        cloud.call(
            "ec2",
            "revoke_security_group_egress",
            GroupId=identity,
            SecurityGroupRuleIds=unwanted,
        )


_FINISHERS: Mapping[str, Callable[[Cloud, LostCreation, str, AbstractSet[str]], None]] = {
    "aws:ec2/securityGroup:SecurityGroup": close_security_group
}
"""What the provider does after a creation, and no later run would do."""


def _refusal(label: str, unclear: list[tuple[LostCreation, UnclearError]]) -> ExternalToolError:
    told = "; ".join(f"'{lost.name}' ({lost.type}): {error.why}" for lost, error in unclear)
    remedies = dict.fromkeys(error.remedy for _lost, error in unclear)
    return ExternalToolError(
        f"the last run of '{label}' was cut off, and what it made is not clear: {told}",
        hint=f"{'; '.join(remedies)}; then run the same command again. Nothing was changed or forgotten",
    )


def _name(urn: str) -> str:
    return urn.rsplit("::", 1)[-1]
