"""NET-008: a real subnet manager has routed this fabric with the engine that was chosen."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, rule
from rackwright.plan.fabric.cables import digest
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of, missing_run, unattached


@rule(
    "NET-008",
    "The chosen routing engine routes the fabric",
    Severity.HIGH,
    since="0.2",
    stage="build",
    profile=Profile.PRODUCTION,
)
class RoutingEngine(Policy):
    """The recorded simulator run is of this fabric, and its engine is the chosen one."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each InfiniBand fabric."""
        for found in fabrics_of(plan):
            if found.technology == "ethernet":
                continue
            if found.layout is None:
                yield unattached(found, "which engine routes the fabric")
            else:
                yield _judge(found, digest(found.layout))


def _judge(found: FabricAt, now: str) -> Finding:
    fabric = found.fabric
    missing = missing_run(found, now)
    if fabric.routing_engine is None:
        missing += (found.lacks("routing_engine"),)
    if missing or fabric.routing_run is None or fabric.routing_engine is None:
        message = "whether the chosen engine routes the fabric"
        return Finding(found.at(), ok=None, message=message, missing=missing)
    # The simulator's manager is the open one: its engines stand for the adaptive ones of UFM.
    chosen, run = fabric.routing_engine.removeprefix("ar_"), fabric.routing_run
    ok = run.engine.removeprefix("ar_") == chosen
    fell = "" if ok else f", not with {fabric.routing_engine}"
    return Finding(
        found.at("routing_run"),
        ok=ok,
        message=f"the fabric was routed with {run.engine}{fell} on {run.date}",
        fix=None if ok else f"cable the fabric as {chosen} needs it, or choose '{run.engine}'",
    )
