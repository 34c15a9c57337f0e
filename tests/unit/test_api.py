"""The public face has what it names, and costs nothing until it is used."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import dataclasses
import enum
import inspect
import io
import json
import os
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from cli_support import run_here
from rackwright import api
from rackwright.files import cache_folder
from rackwright.policy import api as inside
from rackwright.policy import helpers
from rackwright.policy.check import check_blueprint

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("templates/**/*.md")]
_FENCE = re.compile(r'^ *```py(?:thon)?( title="[^"\n]+")?\n([\s\S]*?)^ *```', re.MULTILINE)
_FOUND = [found for path in sorted(DOCUMENTS) for found in _FENCE.findall(path.read_text("utf-8"))]
MODULES = [textwrap.dedent(text) for title, text in _FOUND if title]
"""Whole modules of the documents, which are part of something larger."""
EXAMPLES = [textwrap.dedent(text) for title, text in _FOUND if not title]
EXAMPLES.append(textwrap.dedent("    " + (api.__doc__ or "").partition("\n\n    ")[2]))
"""Programs of the documents and of the module's own docstring."""


def test_every_name_is_there_and_is_told() -> None:
    assert api.__all__ == sorted(api.__all__)
    assert dir(api) == api.__all__
    for name in api.__all__:
        assert getattr(api, name) is not None
    assert api.Policy is inside.Policy
    assert api.check is check_blueprint


def test_type_checkers_see_the_names_of_the_api() -> None:
    tree = ast.parse(Path(api.__file__).read_text("utf-8"))
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rackwright")
        for alias in node.names
    }
    assert seen == set(api.__all__)


def test_a_name_that_is_not_there_is_an_error_of_the_usual_kind() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = api.nothing  # type: ignore[attr-defined]


def test_functions_for_rules_have_return_types() -> None:
    modules = [
        import_module(f"{helpers.__name__}.{found.name}")
        for found in pkgutil.iter_modules(helpers.__path__)
    ]
    functions = [
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    ]
    functions += [
        one for one in [getattr(api, name) for name in api.__all__] if inspect.isfunction(one)
    ]
    assert len(functions) > 20
    said = ("Return ", "Yield ")
    silent = [
        one.__qualname__
        for one in functions
        if not (one.__doc__ or "").startswith(said) and "Returns:" not in (one.__doc__ or "")
    ]
    assert silent == []


def test_to_import_it_loads_nothing_else() -> None:
    words = "import sys, rackwright.api; print(*(m for m in sys.modules if 'rackwright' in m))"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"rackwright", "rackwright.api"}


def test_check_gives_the_verdict_of_the_command(tmp_path: Path) -> None:
    blueprint = ROOT / "policies/fixtures/aws.yaml"
    told = run_here(tmp_path, "check", str(blueprint), "--json")
    report = api.check(blueprint)
    assert isinstance(report, api.Report)
    results = [
        (one["policy"], one["subject"], one["outcome"], one["message"], one["blocks"])
        for one in json.loads(told.out)["results"]
    ]
    assert len(results) > 30
    assert results == [
        (one.policy, one.subject.name, one.outcome, one.message, one.blocks)
        for one in report.results
    ]
    assert report.exit_code == told.code == 5


def test_a_new_rule_of_a_team_imports_from_it_alone() -> None:
    text = (ROOT / "templates/scaffolds/policy/rule.py.j2").read_text("utf-8")
    imports = [line for line in text.splitlines() if line.startswith("from rackwright")]
    assert imports
    assert all(line.startswith("from rackwright.api import ") for line in imports)


def test_a_star_import_shadows_nothing_of_the_standard_library() -> None:
    names = set(api.__all__)
    for module in (builtins, collections.abc, dataclasses, enum, io, os, pathlib, typing):
        public = getattr(module, "__all__", dir(module))
        assert not names & set(public), module.__name__


def test_every_type_of_a_public_function_is_public() -> None:
    public = {getattr(api, name) for name in api.__all__}
    told: set[Any] = set()
    waiting: list[Any] = []
    for function in (api.check, api.load_plan, api.read_exceptions):
        waiting += typing.get_type_hints(function).values()
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and hint.__module__.startswith("rackwright."):
            told.add(hint)
    assert told >= {api.Report, api.LoadedPlan, api.PolicyExceptions, api.Catalogue}
    assert told <= public


def test_the_public_face_is_small() -> None:
    assert 30 < len(api.__all__) < 45


