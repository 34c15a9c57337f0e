"""Plain ``pulumi`` in the native projects, with the native policy pack, on the embedded AWS."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from plain_pulumi import Pulumi, pulumi_of
from rackwright.resources import bundled

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

UNGATED = """
import json, pulumi, yaml

class Cluster(pulumi.ComponentResource):
    def __init__(self, spec):
        props = {"kind": "aws-network", "site": "cloud", "spec": spec}
        super().__init__("rackwright:cluster:Cluster", "ungated", props)

with open(pulumi.Config().require("blueprint")) as file:
    Cluster(json.loads(json.dumps(yaml.safe_load(file), default=str)))
"""
"""A program of someone who forgot to judge the blueprint: only the pack stands in its way."""


@pytest.fixture
def pulumi(lab: Any) -> Pulumi:
    return pulumi_of(lab)


def native(lab: Any, pulumi: Pulumi, folder: Path, blueprint: Path, stack: str) -> Path:
    """A copy of the native project ``aws-network`` with a stack for ``blueprint``."""
    project = folder / "aws-network"
    shutil.copytree(bundled("stacks") / "aws-network", project)
    pulumi(project, "stack", "init", stack)
    pulumi(project, "config", "set", "blueprint", os.path.relpath(blueprint, project))
    pulumi(project, "config", "set", "aws:region", "us-east-1")
    return project


def resources(pulumi: Pulumi, project: Path) -> list[str]:
    """Types of what the stack's state holds."""
    state = json.loads(pulumi(project, "stack", "export").stdout)
    return [resource["type"] for resource in state["deployment"].get("resources", [])]


def test_the_native_project_with_the_native_pack(lab: Any, pulumi: Pulumi, tmp_path: Path) -> None:
    project = native(lab, pulumi, tmp_path, lab.blueprint("plain"), "plain-cloud")
    pack = ("--policy-pack", str(bundled("policies")))

    foreseen = pulumi(project, "preview", *pack)
    assert "rackwright:cluster:Cluster" in foreseen.stdout
    assert resources(pulumi, project) == []

    pulumi(project, "up", "--yes", "--skip-preview", *pack)
    assert "aws:ec2/vpc:Vpc" in resources(pulumi, project)
    # The blueprint is encrypted in the state: a field of the nodes is not in the one of the network.
    assert "root_volume" not in pulumi(project, "stack", "export").stdout
    again = pulumi(project, "up", "--yes", "--skip-preview", "--expect-no-changes", *pack)
    assert "unchanged" in again.stdout


def test_the_native_project_refuses(lab: Any, pulumi: Pulumi, tmp_path: Path) -> None:
    blueprint = lab.blueprint("plain-refused", **{"L-417A185B: 4096": "L-417A185B: 100"})
    project = native(lab, pulumi, tmp_path, blueprint, "plain-refused-cloud")

    refused = pulumi(project, "up", "--yes", "--skip-preview", expect=None)

    assert refused.returncode != 0
    assert "AWS-004" in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stdout + refused.stderr
    assert [kind for kind in resources(pulumi, project) if "Stack" not in kind] == []


def test_the_pack_blocks_what_no_program_judged(lab: Any, pulumi: Pulumi, tmp_path: Path) -> None:
    project = tmp_path / "ungated"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: ungated\nruntime: python\n")
    (project / "__main__.py").write_text(UNGATED)
    pulumi(project, "stack", "init", "ungated")
    update = ("up", "--yes", "--skip-preview", "--policy-pack", str(bundled("policies")))

    bad = lab.blueprint("ungated-bad", **{"L-417A185B: 4096": "L-417A185B: 100"})
    pulumi(project, "config", "set", "blueprint", str(bad))
    blocked = pulumi(project, *update, expect=None)
    assert blocked.returncode != 0
    assert "AWS-004" in blocked.stdout
    assert "rackwright:cluster:Cluster" not in resources(pulumi, project)

    pulumi(project, "config", "set", "blueprint", str(lab.blueprint("ungated-good")))
    pulumi(project, *update)
    assert "rackwright:cluster:Cluster" in resources(pulumi, project)


SPLIT = """
import pulumi, pulumi_aws as aws

vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
group = aws.ec2.SecurityGroup("group", vpc_id=vpc.id)
for at in range(int(pulumi.Config().require("rules"))):
    aws.vpc.SecurityGroupIngressRule(
        f"rule-{at}", security_group_id=group.id, ip_protocol="tcp", from_port=22, to_port=22,
        cidr_ipv4=f"{20 + at}.0.0.0/8",
    )
"""
"""A program whose rules are the Internet together, in a group whose id is unknown before it is created."""


def test_the_pack_joins_rules_in_separate_resources(
    lab: Any, pulumi: Pulumi, tmp_path: Path
) -> None:
    project = tmp_path / "split"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: split\nruntime: python\n")
    (project / "__main__.py").write_text(SPLIT)
    pulumi(project, "stack", "init", "split")
    pulumi(project, "config", "set", "aws:region", "us-east-1")
    preview = ("preview", "--policy-pack", str(bundled("policies")))

    pulumi(project, "config", "set", "rules", "16")
    blocked = pulumi(project, *preview, expect=None)
    assert blocked.returncode != 0
    assert "RES-003" in blocked.stdout
    assert "are open together" in blocked.stdout

    pulumi(project, "config", "set", "rules", "15")
    assert "RES-003" not in pulumi(project, *preview).stdout
