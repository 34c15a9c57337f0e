"""A stack program judges its blueprint before it declares anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pulumi
import pytest

from first_set import name_first_set
from rackwright.exit_codes import ExitCode
from rackwright.policy.check import check_blueprint
from rackwright.policy.exceptions.baseline import created, render_baseline
from rackwright.policy.exceptions.exceptions import read_files
from rackwright.policy.gate import Gate
from rackwright.provision import nodes
from rackwright.provision import program as program_module
from rackwright.provision.outdated import Surplus
from rackwright.provision.program import (
    RefusedError,
    StackSource,
    declare_stack,
    inline_program,
)
from rackwright.resources import bundled
from stacks_support import Recording

FIXTURE = bundled("policies") / "fixtures" / "aws.yaml"
REGION = {"aws:region": "us-east-1"}
Record = Callable[..., Recording]
Write = Callable[..., Path]
Refuse = Callable[..., RefusedError]
NETWORK = "organization/aws-network/atlas-use1"
STORAGE = "organization/aws-storage/atlas-use1"
OUTPUTS = {
    NETWORK: {
        "vpc_id": "vpc-1",
        "dns_zone_id": "Z1",
        "subnet_ids": {"private-a": "subnet-private", "public-a": "subnet-public"},
        "security_group_ids": {"cluster": "sg-cluster", "login": "sg-login"},
    },
    STORAGE: {"file_systems": {"scratch": {"id": "fs-1"}}},
}

PACK = '''
from rackwright.api import Finding, Policy, Severity, Subject


class Names(Policy):
    """No cluster is good enough."""

    id = "ACME-001"
    title = "Names"
    severity = Severity.LOW
    since = "0.1"
    family = "house"

    def check(self, plan):
        yield Finding(Subject(plan.blueprint.name, ()), ok=False, message="refused", fix="rename")
'''


@pytest.fixture
def blueprint(tmp_path: Path) -> Write:
    """A copy of the fixture with some texts replaced."""

    def write(**changes: str) -> Path:
        text = FIXTURE.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "atlas.yaml"
        path.write_text(text, encoding="utf-8")
        return name_first_set(path)

    return write


@pytest.fixture
def refused(recorded: Record) -> Refuse:
    """Runs a program that must be refused before it registers anything."""

    def run(
        path: Path, *, site: str | None = None, config: dict[str, str] = REGION
    ) -> RefusedError:
        seen = Recording()
        with pytest.raises(RefusedError) as error:
            recorded(inline_program("aws-network", path, (), site), config=config, into=seen)
        assert seen.resources == []
        return error.value

    return run


def test_the_root_carries_the_blueprint_that_was_judged(recorded: Record, blueprint: Write) -> None:
    seen = recorded(inline_program("aws-network", blueprint()), config=REGION)
    spec = seen.one("Cluster").inputs["spec"]

    assert spec["apiVersion"] == "rackwright/v1"
    assert spec["sites"][0]["node_groups"][0]["root_volume"] == "500 GiB"


def test_a_violation_declares_nothing(refused: Refuse, blueprint: Write) -> None:
    error = refused(blueprint(**{"L-417A185B: 4096": "L-417A185B: 100"}))

    assert error.exit_code == ExitCode.VIOLATION
    assert "AWS-004" in str(error)


def test_a_missing_number_declares_nothing(refused: Refuse, blueprint: Write) -> None:
    error = refused(blueprint(**{"        L-417A185B: 4096\n": ""}))

    assert error.exit_code == ExitCode.UNKNOWN


def test_an_invalid_blueprint_declares_nothing(refused: Refuse, blueprint: Write) -> None:
    error = refused(blueprint(**{"count: 16": "cuont: 16"}))

    assert error.exit_code == ExitCode.USAGE
    assert "did you mean 'count'" in str(error)


def test_another_region_is_refused(refused: Refuse, blueprint: Write) -> None:
    error = refused(blueprint(), config={"aws:region": "us-west-2"})

    assert error.exit_code == ExitCode.USAGE
    assert "'us-west-2'" in str(error)


def test_a_region_that_is_not_set_is_refused(
    refused: Refuse, blueprint: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)

    assert "not set" in str(refused(blueprint(), config={}))


def test_an_unknown_site_is_refused(refused: Refuse, blueprint: Write) -> None:
    assert "its sites on AWS: 'use1'" in str(refused(blueprint(), site="use2"))


def test_an_overlay_is_judged_with_the_blueprint(
    recorded: Record, blueprint: Write, tmp_path: Path
) -> None:
    layer = tmp_path / "small.yaml"
    layer.write_text("sites: [{name: use1, node_groups: [{name: train, count: 4}]}]\n")
    program = inline_program("aws-cluster", blueprint(), (layer,), "use1")

    seen = recorded(program, config=REGION, stacks=OUTPUTS)

    assert seen.one("Group").inputs["maxSize"] == 4


def test_a_team_s_pack_judges_too(recorded: Record, blueprint: Write, tmp_path: Path) -> None:
    folder = tmp_path / "pack/house"
    folder.mkdir(parents=True)
    (folder / "acme001_name.py").write_text(PACK)
    (folder / "acme001_name.md").write_text("# ACME-001: names\n")
    (folder / "acme001_name.examples.yaml").write_text("[]\n")
    program = inline_program("aws-network", blueprint(), gate=Gate((tmp_path / "pack",)))
    seen = Recording()

    with pytest.raises(RefusedError, match="ACME-001") as error:
        recorded(program, config=REGION, into=seen)

    assert error.value.exit_code == ExitCode.VIOLATION
    assert seen.resources == []


def test_a_stack_allows_what_its_files_permit(
    recorded: Record, blueprint: Write, tmp_path: Path
) -> None:
    path = blueprint(**{"L-417A185B: 4096": "L-417A185B: 100"})
    baseline = tmp_path / "baseline.json"
    baseline.write_text(render_baseline(created(check_blueprint(path))))

    gate = Gate(exceptions=read_files(None, baseline))
    seen = recorded(inline_program("aws-network", path, gate=gate), config=REGION)

    assert seen.one("Cluster").inputs["spec"]["name"]


def test_a_file_that_the_stack_names_has_to_exist(
    recorded: Record, blueprint: Write, tmp_path: Path
) -> None:
    source = StackSource(blueprint(), waivers=tmp_path / "nowhere.yaml")
    seen = Recording()

    with pytest.raises(RefusedError, match="there is no file") as error:
        recorded(lambda: declare_stack("aws-network", source), config=REGION, into=seen)

    assert error.value.exit_code == ExitCode.USAGE
    assert seen.resources == []


def test_the_cluster_refers_to_network_and_storage(recorded: Record, blueprint: Write) -> None:
    seen = recorded(inline_program("aws-cluster", blueprint()), config=REGION, stacks=OUTPUTS)

    assert seen.one("Group").inputs["vpcZoneIdentifiers"] == ["subnet-private"]


def test_a_preview_goes_on_without_outputs_that_are_to_come(
    recorded: Record, blueprint: Write
) -> None:
    seen = recorded(inline_program("aws-storage", blueprint()), config=REGION, preview=True)

    subnet = seen.one("LustreFileSystem").inputs["subnetIds"]
    assert isinstance(subnet, type(pulumi.UNKNOWN))


def test_an_update_stops_without_them(recorded: Record, blueprint: Write) -> None:
    with pytest.raises(pulumi.RunError, match="provision it first"):
        recorded(inline_program("aws-storage", blueprint()), config=REGION)


def test_protection_can_be_lifted(recorded: Record, blueprint: Write) -> None:
    program = inline_program("aws-storage", blueprint())
    lifted = {**REGION, "aws-test:protect": "false"}

    assert recorded(program, config=REGION, stacks=OUTPUTS).one("LustreFileSystem").protect
    assert not recorded(program, config=lifted, stacks=OUTPUTS).one("LustreFileSystem").protect


def test_plain_pulumi_tells_what_rackwright_up_does_beside(
    recorded: Record, blueprint: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E: it named no host, and shrinking asked a protected group, which fails after 20 minutes."""
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", lambda text, *_more: told.append(text))
    found = Surplus("train", 2, 3, {"i-0123456789abcdef0": "train-3"})
    answers: list[tuple[Surplus, ...]] = [(), (found,)]
    monkeypatch.setattr(nodes, "surplus", lambda *_asked: answers.pop(0))
    source = StackSource(blueprint())

    def program() -> None:
        declare_stack("aws-cluster", source, program_module._beside)

    assert recorded(program, config=REGION, stacks=OUTPUTS).of("Group")
    assert told == [program_module.LEFT_TO_DO]
    with pytest.raises(RefusedError, match="train-3") as refused:
        recorded(program, config=REGION, stacks=OUTPUTS)
    assert refused.value.exit_code == ExitCode.USAGE
