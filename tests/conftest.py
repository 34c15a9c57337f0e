"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import examples  # noqa: F401 - loads the profile of Hypothesis before any test is read
from rackwright.folders import cache_folder

os.environ["RACKWRIGHT_KEPT_MODULES"] = str(cache_folder("tests") / "modules")
os.environ["ANSIBLE_CALLBACK_PLUGINS"] = str(Path(__file__).with_name("callbacks"))

LONGEST = (
    "test_waves", "test_configure", "test_receptor", "test_containers", "test_workflows",
    "test_gpu_stack", "test_user_roles", "test_storage_roles", "test_accept", "test_fabric_roles",
    "test_observability", "test_grafana", "test_qos", "test_failover", "test_wheel",
)  # fmt: skip
"""Files whose tests take minutes; they come first, so that no worker has one of them left in the end."""

MEASURED = "measured"


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Takes a line with numbers that the summary of the run prints, also past pytest-xdist."""
    return partial(record_property, MEASURED)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files first that take longest; all else stays in its order."""
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what tests have measured."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [
        f"{report.nodeid}: {line}"
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, line in report.user_properties
        if name == MEASURED
    ]
    if lines:
        terminalreporter.section(MEASURED)
        for line in lines:
            terminalreporter.write_line(line)
