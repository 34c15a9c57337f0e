"""Rows of tables: their columns, the types of their values, and that nobody changes them."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright.plan import tables
from rackwright.plan.tables import table

COLUMNS = {name: tables.RACKS[name] for name in ("rack", "position")}


def test_rows_have_every_column_and_no_other_in_order() -> None:
    made = table([{"rack": "r1", "position": 1, "more": 2}, {"rack": "r2"}], COLUMNS)
    assert [dict(row) for row in made] == [
        {"rack": "r1", "position": 1},
        {"rack": "r2", "position": None},
    ]


def test_a_value_has_the_type_of_its_column() -> None:
    (row,) = table([{"power_w": 0, "count": 2.0}], {"power_w": float, "count": int})
    assert [(type(value), value) for value in row.values()] == [(float, 0.0), (int, 2)]


def test_a_policy_cannot_change_what_the_next_one_reads() -> None:
    (row,) = table([{"rack": "r1"}], COLUMNS)
    shared: Any = row
    with pytest.raises(TypeError):
        shared["rack"] = "r2"
