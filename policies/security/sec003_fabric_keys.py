"""SEC-003: InfiniBand management requires keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.model.security import SubnetManagerKeys
from rackwright.policy.helpers.attestation import declared

SETTINGS = (
    ("congestion_key", "congestion control is set with a key only", "cc_key_enable 2"),
    ("node_key", "nodes manage one another with a key only", "n2n_key_enable 2"),
    ("vendor_key", "vendor-specific management needs a key", "vs_key_enable 2"),
    (
        "limited_membership",
        "ports are limited members of the default partition",
        "default_membership=limited",
    ),
)
"""Field, what it means, and the setting of the subnet manager that makes it so."""


@rule(
    "SEC-003",
    "InfiniBand management requires keys",
    Severity.HIGH,
    since="0.2",
    stage="build",
)
class FabricKeys(Policy):
    """Every InfiniBand fabric has its management and administration keys set."""

    least_protection_level: Annotated[int, Field(ge=0, le=3)] = 2
    """Lowest ``m_key_protection_level``; from 2 on, reading needs the key as well."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for each InfiniBand fabric, and for the settings of its site."""
        for site in plan.onprem:
            fabrics = [one for one in site.fabrics if one.is_infiniband]
            for fabric, path in ((one.fabric, one.path) for one in fabrics):
                for key, noun in (("m_key", "management key"), ("sa_key", "administration key")):
                    yield declared(
                        Subject(f"{site.name} fabric {fabric.name} {noun}", path),
                        value=getattr(fabric, key),
                        yes=f"the fabric has its own {noun}",
                        no=f"the fabric has no {noun}",
                        missing=Missing(f"'{key}' of the fabric '{fabric.name}'", (*path, key)),
                        fix=f"set the {noun} in the subnet manager, and '{key}: true'",
                    )
            if fabrics:
                security = site.security
                keys = security.infiniband if security else None
                path = (*site.path, "security", "infiniband")
                yield from self._judge(f"{site.name} subnet managers", path, keys)

    def _judge(
        self, name: str, path: FieldPath, keys: SubnetManagerKeys | None
    ) -> Iterator[Measure | Finding]:
        level = keys.m_key_protection_level if keys else None
        words = "'m_key_protection_level' in the site's 'security.infiniband'"
        lacking = Missing(words, (*path, "m_key_protection_level"))
        yield Measure(
            Subject(name, path),
            value=level,
            limit=self.least_protection_level,
            unit="",
            what="protection level of the management key",
            sense="at_least",
            fix=f"set m_key_protection_level to {self.least_protection_level}",
            suggest=Suggestion((*path, "m_key_protection_level"), self.least_protection_level),
            missing=(lacking,) if level is None else (),
        )
        for field, meaning, setting in SETTINGS:
            yield declared(
                Subject(f"{name} {field.replace('_', ' ')}", path),
                value=getattr(keys, field) if keys else None,
                yes=meaning,
                no=f"declared as false: {meaning}",
                missing=Missing(f"'{field}' in the site's 'security.infiniband'", (*path, field)),
                fix=f"set '{setting}' in the subnet manager, and '{field}: true'",
            )
