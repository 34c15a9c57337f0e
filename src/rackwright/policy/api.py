"""Parts of a policy.

A policy is a pydantic model: its fields are its parameters. ``check`` looks at a plan and yields
measures (a value against a limit) and findings (yes, no or unknown). It computes nothing that the
plan could tell it and does nothing else: no files, no clock, no network.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeVar

from pydantic import PrivateAttr

from rackwright.model.base import Model
from rackwright.plan.base import Contributor, Path, Subject

if TYPE_CHECKING:
    from rackwright.plan.model import Plan

TOLERANCE = 1e-9
"""Relative difference below which a value is at its limit: the rounding of floating point."""


class Severity(StrEnum):
    """Severity of a violation; belongs to the policy."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Enforcement(StrEnum):
    """Effect of a violation; belongs to the configuration."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"
    DISABLED = "disabled"


class Profile(StrEnum):
    """Importance of a cluster, least first."""

    LAB = "lab"
    PILOT = "pilot"
    PRODUCTION = "production"


class Stage(StrEnum):
    """Stage of a design, from the first sketch to a cluster that runs jobs."""

    CONCEPT = "concept"
    DESIGN = "design"
    BUILD = "build"
    RUN = "run"

    def before(self, other: Stage) -> bool:
        """Return True if this stage comes before ``other``."""
        return _STAGES.index(self) < _STAGES.index(other)


_STAGES = tuple(Stage)


class Outcome(StrEnum):
    """Outcome of one check."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not_applicable"
    WAIVED = "waived"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value of the blueprint that fixes a failure: the one right value, not one of several.

    Attributes:
        path: of a scalar that the blueprint has.
        value: what would stand there, as the blueprint writes it: a quantity is text with its unit.
    """

    path: Path
    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Measure:
    """A value against its limit.

    Attributes:
        value: None when it is unknown; the same for ``limit``.
        unit: canonical unit of both.
        what: what is measured, in words that read well before "is 46.2 kW".
        sense: whether the value may be at most or must be at least the limit.
        missing: what would have to be known, when something is not. A ``Missing`` names the fields
            that would make it known, of which the report tells the files; a text does not.
        advisory: a violation only warns, whatever the enforcement of the policy.
        suggest: the value that fixes a failure, where there is no choice.
    """

    at: Subject
    value: float | None
    limit: float | None
    unit: str
    what: str
    sense: Literal["at_most", "at_least"] = "at_most"
    contributors: tuple[Contributor, ...] = ()
    fix: str | None = None
    missing: tuple[str, ...] = ()
    advisory: bool = False
    suggest: Suggestion | None = None

    @property
    def outcome(self) -> Outcome:
        """Pass, fail or unknown; a value at its limit passes."""
        if self.value is None or self.limit is None:
            return Outcome.UNKNOWN
        slack = TOLERANCE * max(abs(self.value), abs(self.limit))
        over = self.value - self.limit if self.sense == "at_most" else self.limit - self.value
        return Outcome.FAIL if over > slack else Outcome.PASS


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule without a number.

    Attributes:
        ok: None when it cannot be decided.
        message: what was found, in words that read well on their own.
        what: what is asked, the same whatever the answer; a policy that finds several things about
            one subject tells them apart by it, so that none stands for another in a baseline.
        suggest: the value that fixes a failure, where there is no choice.
    """

    at: Subject
    ok: bool | None
    message: str
    fix: str | None = None
    contributors: tuple[Contributor, ...] = ()
    missing: tuple[str, ...] = ()
    advisory: bool = False
    what: str = ""
    suggest: Suggestion | None = None

    @property
    def outcome(self) -> Outcome:
        """Pass, fail or unknown."""
        if self.ok is None:
            return Outcome.UNKNOWN
        return Outcome.PASS if self.ok else Outcome.FAIL


class Policy(Model, ABC):
    """The base of every policy; subclasses add parameters as fields.

    Attributes:
        since: the policy set that the rule came with; older blueprints see it as a preview.
        family: the folder that it is in; set when its pack is loaded.
        profile: the least of the profiles in which ``enforcement`` holds; below it, it warns.
        stage: from which on the facts that the rule needs must be known; before it, unknown facts
            are counted and block nothing.
        waivable: whether a waiver can cover a violation; false if no one could take the responsibility.
        mandatory_since: the policy set from which an advisory rule is mandatory; None where it never is.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    severity: ClassVar[Severity]
    since: ClassVar[str]
    family: ClassVar[str]
    enforcement: ClassVar[Enforcement] = Enforcement.MANDATORY
    profile: ClassVar[Profile] = Profile.PILOT
    stage: ClassVar[Stage] = Stage.CONCEPT
    waivable: ClassVar[bool] = True
    mandatory_since: ClassVar[str | None] = None
    _judged_on: dt.date | None = PrivateAttr(default=None)

    @property
    def judged_on(self) -> dt.date | None:
        """The day that decides what has ended, the same as of waivers; None if unknown."""
        return self._judged_on

    def on(self, day: dt.date | None) -> Self:
        """Return the same rule, which judges for ``day``."""
        made = self.model_copy()
        made._judged_on = day
        return made

    @abstractmethod
    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure or finding for everything the policy applies to; nothing if nothing."""


P = TypeVar("P", bound=Policy)


def rule(
    policy_id: str,
    title: str,
    severity: Severity,
    *,
    since: str,
    enforcement: Enforcement | None = None,
    profile: Profile | None = None,
    stage: Literal["concept", "design", "build", "run"] | None = None,
    waivable: bool | None = None,
    mandatory_since: str | None = None,
) -> Callable[[type[P]], type[P]]:
    """Register the class of a policy, as a decorator; ``Policy`` describes each argument.

    What is not given stays as the class has it. The family is the folder that its file is in.

    Returns:
        The decorator, which gives back the class that it has named.
    """
    given = {
        "id": policy_id,
        "title": title,
        "severity": severity,
        "since": since,
        "enforcement": enforcement,
        "profile": profile,
        "stage": None if stage is None else Stage(stage),
        "waivable": waivable,
        "mandatory_since": mandatory_since,
    }

    def named(policy: type[P]) -> type[P]:
        for attribute, value in given.items():
            if value is not None:
                setattr(policy, attribute, value)
        return policy

    return named
