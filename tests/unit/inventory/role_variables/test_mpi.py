"""PMIx in the inventory: where the blueprint says that srun starts tasks with it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from collection_support import roles_of
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

BLUEPRINT = builtin_pack() / "fixtures/slurm.yaml"
SITE = Path("stacks/baremetal/playbooks/site.yml")


@pytest.mark.parametrize(("mpi", "found"), [("pmix", {True}), ("pmi2", {None}), ("none", {None})])
def test_the_hosts_of_slurm_get_pmix_where_srun_is_to_use_it(
    tmp_path: Path, mpi: str, found: set[bool | None]
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(f"scheduler: {{mpi: {mpi}}}\n")
    made = build_inventory(load_plan(BLUEPRINT, (layer,)).plan)
    hosts = [*made["slurm_controller"]["hosts"], "dgx-01"]
    assert {(host_variables(made, host) or {}).get("pmix_default") for host in hosts} == found


def test_slurmd_starts_after_what_it_loads() -> None:
    plays = yaml.safe_load(SITE.read_text())
    orders = {play["hosts"]: list(roles_of(play)) for play in plays if "pmix" in roles_of(play)}
    assert set(orders) == {"slurm_controller", "slurm_compute", "slurm_login"}
    assert orders["slurm_compute"].index("pmix") < orders["slurm_compute"].index("slurm_compute")
    # In the end the role asks the controller.
    assert orders["slurm_controller"] == [
        *("slurm_controller", "slurm_backup", "instance_metadata", "elastic", "pmix")
    ]
