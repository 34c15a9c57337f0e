"""Reasons why a blueprint cannot be expanded: impossible states, which no waiver allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.errors import RackwrightError
from rackwright.plan.base import Path


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """One reason, and its place in the blueprint."""

    path: Path
    message: str
    hint: str | None = None


class PlanError(RackwrightError):
    """A blueprint cannot be expanded; ``problems`` holds every reason."""

    code = "plan"

    def __init__(self, problems: Sequence[PlanProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)
