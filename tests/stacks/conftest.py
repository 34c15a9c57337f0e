"""The recording of registrations, as a fixture."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stacks_support import Recording, record


@pytest.fixture
def recorded() -> Callable[..., Recording]:
    """The function ``record``."""
    return record
