"""Find the slow or faulty members of a group by running parts of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Measure = Callable[[Sequence[str]], float | None]
"""Runs a collective on two members or more; its bus bandwidth, None if it failed or gave wrong values."""


@dataclass(frozen=True, slots=True)
class GroupRun:
    """One run of a part of the group."""

    members: tuple[str, ...]
    value: float | None
    passed: bool


@dataclass
class Search:
    """Result of a search.

    Attributes:
        faulty: members that are slow with a partner that is not.
        paths: pairs that are slow together and good with others: the cables or switches between them.
        unclear: members of a pair of which no third one was there to tell which is at fault.
        runs: in the order in which they were made.
    """

    faulty: list[str] = field(default_factory=list)
    paths: list[tuple[str, str]] = field(default_factory=list)
    unclear: list[tuple[str, str]] = field(default_factory=list)
    runs: list[GroupRun] = field(default_factory=list)


def bisect(members: Sequence[str], measure: Measure, limit: float) -> Search:
    """Find the members, or the pair, because of which a group stays below ``limit``.

    A part of a group is as slow as its slowest member or path. One faulty member of n is found in at most
    2·log₂n + 4 runs, k of them in k times as many. A fault counts only when it is seen twice: the last run of
    each search is one that must fail again.

    Args:
        members: at least two.
        measure: runs a part of them.
        limit: least bandwidth of any part.

    Raises:
        ValueError: there are fewer than two members.
    """
    if len(members) < 2:
        raise ValueError("a group of fewer than two members has no path to measure")
    return _Bisection(measure, limit).search(tuple(members))


THIRDS = 3
"""Members that are tried beside two slow ones where none is known to be good."""
TRIED_PARTS = 15
"""Parts, down to eighths of a group, among which a good one is looked for."""


class _Bisection:
    """A search in progress; ``good`` has members that have passed together."""

    def __init__(self, measure: Measure, limit: float) -> None:
        self.measure, self.limit = measure, limit
        self.found, self.good = Search(), list[str]()
        self.left: tuple[str, ...] = ()

    def passes(self, members: Sequence[str]) -> bool:
        value = self.measure(members)
        passed = value is not None and value >= self.limit
        self.found.runs.append(GroupRun(tuple(members), value, passed))
        return passed

    def search(self, members: tuple[str, ...]) -> Search:
        self.left = members
        # Each round finds one fault at least, or ends.
        while len(self.left) > 1 and not self.passes(self.left):
            before = len(self.found.faulty)
            gone = self.descend(self.left)
            if not gone:
                break
            self.left = tuple(one for one in self.left if one not in gone)
            if len(self.found.faulty) == before:
                break  # a path, or two members that nobody can tell apart
        return self.found

    def descend(self, suspects: tuple[str, ...]) -> frozenset[str]:
        """Find one fault among members that fail together; those at fault."""
        while len(suspects) > 2:
            half = len(suspects) // 2
            first, second = suspects[:half], suspects[half:]
            if not self.part_passes(first, second):
                suspects = first if len(first) > 1 else self.padded(first, second)
            elif not self.part_passes(second, first):
                suspects = second if len(second) > 1 else self.padded(second, first)
            else:
                return self.between(first, second)
            if len(suspects) == 2 and suspects[1] in self.good:
                return self.confirm(suspects[0], suspects[1])
        return self.tell_apart(*suspects)

    def part_passes(self, part: tuple[str, ...], others: tuple[str, ...]) -> bool:
        """Return True if a part is good; one member alone needs a partner."""
        if len(part) > 1:
            passed = self.passes(part)
            if passed:
                self.good += part
            return passed
        return self.passes(self.padded(part, others))

    def padded(self, part: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
        """Return a member with a partner that is known to be good, or with any other one."""
        known = next((one for one in self.good if one != part[0]), None)
        return (*part, known if known is not None else others[0])

    def tell_apart(self, one: str, other: str) -> frozenset[str]:
        """Find which of two members that are slow together is slow with a third one as well."""
        thirds = [member for member in self.left if member not in (one, other)]
        known = self.known_good(thirds)
        for third in known or thirds[:THIRDS]:
            passed = [self.passes((member, third)) for member in (one, other)]
            if not any(passed) and not known:
                continue  # the third may be slow itself
            bad = [member for member, good in zip((one, other), passed, strict=True) if not good]
            self.good += [third, *({one, other} - set(bad))]
            if not bad:
                self.found.paths.append((one, other))
                return frozenset((one, other))
            self.found.faulty += bad
            return frozenset(bad)
        self.found.unclear.append((one, other))
        return frozenset((one, other))

    def known_good(self, members: Sequence[str]) -> list[str]:
        """Return one of ``members`` that is known to be good; parts are tried, the larger ones first."""
        for member in self.good:
            if member in members:
                return [member]
        parts = [tuple(members)]
        for _ in range(TRIED_PARTS):
            part = parts.pop(0) if parts else ()
            if len(part) < 2:
                break
            if self.passes(part):
                self.good += part
                return [part[0]]
            half = len(part) // 2
            parts += [part[:half], part[half:]]
        return []

    def confirm(self, member: str, partner: str) -> frozenset[str]:
        """Count a member as faulty if it is slow with a good partner a second time."""
        if self.passes((member, partner)):
            return frozenset()
        self.found.faulty.append(member)
        return frozenset((member,))

    def between(self, first: tuple[str, ...], second: tuple[str, ...]) -> frozenset[str]:
        """Find the pair, one member of either good part, that is slow together."""
        # The smallest beginning of ``second`` with which ``first`` fails ends with one end of the path.
        other = self.shortest(second, lambda some: (*first, *some))
        if other is None:
            return frozenset()
        one = self.shortest(first, lambda some: (*some, other))
        if one is None:
            return frozenset()
        self.found.paths.append((one, other))
        return frozenset((one, other))

    def shortest(
        self, members: tuple[str, ...], group: Callable[[tuple[str, ...]], tuple[str, ...]]
    ) -> str | None:
        """Return the last member of the shortest beginning with which a group fails; None if it fails no more."""
        low, high = 0, len(members)
        while high - low > 1:
            middle = (low + high) // 2
            if self.passes(group(members[:middle])):
                low = middle
            else:
                high = middle
        return None if self.passes(group(members[:high])) else members[high - 1]
