"""What a command loads: start-up is fast because it loads little, which does not depend on clocks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.render.blueprints import find_template, write_blueprint

PROBE = """
import json, sys
from rackwright.cli import main
code = main(sys.argv[1:])
print("\\n" + json.dumps([int(code), sorted(sys.modules)]))
"""


def modules_of(*arguments: object, expect: int = 0) -> set[str]:
    """The modules that a command has loaded when it ends with ``expect``."""
    command = [sys.executable, "-c", PROBE, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, names = json.loads(done.stdout.splitlines()[-1])
    assert code == expect, done.stdout + done.stderr
    return set(names)


def loaded_by(*arguments: object, expect: int = 0) -> set[str]:
    """The packages of ``modules_of``."""
    return {name.partition(".")[0] for name in modules_of(*arguments, expect=expect)}


@pytest.mark.parametrize(
    ("arguments", "expect"), [(["--help"], 0), (["--version"], 0), (["chekc"], 2)]
)
def test_help_loads_no_library(arguments: list[str], expect: int) -> None:
    heavy = {"pulumi", "ansible", "ansible_runner", "pydantic", "yaml", "boto3", "moto", "rich"}
    loaded = loaded_by(*arguments, expect=expect)
    assert "rackwright" in loaded
    assert not loaded & (heavy | {"filelock", "grpc", "jinja2", "numpy", "ortools", "pandas"})


def test_check_loads_nothing_that_provisions(tmp_path: Path) -> None:
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    loaded = loaded_by("check", tmp_path / "blueprint.yaml")
    assert "pydantic" in loaded
    provisioning = {"pulumi", "pulumi_aws", "ansible", "ansible_runner", "boto3", "botocore"}
    assert not loaded & (provisioning | {"moto", "grpc", "numpy", "pandas"})


def test_schemas_of_designs_load_no_solver() -> None:
    loaded = modules_of("schema", "export", "--kind", "design")
    assert "rackwright.design.answer.form" in loaded
    assert not {name.partition(".")[0] for name in loaded} & {"numpy", "ortools", "pandas"}


def test_a_list_of_rules_loads_no_arithmetic_that_judging_alone_needs() -> None:
    """Helpers of rules import it where they use it, and what words an error where there is one."""
    loaded = modules_of("policy", "list")
    assert "rackwright.policy.helpers.power" in loaded
    arithmetic = {"plan.racks.rack", "plan.power.overhead", "plan.cost.comparison", "plan.expand"}
    assert not loaded & {f"rackwright.{name}" for name in (*arithmetic, "reading.problems")}
