"""Several changes of one base, and one change in several steps: what the gate says of each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ci_team import git
from factories import a_site, some_nodes
from pull_request import Pull, overdrawn


def nodes(*more: str) -> dict[str, Any]:
    """One node that is there, and one of each group that a change adds; 41.3 kW carry two of them."""
    groups = [some_nodes(name, count=1, per_rack=1) for name in ("dgx", *more)]
    return overdrawn(node_groups=groups, power={"contract": "41.3 kW"})


def test_two_changes_that_pass_alone_fail_together_once_the_second_is_up_to_date(
    pull: Pull,
) -> None:
    pull.open(nodes())
    pull.write(nodes("mine"))
    assert pull.judge() == 0
    pull.merge()
    pull.write(nodes("yours"))
    assert pull.judge() == 0, "without the other change it is what it was"
    pull.write(nodes("mine", "yours"))
    assert pull.judge() == 5, "as a merge queue or a branch that is brought up to date has it"


COMPONENTS = ("bios", "bmc", "nic", "gpu", "nvswitch")
WAIVER = f"""waivers:
  - {{id: W-1, policy: OPS-003, match: {{subject: '* firmware of dgx-h100, enforced'}}, unknown: true, owner: ada, ticket: T-1,
     reason: BIOS 2 is rolled out in this change, expires: {datetime.now(UTC).date() + timedelta(days=60)}}}
"""


def firmware(version: str) -> dict[str, Any]:
    return {
        "firmware": [
            {"type": "dgx-h100", "versions": dict.fromkeys(COMPONENTS, version), "enforced": True}
        ]
    }


def test_a_firmware_bump_needs_a_waiver_that_is_merged_before(pull: Pull) -> None:
    """What enforces the old versions may not know the new ones."""
    pull.open(a_site(), operations=firmware("1"))
    assert pull.judge(rule="OPS-003") == 0
    pull.write(a_site(), operations=firmware("2"))
    code, told = pull.report(rule="OPS-003")
    assert code == 6
    assert "operations.firmware.0.enforced" in told

    waivers = pull.top / "site/policies/waivers.yaml"
    waivers.parent.mkdir()
    waivers.write_text(WAIVER)
    assert pull.judge(rule="OPS-003") == 6, "a change does not waive itself"
    waivers.unlink()
    pull.commit()
    git(pull.top, "switch", "--quiet", "main")
    waivers.parent.mkdir(exist_ok=True)
    waivers.write_text(WAIVER)
    pull.commit()
    git(pull.top, "switch", "--quiet", "change")
    git(pull.top, "merge", "--quiet", "--no-edit", "main")
    code, told = pull.report(rule="OPS-003")
    assert code == 0
    assert "unused" not in told.get("W-1", ""), "one of the two judgements uses it"
    pull.merge()
    assert (pull.judge(rule="OPS-003"), pull.alone("OPS-003")) == (0, 0), "the claim applies now"
