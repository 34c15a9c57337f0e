"""Errors of the YAML parser: in words of ours, at their place, with what to do."""

from __future__ import annotations

import random
import re

import pytest

from rackwright.errors import SpecErrors
from rackwright.reading.yaml_reader import read_text

PARSER = re.compile(
    r"did not find|could not find|found (un|char|dup|inv|an? |inc|extra)|not allowed in this context"
    r"|while (pars|scan)|<block|<stream|<document|token|unacceptable|leading UTF|yaml\.|Error"
)
"""Words of libyaml and of Python that no user has to know."""
TEXT = """apiVersion: rackwright/v1
name: atlas
sites:
  - name: sjc1
    halls: [{name: hall-1, air: {count: 9, containment: hot-aisle}}]
    racks: {power_limit: 45 kW}
    note: "two words"
    node_groups:
      - {name: dgx, role: compute, type: dgx-h200, count: 64}
"""


def refusal(text: str) -> tuple[str, int, int]:
    with pytest.raises(SpecErrors) as caught:
        read_text(text, "b.yaml")
    (error,) = caught.value.errors
    assert error.location is not None, error
    return f"{error.summary}; {error.hint}", error.location.line, error.location.column


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("a: 1\nb: x\0y\n", "U+0000, which cannot be seen; remove it", 2, 5),
        ("a: \x07\n", "U+0007", 1, 4),
        ("a: {b: 1, count:}\n", "write 'key: value', with a blank behind the ':'", 1, 16),
        ("a: 'x\n---\n", "quotes", 2, 1),
        ('a: "\\q"\n', "no known escape", 1, 5),
        ("a: b\n  c: d\n", "a second ':' in one value", 2, 4),
        ("a: - b\n", "an item with '-' cannot be here", 1, 4),
        ("a: & b\n", "'&' and '*' begin an anchor", 1, 5),
        ("a: *x\n", "define the anchor", 1, 4),
        ("a: !<x b\n", "a tag", 1, 7),
        ("%YAML 9.9\n---\na: 1\n", "a '%' at the begin", 1, 1),
        ("a: | text\n", "begin the text on the next line", 1, 6),
        ("a: 1\n}\n", "", 2, 1),
    ],
)
def test_mistake_is_told_at_its_place(text: str, message: str, line: int, column: int) -> None:
    said, *place = refusal(text)
    assert message in said
    assert place == [line, column]
    assert not PARSER.search(said)


def test_no_mutation_is_told_in_words_of_the_parser() -> None:
    source = random.Random(39)
    told = 0
    for _ in range(3000):
        at = source.randrange(len(TEXT))
        insert = source.choice("{}[]:,-&*!|>'\"%@`\\?#\t\0\x1b\n ")
        text = TEXT[:at] + insert + TEXT[at + source.randrange(2) :]
        try:
            read_text(text, "b.yaml")
        except SpecErrors as errors:
            for error in errors.errors:
                assert not PARSER.search(f"{error.summary}; {error.hint}"), (text, error)
                assert error.location is not None
                told += 1
    assert told > 500
