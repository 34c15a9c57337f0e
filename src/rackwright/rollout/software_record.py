"""The software that a cluster was last brought to: the bill before, kept on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rackwright.errors import UsageError
from rackwright.files import write_changed
from rackwright.model.software import SoftwareBill
from rackwright.plan.model import Plan
from rackwright.plan.slurm.releases import name_of, release_of
from rackwright.system_errors import damaged, read_state

SCHEMA = "rackwright.software/v1"
REMEDY = "remove it and say with --from which blueprint the hosts were configured from"


@dataclass(frozen=True, slots=True)
class SoftwareRecord:
    """Versions of a blueprint.

    Attributes:
        slurm: the scheduler's release; None where there is no scheduler.
        bills: of one or more sites each.
    """

    slurm: str | None
    bills: tuple[SoftwareBill, ...]

    def as_data(self) -> dict[str, Any]:
        """Return the record as data for a file."""
        bills = [bill.model_dump(mode="json", exclude_none=True) for bill in self.bills]
        return {"schema": SCHEMA, "slurm": self.slurm, "bills": bills}


def record_of(plan: Plan) -> SoftwareRecord:
    """Return the versions of ``plan``."""
    return SoftwareRecord(
        slurm=None if plan.scheduler is None else plan.scheduler.version,
        bills=() if plan.operations is None else plan.operations.software,
    )


def with_record(plan: Plan, record: SoftwareRecord) -> Plan:
    """Return ``plan`` with the versions of ``record``, all else as it is."""
    return plan.with_versions(record.slurm, record.bills)


def read_record(data: Mapping[str, Any]) -> SoftwareRecord:
    """Return the record that ``as_data`` has made.

    Raises:
        ValueError: it is none.
    """
    if data.get("schema") != SCHEMA:
        raise ValueError(str(data.get("schema")))
    slurm = data.get("slurm")
    bills = data.get("bills")
    if not isinstance(bills, list) or not isinstance(slurm, str | None):
        raise ValueError("no bills")
    return SoftwareRecord(slurm, tuple(SoftwareBill.model_validate(bill) for bill in bills))


def save_record(path: Path, record: SoftwareRecord) -> None:
    """Write ``record`` to ``path``, at once or not at all."""
    write_changed(path, json.dumps(record.as_data(), indent=1))


def load_record(path: Path) -> SoftwareRecord | None:
    """Return the record in ``path``; None where there is none.

    Raises:
        StateError: it is damaged.
    """  # noqa: DOC501 - damaged() makes the StateError
    data = read_state(path, remedy=REMEDY)
    if data is None:
        return None
    try:
        if isinstance(data, dict):
            return read_record(data)
    except (ValueError, ValidationError):
        pass
    raise damaged(path, remedy=REMEDY)


def check_release(path: Path, plan: Plan) -> None:
    """Refuse to configure hosts for another release of Slurm than the one that they run.

    The roles install packages and never exchange them, and daemons of one release need not read the
    files that are generated for another.

    Raises:
        StateError: the record is damaged.
        UsageError: the release is another one.
    """
    record = load_record(path)
    if record is None or record.slurm is None or plan.scheduler is None:
        return
    before, after = release_of(record.slurm), release_of(plan.scheduler.version)
    if before != after:
        raise UsageError(
            f"the hosts were brought to Slurm {name_of(before)}, and the blueprint says {name_of(after)}",
            hint="'rackwright upgrade' exchanges it, daemon after daemon; where the hosts were "
            f"installed again, remove '{path}'",
        )
