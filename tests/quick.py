"""Check what was changed, within a minute: ruff, mypy of the files, tests of their packages.

    python tests/quick.py [BASE]

Changed is what differs from where the branch left ``BASE`` (``origin/main``, or ``main``), committed or
not. No test begins after 50 seconds; what was left out is named, and ``make test`` runs it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from shlex import join

from run_suites import BIN, DEADLINE, UNIT, Outcome, Pytest, run_pytest
from suites import ROOT

BASES = ("origin/main", "main", "HEAD")
LONGEST_S = 50
"""Seconds after which no test begins."""
HELD_BY = {
    "inventory": "tests/unit/catalog",
    "policies": "tests/policies",
    "roles": "tests/roles",
    "src/ansible_collections": "tests/unit/roles",
    "stacks": "tests/stacks",
    "templates/blueprints": "tests/unit/templates",
    "templates/ci": "tests/unit/render",
    "tests/suites.toml": "tests/unit/test_suites.py",
}
"""Folders and files that have no tests of their name, and the tests that look at them."""


def main(words: Sequence[str]) -> int:
    """Run the checks; 1 if one failed."""
    began = time.time()
    base = words[0] if words else ""
    changed = changed_since(base)
    if not changed:
        print("nothing was changed")
        return 0
    tests = tests_of(changed)
    print(f"{len(changed)} files were changed; tests: {' '.join(tests) or 'none'}", flush=True)
    modules = typed(changed)
    with ThreadPoolExecutor(2) as pool:
        # One process each: two of pytest would slow down mypy.
        types = pool.submit(run_tool, "mypy", *modules) if modules else None
        outcomes = [run_tool("ruff", "check", "."), run_tool("ruff", "format", "--check", ".")]
        if tests:
            late = {DEADLINE: str(began + LONGEST_S), "RACKWRIGHT_QUICK": "1"}
            step = Pytest("tests", tests, ("-q", "-x", "--no-header", *UNIT[-2:]), late)
            outcomes.append(run_pytest(step))
        outcomes += [types.result()] if types else []
    left_out = [test for one in outcomes for test in one.left_out]
    if left_out:
        print(f"left out for lack of time: {len(left_out)} tests, from {left_out[0]} on")
    failures = [command for one in outcomes for command in one.repeat]
    for command in failures:
        print(f"failed, repeat it with: {command}")
    print(f"{'failed' if failures else 'ok'} after {time.time() - began:.0f} s")
    return 1 if failures else 0


def changed_since(base: str = "") -> tuple[str, ...]:
    """Return the files that differ from where the branch left ``base``, new ones included."""
    left = next(
        filter(None, (git("merge-base", "HEAD", one) for one in ((base,) if base else BASES)))
    )
    lists = (
        git("diff", "--name-only", "--no-renames", "--diff-filter=d", "-z", left, "--"),
        git("ls-files", "--others", "--exclude-standard", "-z"),
    )
    return tuple(sorted({name for text in lists for name in text.split("\0") if name}))


def git(*words: str) -> str:
    """Return what git prints, nothing where it fails."""
    command = ("git", *words)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def typed(changed: Iterable[str]) -> list[str]:
    """Return the files of ``changed`` that mypy checks."""
    mypy = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    return [
        name
        for name in changed
        if name.endswith(".py")
        and any(name == one or name.startswith(f"{one}/") for one in mypy["files"])
        and not any(re.search(pattern, name) for pattern in mypy["exclude"])
    ]


def run_tool(name: str, *words: str) -> Outcome:
    """Run a program of the environment, and print what it says where it fails."""
    command = (str(BIN / name), *words)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, end="", flush=True)
    return Outcome(name, (join((f".venv/bin/{name}", *words)),) if done.returncode else ())


def tests_of(changed: Iterable[str]) -> tuple[str, ...]:
    """Return the tests of what was changed: the files named after it first, then those of its package."""
    files, folders = dict[str, None](), dict[str, None]()
    for name in changed:
        for test in _candidates(name):
            if (ROOT / test).is_file():
                files[test] = None
            elif (ROOT / test).is_dir():
                folders[test] = None
    above = [one for one in folders if not any(one.startswith(f"{other}/") for other in folders)]
    return (*files, *above)


def _candidates(name: str) -> Iterator[str]:
    """Yield the files and folders whose tests look at the file ``name``, as far as they exist."""
    path = PurePosixPath(name)
    match path.parts:
        case ("src", "rackwright", *inside, module):
            yield str(PurePosixPath("tests/unit", *inside, f"test_{module}"))
            folders = (PurePosixPath("tests/unit", *inside[:n]) for n in range(len(inside), 0, -1))
            found = next((one for one in folders if (ROOT / one).is_dir()), None)
            if found is not None:
                yield str(found)
        case ("src", "rackwright_lab", *inside, module):
            folder = inside if inside[:1] == ["embedded_aws"] else ["lab", *inside]
            yield from _candidates(str(PurePosixPath("src/rackwright", *folder, module)))
        case ("tests", "unit" | "policies" | "roles" | "stacks", *_, module):
            is_test = module.startswith("test_") and module.endswith(".py")
            if is_test:
                yield name
            elif len(path.parts) > 3:
                yield str(path.parent)
        case ("tests", module) if module.endswith(".py"):
            yield f"tests/unit/test_{module}"
            words = ("grep", "-l", "-E", rf"^(from {path.stem} |import {path.stem}$)", "--")
            yield from git(*words, "tests/unit", "tests/policies", "tests/roles").splitlines()
        case ("roles", role, *_):
            yield f"tests/unit/roles/test_{role}.py"
        case _:
            pass
    yield from (tests for held, tests in HELD_BY.items() if f"{name}/".startswith(f"{held}/"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
