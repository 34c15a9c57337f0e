"""The table of suites is whole, and a run of them hides no failure."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

import run_suites
from parsed import parsed_below
from run_suites import Outcome, Pytest
from suites import (
    ROOT,
    USUAL_S,
    Suite,
    describe,
    read_portable,
    read_suites,
    suites_that_fit,
    touched,
)

SUITES = read_suites()
NAMES = {suite.name for suite in SUITES}
DOCUMENT = ROOT / "tests/README.md"
BEGIN, END = "<!-- made from suites.toml -->\n", "<!-- end -->\n"
HELD_BY_UNIT_TESTS = {
    "src/rackwright/brownfield",
    "src/rackwright/drawings",
    "src/rackwright/templates",
    "src/rackwright/testing",
}
"""Folders that no suite but the unit tests watches, and need not."""


def test_every_test_is_in_one_suite() -> None:
    files = sorted(path for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(files) > 100
    paths = [path for suite in SUITES for path in suite.paths]
    for file in files:
        name = str(file.relative_to(ROOT))
        holding = [path for path in paths if name == path or name.startswith(f"{path}/")]
        assert len(holding) == 1, (name, holding)


def names_in(tree: ast.AST) -> set[str]:
    """Variables and attributes that are named in ``tree``."""
    nodes = [*ast.walk(tree)]
    variables = {node.id for node in nodes if isinstance(node, ast.Name)}
    return variables | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_property_tests_run_with_many_examples() -> None:
    """The calculator's 5,000 sites were run by no tier: none of its tests had a mark."""
    files = parsed_below(ROOT / "tests", "test_*.py")
    names = {str(file.path.relative_to(ROOT)): names_in(file.tree) for file in files}
    asking = {file: found for file, found in names.items() if "MANY" in found}
    assert len(asking) > 4
    assert [file for file, found in asking.items() if not {"sweep", "given"} & found] == []


def test_no_two_files_have_a_lab_on_one_network() -> None:
    """Those of Debian 13 and of Grafana did, and failed when they ran at the same time."""
    holders: dict[str, set[Path]] = {}
    for file in (ROOT / "tests").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "_machines(" in text or "_lab(" in text:
            for network in re.findall(r"10\.213\.\d+\.0/24", text):
                holders.setdefault(network, set()).add(file)
    assert len(holders) > 20
    assert {network: files for network, files in holders.items() if len(files) > 1} == {}


def test_files_of_the_table_exist() -> None:
    assert len(NAMES) == len(SUITES)
    for suite in SUITES:
        for path in (*suite.paths, *suite.watches):
            assert (ROOT / path).exists(), (suite.name, path)
        for journey in suite.journeys:
            file, _, test = journey.partition("::")
            assert file in suite.paths
            assert f"def {test}" in (ROOT / file).read_text()


def test_every_package_and_role_is_watched() -> None:
    folders = [*(ROOT / "src/rackwright").iterdir(), *(ROOT / "roles").iterdir()]
    names = {str(path.relative_to(ROOT)) for path in folders if path.is_dir()}
    names = {name for name in names if not name.endswith("__pycache__")} - HELD_BY_UNIT_TESTS
    assert len(names) > 40
    watched = {path for suite in SUITES for path in suite.watches}
    missing = {n for n in names if not any(w == n or w.startswith(f"{n}/") for w in watched)}
    assert missing == set()


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("roles/nccl/tasks/verify.yml", {"gpu-roles", "real-gpu"}),
        ("roles/ncclx/tasks/verify.yml", set()),
        ("tests/e2e/test_nfs_role.py", {"nfs-role"}),
        ("README.md", set()),
        ("pyproject.toml", NAMES),
    ],
)
def test_a_change_touches_the_suites_that_watch_it(path: str, names: set[str]) -> None:
    rest = [suite for suite in SUITES if not suite.always or path == "pyproject.toml"]
    assert {suite.name for suite in touched(rest, [path])} == names


def test_nothing_is_touched_by_no_change() -> None:
    assert touched([Suite("one", "holds", ("tests",))], []) == ()


