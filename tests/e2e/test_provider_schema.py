"""The plugin that is built has the resources and properties of the vendor's SDK, by which the stacks are written."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
from typing import Any

import pulumi_aws
import pytest
from pulumi import _types

from rackwright.provision.tools.aws_provider import need_aws_provider

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

NEWER = {
    ("Group", "instanceLifecyclePolicy"),
    ("FlowLog", "tagFieldSpecifications"),
}
"""Properties that came to the vendor's provider after the release that the plugin is built from."""
OTHER_TYPES = {("TargetGroup", "deregistrationDelay"), ("Record", "name")}
"""Properties that the vendor gives another type, or requires, by an overlay of its own; the stacks set the second."""

_KINDS = (("bool", "boolean"), ("int", "integer"), ("float", "number"))


def kind_of(annotation: Any) -> str:
    """The type of a property in a schema, by its annotation in the SDK."""
    text = str(annotation)
    if "Sequence[" in text:
        return "array"
    words = set(re.findall(r"\w+", text))
    # Documents of IAM may be given as text, or as an object.
    if "str" in words and "Mapping" not in words:
        return "string"
    if "Mapping" in words or "Args" in text:
        return "object"
    return next((kind for word, kind in _KINDS if word in words), "string")


def vendors(token: str) -> dict[str, tuple[str, bool]]:
    """Type of each input of a resource of the SDK, and whether it is required."""
    module, name = token.split(":")[1].split("/", maxsplit=1)[0], token.rsplit(":", maxsplit=1)[-1]
    # Asked of the package: importing a module of it by name leaves its lazy packages half loaded.
    package = getattr(pulumi_aws, module)
    made = getattr(package, f"{name}InitArgs", None) or getattr(package, f"{name}Args")
    names = _types.input_type_py_to_pulumi_names(made)
    parameters = list(inspect.signature(made.__init__).parameters.values())[1:]
    return {
        names.get(one.name, one.name): (kind_of(one.annotation), one.default is one.empty)
        for one in parameters
    }


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    done = subprocess.run(
        [str(need_aws_provider()), "-schema"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def test_the_plugin_knows_what_the_sdk_sends(schema: dict[str, Any]) -> None:
    """D: the default security group was not emptied, as the plugin called its rules ``ingresses``."""
    assert len(schema["resources"]) > 40
    differing = []
    for token, told in schema["resources"].items():
        name = token.split(":")[-1]
        required = set(told.get("requiredInputs", ()))
        properties = told["inputProperties"]
        for field, (kind, needed) in vendors(token).items():
            if (name, field) in NEWER | OTHER_TYPES:
                continue
            if field not in properties:
                differing.append(f"{name}.{field} is missing")
                continue
            here = properties[field].get("type") or "object"
            if here != kind or needed != (field in required):
                differing.append(f"{name}.{field}: {kind}, {needed}; plugin: {here}")
    assert differing == []


def test_what_differs_on_purpose_still_differs(schema: dict[str, Any]) -> None:
    known = {
        (token.split(":")[-1], field)
        for token, told in schema["resources"].items()
        for field in told["inputProperties"]
    }
    assert NEWER.isdisjoint(known)
    assert known >= OTHER_TYPES
