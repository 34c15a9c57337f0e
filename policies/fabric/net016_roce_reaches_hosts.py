"""NET-016: declared flow control is configured on the hosts."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Plan, Policy, Severity, rule
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of


@rule(
    "NET-016",
    "Declared flow control is configured on the hosts",
    Severity.HIGH,
    since="0.4",
    stage="build",
)
class RoceReachesHosts(Policy):
    """A fabric with flow control or congestion marking states how hosts mark its traffic."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each Ethernet fabric that declares one of both."""
        for found in fabrics_of(plan):
            fabric = found.fabric
            if found.technology != "infiniband" and (fabric.pfc or fabric.ecn):
                yield _judge(found)


def _judge(found: FabricAt) -> Finding:
    fabric = found.fabric
    words = " and ".join(
        noun
        for on, noun in ((fabric.pfc, "flow control"), (fabric.ecn, "congestion marking"))
        if on
    )
    if found.technology is None:
        missing = (found.lacks("technology"),)
        return Finding(found.at(), ok=None, message=f"on which ports {words} is", missing=missing)
    if fabric.roce is None:
        return Finding(
            found.at(),
            ok=False,
            message=f"{words} is declared, but no host marks traffic for it: 'roce' is not set",
            fix="give the fabric 'roce: {dscp: 26, priority: 3}', with the code point and the "
            "priority that its switches are set to",
        )
    return Finding(
        found.at("roce"),
        ok=True,
        message=f"'configure' has hosts mark DSCP {fabric.roce.dscp}, priority "
        f"{fabric.roce.priority}; {words} of the switches is left to the team",
    )
