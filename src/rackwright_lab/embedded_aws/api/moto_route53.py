"""A hosted zone that is made in a VPC is private, whatever else is said of it.

AWS's own provider names the VPC alone, as AWS wants it; moto forgets the VPC then.
"""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.route53.responses import Route53

from rackwright_lab.embedded_aws.api.patching import first_time, put

_PRIVATE = "HostedZoneConfig.PrivateZone"


def install() -> None:
    """Fix moto's class; a second call changes nothing."""
    if not first_time(__name__):
        return
    first = Route53.create_hosted_zone

    def create_hosted_zone(self: Any) -> ActionResult:
        told = self._get_bool_param

        def private(name: str, *default: Any) -> Any:
            return True if name == _PRIVATE else told(name, *default)

        if self._get_param("VPC.VPCId"):
            self._get_bool_param = private
        made: ActionResult = first(self)
        return made

    put(Route53, create_hosted_zone=create_hosted_zone)
