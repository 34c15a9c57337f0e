"""The main job from end to end on the embedded defaults: what ``make demo`` runs.

A blueprint is written, judged, provisioned by the real Pulumi engine on the embedded AWS and
listed through boto3; then the same blueprint with a fifth node in every rack is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

RACKWRIGHT = os.environ.get("RACKWRIGHT", "rackwright")
FOLDER = Path(os.environ.get("DEMO", ".rackwright/demo")).resolve()
STATE = FOLDER / "state"


def main() -> int:
    """Run every step; the first one that does not end as it must ends the demo."""
    os.environ["RACKWRIGHT_STATE"] = str(STATE)
    blueprint = FOLDER / "blueprint.yaml"
    layer = FOLDER / "five-per-rack.yaml"
    if not blueprint.exists():
        step("a blueprint from a template", "init", FOLDER, "--template", "hybrid-h100")
    step("is it sound?", "check", blueprint)
    step("provision the AWS site", "up", blueprint, "--target", "local", "--yes")
    say("what exists, asked through boto3")
    before = show(list_resources(blueprint))
    step("again: nothing to do", "up", blueprint, "--target", "local", "--yes")
    step("five DGX H100 in every rack", "check", blueprint, "--layer", layer, expect=5)
    step(
        "and it cannot be provisioned",
        *("up", blueprint, "--layer", layer, "--target", "local", "--yes"),
        expect=5,
    )
    if list_resources(blueprint) != before:
        say("FAILED: the refused blueprint changed something")
        return 1
    say("nothing was created")
    return 0


def say(text: str) -> None:
    """Print a headline."""
    print(f"\n\033[1m── {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def step(title: str, *arguments: object, expect: int = 0) -> None:
    """Run one command and end the demo when its exit code is not ``expect``."""
    command = [RACKWRIGHT, *map(str, arguments)]
    shown = " ".join(["rackwright", *map(str, arguments)]).replace(f"{FOLDER}/", "")
    say(f"{title}\n$ {shown}")
    started = time.monotonic()
    code = subprocess.run(command, check=False).returncode
    print(f"(exit {code}, {time.monotonic() - started:.1f} s)", flush=True)
    if code != expect:
        sys.exit(f"the demo expected exit code {expect}")


def list_resources(blueprint: Path) -> dict[str, list[str]]:
    """What exists on the embedded AWS, by kind."""
    import boto3

    status = subprocess.run(
        [RACKWRIGHT, "status", str(blueprint), "--target", "local", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    session = boto3.Session("embedded", "embedded", region_name="us-east-1")
    endpoint = json.loads(status.stdout)["endpoint"]

    def client(service: str):
        return session.client(service, endpoint_url=endpoint)

    ec2, groups = client("ec2"), client("autoscaling").describe_auto_scaling_groups()
    found = {
        "VPC": [v["CidrBlock"] for v in ec2.describe_vpcs()["Vpcs"] if not v["IsDefault"]],
        "launch template": [
            f"{t['LaunchTemplateName']}: {count_efa(ec2, t['LaunchTemplateId'])} EFA interfaces"
            for t in ec2.describe_launch_templates()["LaunchTemplates"]
        ],
        "placement group": [
            f"{g['GroupName']} ({g['Strategy']})"
            for g in ec2.describe_placement_groups()["PlacementGroups"]
        ],
        "Auto Scaling group": [
            f"{g['AutoScalingGroupName']}: {g['DesiredCapacity']} wanted, {len(g['Instances'])} run"
            for g in groups["AutoScalingGroups"]
        ],
        "FSx for Lustre": [
            f"{f['FileSystemId']}: {f['StorageCapacity']} GiB"
            for f in client("fsx").describe_file_systems()["FileSystems"]
        ],
        "S3 bucket": [b["Name"] for b in client("s3").list_buckets()["Buckets"]],
    }
    return {kind: sorted(items) for kind, items in found.items()}


def count_efa(ec2, template: str) -> int:
    """Number of EFA interfaces in the newest version of a launch template."""
    versions = ec2.describe_launch_template_versions(
        LaunchTemplateId=template, Versions=["$Latest"]
    )["LaunchTemplateVersions"]
    interfaces = versions[0]["LaunchTemplateData"].get("NetworkInterfaces", [])
    return sum(1 for i in interfaces if str(i.get("InterfaceType", "")).startswith("efa"))


def show(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Print ``found`` and return it."""
    for kind, items in found.items():
        for item in items:
            print(f"  {kind:<20} {item}")
    return found


if __name__ == "__main__":
    sys.exit(main())
