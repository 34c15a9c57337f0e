"""Whether two revisions of the repository judge, price, list and write the same.

    python tests/compare_revisions.py main             # against the working tree
    python tests/compare_revisions.py v0.1 v0.2 --only PWR-006

Each revision is checked out and runs in a process of its own. The cases are the same for both: the
blueprint of every example of every rule, as the first revision has them, each judged by all rules;
both blueprint templates; a generated cluster of 1,000 nodes. What the verbs print and write is
compared byte for byte, but for numbers in JSON: those may differ by 1e-12 of their size.

Ends with 0 where nothing differs, with 1 where something does, with 2 where a revision does not run.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-12
"""Relative difference of two numbers that are the same."""
TEMPLATES = ("hybrid-h100", "lab")
RACKS = 250
"""Racks of the generated cluster, of four nodes each."""
TODAY = "2026-11-23"
_FRACTION = re.compile(r"-?\d+(\.\d+([eE][-+]?\d+)?|[eE][-+]?\d+)")
SHOWN_LINES = 40
"""Lines of one difference that are shown."""

Texts = Mapping[str, str]
"""What a revision printed and wrote for a case, by command or file."""


def differences(before: str, after: str) -> Iterator[str]:
    """What differs between two texts, line by line; JSON is compared by its values."""
    if before == after:
        return
    try:
        one, other = json.loads(before), json.loads(after)
    except ValueError:
        yield from difflib.unified_diff(
            before.splitlines(), after.splitlines(), "before", "after", n=1, lineterm=""
        )
        return
    found = list(_unequal(one, other, "$"))
    yield from found
    if not found and _FRACTION.sub("", before) != _FRACTION.sub("", after):
        yield "$: the same values are written otherwise"


def _unequal(one: Any, other: Any, at: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            yield f"{at}: keys {list(one)} became {list(other)}"
        for key in one.keys() & other.keys():
            yield from _unequal(one[key], other[key], f"{at}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{at}: {len(one)} items became {len(other)}"
        for index, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from _unequal(a, b, f"{at}[{index}]")
    elif isinstance(one, float) and isinstance(other, float):
        same = math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=0.0)
        if not same and not (math.isnan(one) and math.isnan(other)):
            yield f"{at}: {one!r} became {other!r}"
    elif type(one) is not type(other) or one != other:
        yield f"{at}: {one!r} became {other!r}"


# The cases, which both revisions run


def write_cases(name: str, only: Sequence[str]) -> None:
    """Write one folder for each case."""
    folder = Path(name)
    for rule, number, case in _examples(only):
        here = folder / f"{rule}-{number:02}"
        here.mkdir(parents=True)
        for name, content in case.items():
            (here / name).write_text(json.dumps(content, indent=1))
    if not only:
        for template in TEMPLATES:
            (folder / f"template-{template}").mkdir()
            (folder / f"template-{template}" / "template.json").write_text(json.dumps(template))
        (folder / "cluster").mkdir()
        (folder / "cluster/blueprint.yaml").write_text(json.dumps(_cluster(), indent=1))


def _module(name: str, former: str) -> Any:
    """A module by its name, or by the one that it has in revisions before 2026-11-23."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return importlib.import_module(former)