def test_the_document_lists_the_suites() -> None:
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = f"{before}{BEGIN}{describe(SUITES)}{END}{after}"
    if os.environ.get("UPDATE_GOLDEN"):
        DOCUMENT.write_text(wanted)
        text = wanted
    assert text == wanted, "make suites-docs writes it anew"


TESTS = """\
import pytest

def test_good(): pass
def test_bad(): assert False
@pytest.fixture
def broken(): raise OSError("no")
def test_without_its_fixture(broken): pass
@pytest.mark.skip(reason="no GPU")
def test_skipped(): pass
"""


@pytest.fixture(autouse=True)
def nothing_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep green runs of these tests from telling that this checkout was verified."""
    monkeypatch.setattr(run_suites, "VERIFIED", tmp_path / "none/verified")
    monkeypatch.setattr(run_suites, "_record_verified", lambda by_suite: None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tests with the hooks of this project's, as if no pytest ran yet."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT / 'tests'}\n")
    hooks = (ROOT / "tests/conftest.py").read_text()
    (tmp_path / "conftest.py").write_text(hooks)
    (tmp_path / "test_one.py").write_text(TESTS)
    return tmp_path


def named(words: tuple[str, ...]) -> list[str]:
    """The tests in the commands that repeat failures, or that were left out."""
    return sorted(re.sub(r".*(test_\w+\.py)", r"\1", word) for word in words)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_every_failure_is_listed_with_what_repeats_it(folder: Path, workers: str) -> None:
    (folder / "test_two.py").write_text("import nothing_of_this_name\n")
    done = run_suites.run_pytest(Pytest("own", (str(folder),), (workers, "-q")))
    assert all(command.startswith(".venv/bin/pytest ") for command in done.repeat)
    assert set(named(done.repeat)) >= {"test_two.py"}
    (folder / "test_two.py").unlink()
    done = run_suites.run_pytest(Pytest("own", (str(folder),), (workers, "-q")))
    assert named(done.repeat) == ["test_one.py::test_bad", "test_one.py::test_without_its_fixture"]
    assert done.left_out == ()


def test_no_test_begins_after_the_deadline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = "import os; os.environ['RACKWRIGHT_DEADLINE'] = '1'\ndef test_last(): pass\n"
    (folder / "test_two.py").write_text(late)
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q", "-p", "no:randomly")))
    assert len(done.left_out) == 5
    assert done.repeat == ()
    monkeypatch.setenv("RACKWRIGHT_DEADLINE", str(time.time() - 1))
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q",)))
    assert done == Outcome("own", left_out=(str(folder),))


def test_a_quick_run_leaves_out_what_is_late(folder: Path) -> None:
    soon = "import os; os.environ['RACKWRIGHT_DEADLINE'] = '1'\n"
    (folder / "test_one.py").write_text(soon + "def test_a(): pass\ndef test_b(): assert False\n")
    quick = {"RACKWRIGHT_QUICK": "1"}
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q",), quick))
    assert named(done.left_out) == ["test_one.py::test_a", "test_one.py::test_b"]
    assert done.repeat == ()


def test_a_run_without_a_test_has_failed(folder: Path) -> None:
    (folder / "test_one.py").unlink()
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q",)))
    assert len(done.repeat) == 1


def test_a_red_tier_hides_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every step is run although each fails, and each is listed."""

    def fail(step: Pytest) -> Outcome:
        return Outcome(step.name, (f"repeat {step.name}",))

    monkeypatch.setattr(run_suites, "run_pytest", fail)
    monkeypatch.setattr(run_suites, "run_make", lambda target: Outcome(target, (f"make {target}",)))
    monkeypatch.setattr(
        run_suites, "run_lint", lambda: [Outcome(one, (f"make {one}",)) for one in ("a", "b")]
    )
    assert run_suites.main("all") == 1
    listed = re.findall(r"failed, repeat it with: (.+)", capsys.readouterr().out)
    assert listed == [
        "make a", "make b", "repeat unit", "make tools",
        "repeat end to end", "make test-next-python", "make test-oldest-dependencies",
    ]  # fmt: skip


