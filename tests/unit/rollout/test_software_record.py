"""The bill before is kept whole, and what is damaged is said to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.errors import StateError, UsageError
from rackwright.model.software import KernelModules, SoftwareBill
from rackwright.plan.model import Plan
from rackwright.rollout.software_record import (
    SoftwareRecord,
    check_release,
    load_record,
    record_of,
    save_record,
    with_record,
)

BILL = SoftwareBill(
    name="all",
    driver="570.133.20",
    ofed=KernelModules(version="3.2.1", kernel="6.8.0-60-generic"),
    slurm="24.11.5",
)


def test_a_record_comes_back_as_it_was(tmp_path: Path, plan: Plan) -> None:
    path = tmp_path / "software.json"
    assert load_record(path) is None
    kept = SoftwareRecord("24.11", (BILL,))
    save_record(path, kept)
    assert load_record(path) == kept
    assert record_of(with_record(plan, kept)) == kept


def test_a_plan_without_a_bill_has_a_record_too(plan: Plan) -> None:
    assert record_of(plan) == SoftwareRecord("22.05", ())


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema": "rackwright.software/v2", "slurm": "24.11", "bills": []}',
        '{"schema": "rackwright.software/v1", "slurm": 24.11, "bills": []}',
        '{"schema": "rackwright.software/v1", "slurm": "24.11"}',
        '{"schema": "rackwright.software/v1", "slurm": null, "bills": [{"name": "all", "no_such": "1"}]}',
    ],
)
def test_damaged_record_is_ignored(tmp_path: Path, text: str) -> None:
    path = tmp_path / "software.json"
    path.write_text(text)
    with pytest.raises(StateError, match="is damaged, or a newer") as caught:
        load_record(path)
    assert "--from" in str(caught.value.hint)


def test_configure_does_not_take_hosts_to_another_release_of_slurm(
    tmp_path: Path, plan: Plan
) -> None:
    """The roles leave installed packages as they are: the files would be for daemons that are not there."""
    path = tmp_path / "software.json"
    check_release(path, plan)
    save_record(path, SoftwareRecord("22.05", (BILL,)))
    check_release(path, plan)
    save_record(path, SoftwareRecord("22.05.11", ()))
    check_release(path, plan)
    save_record(path, SoftwareRecord("23.02", ()))
    with pytest.raises(UsageError, match=r"brought to Slurm 23\.02, and the blueprint says 22\.05"):
        check_release(path, plan)
