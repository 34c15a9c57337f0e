"""A run of Ansible, told from recorded events."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright.ansible_runs.events import (
    LAST_TASK,
    LONGEST_REASON,
    Tally,
    is_kept,
    leave_behind,
    reason_of,
    unfinished,
)


def started(role: str, task: str) -> dict[str, Any]:
    return {"event": "playbook_on_task_start", "event_data": {"role": role, "task": task}}


def included(play: str, role: str) -> dict[str, Any]:
    data = {"play": play, "task": role, "task_action": "ansible.builtin.include_role"}
    return {"event": "playbook_on_task_start", "event_data": data}


def ended(kind: str, host: str, seconds: float = 1.0, **result: Any) -> dict[str, Any]:
    data = {"host": host, "role": "munge", "task": "Copy", "duration": seconds, "res": result}
    return {"event": f"runner_on_{kind}", "event_data": data}


def told(*events: dict[str, Any]) -> tuple[Tally, list[str]]:
    tally = Tally()
    lines = [line for event in events if (line := tally.take(event))]
    tally.finish()
    return tally, lines


def test_changes_and_failures_are_kept_by_host() -> None:
    tally, lines = told(
        started("munge", "Copy"),
        ended("ok", "a", changed=True),
        ended("ok", "b", changed=False),
        ended("failed", "c", msg="no\nspace"),
        ended("unreachable", "d", msg="timed out"),
        ended("ok", "a", changed=True),
    )
    assert lines == [
        "munge …",
        "c failed: munge / Copy: no space",
        "d failed: munge / Copy: timed out",
    ]
    assert tally.failed == ("c", "d")
    assert tally.changed == 2
    assert tally.hosts["a"].changed == ["munge / Copy", "munge / Copy"]
    assert (tally.hosts["b"].ok, tally.hosts["b"].failure) == (1, None)
    assert [name for name, result in tally.hosts.items() if result.unreachable] == ["d"]


def test_to_decide_whether_a_role_is_run_is_no_step() -> None:
    tally, lines = told(
        started("munge", "Copy"),
        ended("ok", "a", seconds=2.0),
        included("Hosts that run jobs", "NCCL"),
        started("nccl", "Install"),
    )
    assert lines == ["munge …", "nccl …"]
    assert tally.role_seconds == {"munge": 2.0, "nccl": 0.0}


def test_a_failure_that_is_ignored_is_none() -> None:
    event = ended("failed", "a", msg="x")
    event["event_data"]["ignore_errors"] = True
    tally, lines = told(started("munge", "Copy"), event)
    assert (tally.failed, lines) == ((), ["munge …"])


def test_a_role_takes_as_long_as_its_slowest_hosts() -> None:
    tally, _ = told(
        started("base", "one"),
        ended("ok", "a", 2.0),
        ended("ok", "b", 5.0),
        started("base", "two"),
        ended("ok", "a", 1.0),
        started("munge", "three"),
        ended("ok", "a", 0.5),
    )
    assert tally.role_seconds == {"base": 6.0, "munge": 0.5}


def test_a_role_is_announced_once() -> None:
    _, lines = told(started("base", "one"), started("base", "two"), started("munge", "three"))
    assert lines == ["base …", "munge …"]


def test_no_log_output_is_not_in_the_reason() -> None:
    assert reason_of({"censored": "hidden", "msg": "key 1234"}) == (
        "failed; its output is kept secret"
    )
    assert "1234" not in reason_of({"_ansible_no_log": True, "stderr": "key 1234"})


def test_the_reason_is_the_most_telling_text() -> None:
    assert reason_of({"msg": "non-zero return code", "stderr": "disk full"}) == "disk full"
    assert reason_of({"results": [{"failed": False}, {"failed": True, "msg": "b"}]}) == "b"
    assert reason_of({}) == "no reason given"
    assert len(reason_of({"msg": "x" * 5000})) == LONGEST_REASON


def test_other_events_say_nothing() -> None:
    tally, lines = told({"event": "verbose", "event_data": {}}, {"event": "playbook_on_stats"})
    assert (tally.hosts, lines) == ({}, [])


def test_only_who_came_to_the_end_is_done() -> None:
    tally, _ = told(ended("ok", "a"), ended("failed", "b", msg="no key"), ended("ok", "c"))
    tally.take({"event": "runner_on_ok", "event_data": {"host": "a", "task": LAST_TASK}})
    behind = {"b": "munge / Copy: no key", "c": "left behind by b: munge / Copy: no key"}
    assert unfinished(tally, ["a", "b", "c", "d"]) == {
        **behind,
        "d": "left behind by b: munge / Copy: no key",
    }
    assert unfinished(Tally(), ["a"]) == {"a": "no task ran on it"}
    leave_behind(tally)
    assert {name: tally.hosts[name].failure for name in tally.failed} == behind
    assert tally.hosts["a"].failure is None


@pytest.mark.parametrize(
    ("event", "kept"),
    [
        ({"event": "runner_on_ok", "event_data": {"res": {"changed": False}}}, False),
        ({"event": "runner_on_ok", "event_data": {"res": {"changed": True}}}, True),
        ({"event": "runner_on_ok"}, False),
        ({"event": "runner_on_start"}, False),
        ({"event": "runner_on_skipped"}, False),
        ({"event": "runner_item_on_ok"}, False),
        ({"event": "runner_item_on_failed"}, True),
        ({"event": "runner_on_failed"}, True),
        ({"event": "runner_on_unreachable"}, True),
        ({"event": "playbook_on_task_start"}, True),
        ({"event": "playbook_on_stats"}, True),
    ],
)
def test_events_of_failures_and_changes_are_kept(event: dict[str, object], kept: bool) -> None:
    """Ten runs over 12,500 hosts left 60 million files."""
    assert is_kept(event) is kept
