"""What slurmdbd is told: in the inventory, and in its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment

from rackwright.inventory.inventory import build_inventory
from rackwright.model.scheduler_settings import Retention
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.resources import bundled

FIXTURE = builtin_pack() / "fixtures/slurm.yaml"
PRODUCTION = Path(__file__).parents[3] / "golden/slurm/tree/layer.yaml"
ROLE = bundled("roles") / "slurm_database"


def read(name: str) -> Any:
    return yaml.safe_load((ROLE / name).read_text(encoding="utf-8"))


def config(**variables: Any) -> list[str]:
    """The lines of slurmdbd.conf."""
    environment = Environment(trim_blocks=True, keep_trailing_newline=True)
    environment.filters["comment"] = str
    text = (ROLE / "templates/slurmdbd.conf.j2").read_text(encoding="utf-8")
    known = read("defaults/main.yml") | read("vars/main.yml")
    known |= {"ansible_managed": "", "slurm_database_host": "head-1", **variables}
    return environment.from_string(text).render(known).split("\n")


def test_retention_and_privacy_reach_the_database() -> None:
    made = build_inventory(load_plan(FIXTURE, (PRODUCTION,)).plan)
    assert made["slurm_database"]["vars"] == {
        "slurm_database_host": "head-1",
        "slurm_database_keep_days": {"jobs": 730, "steps": 90},
        "slurm_database_archive_folder": "/var/lib/slurm/archive",
        "slurm_database_private_data": ["jobs", "usage", "users"],
    }


def test_privacy_of_slurmctld_alone_does_not_reach_the_database(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(yaml.safe_dump({"scheduler": {"private_data": ["nodes", "partitions"]}}))
    made = build_inventory(load_plan(FIXTURE, (PRODUCTION, layer)).plan)
    assert "slurm_database_private_data" not in made["slurm_database"]["vars"]


def test_the_file_says_what_is_removed_and_where_it_goes() -> None:
    plain = config()
    assert not [line for line in plain if line.startswith(("Purge", "Archive", "Private"))]
    assert plain[-2:] == ["StorageLoc=slurm_acct_db", ""]
    lines = config(
        slurm_database_keep_days={"steps": 90, "jobs": 730},
        slurm_database_archive_folder="/var/lib/slurm/archive",
        slurm_database_private_data=["jobs", "users"],
    )
    assert lines[len(plain) - 1 :] == [
        "PrivateData=jobs,users",
        "PurgeJobAfter=730days",
        "ArchiveJobs=yes",
        "PurgeStepAfter=90days",
        "ArchiveSteps=yes",
        "ArchiveDir=/var/lib/slurm/archive",
        "",
    ]
    unsaved = config(slurm_database_keep_days={"transactions": 365})
    assert unsaved[len(plain) - 1 :] == ["PurgeTXNAfter=365days", ""]


def test_the_role_knows_every_record_of_the_model() -> None:
    kinds = set(Retention.model_fields) - {"archive"}
    assert set(read("vars/main.yml")["slurm_database_records"]) == kinds


@pytest.mark.parametrize("kind", sorted(set(Retention.model_fields) - {"archive"}))
def test_an_age_of_each_record_is_in_whole_days(kind: str) -> None:
    assert Retention.model_validate({kind: "48 h"}).ages == {kind: 172_800.0}
