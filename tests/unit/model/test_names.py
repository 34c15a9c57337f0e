"""Host lists and names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rackwright.model import names
from rackwright.model.base import Model
from rackwright.model.names import (
    HostList,
    Name,
    compress_hostlist,
    expand_hostlist,
    hostlist_size,
)
from work import expressions_of, growth, operations_of


class Named(Model):
    name: Name = "x"
    racks: HostList = "x"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("c[01-03,07]", ("c01", "c02", "c03", "c07")),
        ("c1", ("c1",)),
        ("rack-7", ("rack-7",)),
        ("a,b", ("a", "b")),
        ("a[1-2], b[9-10]", ("a1", "a2", "b9", "b10")),
        ("c[8-11]", ("c8", "c9", "c10", "c11")),
        ("c[08-11]", ("c08", "c09", "c10", "c11")),
        ("r1-c[1]", ("r1-c1",)),
        ("c[3,1]", ("c3", "c1")),
        ("c[98-101]", ("c98", "c99", "c100", "c101")),
        ("[1-2]", ("1", "2")),
    ],
)
def test_a_list_stands_for_names_in_the_order_written(text, names):
    assert expand_hostlist(text) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a host list"),
        (",", "is not a host list"),
        ("c[1-2],", "is not a host list"),
        ("c/1", "is not a host list"),
        ("c[1-2]x", "is not a host list"),
        ("c[1-2", "is not a host list"),
        ("c[a]", "is not a host list"),
        ("c[]", "is not a host list"),
        ("c[1-2][3]", "is not a host list"),
        ("c 1;", "is not a host list"),
        ("c[١]", "is not a host list"),
        ("c[1-]", "is not a range; write it like '01-16'"),
        ("c[1,,2]", "is not a range"),
        ("c[1-2-3]", "is not a range"),
        ("c[2-1]", "runs backwards"),
        ("c[1-2,2]", "names something twice"),
        ("c1,c1", "names something twice"),
        ("c[0-9999999]", "stands for more than 1,000,000 names"),
        ("c[1-999999999]", "stands for more than 1,000,000 names"),
        (",".join(f"{c}[1-400000]" for c in "abc"), "stands for more than 1,000,000 names"),
        ("c[1-9999999999]", "is not a range"),
    ],
)
def test_a_bad_list_says_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=r".") as caught:
        expand_hostlist(text)
    assert message in str(caught.value)


def test_no_expression_looks_ahead():
    """From every comma of a long list it would look at all that follows."""
    found = {
        name: {operation for operation, _ in operations_of(expression.pattern)}
        for name, expression in expressions_of(names).items()
    }
    assert "_TERM" in found
    assert not any({"ASSERT", "ASSERT_NOT"} & operations for operations in found.values())


def test_twice_as_many_names_are_twice_the_work():
    def expand(count):
        assert len(expand_hostlist(",".join(f"n{number}" for number in range(count)))) == count

    assert growth(expand, 200) < 2.2


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["c01", "c02", "c03", "c07"], "c[01-03,07]"),
        (["c2", "c1"], "c[1-2]"),
        (["c1", "c01"], "c[1,01]"),
        (["b", "a"], "a,b"),
        (["c1"], "c1"),
        (["c9", "c10"], "c[9-10]"),
        (["c1", "c1"], "c1"),
        ([], ""),
    ],
)
def test_names_as_a_short_list(names, text):
    assert set(compress_hostlist(names).split(",")) == set(text.split(","))


NAMES = st.lists(
    st.one_of(
        st.from_regex(r"[a-z][a-z0-9-]{0,5}", fullmatch=True),
        st.builds("{}{}".format, st.sampled_from(["c", "rack-", "c1-n"]), st.integers(0, 200)),
        st.builds("c{:03d}".format, st.integers(0, 50)),
    ),
    min_size=1,
    unique=True,
)


@given(NAMES)
def test_a_short_list_stands_for_the_same_names(names):
    assert set(expand_hostlist(compress_hostlist(names))) == set(names)


@given(NAMES, st.randoms())
def test_a_short_list_does_not_depend_on_the_order(names, random):
    assert compress_hostlist(random.sample(names, len(names))) == compress_hostlist(names)


@given(st.text("c[]-,0123456789 x", max_size=20))
def test_any_text_is_a_list_or_a_value_error(text):
    try:
        names = expand_hostlist(text)
    except ValueError:
        return
    assert names
    assert len(set(names)) == len(names)
    assert set(expand_hostlist(compress_hostlist(names))) == set(names)


@pytest.mark.parametrize("name", ["a", "a1", "hall-1", "0", "x" * 63, "a--b"])
def test_a_name_is_a_dns_label(name):
    assert Named(name=name).name == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a_b", "a.b", "x" * 64, "ä", "a b", "a\n"])
def test_invalid_dns_label_is_refused(name):
    with pytest.raises(ValidationError):
        Named(name=name)


def test_a_model_keeps_the_list_as_it_was_written():
    assert Named(racks="c[01-03]").racks == "c[01-03]"
    with pytest.raises(ValidationError, match="runs backwards"):
        Named(racks="c[03-01]")


@given(NAMES, NAMES)
def test_the_size_is_that_of_the_names_and_twins_are_found_without_making_them(names, more):
    text = ",".join((compress_hostlist(names), compress_hostlist(more)))
    if set(names) & set(more):
        with pytest.raises(ValueError, match="names something twice"):
            hostlist_size(text)
    else:
        assert hostlist_size(text) == len(expand_hostlist(text)) == len(names) + len(more)


@pytest.mark.parametrize("text", ["c[1-12],c1[0-1]", "c[08-12],c10", "c1[2-3],c[12-13]"])
def test_twins_that_are_written_differently_are_found(text):
    with pytest.raises(ValueError, match="names something twice"):
        hostlist_size(text)


def test_a_range_that_nobody_could_rack_is_sized_at_once():
    with pytest.raises(ValueError, match="stands for more than"):
        hostlist_size(",".join(f"c{n}-[1-999999999]" for n in range(10_000)))
    assert hostlist_size("c[8-12],c[008-012]") == 10
