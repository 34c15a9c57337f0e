"""What is written holds against what would follow, for every value that does."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.errors import RackwrightError
from rackwright.plan.base import Path
from rackwright.plan.derivation.derive import derive
from rackwright.plan.load import load_data
from rackwright.reading.tree import Tree
from short_forms import CATALOGUE, a_short_site, derived, tree

SITE = a_short_site(
    fabric="{preset: rail-optimized, technology: infiniband, network: 10.30.0.0/16, switch: qm9700}"
)
FULL = derived(SITE)
SHORT: Any = tree(SITE).data
UNNAMED = "rack_groups"
"""The one list of what is derived whose items have no names: it is written as a whole."""

OTHER: dict[str, Any] = {
    "kind": "panel",
    "capacity": "8 MW",
    "type": {"qm9700": "qm9790", "rack-48u": "rack-52u"},
    "racks": "x[01-99]",
    "source": "rpp-z",
    "pdu": "pdu-415v-32a",
    "name": "other",
    "role": "storage",
    "rate": "200 Gbps",
    "technology": "ethernet",
    "lower": {"dgx": "leaf", "leaf": "spine"},
    "upper": {"leaf": "spine", "spine": "leaf"},
    "mode": "immersion",
    "power_limit": "44 kW",
    "prefix": "10.99.0.0/16",
    "routing_engine": "updn",
    "fed_by": [],
    "attached": [{"group": "dgx", "interfaces": 4}],
    "subnet_managers": [{"at": "spine", "count": 1}],
    "groups": [],
    "circuit": {"voltage": "400 V", "current": "10 A", "phases": 3},
}


def another(path: Path, value: Any) -> Any:
    """A value that somebody may write in place of one that is derived."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    found = OTHER[str(path[-1])]
    return found[value] if isinstance(value, str) and isinstance(found, dict) else found


def written(path: Path, value: Any) -> Any:
    """The short form with a value at a path of the full one, whose lists go by names."""
    made = copy.deepcopy(SHORT)
    at, full = made, FULL.tree.data
    for number, part in enumerate(path[:-1]):
        if isinstance(part, int):
            name = full[part]["name"]
            if isinstance(at, list):
                here = next((one for one in at if one.get("name") == name), None)
                if here is None:
                    here = {"name": name}
                    at.append(here)
                at = here
        elif part == "fabrics":
            at = at["fabric"]
        elif part == "rows":
            at[part] = copy.deepcopy(full[part])
            return replaced(made, at[part], path[number + 1 :], value)
        else:
            at = at.setdefault(part, [] if isinstance(full[part], list) else {})
        full = full[part]
    at[path[-1]] = value
    return made


def replaced(made: Any, inside: Any, path: Path, value: Any) -> Any:
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    return made


CASES = [
    one
    for one in FULL.derivations
    if one.path[-1] != "name" or one.path[:-2] == ("sites", 0, "fabrics")
]


@pytest.mark.parametrize("one", CASES, ids=lambda one: FULL.tree.describe(one.path))
def test_written_values_are_kept(one: Any) -> None:
    value = another(one.path, one.value)
    assert value != one.value
    data = written(one.path, value)
    made = derive(Tree(tree(SITE).root, data, ("blueprint.yaml",)), CATALOGUE)
    found: Any = made.tree.data
    for part in one.path:
        found = found[part]
    assert found == value
    assert one.path not in {other.path for other in made.derivations}


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        10**12,
        "",
        "x",
        "[",
        "c[1-",
        "9" * 40,
        [],
        [[]],
        {},
        {"x": {}},
        ["\ud800"],
    ]
)


def places(data: Any, path: Path = ()) -> list[Path]:
    """Every place in a document but the whole of it."""
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    found: list[Path] = []
    for key, value in parts:
        found.append((*path, key))
        if isinstance(value, (dict, list)):
            found += places(value, (*path, key))
    return found


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from(places(SHORT)), value=JUNK, second=st.sampled_from(places(SHORT)))
def test_a_hostile_short_form_is_refused_in_words(path: Path, value: Any, second: Path) -> None:
    data = copy.deepcopy(SHORT)
    for where in (second, path):
        inside: Any = data
        try:
            for part in where[:-1]:
                inside = inside[part]
            inside[where[-1]] = copy.deepcopy(value)
        except (IndexError, KeyError, TypeError):
            continue  # the other one has replaced it
    with suppress(RackwrightError):
        load_data(data, catalogue=CATALOGUE)