def test_suites_of_a_change_run_whole_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A journey is part of its suite, whose other tests go on from it."""
    ran: list[Pytest] = []

    def record(step: Pytest) -> Outcome:
        ran.append(step)
        return Outcome(step.name)

    monkeypatch.setattr(run_suites, "run_pytest", record)
    monkeypatch.setattr(run_suites, "run_make", Outcome)
    monkeypatch.setattr(run_suites, "run_lint", list)
    monkeypatch.setattr(run_suites, "changed_files", lambda: ("tests/e2e/test_configure.py",))
    assert run_suites.main("ci") == 0
    _, journeys, touched = ran
    assert touched.tests == ("tests/e2e/test_configure.py",)
    assert [test for test in journeys.tests if "configure" in test] == []
    assert len(journeys.tests) == sum(len(suite.journeys) for suite in SUITES) - 1


def test_suites_that_do_not_fit_are_omitted_and_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its journey is part of `make test`, and runs all the same."""
    ran: list[Pytest] = []

    def record(step: Pytest) -> Outcome:
        ran.append(step)
        return Outcome(step.name)

    monkeypatch.setattr(run_suites, "run_pytest", record)
    monkeypatch.setattr(run_suites, "run_make", Outcome)
    monkeypatch.setattr(run_suites, "run_lint", list)
    changed = ("tests/e2e/test_configure.py", "tests/e2e/test_alerts.py")
    monkeypatch.setattr(run_suites, "changed_files", lambda: changed)
    monkeypatch.setattr(run_suites, "_seconds", lambda: {"alerts": 60, "configure": 900})
    monkeypatch.setattr(run_suites, "_seconds_left", lambda: 400)
    assert run_suites.main("ci") == 0, "what is left out is no failure"
    assert "left out for lack of time: suite configure" in capsys.readouterr().out
    _, journeys, late, touched = ran
    assert touched.tests == ("tests/e2e/test_alerts.py",)
    (own,) = (suite.journeys for suite in SUITES if suite.name == "configure")
    assert late.tests == own
    assert len(journeys.tests) == sum(len(suite.journeys) for suite in SUITES) - 1


def test_as_many_suites_as_fit_are_run() -> None:
    suites = [Suite(name, "holds", (name,)) for name in ("long", "new", "short")]
    seconds = {"long": 900.0, "short": 60.0}

    def names(budget: float) -> list[str]:
        fit, late = suites_that_fit(suites, seconds, budget)
        assert {*fit, *late} == {*suites}
        return [suite.name for suite in fit]

    assert names(float("inf")) == ["short", "new", "long"]
    assert names(60) == ["short"]
    assert names(60 + USUAL_S) == ["short", "new"]
    assert names(-1) == []


def test_soak_runs_what_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, ...]] = []

    def record(step: Pytest) -> Outcome:
        if step.name != "bench":
            assert step.environment == {"RACKWRIGHT_EXAMPLES": "many"}
        ran.append((step.name, step.options[step.options.index("-m") + 1]))
        return Outcome(step.name)

    def make(*words: str) -> Outcome:
        ran.append(words)
        return Outcome(words[0])

    monkeypatch.setattr(run_suites, "run_pytest", record)
    monkeypatch.setattr(run_suites, "run_make", make)
    assert run_suites.main("soak") == 0
    assert ran == [
        ("tools",),
        ("many examples", "(hypothesis or sweep) and not e2e"),
        ("drawn seeds", "soak"),
        ("bench", "bench and not soak"),
        ("test-next-python", "WHOLE=whole"),
        ("test-oldest-dependencies", "WHOLE=whole"),
    ]


def test_seconds_are_counted_by_suite(folder: Path) -> None:
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q",)))
    assert [Path(file).name for file in done.tests] == ["test_one.py"]
    tests = {"tests/unit/plan/test_a.py": 1.0, "tests/stacks/test_b.py": 2.0, "elsewhere.py": 4.0}
    assert run_suites.seconds_by_suite([Outcome("unit", tests=tests)]) == {"unit": 3.0}


