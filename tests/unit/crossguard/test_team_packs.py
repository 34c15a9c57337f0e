"""A team's packs judge at every entrance: command line, stack, and the engine's analyzer."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.crossguard import server
from rackwright.plan.load import load_plan
from rackwright.policy.authoring.scaffold import new_policy
from rackwright.policy.check import check_blueprint, check_plan
from rackwright.policy.packs.team_config import packs_for
from rackwright.provision import program
from rackwright.provision.program import RefusedError
from rackwright.render.blueprints import find_template, write_blueprint


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    """A hybrid blueprint, whose site the team's rule finds too high."""
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    new_policy(tmp_path / "policies", "own/ACME-001", "Sites lie low")
    (rule,) = (tmp_path / "policies" / "own").glob("*.py")
    rule.write_text(rule.read_text().replace("= 900.0", "= 1.0"))
    (tmp_path / "rackwright.yaml").write_text("packs: [{path: policies}]\n")
    return tmp_path / "blueprint.yaml"


def test_the_rule_refuses_at_every_entrance(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(blueprint)]) == 5
    assert "ACME-001 medium" in capsys.readouterr().out

    loaded = load_plan(blueprint)
    in_stack = check_plan(loaded, packs=program.team_packs(blueprint, []))
    config = {"RACKWRIGHT_CONFIG": str(blueprint.with_name("rackwright.yaml"))}
    spec = loaded.plan.blueprint.model_dump(mode="json")
    in_engine = server.judge_spec(spec, server._team_packs(config))
    checked = check_blueprint(blueprint, packs=packs_for(blueprint))
    prints = [r.fingerprint for r in checked.results]
    assert [r.fingerprint for r in in_stack.results] == prints
    assert [r.fingerprint for r in in_engine.results] == prints
    assert (checked.exit_code, in_stack.exit_code, in_engine.exit_code) == (5, 5, 5)


def test_a_pack_that_is_not_what_it_is_pinned_to_ends_everything(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = blueprint.with_name("rackwright.yaml")
    config.write_text(f"packs: [{{path: policies, digest: 'sha256:{'0' * 64}'}}]\n")
    assert main(["check", str(blueprint)]) == 2
    with pytest.raises(RefusedError, match="is not what it is pinned to"):
        program.team_packs(blueprint, [])
    with pytest.raises(SystemExit) as ended:
        server._team_packs({"RACKWRIGHT_CONFIG": str(config)})
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("is not what it is pinned to") == 2
    assert server._team_packs({}) == ()
