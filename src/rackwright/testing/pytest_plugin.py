"""Collects ``*.examples.yaml`` beside policies, for the built-in pack and for any team's.

Everything is imported late, because pytest loads this module in every project that has
Rackwright installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector for the examples of one policy."""
    if not file_path.name.endswith(".examples.yaml"):
        return None
    collected: pytest.Collector = ExamplesFile.from_parent(parent, path=file_path)
    return collected


class ExamplesFile(pytest.File):
    """The examples of one policy."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item for each example."""
        from rackwright.policy.authoring.examples import load_examples
        from rackwright.policy.packs.loader import load_pack, policy_file

        pack = self.path.parents[1]
        source = self.path.with_name(self.path.name.replace(".examples.yaml", ".py"))
        for policy in load_pack(pack):
            if policy_file(policy) == source:
                for example in load_examples(policy):
                    yield ExampleItem.from_parent(
                        self, name=f"{policy.id}: {example.name}", policy=policy, example=example
                    )


class ExampleItem(pytest.Item):
    """One example."""

    def __init__(self, *, policy: Any, example: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._policy = policy
        self._example = example

    def runtest(self) -> None:
        """Fail when the policy finds something else than the example expects."""
        from rackwright.policy.authoring.examples import run_example

        problem = run_example(self._policy, self._example, self.path.parents[1])
        if problem:
            pytest.fail(problem, pytrace=False)
