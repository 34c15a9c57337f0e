"""Who is through with a wave, and what a change is recognised by."""

from __future__ import annotations

import pytest

from rackwright.accept.compare import HostAcceptance, ItemOutcome, ItemResult
from rackwright.ansible_runs.events import HostResult, Tally
from rackwright.ansible_runs.files import Workspace, prepare
from rackwright.ansible_runs.run import read_quarantine, remember
from rackwright.errors import UsageError
from rackwright.plan.model import Plan
from rackwright.rollout.executor import digest, hosts_matching, quarantine, verdict
from rackwright.rollout.journal import RolloutProgress


def an_item(
    outcome: ItemOutcome, expected: str | None = "8", reason: str | None = None
) -> ItemResult:
    return ItemResult("accelerators", outcome, expected, "7", reason=reason)


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([an_item(ItemOutcome.PASS)], None),
        ([an_item(ItemOutcome.FAIL, reason="7 of 8 accelerators")], "7 of 8 accelerators"),
        (
            [
                an_item(ItemOutcome.FAIL, reason="a"),
                an_item(ItemOutcome.UNKNOWN),
                an_item(ItemOutcome.FAIL),
            ],
            "a; accelerators",
        ),
        ([an_item(ItemOutcome.UNKNOWN, reason="no driver")], "unknown accelerators: no driver"),
        ([an_item(ItemOutcome.UNKNOWN, expected=None, reason="nobody says it")], None),
    ],
)
def test_host_without_a_known_state_is_not_excluded(
    items: list[ItemResult], why: str | None
) -> None:
    assert verdict(HostAcceptance("gpu-1", "gpu-1", tuple(items))) == why


def test_the_digest_is_of_what_hosts_are_made_from(plan: Plan, place: Workspace) -> None:
    inventory = prepare(plan, place)
    first = digest(place, inventory, (), ())
    again = prepare(plan, place, {"gpu-1": {"ansible_host": "10.0.0.1"}})
    assert digest(place, again, (), ()) == first, "how hosts are reached is no change"
    assert digest(place, inventory, ("configure",), ()) != first
    team = place.folder / "team.yml"
    team.write_text("all: {}")
    with_team = digest(place, inventory, (), [team])
    team.write_text("all: {vars: {base_memlock: 1}}")
    assert len({first, with_team, digest(place, inventory, (), [team])}) == 3
    conf = place.slurm / "slurm.conf"
    conf.write_text(conf.read_text() + "# changed\n")
    assert digest(place, inventory, (), ()) != first


def test_the_quarantine_follows_the_change(place: Workspace) -> None:
    progress = RolloutProgress("change", "d", (), {})
    progress.failed = {"gpu-1": "no", "gpu-2": "no"}
    assert quarantine(place, progress, {}) == {"gpu-1": "no", "gpu-2": "no"}
    progress.pass_host("gpu-1")
    assert quarantine(place, progress, {}) == {"gpu-2": "no"}
    assert read_quarantine(place) == {"gpu-2": "no"}


def test_a_change_of_some_steps_takes_out_whom_it_has_put_there(place: Workspace) -> None:
    remember(place, Tally({"gpu-1": HostResult(failure="of a whole run")}), whole=True)
    progress = RolloutProgress("change", "d", (), {}, tags=("configure",))
    progress.failed = {"gpu-1": "no", "gpu-2": "no"}
    both = {"gpu-1": "of a whole run", "gpu-2": "no"}
    assert quarantine(place, progress, {}) == both
    before = dict(progress.failed)
    progress.failed["gpu-2"] = "still not"
    assert quarantine(place, progress, before) == {**both, "gpu-2": "still not"}
    before = dict(progress.failed)
    progress.pass_host("gpu-1")
    progress.pass_host("gpu-2")
    assert quarantine(place, progress, before) == {"gpu-1": "of a whole run"}


def test_a_pattern_stands_for_hosts(plan: Plan, place: Workspace) -> None:
    prepare(plan, place)
    assert hosts_matching(place, "rack_room_c02:head-1", ()) == {"gpu-3", "gpu-4", "head-1"}
    with pytest.raises(UsageError, match="'gpu-9' is none of the hosts"):
        hosts_matching(place, "gpu-9", ())
