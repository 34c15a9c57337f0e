"""A running embedded AWS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rackwright.embedded_aws import control
from unit.embedded_aws.engine import Engine


@pytest.fixture(scope="session")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embedded-aws")


@pytest.fixture(scope="session")
def embedded(state_dir: Path) -> Iterator[control.Embedded]:
    yield control.start(state_dir)
    control.stop(state_dir)


@pytest.fixture
def engine(embedded: control.Embedded) -> Iterator[Engine]:
    one = Engine(embedded.provider_port)
    yield one
    one.channel.close()
