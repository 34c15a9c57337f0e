"""Rows of a table are read once, shared, and gone with the table."""

from __future__ import annotations

import gc

import pytest

from rackwright.plan import tables
from rackwright.plan.tables import frame, rows_of

SCHEMA = {name: tables.RACKS[name] for name in ("rack", "position")}


def test_the_rows_are_those_of_the_table_in_order() -> None:
    table = frame([{"rack": "r1", "position": 1}, {"rack": "r2"}], SCHEMA)
    assert [dict(row) for row in rows_of(table)] == [
        {"rack": "r1", "position": 1},
        {"rack": "r2", "position": None},
    ]


def test_a_policy_cannot_change_what_the_next_one_reads() -> None:
    table = frame([{"rack": "r1"}], SCHEMA)
    (row,) = rows_of(table)
    with pytest.raises(TypeError):
        row["rack"] = "r2"  # type: ignore[index]
    assert [dict(row) for row in rows_of(table)] == [{"rack": "r1", "position": None}]


def test_rows_go_with_their_table() -> None:
    before = len(tables._rows)
    for number in range(100):
        (row,) = rows_of(frame([{"rack": f"r{number}"}], SCHEMA))
        assert row["rack"] == f"r{number}"
    gc.collect()
    assert len(tables._rows) == before
