"""Outcomes of a design: one for each product, for the facility as it is and for its alternatives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rackwright.design.document import Builder
from rackwright.design.judge import Judge
from rackwright.design.search import Design, design
from rackwright.design.worth import is_worth
from rackwright.exit_codes import ExitCode
from rackwright.policy.engine import Result

_FIELD = re.compile(r"'([a-z_]+(?:\.[\w-]+)*)'")
_OF_A_SITE = "sites."
_OWN = frozenset({"costs", "interconnects", "operations", "policies", "profile", "reasons"})


@dataclass(frozen=True)
class DesignOutcome:
    """The designs of one facility.

    Attributes:
        label: what the facility is called beside others; empty for the one that is given.
        builder: of its blueprints.
        designs: one for each product, in the order written.
        what: what it has that the given one has not, as the subject of a sentence.
    """

    label: str
    builder: Builder
    designs: tuple[Design, ...]
    what: str = ""

    @property
    def best(self) -> Design:
        """The best one; of those that are all too small, the largest."""
        return min(self.designs, key=self._order)

    def _order(self, one: Design) -> tuple[float, ...]:
        racks = float(sum(one.racks))
        if one.passes and one.value is not None:
            most = one.objective == "most-accelerators" or is_worth(one.objective)
            sign = -1 if most else 1
            return 0, sign * one.value, racks, self.designs.index(one)
        return 1, -one.accelerators, racks, self.designs.index(one)

    @property
    def exit_code(self) -> ExitCode:
        """Clean with a layout that is wanted and passes; unknown where only a number is missing."""
        if self.best.passes:
            return ExitCode.CLEAN
        endings = {one.ending for one in self.designs}
        return ExitCode.UNKNOWN if endings & {"unknown", "unpriced"} else ExitCode.VIOLATION


def run(judge: Judge, label: str = "", what: str = "") -> DesignOutcome:
    """Return the designs of a facility with each product that is wanted.

    Args:
        judge: of the facility.
        label: what it is called beside others.
        what: what it has that the given one has not, as the subject of a sentence.

    Raises:
        SpecErrors: the facility or the rest of the blueprint is not valid.
    """
    products = judge.builder.document.wanted.products
    return DesignOutcome(label, judge.builder, tuple(design(judge, one) for one in products), what)


def remedy(builder: Builder, result: Result) -> str:
    """Return the fix of a finding, with the names of fields in the document of the design."""
    site = f"{_OF_A_SITE}{builder.document.facility.name}."

    def here(match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith(site):
            return f"'facility.{name.removeprefix(site)}'"
        if name.partition(".")[0] in {"reliability", "scheduler", "users", *_OWN} and "." in name:
            return f"'blueprint.{name}'"
        return match[0]

    return _FIELD.sub(here, result.fix or "")