def _examples(only: Sequence[str]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Each example once, however many rules have it: its blueprint, its base and its products."""
    from rackwright.resources import bundled

    examples = _module("rackwright.policy.authoring.examples", "rackwright.policy.examples")
    packs = _module("rackwright.policy.packs.loader", "rackwright.policy.packs")
    document, load_examples = examples.document, examples.load_examples
    pack, seen = bundled("policies"), set()
    for policy in packs.load_packs():
        if only and policy.id not in only:
            continue
        for number, example in enumerate(load_examples(policy)):
            data = document(example, pack).data
            if example.parameters:
                setting = {"parameters": example.parameters}
                data = {**data, "policies": {**data.get("policies", {}), policy.id: setting}}
            base = document(example.model_copy(update={"layer": {}}), pack).data
            case = {"blueprint.yaml": data, "base.yaml": base, "catalogue.json": example.catalogue}
            key = json.dumps(case, sort_keys=True)
            if key not in seen:
                seen.add(key)
                yield policy.id, number, case


def _cluster() -> Any:
    from bench.test_check import cluster

    return cluster(RACKS)


# One revision, in a process of its own


def run_cases(cases: str, results: str, root: str) -> None:
    """Run every case with the revision that is checked out in ``root``."""
    import rackwright

    assert Path(rackwright.__file__).is_relative_to(root), rackwright.__file__
    found = {}
    for case in sorted(Path(cases).iterdir()):
        with tempfile.TemporaryDirectory() as scratch:
            here = Path(scratch, "case")
            here.mkdir()
            found[case.name] = _run_case(case, here)
    Path(results).write_text(json.dumps(found))


def _run_case(case: Path, here: Path) -> Texts:
    """What the verbs say about the blueprint in ``case``; they run in ``here``."""
    os.chdir(here)
    found: dict[str, str] = {}
    template = case / "template.json"
    if template.exists():
        _say(found, ["init", ".", "--template", json.loads(template.read_text()), "--example"])
        blueprint = Path("blueprint.yaml").read_text()
        found["blueprint.yaml"] = blueprint
        _commit(blueprint)
        Path("blueprint.yaml").write_text(_smaller(blueprint))
        _say(found, ["diff", "HEAD", "blueprint.yaml", "--json", "--today", TODAY])
        _say(found, ["diff", "HEAD", "blueprint.yaml", "--today", TODAY])
        Path("blueprint.yaml").write_text(blueprint)
        for layer in sorted(Path().glob("*-per-rack.yaml")):
            _say(found, ["check", "blueprint.yaml", "--layer", str(layer), "--json"])
    else:
        blueprint = (case / "blueprint.yaml").read_text()
        base = case / "base.yaml"
        if base.exists() and base.read_text() != blueprint:
            _commit(base.read_text())
            Path("blueprint.yaml").write_text(blueprint)
            with _products(case):
                _say(found, ["diff", "HEAD", "blueprint.yaml", "--json", "--today", TODAY])
        Path("blueprint.yaml").write_text(blueprint)
    with _products(case):
        forms = [f"--output={form}=reports/{form}" for form in ("text", "md", "sarif")]
        _say(found, ["check", "blueprint.yaml", "--json", "--today", TODAY, *forms])
        _say(found, ["cost", "blueprint.yaml", "--json"])
        _say(found, ["render", "blueprint.yaml", "--output", "rendered"])
        _say(found, ["inventory", "blueprint.yaml"])
    for folder in ("reports", "rendered"):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                found[str(path)] = path.read_text()
    return {name: text.replace(str(here), "HERE") for name, text in found.items()}


@contextmanager
def _products(case: Path) -> Iterator[None]:
    """The catalogue with the products that an example changes."""
    from rackwright.catalog.loader import Catalogue

    path = case / "catalogue.json"
    patches = json.loads(path.read_text()) if path.exists() else {}
    original: Any = Catalogue.__init__

    def patched(self: Catalogue, *arguments: Any, **more: Any) -> None:
        original(self, *arguments, **more)
        object.__setattr__(self, "patches", {**self.patches, **patches})

    made: Any = Catalogue
    made.__init__ = patched
    try:
        yield
    finally:
        made.__init__ = original


def _say(found: dict[str, str], words: list[str]) -> None:
    """Run a verb, and keep its exit code and what it prints."""
    from rackwright.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    name = " ".join(words)
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
    found[name] = texts[0]
    found[f"{name} (exit code and stderr)"] = f"{code}\n{texts[1]}"


def _commit(blueprint: str) -> None:
    """Make a repository of the blueprint, always with the same commit."""
    Path("blueprint.yaml").write_text(blueprint)
    who = {"NAME": "team", "EMAIL": "team@example.com", "DATE": "2026-11-01T00:00:00Z"}
    roles = ("AUTHOR", "COMMITTER")
    env = os.environ | {f"GIT_{role}_{key}": text for role in roles for key, text in who.items()}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", *words], check=True, env=env, capture_output=True)


def _smaller(blueprint: str) -> str:
    """The blueprint with one node less in each group of several."""
    import yaml

    data = yaml.safe_load(blueprint)
    for site in data["sites"]:
        for group in site["node_groups"]:
            group["count"] = max(1, group["count"] - 1)
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    return text


# Both revisions


def main(words: Sequence[str] | None = None) -> int:
    """Compare two revisions; the exit code."""
    parser = argparse.ArgumentParser(description="Compare what two revisions print and write.")
    parser.add_argument("before", help="revision")
    parser.add_argument("after", nargs="?", help="revision; the working tree where it is absent")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="just this rule")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        roots = {"before": folder / "before", "after": folder / "after"}
        try:
            _check_out(arguments.before, roots["before"])
            if arguments.after is None:
                roots["after"] = ROOT
            else:
                _check_out(arguments.after, roots["after"])
            return _compare(roots, folder, arguments.only)
        except subprocess.CalledProcessError:  # git has said why
            return 2
        finally:
            for root in roots.values():
                if root != ROOT and root.exists():
                    _git("worktree", "remove", "--force", str(root))


def _compare(roots: Mapping[str, Path], folder: Path, only: Sequence[str]) -> int:
    cases = folder / "cases"
    cases.mkdir()
    made = _start(roots["before"], folder, "write_cases", cases, list(only)).wait()
    if made:
        return 2
    files = {side: folder / f"{side}.json" for side in roots}
    workers = [
        _start(root, folder, "run_cases", cases, files[side], root) for side, root in roots.items()
    ]
    try:
        codes = [worker.wait() for worker in workers]
    finally:
        for worker in workers:  # no-op for those that have ended
            worker.kill()
    if any(codes):
        return 2
    before, after = (json.loads(file.read_text()) for file in files.values())
    return _report(before, after)


def _start(root: Path, folder: Path, task: str, *arguments: object) -> subprocess.Popen[bytes]:
    """Run a function of this module with the revision that is checked out in ``root``."""
    words = json.dumps([str(word) if isinstance(word, Path) else word for word in arguments])
    code = f"import sys, json, compare_revisions as c; c.{task}(*json.loads(sys.argv[1]))"
    paths = os.pathsep.join([str(root / "src"), str(ROOT / "tests")])
    env = os.environ | {"PYTHONPATH": paths, "NO_COLOR": "1"}
    return subprocess.Popen([sys.executable, "-c", code, words], env=env, cwd=folder)


def _check_out(revision: str, folder: Path) -> None:
    _git("worktree", "add", "--quiet", "--detach", str(folder), revision)


def _git(*words: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *words], check=True)


def _report(before: Mapping[str, Texts], after: Mapping[str, Texts]) -> int:
    """Print what differs; the exit code."""
    compared = different = 0
    for case, texts in before.items():
        for name in dict.fromkeys([*texts, *after[case]]):
            compared += 1
            lines = list(differences(texts.get(name, ""), after[case].get(name, "")))
            if lines:
                different += 1
                print(f"{case}: {name}", *lines[:SHOWN_LINES], sep="\n  ")
                if len(lines) > SHOWN_LINES:
                    print(f"  ... and {len(lines) - SHOWN_LINES:,} lines more")
    size = sum(len(text) for texts in before.values() for text in texts.values())
    print(
        f"{len(before):,} cases, {compared:,} texts of {size / 1e6:.1f} MB: "
        + (f"{different:,} differ" if different else "no difference")
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
