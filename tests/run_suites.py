"""Run a tier of the tests, and say at the end what failed and how to repeat it.

A step that fails does not keep the next one from running. After the deadline in
``RACKWRIGHT_DEADLINE`` (seconds since the epoch) no test begins, and what was left out is named.

    python tests/run_suites.py test   lint, unit tests and journeys: what `make test` runs
    python tests/run_suites.py all    every suite, with fixed seeds
    python tests/run_suites.py ci     `test`, then the suites that the change touches and that fit
    python tests/run_suites.py soak   what has no end: drawn seeds and many examples
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join

from suites import ROOT, USUAL_S, Suite, read_suites, suites_that_fit, touched

BIN = Path(sys.executable).parent
VERIFIED = ROOT / ".ci/verified"
"""The commit at which everything was green the last time."""
SECONDS = ROOT / ".ci/seconds.json"
"""By suite the seconds of one worker that it took when all of them ran the last time."""
LINTERS = (
    "lint-types", "lint-ansible", "lint-docs", "lint-imports", "lint-ruff", "lint-format", "lint-yaml",
    "lint-spelling",
)  # fmt: skip
"""Targets of the Makefile, the longest first."""
WORKERS = 2
WAITING_WORKERS = 4
"""Workers for journeys and for all suites together: most of their time they wait for boots, timers and daemons."""
SLOWEST = "--durations=25"
OUTCOMES, DEADLINE = "RACKWRIGHT_OUTCOMES", "RACKWRIGHT_DEADLINE"
# What a fixture of a module makes is made by one worker. pytest 9.2 with pytest-xdist 3.8 ignores xdist_group.
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")
UNIT = (f"-n{WORKERS}", *BY_FILE, SLOWEST, "-m", "not e2e and not bench and not soak")
REAL = (*BY_FILE, SLOWEST, "-m", "e2e and not soak")
MANY = (f"-n{WORKERS}", "-m", "(hypothesis or sweep) and not e2e")
SOAK = (f"-n{WORKERS}", "-m", "soak")
BENCH = ("-m", "bench and not soak", "-s")
MORE = {"RACKWRIGHT_EXAMPLES": "many"}
OTHERS = ("next-python", "oldest-dependencies")
"""Environments of ``other_environments.py``."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a step.

    Attributes:
        name: of the step.
        repeat: commands that repeat what failed; empty where nothing did.
        left_out: what did not run for lack of time.
        seconds: that it took.
        tests: seconds that each test took, its fixtures included, by the file of the test.
    """

    name: str
    repeat: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float = 0
    tests: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pytest:
    """One run of pytest.

    Attributes:
        name: of the step.
        tests: files, folders or single tests.
        options: of pytest.
        environment: variables to add.
        by_file: what failed is repeated by its file, whose tests share a lab and go on from each other.
    """

    name: str
    tests: tuple[str, ...]
    options: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    by_file: bool = False


def main(tier: str) -> int:
    """Run ``tier``; 0 if nothing failed."""
    suites = read_suites()
    if tier == "soak":
        return summarise(tier, run_soak(suites))
    always = [suite for suite in suites if suite.always]
    rest = [suite for suite in suites if not suite.always and not suite.soak]
    outcomes = [*run_lint(), run_pytest(Pytest("unit", _paths(always), UNIT)), run_make("tools")]
    if tier == "ci":
        changed = changed_files()
        rest = rest if changed is None else list(touched(rest, changed))
        print(f"\n== touched by the change: {', '.join(s.name for s in rest) or 'nothing'}")
    whole = [] if tier == "test" else rest
    # The other tests of a suite go on from its journey, which runs with them if they run at all.
    outcomes += run_journeys("journeys", [suite for suite in suites if suite not in whole])
    if tier == "ci":
        whole, late = suites_that_fit(whole, _seconds(), WORKERS * _seconds_left())
        outcomes += run_journeys("journeys of what is left out", late)
        outcomes += [Outcome(f"suite {s.name}", left_out=(f"suite {s.name}",)) for s in late]
    outcomes += run_whole(whole, WAITING_WORKERS if tier == "all" else WORKERS)
    if tier == "all":
        outcomes += [run_make(f"test-{name}") for name in OTHERS]
    return summarise(tier, outcomes)


def run_soak(suites: Sequence[Suite]) -> list[Outcome]:
    """Run what finds other faults each time: many examples, drawn seeds, whole other environments."""
    always = _paths(suite for suite in suites if suite.always)
    return [
        run_make("tools"),
        run_pytest(Pytest("many examples", always, MANY, MORE)),
        run_pytest(Pytest("drawn seeds", _paths(suites), SOAK, MORE)),
        run_pytest(Pytest("bench", ("tests/bench",), BENCH, {"RACKWRIGHT_BENCH_RUNS": "1"})),
        *(run_make(f"test-{name}", "WHOLE=whole") for name in OTHERS),
    ]


def run_journeys(name: str, suites: Iterable[Suite]) -> list[Outcome]:
    """Run the journeys of ``suites``, if they have any."""
    journeys = tuple(test for suite in suites for test in suite.journeys)
    return [run_pytest(Pytest(name, journeys, (f"-n{WAITING_WORKERS}", *REAL)))] if journeys else []


def run_whole(suites: Sequence[Suite], workers: int) -> Iterator[Outcome]:
    """Run ``suites``, the longest first, so that no worker is left with one in the end."""
    seconds = _seconds()
    suites = sorted(suites, key=lambda one: -seconds.get(one.name, USUAL_S))
    yield from map(run_make, sorted({need for suite in suites for need in suite.needs}))
    if suites:
        yield run_pytest(
            Pytest("end to end", _paths(suites), (f"-n{workers}", *REAL), by_file=True)
        )


def run_lint() -> list[Outcome]:
    """What became of each linter; two run at the same time."""
    with ThreadPoolExecutor(WORKERS) as pool:
        done = list(pool.map(_quiet_make, LINTERS))
    for outcome, said in done:
        print(f"\n== {outcome.name}: {'failed' if outcome.repeat else 'ok'}\n{said}", end="")
    sys.stdout.flush()
    return [outcome for outcome, _ in done]


def run_make(target: str, *variables: str) -> Outcome:
    """Run a target of the Makefile."""
    print(f"\n== {target}", flush=True)
    began = time.monotonic()
    command = ("make", "--no-print-directory", target, *variables)
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    return Outcome(target, (join(command),) if code else (), seconds=time.monotonic() - began)


def run_pytest(step: Pytest) -> Outcome:
    """Run pytest."""
    print(f"\n== {step.name}", flush=True)
    if time.time() > float(os.environ.get(DEADLINE, "inf")):
        return Outcome(step.name, left_out=step.tests)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "outcomes"
        command = (str(BIN / "pytest"), *step.options, *step.tests)
        environment = {**os.environ, **step.environment, OUTCOMES: str(record)}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        lines = record.read_text("utf-8").splitlines() if record.exists() else []
    recorded = [json.loads(line) for line in lines]
    failed = list(dict.fromkeys(one["test"] for one in recorded if one["outcome"] == "failed"))
    words = [f"{name}={value}" for name, value in step.environment.items()]
    repeat = tuple(join([*words, ".venv/bin/pytest", test]) for test in failed)
    if step.by_file:
        files = [test.partition("::")[0] for test in failed]
        repeat = tuple(
            f"{join(['.venv/bin/pytest', file])}  # {test.removeprefix(f'{file}::')}"
            for file, test in zip(files, failed, strict=True)
        )
    if code and not repeat:  # it found no test, or broke down
        repeat = (join([*words, ".venv/bin/pytest", *command[1:]]),)
    left_out = tuple(one["test"] for one in recorded if one["outcome"] == "left out")
    tests: dict[str, float] = {}
    for one in recorded:
        file = one["test"].partition("::")[0]
        tests[file] = tests.get(file, 0) + one["seconds"]
    return Outcome(step.name, repeat, left_out, time.monotonic() - began, tests)


def changed_files() -> tuple[str, ...] | None:
    """Paths that differ from the commit in ``.ci/verified``; None where that is not known."""
    try:
        base = VERIFIED.read_text("utf-8").split()[0]
    except (OSError, IndexError):
        return None
    command = ("git", "diff", "--name-only", "--no-renames", "-z", base, "HEAD", "--")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"everything is touched: {done.stderr.strip()}")
        return None
    return tuple(name for name in done.stdout.split("\0") if name)


def summarise(tier: str, outcomes: Sequence[Outcome]) -> int:
    """Print what became of the steps; 1 where one failed, else 0."""
    print(f"\n== {tier}: {sum(one.seconds for one in outcomes) / 60:.0f} minutes")
    for one in outcomes:
        state = "failed" if one.repeat else "not whole" if one.left_out else "ok"
        print(f"{one.name:<28} {state:<10} {one.seconds:6.0f} s")
    by_suite = seconds_by_suite(outcomes)
    print("\nseconds of one worker by suite:")
    for name, seconds in sorted(by_suite.items(), key=lambda item: -item[1]):
        print(f"{name:<28} {seconds:6.0f} s")
    for one in outcomes:
        for test in one.left_out:
            print(f"left out for lack of time: {test}")
    failures = [command for one in outcomes for command in one.repeat]
    for command in failures:
        print(f"failed, repeat it with: {command}")
    whole = not failures and not any(one.left_out for one in outcomes)
    if tier == "all" and whole:
        _record_verified(by_suite)
    return 1 if failures else 0


def seconds_by_suite(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Return the seconds of one worker that the tests of each suite took."""
    taken: dict[str, float] = {}
    for outcome in outcomes:
        for file, seconds in outcome.tests.items():
            for suite in read_suites():
                if any(file == path or file.startswith(f"{path}/") for path in suite.paths):
                    taken[suite.name] = taken.get(suite.name, 0) + seconds
    return taken


