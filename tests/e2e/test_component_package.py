"""The component package: its schema by Pulumi's own tools, programs of YAML and TypeScript on the embedded AWS."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from language_hosts_support import node_host, write_typescript, yaml_host
from npm_tools import installed
from plain_pulumi import Pulumi, pulumi_of
from rackwright.resources import bundled

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

PROGRAM = """
name: consumer
runtime: yaml
resources:
  network:
    type: rackwright-components:Network
    properties:
      blueprint: {blueprint}
  storage:
    type: rackwright-components:Storage
    properties:
      blueprint: {blueprint}
      vpcId: ${{network.vpcId}}
      subnetIds: ${{network.subnetIds}}
      securityGroupIds: ${{network.securityGroupIds}}
  nodes:
    type: rackwright-components:Nodes
    properties:
      blueprint: {blueprint}
      vpcId: ${{network.vpcId}}
      subnetIds: ${{network.subnetIds}}
      securityGroupIds: ${{network.securityGroupIds}}
      dnsZoneId: ${{network.dnsZoneId}}
      fileSystems: ${{storage.fileSystems}}
outputs:
  vpc: ${{network.vpcId}}
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package: Pulumi makes a virtual environment in its folder."""
    return Path(shutil.copytree(bundled("stacks") / "rackwright-components", tmp_path / "package"))


@pytest.fixture
def pulumi(lab: Any) -> Pulumi:
    """Runs the CLI with the language host of YAML."""
    return pulumi_of(lab, yaml_host())


def consumer(pulumi: Pulumi, folder: Path, package: Path, blueprint: Path) -> Path:
    """A project of YAML to which the package was added, with a stack."""
    folder = folder / "consumer"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text(
        PROGRAM.format(blueprint=os.path.relpath(blueprint, folder))
    )
    pulumi(folder, "package", "add", str(package))
    pulumi(folder, "stack", "init", folder.parent.name)
    pulumi(folder, "config", "set", "aws:region", "us-east-1")
    return folder


def test_pulumi_reads_the_schema_of_the_package(
    pulumi: Pulumi, package: Path, tmp_path: Path
) -> None:
    schema = json.loads(pulumi(tmp_path, "package", "get-schema", str(package)).stdout)
    assert schema["name"] == "rackwright-components"
    assert set(schema["resources"]) == {
        f"rackwright-components:index:{name}" for name in ("Network", "Storage", "Nodes")
    }
    network = schema["resources"]["rackwright-components:index:Network"]
    assert network["requiredInputs"] == ["blueprint"]
    assert network["properties"]["vpcId"]["type"] == "string"


def test_a_program_of_yaml_uses_the_package(
    lab: Any, pulumi: Pulumi, package: Path, tmp_path: Path
) -> None:
    project = consumer(pulumi, tmp_path, package, lab.blueprint("yaml"))
    foreseen = pulumi(project, "preview").stdout
    for kind in ("ec2:Vpc", "fsx:LustreFileSystem", "autoscaling:Group"):
        assert f"aws:{kind}" in foreseen

    pulumi(project, "up", "--yes", "--skip-preview")
    (vpc,) = lab.client("ec2").describe_vpcs(
        Filters=[{"Name": "tag:rackwright:cluster", "Values": ["yaml"]}]
    )["Vpcs"]
    assert json.loads(pulumi(project, "stack", "output", "--json").stdout)["vpc"] == vpc["VpcId"]
    again = pulumi(project, "preview", "--expect-no-changes").stdout
    assert "unchanged" in again


def test_a_program_of_typescript_uses_the_package(lab: Any, package: Path, tmp_path: Path) -> None:
    pulumi = pulumi_of(lab, node_host())
    source = installed("typescript_consumer")
    project = tmp_path / "consumer"
    shutil.copytree(source, project, ignore=shutil.ignore_patterns("node_modules"))
    (project / "node_modules").symlink_to(source / "node_modules")
    write_typescript(
        pulumi(tmp_path, "package", "get-schema", str(package)).stdout, project / "sdk"
    )
    pulumi(project, "stack", "init", "typescript")
    pulumi(project, "config", "set", "aws:region", "us-east-1")
    blueprint = os.path.relpath(lab.blueprint("typescript"), project)
    pulumi(project, "config", "set", "blueprint", blueprint)
    foreseen = pulumi(project, "preview").stdout
    for kind in ("ec2:Vpc", "fsx:LustreFileSystem", "autoscaling:Group"):
        assert f"aws:{kind}" in foreseen


def test_a_blueprint_that_is_refused_declares_nothing(
    lab: Any, pulumi: Pulumi, package: Path, tmp_path: Path
) -> None:
    bad = lab.blueprint("yaml-refused", **{"L-417A185B: 4096": "L-417A185B: 100"})
    project = consumer(pulumi, tmp_path, package, bad)
    done = pulumi(project, "preview", expect=1)
    told = done.stdout + done.stderr
    assert "AWS-004" in told
    assert "aws:ec2:Vpc" not in told
