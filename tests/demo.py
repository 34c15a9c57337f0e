"""The main job from end to end on the embedded defaults: what ``make demo`` runs.

``judge`` writes a blueprint and judges it, and refuses it with a fifth node in every rack; that needs
nothing but the core of the package. ``deploy`` provisions it by the real Pulumi engine on the
embedded AWS and lists what exists through boto3. As root, it goes on to bare metal: six machines are
booted here, configured by Ansible, and run Slurm jobs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RACKWRIGHT = os.environ.get("RACKWRIGHT", "rackwright")
FOLDER = Path(os.environ.get("DEMO", ".rackwright/demo")).resolve()
STATE = FOLDER / "state"


BLUEPRINT = FOLDER / "blueprint.yaml"
FIVE_PER_RACK = FOLDER / "five-per-rack.yaml"


def main(part: str) -> int:
    """Run every step of a part; the first one that does not end as it must ends the demo."""
    os.environ["RACKWRIGHT_STATE"] = str(STATE)
    return {"judge": judge, "deploy": deploy}[part]()


def judge() -> int:
    """From a template to two verdicts."""
    if not BLUEPRINT.exists():
        step(
            "a blueprint from a template", "init", FOLDER, "--template", "hybrid-h100", "--example"
        )
    step("is it sound?", "check", BLUEPRINT)
    step("five DGX H100 in every rack", "check", BLUEPRINT, "--layer", FIVE_PER_RACK, expect=5)
    return 0


def deploy() -> int:
    """From a blueprint that is sound to clusters; one that is refused changes nothing."""
    local = ("--target", "local", "--yes")
    step("provision the AWS site", "up", BLUEPRINT, *local)
    say("what exists, asked through boto3")
    before = show(list_resources(BLUEPRINT))
    step("again: nothing to do", "up", BLUEPRINT, *local)
    refused = ("up", BLUEPRINT, "--layer", FIVE_PER_RACK, *local)
    step("five per rack cannot be provisioned", *refused, expect=5)
    if list_resources(BLUEPRINT) != before:
        say("FAILED: the refused blueprint changed something")
        return 1
    say("nothing was created")
    return bare_metal(FOLDER / "lab")


def bare_metal(folder: Path) -> int:
    """From nothing to Slurm jobs on machines of the lab."""
    if os.geteuid() != 0 or sys.platform != "linux":
        say("bare metal: left out, the lab needs root on Linux")
        return 0
    blueprint = folder / "blueprint.yaml"
    if not blueprint.exists():
        step("a small cluster", "init", folder, "--template", "lab", "--example")
    try:
        step("one head, one login, four compute hosts", "lab", "up", "--blueprint", blueprint)
        step("Slurm on them", "configure", blueprint, "--lab", "lab")
        step("a job on four hosts", *on_login("srun -N4 hostname"))
        job = "sbatch --wait --array=1-8 --gres=gpu:h100:4 --wrap 'sleep 1'"
        step("eight jobs of four GPUs each", *on_login(job))
        step(
            "what ran", *on_login("sacct --allocations --format=JobID,State,NodeList,AllocTRES%50")
        )
    finally:
        step("remove the lab", "lab", "down")
    return 0


def on_login(command: str) -> tuple[str, ...]:
    """The words that run ``command`` on the login host."""
    return ("lab", "ssh", "login-1", command)


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

    def client(service: str) -> Any:
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


def count_efa(ec2: Any, template: str) -> int:
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
    sys.exit(main(sys.argv[1]))
