"""Public parameters that name machine images, which moto's Parameter Store lacks."""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.ssm.responses import SimpleSystemManagerResponse

from rackwright_lab.embedded_aws.api import amis
from rackwright_lab.embedded_aws.api.patching import first_time, put


def install() -> None:
    """Make GetParameter answer for the images of ``amis``; a second call changes nothing."""
    if not first_time(__name__):
        return
    first = SimpleSystemManagerResponse.get_parameter

    def get_parameter(self: Any) -> ActionResult:
        name = self._get_param("Name")
        image = amis.by_parameter(name)
        if image is None:
            return first(self)
        return ActionResult(
            {
                "Parameter": {
                    "Name": name,
                    "Type": "String",
                    "Value": image.id,
                    "Version": 1,
                    "ARN": f"arn:aws:ssm:{self.region}::parameter{name}",
                    "DataType": "aws:ec2:image",
                }
            }
        )

    put(SimpleSystemManagerResponse, get_parameter=get_parameter)
