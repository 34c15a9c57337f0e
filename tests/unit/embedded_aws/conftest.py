"""A running embedded AWS."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from rackwright_lab.embedded_aws import control
from unit.embedded_aws.clients import Connect, admin, client_of


@pytest.fixture(scope="session")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embedded-aws")


@pytest.fixture(scope="session")
def embedded(state_dir: Path) -> Iterator[control.Embedded]:
    yield control.start(state_dir)
    control.stop(state_dir)


@pytest.fixture
def aws(embedded: control.Embedded) -> Iterator[Connect]:
    """Makes clients; what a test has made with them is gone after it."""
    yield partial(client_of, embedded)
    admin(embedded, "POST", "reset")
