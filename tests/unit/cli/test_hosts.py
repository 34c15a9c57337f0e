"""What is told on stderr while hosts are worked on."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from rackwright.cli.options.hosts import watcher
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template, write_blueprint

EVENTS = (
    {"event": "playbook_on_play_start", "event_data": {"pattern": "slurm_compute"}},
    {"event": "playbook_on_task_start", "event_data": {"role": "munge", "task": "Copy"}},
    {
        "event": "runner_on_failed",
        "event_data": {"host": "gpu-1", "role": "munge", "task": "Copy", "res": {"msg": "no\nkey"}},
    },
)


class Console(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "as_json", "told"),
    [
        (
            io.StringIO(),
            False,
            "  munge: begins on 3 hosts\n  gpu-1 failed: munge / Copy: no\n",
        ),
        (Console(), False, "\r\x1b[2K  gpu-1 failed: munge / Copy: no\n"),
        (Console(), True, "  munge …\n  its line\n"),
    ],
)
def test_a_terminal_a_log_and_a_program_are_told_what_they_can_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, as_json: bool, told: str
) -> None:
    write_blueprint(find_template("lab"), tmp_path, {})
    made = build_inventory(load_plan(tmp_path / "blueprint.yaml").plan)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    with watcher(made, "slurm_compute:!gpu-4", as_json=as_json) as watch:
        for event, line in zip(EVENTS, (None, "munge …", "its line"), strict=True):
            watch.take(event, line)
    assert told in stream.getvalue()
    live = "munge: 0 of 3, 0 of 3 hosts done, 1 failed: gpu-1, 0:00 (Copy)" in stream.getvalue()
    assert live == (stream.isatty() and not as_json)
    if as_json:
        assert stream.getvalue() == told
