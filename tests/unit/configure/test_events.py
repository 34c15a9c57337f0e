"""A run of Ansible, told from recorded events."""

from __future__ import annotations

from typing import Any

from rackwright.configure.events import LONGEST_REASON, Tally, reason_of


def started(role: str, task: str) -> dict[str, Any]:
    return {"event": "playbook_on_task_start", "event_data": {"role": role, "task": task}}


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


def test_what_is_kept_from_the_log_is_kept_from_the_reason() -> None:
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