def _seconds() -> dict[str, float]:
    """Seconds that each suite took the last time, as far as that is known."""
    return dict(json.loads(SECONDS.read_text("utf-8"))) if SECONDS.exists() else {}


def _seconds_left() -> float:
    """Seconds until the deadline."""
    return float(os.environ.get(DEADLINE, "inf")) - time.time()


def _record_verified(by_suite: Mapping[str, float]) -> None:
    """Write the commit that is checked out to ``.ci/verified``, unless files differ from it."""
    git = ("git", "-C", str(ROOT))
    changed = subprocess.run((*git, "status", "--porcelain"), capture_output=True, check=True)
    if changed.stdout:
        print("not recorded in .ci/verified: files differ from the commit that is checked out")
        return
    head = subprocess.run((*git, "rev-parse", "HEAD"), capture_output=True, text=True, check=True)
    VERIFIED.write_text(head.stdout, "utf-8")
    told = {name: round(seconds) for name, seconds in sorted(by_suite.items())}
    SECONDS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print(f"recorded in .ci/verified and .ci/seconds.json; commit them: {head.stdout.strip()}")


def _quiet_make(target: str) -> tuple[Outcome, str]:
    began = time.monotonic()
    command = ("make", "--no-print-directory", target)
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    repeat = (join(command),) if done.returncode else ()
    return Outcome(target, repeat, seconds=time.monotonic() - began), done.stdout


def _paths(suites: Iterable[Suite]) -> tuple[str, ...]:
    return tuple(path for suite in suites for path in suite.paths)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
