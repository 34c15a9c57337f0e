"""The real Pulumi engine on the embedded AWS: create, no change, update, kill, destroy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rackwright.embedded_aws.control import Embedded
from unit.embedded_aws.engine import admin, client_of

TOOLS = Path.home() / ".cache" / "rackwright" / "tools" / "bin"
PULUMI = shutil.which("pulumi", path=f"{TOOLS}{os.pathsep}{os.environ.get('PATH', '')}")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PULUMI is None, reason="no Pulumi CLI on this machine"),
]

PROGRAM = """
import json
import sys

import pulumi
import pulumi_aws as aws
from pulumi import automation

size, work, command = int(sys.argv[1]), sys.argv[2], sys.argv[3]
pulumi_root = sys.argv[4]


def program() -> None:
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", enable_dns_hostnames=True)
    zones = aws.get_availability_zones(state="available")
    subnet = aws.ec2.Subnet(
        "subnet", vpc_id=vpc.id, cidr_block="10.0.0.0/20", availability_zone=zones.names[0]
    )
    group = aws.ec2.SecurityGroup("efa", vpc_id=vpc.id)
    for name, kind in (
        ("in", aws.vpc.SecurityGroupIngressRule),
        ("out", aws.vpc.SecurityGroupEgressRule),
    ):
        kind(
            name,
            security_group_id=group.id,
            ip_protocol="-1",
            referenced_security_group_id=group.id,
        )
    image = aws.ec2.get_ami(
        most_recent=True,
        owners=["amazon"],
        filters=[{"name": "name", "values": ["Deep Learning Base OSS*(Ubuntu 22.04)*"]}],
    )
    placement = aws.ec2.PlacementGroup("pg", strategy="cluster")
    template = aws.ec2.LaunchTemplate(
        "p5",
        image_id=image.id,
        instance_type="p5.48xlarge",
        update_default_version=True,
        placement={"group_name": placement.name},
        network_interfaces=[
            {
                "network_card_index": card,
                "device_index": 0 if card == 0 else 1,
                "interface_type": "efa",
                "security_groups": [group.id],
                "delete_on_termination": "true",
            }
            for card in range(32)
        ],
        metadata_options={"http_tokens": "required"},
    )
    nodes = aws.autoscaling.Group(
        "nodes",
        min_size=0,
        max_size=8,
        desired_capacity=size,
        vpc_zone_identifiers=[subnet.id],
        launch_template={
            "id": template.id,
            "version": template.latest_version.apply(str),
        },
    )
    secret = aws.ssm.Parameter("munge", type="SecureString", value=pulumi.Output.secret("k"))
    pulumi.export("group", nodes.name)
    pulumi.export("vpc", vpc.id)
    pulumi.export("secret", secret.value)


stack = automation.create_or_select_stack(
    stack_name="dev",
    project_name="lab",
    program=program,
    opts=automation.LocalWorkspaceOptions(
        work_dir=work, pulumi_command=automation.PulumiCommand(pulumi_root, skip_version_check=True)
    ),
)
stack.set_config("aws:region", automation.ConfigValue("us-west-2"))
if command == "destroy":
    result = stack.destroy()
elif command == "preview":
    result = stack.preview()
    print(json.dumps({"changes": {str(k): v for k, v in result.change_summary.items()}}))
    sys.exit(0)
elif command == "refresh":
    result = stack.refresh()
else:
    result = stack.up()
outputs = stack.outputs()
print(
    json.dumps(
        {
            "changes": result.summary.resource_changes,
            "outputs": {name: one.value for name, one in outputs.items()},
            "secrets": sorted(name for name, one in outputs.items() if one.secret),
        }
    )
)
"""


@pytest.fixture
def run(embedded: Embedded, tmp_path: Path) -> Any:
    assert PULUMI is not None
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    work, state = tmp_path / "work", tmp_path / "state"
    work.mkdir()
    state.mkdir()
    root = str(Path(PULUMI).parent.parent)
    environment = {
        **os.environ,
        **embedded.environment(),
        "PATH": f"{TOOLS}{os.pathsep}{os.environ.get('PATH', '')}",
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": f"file://{state}",
        "PULUMI_CONFIG_PASSPHRASE": "passphrase",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }

    def start(command: str, size: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(program), str(size), str(work), command, root],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
        import json

        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err[-6000:]
        document: dict[str, Any] = json.loads(out.splitlines()[-1])
        return document

    def both(command: str, size: int = 2) -> dict[str, Any]:
        return finish(start(command, size))

    both.start = start  # type: ignore[attr-defined]
    both.work = (work, environment)  # type: ignore[attr-defined]
    return both


def instances(embedded: Embedded) -> int:
    states = [{"Name": "instance-state-name", "Values": ["running"]}]
    found = client_of(embedded, "ec2").describe_instances(Filters=states)["Reservations"]
    return sum(len(one["Instances"]) for one in found)


def test_the_engine_creates_updates_and_destroys(run: Any, embedded: Embedded) -> None:
    before = instances(embedded)
    planned = run("preview")
    assert planned["changes"]["create"] == 10
    assert instances(embedded) == before
    made = run("up")
    assert made["changes"] == {"create": 10}
    assert made["secrets"] == ["secret"]
    assert made["outputs"]["secret"] == "k"
    assert instances(embedded) == before + 2
    again = run("up")
    assert again["changes"] == {"same": 10}
    refreshed = run("refresh")
    assert refreshed["changes"] == {"same": 10}
    larger = run("up", 4)
    assert larger["changes"] == {"same": 9, "update": 1}
    assert instances(embedded) == before + 4
    gone = run("destroy")
    assert gone["changes"] == {"delete": 10}
    assert instances(embedded) == before


def test_a_killed_engine_leaves_nothing_behind(run: Any, embedded: Embedded) -> None:
    before = instances(embedded)
    admin(embedded, "DELETE", "calls")
    admin(
        embedded,
        "POST",
        "faults",
        {"operation": "CreateLaunchTemplate", "latency_s": 8.0, "after": True},
    )
    process = run.start("up", 2)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        calls = [one["operation"] for one in admin(embedded, "GET", "calls")["calls"]]
        if "CreateLaunchTemplate" in calls or process.poll() is not None:
            break
        time.sleep(0.1)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    admin(embedded, "DELETE", "faults")
    work, environment = run.work
    subprocess.run(
        [str(PULUMI), "cancel", "--yes", "--stack", "dev"],
        cwd=work,
        env=environment,
        check=False,
        capture_output=True,
    )
    made = run("up")
    assert sum(made["changes"].values()) == 10
    ec2 = client_of(embedded, "ec2")
    vpcs = [one for one in ec2.describe_vpcs()["Vpcs"] if not one["IsDefault"]]
    assert [one["VpcId"] for one in vpcs] == [made["outputs"]["vpc"]]
    assert len(ec2.describe_launch_templates()["LaunchTemplates"]) == 1
    assert len(ec2.describe_placement_groups()["PlacementGroups"]) == 1
    assert run("up")["changes"] == {"same": 10}
    assert run("destroy")["changes"] == {"delete": 10}
    assert instances(embedded) == before
