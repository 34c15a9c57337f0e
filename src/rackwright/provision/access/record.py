"""The engine's record of a stack: its resources and outputs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rackwright.crossguard.decode import SIGNATURE_KEY

if TYPE_CHECKING:
    from pulumi import automation


def unprotect(stack: automation.Stack, names: frozenset[str]) -> None:
    """Lift the protection of some resources in the record; the program protects them again."""
    deployment = stack.export_stack()
    content = dict(deployment.deployment or {})
    resources = [
        {**one, "protect": False} if one["urn"].rsplit("::", 1)[-1] in names else one
        for one in content.get("resources") or []
    ]
    if resources != content.get("resources"):
        deployment.deployment = {**content, "resources": resources}
        stack.import_stack(deployment)


def resources_of(stack: automation.Stack) -> Sequence[Mapping[str, Any]]:
    """Return the resources of a stack as the engine records them, in the order of their making."""
    return closed_record(stack).get("resources") or []


def closed_record(stack: automation.Stack) -> Mapping[str, Any]:
    """Return the engine's record of a stack, with its secrets encrypted.

    ``export_stack`` decrypts them, for which the CLI derives their key: that takes longer than the rest of it.
    """
    place = stack.workspace
    command = ["stack", "export", "--stack", stack.name]
    told = place.pulumi_command.run(command, place.work_dir, place.env_vars).stdout
    return json.loads(told).get("deployment") or {}


def is_provider(resource: Mapping[str, Any]) -> bool:
    """Return True if a resource is the stack itself or a provider, which AWS does not have."""
    return str(resource.get("type", "")).startswith("pulumi:")


def token(resource: Mapping[str, Any]) -> str:
    """Return the last part of a resource's type, like ``Instance`` of ``aws:ec2/instance:Instance``."""
    return str(resource.get("type", "")).rsplit(":", 1)[-1]


def recorded_outputs(resources: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the outputs in a stack's record, without the two calls of the CLI that ask for them."""
    for one in resources:
        if one.get("type") == "pulumi:pulumi:Stack":
            return {
                name: "[secret]" if isinstance(value, Mapping) and SIGNATURE_KEY in value else value
                for name, value in (one.get("outputs") or {}).items()
            }
    return {}
