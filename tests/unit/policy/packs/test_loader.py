"""Packs: loaded by path, complete, and never shadowing one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.errors import PolicyLoadError
from rackwright.policy.api import Policy
from rackwright.policy.packs.loader import load_pack, load_packs

RULE = '''
from collections.abc import Iterator
from typing import ClassVar
from rackwright.policy.api import Finding, Measure, Policy, Severity

class Mine(Policy):
    """Mine."""
    id: ClassVar[str] = "{id}"
    title: ClassVar[str] = "Mine"
    severity: ClassVar[Severity] = Severity.LOW
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "own"

    def check(self, plan) -> Iterator[Measure | Finding]:
        yield from ()
'''


def write(pack: Path, stem: str, text: str, *, siblings: bool = True) -> Path:
    folder = pack / "own"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.py").write_text(text)
    if siblings:
        (folder / f"{stem}.md").write_text("# x\n")
        (folder / f"{stem}.examples.yaml").write_text("[]\n")
    return pack


def test_a_teams_pack_stands_beside_the_built_in_one(tmp_path: Path) -> None:
    pack = write(tmp_path, "acme001_mine", RULE.format(id="ACME-001"))
    ids = [policy.id for policy in load_packs((pack,))]
    assert "ACME-001" in ids
    assert "PWR-001" in ids
    assert ids == sorted(ids)


def test_an_id_is_never_shadowed(tmp_path: Path) -> None:
    pack = write(tmp_path, "pwr001_mine", RULE.format(id="PWR-001"))
    with pytest.raises(PolicyLoadError, match=r"used twice: .*pwr001_feed_capacity.*pwr001_mine"):
        load_packs((pack,))


NAMED = '''
from collections.abc import Iterator
from typing import ClassVar
from rackwright.api import Finding, Measure, Policy, Severity, rule

@rule("ACME-001", "Mine", Severity.LOW, since="0.1"{words})
class Mine(Policy):
    """Mine."""
    {line}

    def check(self, plan) -> Iterator[Measure | Finding]:
        yield from ()
'''


def test_a_rule_is_named_by_a_decorator_and_its_family_is_its_folder(tmp_path: Path) -> None:
    text = NAMED.format(words=", waivable=False", line="")
    (mine,) = load_pack(write(tmp_path, "acme001_mine", text))
    assert (mine.id, mine.title, mine.severity, mine.since) == ("ACME-001", "Mine", "low", "0.1")
    assert (mine.family, mine.waivable) == ("own", False)
    assert (mine.enforcement, mine.profile) == (Policy.enforcement, Policy.profile)


def test_what_the_decorator_is_not_given_stays_as_the_class_has_it(tmp_path: Path) -> None:
    text = NAMED.format(words="", line="waivable: ClassVar[bool] = False")
    (mine,) = load_pack(write(tmp_path, "acme001_mine", text))
    assert not mine.waivable


def test_a_family_that_is_not_its_folder_is_refused(tmp_path: Path) -> None:
    text = NAMED.format(words="", line='family: ClassVar[str] = "power"')
    with pytest.raises(PolicyLoadError, match="'power' of 'ACME-001' is not its folder 'own'"):
        load_pack(write(tmp_path, "acme001_mine", text))


@pytest.mark.parametrize(
    ("stem", "text", "message"),
    [
        ("acme001_mine", "def broken(:\n", r"acme001_mine.py:1:\d+"),
        ("acme001_mine", "\n\nraise ValueError('no')\n", "acme001_mine.py:3:1: ValueError: no"),
        ("acme001_mine", "x = 1\n", "one policy, not 0"),
        ("acme001_mine", RULE.format(id="ACME-002"), "does not fit the file name"),
        ("acme001_mine", RULE.format(id="ACME-001").replace("title", "tilte"), "lacks 'title'"),
    ],
)
def test_a_broken_rule_names_its_file_and_line(
    tmp_path: Path, stem: str, text: str, message: str
) -> None:
    with pytest.raises(PolicyLoadError, match=message):
        load_pack(write(tmp_path, stem, text))


def test_documentation_and_examples_are_needed(tmp_path: Path) -> None:
    pack = write(tmp_path, "acme001_mine", RULE.format(id="ACME-001"), siblings=False)
    with pytest.raises(PolicyLoadError, match=r"acme001_mine\.md"):
        load_pack(pack)


def test_a_pack_that_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(PolicyLoadError, match="is not a folder"):
        load_pack(tmp_path / "nowhere")
