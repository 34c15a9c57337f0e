"""AWS-008: volumes are encrypted and IMDSv2 is required."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.plan.aws.launch_template import server_args
from rackwright.plan.aws.nic import LayoutError
from rackwright.plan.missing import of_product

ROOT_DEVICES = frozenset({"/dev/sda1", "/dev/xvda"})
"""Root devices of the images of Ubuntu, Red Hat, Debian and Amazon Linux."""


_ENCRYPTION = "encryption of volumes"


@rule(
    "AWS-008",
    "Volumes are encrypted and IMDSv2 is required",
    Severity.HIGH,
    since="0.1",
    stage="build",
    profile=Profile.LAB,
)
class HardenedInstances(Policy):
    """Root volumes are encrypted, and only version 2 of the metadata service answers, nearby."""

    most_hops: Annotated[int, Field(ge=1, le=64)] = 2
    """Hops that a metadata response may travel; 2 reaches containers behind a bridge."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for the launch template or arguments of each group and server, as planned."""
        for site in plan.aws:
            for group in site.groups:
                at = Subject(f"{site.name} {group.spec.name}", group.path)
                try:
                    template = group.launch_template(group.spec.name, {})
                except LayoutError as error:
                    missing = (of_product(group.instance.id, "cards", "network cards"),)
                    yield Finding(at, ok=None, message=error.summary, missing=missing)
                    continue
                yield from self._judge(template["metadata_options"], at)
                root = site.image_facts(group.spec.image).root_device
                yield _judge_volumes(template["block_device_mappings"], root, at)
            for servers in site.servers:
                at = Subject(f"{site.name} {servers.role}", servers.path)
                arguments = server_args(servers.server, name=servers.role, tags={})
                yield from self._judge(arguments["metadata_options"], at)
                encrypted = arguments["root_block_device"]["encrypted"] is True
                yield Finding(
                    at, ok=encrypted, message="the root volume is encrypted", what=_ENCRYPTION
                )

    def _judge(self, options: dict[str, Any], at: Subject) -> Iterator[Measure | Finding]:
        tokens = options["http_tokens"]
        yield Finding(
            at,
            ok=tokens == "required",
            message=f"tokens of the metadata service are {tokens}",
            fix=None if tokens == "required" else "require tokens",
            what="tokens of the metadata service",
        )
        yield Measure(
            at,
            value=options["http_put_response_hop_limit"],
            limit=self.most_hops,
            unit="hops",
            what="hops of the metadata service",
            fix=f"set 'metadata_hops' to {self.most_hops} or less",
            suggest=Suggestion((*at.path, "metadata_hops"), self.most_hops),
        )


def _judge_volumes(mappings: list[dict[str, Any]], root: str | None, at: Subject) -> Finding:
    open_volumes = [m["device_name"] for m in mappings if m["ebs"]["encrypted"] != "true"]
    if open_volumes:
        message = f"'{open_volumes[0]}' is not encrypted"
        return Finding(at, ok=False, message=message, what=_ENCRYPTION)
    device = mappings[0]["device_name"]
    if root is not None and device != root:
        return Finding(
            at,
            ok=False,
            message=f"'{device}' is encrypted, and the root device of the image is '{root}', which stays as it is",
            fix=f"set 'root_device: {root}'",
            what=_ENCRYPTION,
        )
    if root is None and device not in ROOT_DEVICES:
        return Finding(
            at,
            ok=None,
            message=f"'{device}' may not be the root device of the image, which then stays as it is",
            missing=(
                Missing(
                    f"whether '{device}' is the root device of the image",
                    (*at.path, "root_device"),
                ),
            ),
            what=_ENCRYPTION,
        )
    message = f"the root volume '{device}' is encrypted"
    return Finding(at, ok=True, message=message, what=_ENCRYPTION)