def test_every_name_is_used_by_a_rule_or_by_a_program_of_the_documents() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "policies").rglob("*.py")]
    texts += EXAMPLES
    used = {
        alias.name
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "rackwright.api"
        for alias in node.names
    }
    errors = {"PolicyLoadError", "RackwrightError", "SpecError", "SpecErrors", "UsageError"}
    of_functions = {"Catalogue", "ExceptionChoice", "ExitCode", "LoadedPlan", "Location", "Outcome"}
    of_functions |= {"PolicyExceptions", "Report", "Result"}
    of_plans = {"Blueprint", "CostSummary", "Host"}
    assert set(api.__all__) - used == errors | of_functions | of_plans


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``blueprint.yaml`` in it, as the working directory."""
    shutil.copy(ROOT / "policies/fixtures/air.yaml", tmp_path / "blueprint.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_example_of_the_documents_has_types(here: Path) -> None:
    assert len(EXAMPLES) >= 5
    for number, text in enumerate([*EXAMPLES, *MODULES]):
        (here / f"example_{number}.py").write_text(text, encoding="utf-8")
    (here / "star.py").write_text(
        "from pathlib import Path\nfrom rackwright.api import *\n"
        'plan: Plan = load_plan(Path("blueprint.yaml")).plan\n'
    )
    cache = cache_folder("tests") / "mypy"
    words = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", "."]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "tests")}
    done = subprocess.run(
        words, cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_of_the_documents_runs(
    here: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = None
    try:
        exec(compile(text, "example.py", "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        code = ended.code
    assert code in {None, api.check("blueprint.yaml").exit_code}
    assert capsys.readouterr().out or "print(" not in text


@api.rule("ACME-001", "Racks stay below 30 kW", api.Severity.HIGH, since="1.0")
class RackPower(api.Policy):
    """A rule of a program."""

    most_w: float = 30_000.0

    def check(self, plan: api.Plan) -> Iterator[api.Measure]:
        """Yield the power of each class of racks."""
        for site in plan.onprem:
            for racks in site.racks:
                at = api.Subject(f"{site.name} racks {racks.hostlist}", racks.path)
                yield api.Measure(at, racks.power_w, self.most_w, "W", "power of a rack")


def outcomes(report: api.Report) -> list[str]:
    return [one.outcome.value for one in report.results if one.policy == "ACME-001"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(RackPower, ["fail", "pass"]), (RackPower(most_w=45_000), ["pass", "pass"])],
)
def test_a_rule_of_a_program_is_checked_in_process(
    here: Path, policy: api.Policy | type[api.Policy], expected: list[str]
) -> None:
    loaded = api.load_plan("blueprint.yaml")
    for subject in ("blueprint.yaml", Path("blueprint.yaml"), loaded, loaded.plan):
        assert outcomes(api.check(subject, policies=[policy])) == expected
    only = api.check(loaded, policies=[policy], only=["ACME-001"])
    assert {one.policy for one in only.results} == {"ACME-001"}
    assert RackPower.family == "own"


def test_parameters_of_the_blueprint_have_precedence_over_an_instance(here: Path) -> None:
    Path("layer.yaml").write_text("policies: {ACME-001: {parameters: {most_w: 41000}}}\n")
    report = api.check("blueprint.yaml", layers=["layer.yaml"], policies=[RackPower(most_w=1)])
    assert {one.limit for one in report.results if one.policy == "ACME-001"} == {41_000.0}
    Path("layer.yaml").write_text("policies: {ACME-001: {parameters: {most_kw: 41}}}\n")
    with pytest.raises(api.SpecErrors, match="most_kw"):
        api.check("blueprint.yaml", layers=["layer.yaml"], policies=[RackPower])


def test_a_rule_of_a_program_that_raises_is_an_error_and_never_a_pass(here: Path) -> None:
    class Broken(RackPower):
        """A rule that fails."""

        def check(self, plan: api.Plan) -> Iterator[api.Measure]:
            """Fail."""
            raise KeyError(plan.name)

    report = api.check("blueprint.yaml", policies=[Broken])
    assert outcomes(report) == ["error"]
    assert report.exit_code == 1


class _Nameless(api.Policy):
    def check(self, plan: api.Plan) -> Iterator[api.Measure]:
        yield from ()


class _Abstract(api.Policy):
    pass


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ([RackPower, RackPower(most_w=1)], "'ACME-001' of 'RackPower' is used already"),
        ([api.rule("PWR-001", "T", api.Severity.LOW, since="1")(type("Two", (RackPower,), {}))],
         "'PWR-001' of 'Two' is used already"),
        ([api.rule("acme1", "T", api.Severity.LOW, since="1")(type("Odd", (RackPower,), {}))],
         "'acme1' of 'Odd' is not like 'ACME-001'"),
        ([_Nameless], "'_Nameless' lacks 'id'"),
        ([_Abstract], "'_Abstract' is not a policy"),
        ([print], "'builtin_function_or_method' is not a policy"),
    ],
)  # fmt: skip
def test_object_that_is_not_a_policy_is_refused(here: Path, policies: Any, said: str) -> None:
    with pytest.raises(api.PolicyLoadError, match=re.escape(said)):
        api.check("blueprint.yaml", policies=policies)


def test_invalid_plan_is_refused(here: Path) -> None:
    loaded = api.load_plan("blueprint.yaml")
    with pytest.raises(api.UsageError, match="a plan takes no layers"):
        api.check(loaded, layers=["layer.yaml"])
    with pytest.raises(api.UsageError, match="packs cannot read a bare plan"):
        api.check(loaded.plan, packs=["pack"])
    with pytest.raises(api.UsageError, match="there is no policy 'PWR-01'") as caught:
        api.check(loaded, only=["PWR-01"])
    assert "did you mean 'PWR-0" in str(caught.value)
