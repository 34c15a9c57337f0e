"""Lifecycle policies as the service keeps them, checked as its API reference says."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.exceptions import JsonRESTError

_DESCRIPTION = re.compile(r"[0-9A-Za-z _-]{0,500}")
_ROLE = re.compile(r"arn:aws(-[a-z]{1,3}){0,2}:iam::\d+:role/.*")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_HOURS = (1, 2, 3, 4, 6, 8, 12, 24)
_MOST_KEPT = 1000


class LifecycleBackend(BaseBackend):
    """The lifecycle policies of an account in a region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.policies: dict[str, dict[str, Any]] = {}

    def create(self, document: Mapping[str, Any]) -> str:
        """Return the id of a new policy.

        Raises:
            LifecycleError: the service would not take it.
        """
        _check(document)
        identity = f"policy-{secrets.token_hex(8)}0"
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.policies[identity] = {
            "PolicyId": identity,
            "PolicyArn": f"arn:{self.partition}:dlm:{self.region_name}:{self.account_id}:policy/{identity}",
            "Description": document["Description"],
            "State": document["State"],
            "ExecutionRoleArn": document["ExecutionRoleArn"],
            "PolicyDetails": document["PolicyDetails"],
            "Tags": dict(document.get("Tags") or {}),
            "DateCreated": now,
            "DateModified": now,
            "DefaultPolicy": False,
        }
        return identity

    def get(self, identity: str) -> dict[str, Any]:
        """Return a policy by its id.

        Raises:
            LifecycleError: there is none.
        """
        if identity not in self.policies:
            message = f"The policy {identity} does not exist"
            raise LifecycleError("ResourceNotFoundException", message, 404)
        return self.policies[identity]

    def update(self, identity: str, document: Mapping[str, Any]) -> None:
        """Change what ``document`` says of a policy.

        Raises:
            LifecycleError: there is none, or the service would not take it.
        """
        held = self.get(identity)
        names = ("Description", "State", "ExecutionRoleArn", "PolicyDetails")
        wanted = {**held, **{name: document[name] for name in names if name in document}}
        _check(wanted)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.policies[identity] = {**wanted, "DateModified": now}

    def delete(self, identity: str) -> None:
        """Take a policy away; the snapshots that it made stay.

        Raises:
            LifecycleError: there is none.
        """
        self.get(identity)
        del self.policies[identity]

    def by_arn(self, arn: str) -> dict[str, Any]:
        """Return a policy by its ARN.

        Raises:
            LifecycleError: there is none.
        """
        return self.get(arn.rsplit("/", 1)[-1])


class LifecycleError(JsonRESTError):
    """Error that the service returns for a request that it rejects."""

    def __init__(self, kind: str, message: str, code: int = 400) -> None:
        super().__init__(kind, message)
        self.code = code


def _refuse(message: str) -> LifecycleError:
    return LifecycleError("InvalidRequestException", message)


def _check(document: Mapping[str, Any]) -> None:
    for name in ("Description", "State", "ExecutionRoleArn", "PolicyDetails"):
        if not document.get(name):
            raise _refuse(f"Missing required parameter: {name}")
    if not _DESCRIPTION.fullmatch(document["Description"]):
        raise _refuse(f"Invalid description: {document['Description']}")
    if not _ROLE.fullmatch(document["ExecutionRoleArn"]):
        raise _refuse(f"Invalid execution role: {document['ExecutionRoleArn']}")
    details = document["PolicyDetails"]
    if not details.get("ResourceTypes") or not details.get("TargetTags"):
        raise _refuse("A policy needs ResourceTypes and TargetTags")
    if not 1 <= len(details.get("Schedules") or ()) <= 4:
        raise _refuse("A policy has 1 to 4 Schedules")
    for schedule in details["Schedules"]:
        _check_schedule(schedule)


def _check_schedule(schedule: Mapping[str, Any]) -> None:
    rule, kept = schedule.get("CreateRule") or {}, schedule.get("RetainRule") or {}
    if rule.get("CronExpression") is None:
        if rule.get("IntervalUnit") != "HOURS" or rule.get("Interval") not in _HOURS:
            hours = ", ".join(map(str, _HOURS))
            raise _refuse(f"Interval {rule.get('Interval')} is none of {hours} HOURS")
        times = rule.get("Times") or []
        if len(times) > 1 or not all(_TIME.fullmatch(one) for one in times):
            raise _refuse(f"Times {times} is not one of the form hh:mm")
    if kept.get("Interval") is None and not 1 <= int(kept.get("Count") or 0) <= _MOST_KEPT:
        raise _refuse(f"Count {kept.get('Count')} is not between 1 and {_MOST_KEPT}")


dlm_backends = BackendDict(LifecycleBackend, "dlm")
"""The backends by account and region, under the name by which moto looks for them."""
