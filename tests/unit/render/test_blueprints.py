"""What ``init`` writes: blueprints that pass, whatever judges them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.inventory.inventory import SLURM_GROUPS, build_inventory
from rackwright.plan.audit.catalogue_digest import catalogue_digest
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.policy_sets import RELEASED, SETS
from rackwright.render.blueprints import find_template, list_templates, write_blueprint
from rackwright.render.slurm import render_slurm
from rackwright.templates.making import MODELINE
from template_support import example_answers, write_files

TEMPLATES = [template.name for template in list_templates()]


def write(name: str, folder: Path) -> None:
    """The files of a built-in template, with the answers of the first case of its test."""
    template = find_template(name)
    write_blueprint(template, folder, example_answers(template))


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("policy_set", SETS)
def test_a_built_in_template_passes_and_leaves_nothing_open(
    name: str, policy_set: str, tmp_path: Path
) -> None:
    write(name, tmp_path)
    layer = tmp_path / "set.yaml"
    layer.write_text(f'policy_set: "{policy_set}"\n')
    report = check_blueprint(tmp_path / "blueprint.yaml", layers=(layer,))
    found = {Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR, Outcome.WAIVED}
    assert [(r.policy, r.message) for r in report.results if r.outcome in found] == []
    assert report.exit_code == 0
    judged = {r.policy for r in report.results if r.outcome is Outcome.PASS}
    wanted = (
        {"AWS-001", "AWS-004", "STO-001"}
        if name.startswith("aws-")
        else {"NET-001", "NET-010", "PWR-002", "PWR-007"}
    )
    assert wanted <= judged


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_rendered_and_configured_whole(name: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    plan = load_plan(tmp_path / "blueprint.yaml").plan
    assert {"slurm.conf", "gres.conf", "cgroup.conf"} <= set(render_slurm(plan))
    made = build_inventory(plan)
    assert [group for group in SLURM_GROUPS if not made[group]["hosts"]] == []
    compute = [host.inventory_name for host in plan.hosts if host.role == "compute"]
    assert sorted(made["slurm_compute"]["hosts"]) == sorted(compute)


@pytest.mark.parametrize(
    ("name", "storage"),
    [("hybrid-h100", {"STO-001", "STO-002", "STO-004"}), ("lab", set())],
)
def test_storage_and_fabric_of_a_template_are_gated(
    name: str, storage: set[str], tmp_path: Path
) -> None:
    write_blueprint(find_template(name), tmp_path, {})
    report = check_blueprint(tmp_path / "blueprint.yaml")
    wanted = {f"NET-{number:03d}" for number in range(1, 15)} | storage
    assert wanted <= {
        r.policy for r in report.results if r.outcome is Outcome.PASS and not r.preview
    }
    assert {one.policy for one in report.lowered}.isdisjoint(wanted)
    assert name == "lab" or not report.lowered


def test_the_lab_has_no_file_system_to_be_judged(tmp_path: Path) -> None:
    """Why is said in docs/templates.md; one that is declared would be mounted, which containers cannot."""
    write_blueprint(find_template("lab"), tmp_path, {})
    plan = load_plan(tmp_path / "blueprint.yaml").plan
    assert list(plan.file_systems) == []
    judged = {
        r.policy: r.outcome
        for r in check_blueprint(tmp_path / "blueprint.yaml").results
        if r.policy.startswith("STO-")
    }
    assert judged == dict.fromkeys(
        [f"STO-{number:03d}" for number in range(1, 6)], Outcome.NOT_APPLICABLE
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_init_names_the_newest_released_set_and_pins_the_catalogue(
    name: str, tmp_path: Path
) -> None:
    write(name, tmp_path)
    plan = load_plan(tmp_path / "blueprint.yaml").plan
    assert plan.blueprint.policy_set == RELEASED
    assert plan.blueprint.operations is not None
    assert plan.blueprint.operations.catalogue_digest == catalogue_digest(plan)


def test_answers_have_precedence_over_offered_values(tmp_path: Path) -> None:
    files = {
        "copier.yml": "policy_set: {help: x, default: '0.1'}\n",
        "blueprint.yaml.j2": "policy_set: '{{ policy_set }}'\n",
    }
    template = find_template(str(write_files(tmp_path / "template", files)))
    (written,) = write_blueprint(template, tmp_path / "made", {})
    assert written.read_text() == MODELINE + "policy_set: '0.1'\n"
