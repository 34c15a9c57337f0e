"""Status checks of EC2 that fail: moto's instances pass all of them, and it knows no filter by status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.ec2.models.instances import Instance
from moto.ec2.responses.instances import InstanceResponse

from rackwright_lab.embedded_aws.api.patching import first_time, put

_ACCOUNT = "123456789012"
_RUNNING = 16
_FILTERS = {
    "system-status.status": "system_status",
    "instance-status.status": "instance_status",
}
"""Filters of ``DescribeInstanceStatus`` (Amazon EC2 API Reference), by the attribute that they compare."""


def install() -> None:
    """Put failing checks into moto's classes; a second call changes nothing."""
    if not first_time(__name__):
        return
    passed = vars(Instance)["system_status"].fget
    describe = InstanceResponse.describe_instance_status

    def system_status(self: Any) -> Any:
        since = vars(self).get("rackwright_impaired")
        if since is None or self.state_code != _RUNNING:
            return passed(self)
        detail = {"ImpairedSince": since, "Name": "reachability", "Status": "failed"}
        return {"Details": [detail], "Status": "impaired"}

    def describe_instance_status(self: Any) -> ActionResult:
        wanted = {
            _FILTERS[name]: values
            for name, values in self._filters_from_querystring().items()
            if name in _FILTERS
        }
        if not wanted:
            return describe(self)
        found = self.ec2_backend.describe_instance_status(
            [], include_all_instances=False, filters=[]
        )
        return ActionResult({"InstanceStatuses": [one for one in found if _matches(one, wanted)]})

    put(Instance, system_status=property(system_status))
    put(InstanceResponse, describe_instance_status=describe_instance_status)


def _matches(instance: Any, wanted: Mapping[str, Iterable[str]]) -> bool:
    return all(getattr(instance, name)["Status"] in values for name, values in wanted.items())


def impair(regions: Mapping[str, Mapping[str, float]]) -> None:
    """Let the system status checks of instances fail, for so many seconds already (``{"us-east-1": {"i-…": 120}}``).

    Raises:
        ValueError: one is no instance that runs.
    """
    for region, ids in regions.items():
        running = {one.id: one for one in ec2_backends[_ACCOUNT][region].all_running_instances()}
        for identity, seconds in ids.items():
            if identity not in running:
                raise ValueError(f"'{identity}' is no instance that runs")
            since = datetime.now(UTC) - timedelta(seconds=seconds)
            vars(running[identity])["rackwright_impaired"] = since
