"""An interrupt ends a command wherever it arrives."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys, time
{begin}
class Freed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
freed = Freed()
del freed
try:
    time.sleep({seconds})
except KeyboardInterrupt:
    sys.exit("interrupted")
print("went on")
"""


def run(begin: str, seconds: float) -> subprocess.CompletedProcess[str]:
    text = PROGRAM.format(begin=begin, seconds=seconds)
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120
    )


def test_python_alone_drops_an_interrupt_in_a_destructor() -> None:
    done = run("", 0.2)
    assert done.stdout == "went on\n"


def test_an_interrupt_in_a_destructor_is_not_lost() -> None:
    done = run("from rackwright.interrupts import keep_interrupts; keep_interrupts()", 600)
    assert (done.stdout, done.stderr, done.returncode) == ("", "interrupted\n", 1)


def test_other_exceptions_of_destructors_are_told_as_before() -> None:
    text = (
        "from rackwright.interrupts import keep_interrupts; keep_interrupts()\n"
        "class Freed:\n    def __del__(self):\n        raise ValueError('odd')\n"
        "Freed()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120
    )
    assert "Exception ignored" in done.stderr
    assert "odd" in done.stderr


def test_the_command_line_keeps_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bool] = []
    monkeypatch.setattr("rackwright.cli.keep_interrupts", lambda: kept.append(True))
    monkeypatch.setattr("rackwright.cli.guard", lambda: None)
    monkeypatch.setattr(sys, "argv", ["rackwright", "--version"])
    from rackwright.cli import main

    assert main() == 0
    assert kept == [True]
