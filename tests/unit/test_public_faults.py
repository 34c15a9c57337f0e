"""Faults that operators reported in public: each is held by tests that exist."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FAULTS = yaml.safe_load((ROOT / "tests/public_faults.yaml").read_text())


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the tests of a file that are not skipped for ever."""
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
        and not any("skip(" in ast.unparse(mark) for mark in one.decorator_list)
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["reports"][0])
def test_public_fault_is_held_by_tests_that_exist(fault: dict[str, list[str]]) -> None:
    assert fault["reports"]
    assert fault["tests"]
    for test in fault["tests"]:
        path, _, name = test.partition("::")
        assert name in names_in(path), test


def test_twenty_faults_are_listed() -> None:
    assert len(FAULTS) >= 20
    reports = [report for fault in FAULTS for report in fault["reports"]]
    assert len(reports) == len(set(reports))