def test_a_suite_of_soak_is_in_no_other_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, set[str]] = {}

    def record(step: Pytest) -> Outcome:
        asked[step.name] = set(step.tests)
        return Outcome(step.name)

    monkeypatch.setattr(run_suites, "run_pytest", record)
    monkeypatch.setattr(run_suites, "run_make", lambda *words: Outcome(words[0]))
    monkeypatch.setattr(run_suites, "run_lint", list)
    paths = {path for suite in SUITES if suite.soak for path in suite.paths}
    assert paths
    assert run_suites.main("all") == 0
    assert paths & set().union(*asked.values()) == set()
    assert run_suites.main("soak") == 0
    assert paths <= asked["drawn seeds"] | asked["bench"]
    files = [path for path in paths if path.endswith(".py")]
    assert all("pytest.mark.soak(" in (ROOT / path).read_text("utf-8") for path in files)


def test_soak_tests_state_their_reason() -> None:
    """A test that fails and passes at one revision is fixed that day, or goes there with its reason."""
    calls = [
        (module.path, call)
        for module in parsed_below(ROOT / "tests")
        for call in ast.walk(module.tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.soak"
    ]
    assert calls
    assert [path for path, call in calls if [one.arg for one in call.keywords] != ["reason"]] == []


def test_nothing_but_soak_draws_a_seed() -> None:
    """The gate did, for killed runs, and was red by chance."""
    drawing = {
        str(module.path.relative_to(ROOT)): module
        for module in parsed_below(ROOT / "tests")
        if re.search(
            r"secrets\.(randbelow|choice)|SystemRandom|random\.Random\(\)|random\.seed\(\)",
            module.text,
        )
        and module.path.name != Path(__file__).name
    }
    assert drawing
    assert [
        name for name, module in drawing.items() if "pytest.mark.soak(" not in module.text
    ] == []


def test_soak_tests_run_only_in_soak(folder: Path) -> None:
    soaking = "import pytest\n@pytest.mark.soak(reason='x')\ndef test_soak(): assert False\n"
    (folder / "test_two.py").write_text(soaking)
    bad = ["test_one.py::test_bad", "test_one.py::test_without_its_fixture"]
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q",)))
    assert named(done.repeat) == bad
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q", "-m", "soak")))
    assert named(done.repeat) == ["test_two.py::test_soak"]


def test_portable_files_exist() -> None:
    paths = read_portable()
    assert len(paths) > 5
    always = [path for suite in SUITES if suite.always for path in suite.paths]
    for path in paths:
        assert (ROOT / path).exists(), path
        assert any(f"{path}/".startswith(f"{one}/") for one in always), "`make test` runs it too"


def test_tests_with_a_shared_lab_are_repeated_by_file(folder: Path) -> None:
    done = run_suites.run_pytest(Pytest("own", (str(folder),), ("-q",), by_file=True))
    assert [command.partition("  # ")[2] for command in done.repeat] == [
        "test_bad", "test_without_its_fixture"
    ]  # fmt: skip
    assert all(command.partition("  # ")[0].endswith("test_one.py") for command in done.repeat)


def test_each_target_that_is_run_is_in_the_makefile() -> None:
    needs = {need for suite in SUITES for need in suite.needs}
    targets = {
        *run_suites.LINTERS,
        *needs,
        "tools",
        *(f"test-{name}" for name in run_suites.OTHERS),
    }
    makefile = (ROOT / "Makefile").read_text()
    assert {one for one in targets if not re.search(rf"^{one}:", makefile, re.MULTILINE)} == set()


def test_changes_are_counted_from_the_verified_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "moved").write_text("moved")
    git("add", ".")
    git("commit", "-qm", "one")
    verified = tmp_path / "verified"
    verified.write_text(git("rev-parse", "HEAD"))
    git("mv", "moved", "with space")
    git("commit", "-qm", "two")
    monkeypatch.setattr(run_suites, "ROOT", tmp_path)
    monkeypatch.setattr(run_suites, "VERIFIED", verified)
    assert set(run_suites.changed_files() or ()) == {"moved", "with space"}
    verified.write_text("0" * 40)
    assert run_suites.changed_files() is None, "nobody knows, so everything is touched"
    verified.unlink()
    assert run_suites.changed_files() is None
