"""Slurm of Debian 12 and 13 reads every golden configuration, and 12,500 nodes that nobody resolves.

It needs root, for the namespaces, and debootstrap, once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from slurm_cases import RELEASES_MARKS, assert_no_warning, assert_sizes, cases_for, database_config
from slurm_releases import Answers, read_all, root_of

pytestmark = RELEASES_MARKS
RELEASES = {"bookworm": (22, 5), "trixie": (24, 11)}


@pytest.fixture(scope="module", params=RELEASES)
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    suite = request.param
    return read_all(
        suite, tmp_path_factory.mktemp(suite), cases_for(RELEASES[suite]), database_config()
    )


def test_nothing_in_the_files_is_warned_of(answers: Answers) -> None:
    assert_no_warning(answers)


def test_all_nodes_are_there_and_no_name_is_looked_up(
    answers: Answers, measured: Callable[[str], None]
) -> None:
    assert_sizes(answers, measured)


def test_a_root_is_made_once() -> None:
    assert shutil.which("debootstrap")
    assert root_of("trixie") == root_of("trixie")
