"""Documents that are changed by chance are taken or refused in words, in bounded memory and time.

A fixed sample is tried by default; ``RACKWRIGHT_EXAMPLES=many`` tries 15,000, others each time. A
failure names the case and the command that repeats it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fuzz
from examples import MANY
from fuzz_entries import ACCEPTED, ENTRIES, Case, Entry, case_of
from fuzz_mutators import Corpus, at, places

TESTS = Path(fuzz.__file__).parent
COUNT = 15_000 if MANY else 1_000
FIRST = random.randrange(10**6, 10**9) if MANY else 0


def run_fuzz(*words: object) -> subprocess.CompletedProcess[str]:
    source = Path(__file__).parents[2] / "src"
    return subprocess.run(
        [sys.executable, TESTS / "fuzz.py", *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(TESTS)])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sweep
def test_changed_documents_are_taken_or_refused_in_words(measured: Callable[[str], None]) -> None:
    done = run_fuzz("all", FIRST, COUNT)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line for line in lines if "repeat" in line] == [], done.stdout
    assert done.returncode == 0, done.stdout + done.stderr
    assert {line["entry"]: line["first"] for line in lines} == dict.fromkeys(ENTRIES, FIRST)
    assert sum(line["accepted"] + line["refused"] for line in lines) == COUNT
    for line in lines:  # what is refused at once tells nothing of what comes after
        assert line["accepted"] > line["count"] * 0.05, line
        measured(json.dumps(line))


def test_each_entry_has_its_share() -> None:
    assert list(fuzz.SHARES) == list(ENTRIES)
    assert sum(fuzz.SHARES.values()) == 100


@pytest.mark.parametrize("name", ["loader", "catalogue", "renderers"])
def test_a_seed_always_makes_the_same_case(name: str) -> None:
    assert case_of(name, 7) == case_of(name, 7)
    assert len({case_of(name, seed).content for seed in range(20)}) > 15


def test_a_change_leaves_the_document_as_it_is() -> None:
    document = {"a": [1, {"b": "2 kW"}], "c": "d"}
    corpus = Corpus([document, {"a": [{"b": "3 kW", "e": 1}]}])
    made = [corpus.mutate(document, random.Random(seed)) for seed in range(200)]
    assert document == {"a": [1, {"b": "2 kW"}], "c": "d"}
    assert len({repr(one) for one in made}) > 100
    assert {"b": "3 kW", "e": 1} in [at(one, path) for one in made for path in places(one)]


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that breaks down at a rack of no units, and one that never ends."""

    def take(case: Case, _folder: Path) -> str:
        racks = json.loads(case.content)["racks"]
        return ACCEPTED if [1 // rack["units"] for rack in racks] else ""

    def never(_case: Case, _folder: Path) -> str:
        while True:
            pass

    def make(chance: random.Random) -> Case:
        racks = [{"units": chance.choice((0, 42)), "name": f"r{n}"} for n in range(3)]
        return Case(json.dumps({"racks": racks, "name": "atlas"}).encode())

    monkeypatch.setitem(ENTRIES, "careless", Entry(make, take))
    monkeypatch.setitem(ENTRIES, "never", Entry(make, never))


@pytest.mark.usefixtures("careless")
def test_a_failure_is_told_once_with_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert fuzz.sweep("careless", 0, 40) == 1
    told, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert told["what"].startswith("ZeroDivisionError in test_fuzz.py")
    assert told["repeat"] == f"python tests/fuzz.py careless {told['seed']}"
    assert summary["failed"] + summary["accepted"] == 40
    assert 0 < summary["accepted"] < summary["failed"]


@pytest.mark.usefixtures("careless")
def test_the_document_of_a_failure_is_made_small(capsys: pytest.CaptureFixture[str]) -> None:
    seed = next(n for n in range(40) if fuzz.run("careless", case_of("careless", n))[1])
    with pytest.raises(ZeroDivisionError):
        fuzz.show("careless", seed)
    shown = capsys.readouterr().out
    assert json.loads(shown[shown.index("{") :]) == {"racks": [{"units": 0}]}


@pytest.mark.usefixtures("careless")
def test_a_case_that_never_ends_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "LONGEST_CASE_S", 0.1)
    former = signal.signal(signal.SIGVTALRM, fuzz._too_long)
    try:
        outcome, failed = fuzz.run("never", case_of("never", 0))
    finally:
        signal.signal(signal.SIGVTALRM, former)
    assert failed
    assert outcome.startswith("TooLongError")


def test_memory_has_a_limit() -> None:
    code = (
        "import fuzz, fuzz_entries as f\n"
        "f.ENTRIES['loader'] = f.Entry(f.ENTRIES['loader'].make, lambda *_: bytes(2 << 30) and '')\n"
        "raise SystemExit(fuzz.main(['loader', '0', '1']))\n"
    )
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(TESTS)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["what"].startswith("MemoryError")
