"""The inventory as texts, so that a change of it can be read line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rackwright.inventory.inventory import build_inventory
from rackwright.plan.model import Plan

FOLDER = "inventory"
APART = {"base_hosts"}
"""Variables that are shown elsewhere, line by line: ``names/hosts``."""


def generate(plan: Plan) -> Mapping[str, str]:
    """Return the variables of each group that has any, and those of the hosts themselves, by path.

    A line is a variable of a group, or a host with all that is its own.

    Raises:
        PlanError: something that the variables need is unknown or leads nowhere.
    """
    if plan.is_federated:
        return {
            f"{FOLDER}/{one.cluster}{path.removeprefix(FOLDER)}": text
            for one in plan.members
            for path, text in generate(one.plan).items()
        }
    inventory = build_inventory(plan)
    own: Mapping[str, Any] = inventory["_meta"]["hostvars"]
    made = {f"{FOLDER}/hosts": _lines(own)} if own else {}
    for name, group in inventory.items():
        if variables := {k: v for k, v in group.get("vars", {}).items() if k not in APART}:
            made[f"{FOLDER}/groups/{name}"] = _lines(variables)
    return made


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(
        f"{name}: {json.dumps(value, sort_keys=True, ensure_ascii=False)}\n"
        for name, value in sorted(values.items())
    )
