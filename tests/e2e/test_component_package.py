"""The component package: its schema by Pulumi's own tools, and a program of YAML on the embedded AWS."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from language_hosts_support import yaml_host
from rackwright.provision.targets import open_target
from rackwright.provision.tools import find_pulumi, pulumi_environment
from rackwright.resources import bundled

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]
Pulumi = Callable[..., str]

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
    """Runs the CLI in a folder, with the state and the AWS of the lab and the language host of YAML."""
    target = open_target("local", state=lab.folder / "state")
    tool = find_pulumi()
    assert tool is not None
    assert target.backend is not None
    environment = {
        **os.environ,
        **pulumi_environment(tool),
        **target.environment,
        "PULUMI_BACKEND_URL": target.backend,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    environment["PATH"] = os.pathsep.join([str(yaml_host().parent), environment["PATH"]])

    def run(folder: Path, *arguments: str, expect: int = 0) -> str:
        done = subprocess.run(
            ["pulumi", "--non-interactive", *arguments],
            executable=tool.path,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        report = f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == expect, report
        return done.stdout + (done.stderr if expect else "")

    return run


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
    schema = json.loads(pulumi(tmp_path, "package", "get-schema", str(package)))
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
    foreseen = pulumi(project, "preview")
    for kind in ("ec2:Vpc", "fsx:LustreFileSystem", "autoscaling:Group"):
        assert f"aws:{kind}" in foreseen

    pulumi(project, "up", "--yes", "--skip-preview")
    (vpc,) = lab.client("ec2").describe_vpcs(
        Filters=[{"Name": "tag:rackwright:cluster", "Values": ["yaml"]}]
    )["Vpcs"]
    assert json.loads(pulumi(project, "stack", "output", "--json"))["vpc"] == vpc["VpcId"]
    again = pulumi(project, "preview", "--expect-no-changes")
    assert "unchanged" in again


def test_a_blueprint_that_is_refused_declares_nothing(
    lab: Any, pulumi: Pulumi, package: Path, tmp_path: Path
) -> None:
    bad = lab.blueprint("yaml-refused", **{"L-417A185B: 4096": "L-417A185B: 100"})
    project = consumer(pulumi, tmp_path, package, bad)
    told = pulumi(project, "preview", expect=1)
    assert "AWS-004" in told
    assert "aws:ec2:Vpc" not in told
