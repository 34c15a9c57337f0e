"""What the comparison of two revisions calls a difference."""

from __future__ import annotations

import pytest

from compare_revisions import differences, main


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\n", "a\nb\n"),
        ('{"load": 0.1}', '{"load": 0.10000000000000002}'),
        ('{"load": 1e300}', '{"load": 1.0000000000000001e300}'),
        ("[Infinity, NaN]", "[Infinity, NaN]"),
    ],
)
def test_the_same(before: str, after: str) -> None:
    assert list(differences(before, after)) == []


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a\nb\n", "a\nc\n", "+c"),
        ("a\n", "", "-a"),
        ('{"load": 1.0}', '{"load": 1.00000000001}', "$.load: 1.0 became 1.00000000001"),
        ('{"load": 1.0}', '{"load": 1}', "$.load: 1.0 became 1"),
        ("[Infinity]", "[1.0]", "$[0]: inf became 1.0"),
        ("[NaN]", "[1.0]", "$[0]: nan became 1.0"),
        ('{"load": 0.0}', '{"load": null}', "$.load: 0.0 became None"),
        ('{"load": true}', '{"load": 1}', "$.load: True became 1"),
        ("[1, 2]", "[1]", "$: 2 items became 1"),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', "$: keys ['a', 'b'] became ['b', 'a']"),
        ('{"a": 1}', '{"a":1}', "$: the same values are written otherwise"),
        ('{"a": 1}', "no JSON", "+no JSON"),
    ],
)
def test_a_difference(before: str, after: str, said: str) -> None:
    assert said in list(differences(before, after))


def test_a_revision_that_is_not_there_is_no_difference() -> None:
    """It ended with 1, as where something differs."""
    assert main(["no-such-revision"]) == 2
