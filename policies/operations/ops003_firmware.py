"""OPS-003: every product has an enforced firmware baseline."""

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
    rule,
)
from rackwright.model.hardware import Node
from rackwright.model.operations import FirmwareBaseline, FirmwareComponent
from rackwright.plan.audit.catalogue_usage import used_entries
from rackwright.policy.helpers.attestation import declared


@rule(
    "OPS-003",
    "Every product has an enforced firmware baseline",
    Severity.MEDIUM,
    since="0.2",
    stage="build",
)
class Firmware(Policy):
    """Nodes of one product have one firmware, and another one takes no jobs."""

    components: Annotated[tuple[FirmwareComponent, ...], Field(min_length=1)] = (
        "bios",
        "bmc",
        "nic",
    )
    """Components that every baseline names."""
    accelerator_components: tuple[FirmwareComponent, ...] = ("gpu",)
    """Components that the baseline of a node with accelerators names as well."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two findings for each product of bare-metal nodes."""
        operations = plan.operations
        found = {
            baseline.type: (baseline, index)
            for index, baseline in enumerate(operations.firmware if operations else ())
        }
        judged: set[str] = set()
        for use in used_entries(plan):
            node = use.entry
            if not isinstance(node, Node) or node.id in judged:
                continue
            judged.add(node.id)
            if node.id not in found:
                yield Finding(
                    Subject(f"{plan.name} firmware of {node.id}", use.path),
                    ok=None,
                    message="which firmware the nodes have",
                    missing=(
                        Missing(
                            f"a baseline for '{node.id}' in 'operations.firmware'",
                            ("operations", "firmware"),
                        ),
                    ),
                )
                continue
            baseline, index = found[node.id]
            yield from self._judge(plan.name, node, baseline, ("operations", "firmware", index))

    def _judge(
        self, name: str, node: Node, baseline: FirmwareBaseline, path: FieldPath
    ) -> Iterator[Finding]:
        at = Subject(f"{name} firmware of {node.id}", path)
        wanted = self.components + (self.accelerator_components if node.accelerators else ())
        lacking = [component for component in wanted if component not in baseline.versions]
        yield Finding(
            at,
            ok=not lacking,
            message=f"the baseline does not name {', '.join(lacking)}"
            if lacking
            else "the baseline names every component",
            fix=f"add the version of {', '.join(lacking)} to its 'versions'",
        )
        yield declared(
            Subject(f"{at.name}, enforced", path),
            value=baseline.enforced,
            yes="nodes with other firmware take no jobs",
            no="nodes with other firmware take jobs",
            missing=Missing(f"'enforced' of the baseline of '{node.id}'", (*path, "enforced")),
            fix="keep such nodes out until they are updated, and set 'enforced: true'",
        )
