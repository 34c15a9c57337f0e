"""Slurm of Debian sid, whatever it is that day, reads every golden configuration.

A root that cannot be made is reported, and fails nothing. Only ``make soak`` runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.plan.slurm.releases import release_of
from slurm_cases import RELEASES_MARKS, assert_no_warning, assert_sizes, cases_for, database_config
from slurm_releases import read_all, version_of

pytestmark = [*RELEASES_MARKS, pytest.mark.soak(reason="Debian sid is another each day")]


def test_slurm_of_the_day_reads_the_files(tmp_path: Path, measured: Callable[[str], None]) -> None:
    try:
        version = version_of("sid")
    except ExternalToolError as error:
        pytest.skip(f"no root of sid can be made today: {error}")
    measured(f"Debian sid has Slurm {version}")
    answers = read_all("sid", tmp_path, cases_for(release_of(version)), database_config())
    assert answers.version == version
    assert_no_warning(answers)
    assert_sizes(answers, measured)
