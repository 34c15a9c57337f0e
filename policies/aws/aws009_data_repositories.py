"""AWS-009: data repositories are within the limit and do not overlap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.aws.file_systems import fsx


@rule(
    "AWS-009",
    "Data repositories are within the limit and do not overlap",
    Severity.MEDIUM,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class DataRepositories(Policy):
    """A file system has at most eight data repository associations, and their paths are apart."""

    most: Annotated[int, Field(ge=1, le=1_000)] = fsx.MOST_ASSOCIATIONS
    """Associations that one file system may have."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each file system with data repositories, and a finding for each overlap."""
        for site in plan.aws:
            for index, system in enumerate(site.file_systems):
                repositories = system.data_repositories
                if not repositories:
                    continue
                path = (*site.path, "file_systems", index, "data_repositories")
                name = f"{site.name} {system.name}"
                yield Measure(
                    Subject(name, path),
                    value=len(repositories),
                    limit=self.most,
                    unit="associations",
                    what="data repository associations",
                    fix="link a prefix that holds the others, or use several file systems",
                )
                for (_, first), (number, second) in combinations(enumerate(repositories), 2):
                    if _overlap(first.path, second.path):
                        yield Finding(
                            Subject(name, (*path, number, "path")),
                            ok=False,
                            message=f"'{second.path}' and '{first.path}' overlap",
                            fix="give each repository a path of its own",
                        )


def _overlap(first: str, second: str) -> bool:
    one, other = PurePosixPath(first), PurePosixPath(second)
    return one.is_relative_to(other) or other.is_relative_to(one)
