"""Feeds what reads text of others with documents that are changed by chance.

    python tests/fuzz.py ENTRY FIRST COUNT    cases FIRST to FIRST + COUNT - 1
    python tests/fuzz.py all FIRST COUNT      COUNT cases, shared among the entries
    python tests/fuzz.py ENTRY SEED           one case: its document, made small, and the traceback

It runs under limits of the kernel for memory and for processor time; a case that is at work for too
long ends as a failure. Failures are told on stdout as lines of JSON, and a summary after them.
"""

from __future__ import annotations

import gc
import json
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import yaml

from fuzz_entries import ENTRIES, Case, case_of
from fuzz_mutators import at, places

MEMORY = 1536 * 1024 * 1024
"""Address space in bytes."""
LONGEST_CASE_S = 30
"""Processor time after which a case counts as one that never ends; the slowest takes a tenth."""
SHARES = {
    "loader": 15,
    "engine": 20,
    "waivers": 15,
    "baseline": 15,
    "catalogue": 10,
    "netbox": 5,
    "renderers": 15,
    "templates": 5,
}
"""Of a hundred cases those that each entry gets."""
MOST_TOLD = 20
SMALLER_TRIES = 400


class TooLongError(Exception):
    """A case was at work for longer than any should be."""


@dataclass(frozen=True)
class Failure:
    """A case that ended as none should.

    Attributes:
        what: the exception, and where in Rackwright it was raised.
        repeat: the command that repeats it.
    """

    entry: str
    seed: int
    what: str
    repeat: str


def main(words: list[str]) -> int:
    """Run the cases that ``words`` ask for; 1 where one failed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, _too_long)
    name, first, *rest = words
    if not rest:
        return show(name, int(first))
    count = int(rest[0])
    spent = count + 600  # seconds of processor time, which ends what no signal does
    resource.setrlimit(resource.RLIMIT_CPU, (spent, spent))
    if name != "all":
        return sweep(name, int(first), count)
    return max(sweep(one, int(first), count * share // 100) for one, share in SHARES.items())


def sweep(name: str, first: int, count: int) -> int:
    """Run ``count`` cases, tell what failed, and sum up."""
    outcomes: Counter[str] = Counter()
    kinds: dict[str, list[int]] = {}
    slowest = (0.0, first)
    for seed in range(first, first + count):
        if seed % 200 == 0:
            gc.collect()  # commands leave that to their end
        began = time.process_time()
        case = case_of(name, seed)
        outcome, failed = run(name, case)
        slowest = max(slowest, (time.process_time() - began, seed))
        outcomes["failed" if failed else outcome] += 1
        if failed:
            kinds.setdefault(outcome, []).append(seed)
            if len(kinds[outcome]) == 1 and len(kinds) <= MOST_TOLD:
                repeat = f"python tests/fuzz.py {name} {seed}"
                print(json.dumps(asdict(Failure(name, seed, outcome, repeat))), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    summary = {
        "entry": name,
        "first": first,
        "count": count,
        **outcomes,
        "kinds": {kind: len(seeds) for kind, seeds in kinds.items()},
        "slowest_s": round(slowest[0], 2),
        "slowest_seed": slowest[1],
        "peak_mib": peak,
    }
    print(json.dumps(summary), flush=True)
    return 1 if kinds else 0


def run(name: str, case: Case) -> tuple[str, bool]:
    """How a case ends: the outcome, or what was raised and where, and whether that is a failure."""
    try:
        with _a_folder() as folder, _a_limit():
            return ENTRIES[name].take(case, folder), False
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        return _kind(error), True


def _kind(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/rackwright/" in frame.filename]
    last = (own or frames)[-1]
    where = f"{Path(last.filename).name}:{last.name}"
    said = str(error).split("\n")[0][:300] if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} in {where} {said}".strip()


@contextmanager
def _a_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _a_limit() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_CASE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError(f"more than {LONGEST_CASE_S} seconds")


def show(name: str, seed: int) -> int:
    """Run one case; a failure is shown with its document, made as small as can be."""
    case = case_of(name, seed)
    outcome, failed = run(name, case)
    print(f"{name} {seed}: {outcome}")
    if not failed:
        return 0
    small = smaller(name, case, outcome)
    print(f"choice: {small.choice}\n{small.content.decode('utf-8', 'backslashreplace')}")
    with _a_folder() as folder:
        ENTRIES[name].take(small, folder)
    return 1


def smaller(name: str, case: Case, kind: str) -> Case:
    """``case`` with all left out without which it still fails in the same way."""
    tries = SMALLER_TRIES

    def fails(content: bytes) -> bool:
        nonlocal tries
        tries -= 1
        return tries >= 0 and run(name, replace(case, content=content)) == (kind, True)

    content = case.content
    data = _as_data(content)
    if data is not None and fails(json.dumps(data, indent=1).encode()):
        return replace(case, content=json.dumps(_without_parts(data, fails), indent=1).encode())
    step = max(1, len(content) // 2)
    while step and tries > 0:
        start = 0
        while start < len(content) and tries > 0:
            less = content[:start] + content[start + step :]
            if fails(less):
                content = less
            else:
                start += step
        step //= 2
    return replace(case, content=content)


def _as_data(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        pass
    try:
        return yaml.safe_load(content)
    except (ValueError, yaml.YAMLError):
        return None


def _without_parts(data: Any, fails: Any) -> Any:
    """``data`` without the parts that it need not have; the largest are tried first."""
    kept: set[tuple[Any, ...]] = set()
    while True:
        found = [path for path in places(data) if path not in kept]
        if not found:
            return data
        path = min(found, key=len)
        kept.add(path)
        less = json.loads(json.dumps(data))
        del at(less, path[:-1])[path[-1]]
        if fails(json.dumps(less, indent=1).encode()):
            data = less
            kept = {one for one in kept if one[: len(path) - 1] != path[:-1]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
