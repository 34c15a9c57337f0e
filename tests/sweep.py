"""Every deletion, and every claim and setting, of every refused site: none makes it pass.

    python tests/sweep.py omissions LOG     each key and each entry of a list, left out
    python tests/sweep.py weakenings LOG    each change of a claim or setting, judged by its base
    python tests/sweep.py weakenings LOG 3/40   the third, 43rd, 83rd ... of each site

The sites are the examples that a policy refuses, in the order of the policies, and then the complete
sites with one fault. The log has a line for each site, one for each change that passes, and a sum.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from omissions import POLICIES, Refused, field_of, paths, verdict_of
from refused import FAULTS, a_faulty_site, refused_by
from weakenings import by_hardware, changes_of, judged_by_the_base, takes_back

PASSES = "passes"


def sites(folder: Path) -> Iterator[Refused]:
    """Every refused site."""
    for policy in POLICIES:
        yield from refused_by(policy)
    for number, fault in enumerate(FAULTS.values()):
        yield a_faulty_site("hybrid-h100", fault, folder / str(number))


def omissions(site: Refused, part: slice) -> Iterator[tuple[str, str]]:
    """What is left out, and what comes of it."""
    for path in [*paths(site.data)][part]:
        yield field_of(path), verdict_of(site, [path])


def weakenings(site: Refused, part: slice) -> Iterator[tuple[str, str]]:
    """What is changed of what a site claims and asks for, and what comes of it."""
    for change in changes_of(site)[part]:
        if change.of_hardware:
            continue
        data = change.apply(site.data)
        if by_hardware(site, data) or takes_back(site, data):
            continue
        passes = judged_by_the_base(site, data)
        verdict = "no blueprint" if passes is None else PASSES if passes else "refused"
        yield f"{field_of(change.path)} = {change.value!r}", verdict


WAYS = {"omissions": omissions, "weakenings": weakenings}


def main(way: str, log: str, share: str = "1/1") -> int:
    """Try everything, or a share of it; 1 where something passes."""
    total: Counter[str] = Counter()
    first, step = map(int, share.split("/"))
    part = slice(first - 1, None, step)
    with tempfile.TemporaryDirectory() as folder, Path(log).open("w", buffering=1) as told:
        for number, site in enumerate(sites(Path(folder)), 1):
            verdicts: Counter[str] = Counter()
            for name, verdict in WAYS[way](site, part):
                verdicts[verdict] += 1
                if verdict == PASSES:
                    told.write(f"PASSES {site.name}: {name}\n")
            told.write(f"{number} {site.name}: {in_words(verdicts)}\n")
            total += verdicts
        told.write(f"all: {total.total():,} tried, {in_words(total)}\n")
    return 1 if total[PASSES] else 0


def in_words(verdicts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
