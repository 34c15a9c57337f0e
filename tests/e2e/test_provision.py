"""The real Pulumi engine on the embedded AWS: create, repeat, change, refuse, remove."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from rackwright.crossguard.decode import SECRET, SIGNATURE_KEY

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(2400)]
KINDS = {"aws-network", "aws-storage", "aws-cluster"}


def names_of(lab: Any, cluster: str) -> dict[str, list[str]]:
    """What carries the cluster's name in the embedded AWS, by kind."""
    by_cluster = [{"Name": "tag:rackwright:cluster", "Values": [cluster]}]
    ec2 = lab.client("ec2")
    groups = lab.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    systems = lab.client("fsx").describe_file_systems()["FileSystems"]
    return {
        "vpcs": [v["VpcId"] for v in ec2.describe_vpcs(Filters=by_cluster)["Vpcs"]],
        "subnets": [s["SubnetId"] for s in ec2.describe_subnets(Filters=by_cluster)["Subnets"]],
        "templates": [
            t["LaunchTemplateName"]
            for t in ec2.describe_launch_templates()["LaunchTemplates"]
            if cluster in t["LaunchTemplateName"]
        ],
        "groups": [
            g["AutoScalingGroupName"] for g in groups if cluster in g["AutoScalingGroupName"]
        ],
        "file systems": [
            s["FileSystemId"]
            for s in systems
            if {"Key": "rackwright:cluster", "Value": cluster} in s["Tags"]
        ],
    }


def assert_secrets_are_encrypted(lab: Any, stack: str) -> None:
    """The SSM parameter's value, which the provider's schema calls secret, is ciphertext only."""
    state = lab.folder / "state/local"
    text = (state / f"pulumi/.pulumi/stacks/aws-network/{stack}.json").read_text()
    deployment = json.loads(text)["checkpoint"]["latest"]
    assert deployment["secrets_providers"]["type"] == "passphrase"
    (parameter,) = [r for r in deployment["resources"] if r["type"].endswith(":Parameter")]
    for values in (parameter["inputs"], parameter["outputs"]):
        assert values["value"][SIGNATURE_KEY] == SECRET
        assert set(values["value"]) == {SIGNATURE_KEY, "ciphertext"}
    (known,) = lab.client("ssm").get_parameters(Names=[parameter["id"]])["Parameters"]
    assert "vpc_id" in json.loads(known["Value"])
    for plain in (known["Value"], json.dumps(known["Value"])[1:-1]):
        assert plain not in text
    passphrase = state / "passphrase"
    assert passphrase.stat().st_mode & 0o777 == 0o600
    assert passphrase.read_text() not in text


def assert_hosts_have_names(lab: Any, blueprint: Path) -> None:
    """``up`` has named the instances; one that is replaced gives its name to the next."""
    lab.inject(operation="DescribeInstances", times=2, error="RequestLimitExceeded")
    told = json.loads(lab.run("status", blueprint, "--target", "local", "--json"))
    before = told["nodes"]["train"]["private_ips"]
    assert list(before) == ["train-1", "train-2"]
    path = lab.folder / "outputs.json"
    path.write_text(json.dumps(told))
    listed = json.loads(lab.run("inventory", blueprint, "--outputs", path))
    hosts = listed["_meta"]["hostvars"]
    assert {name: hosts[name]["ansible_host"] for name in before} == before

    ec2, scaling = lab.client("ec2"), lab.client("autoscaling")
    wanted = [{"Name": "tag:rackwright:host", "Values": ["train-1"]}]
    (found,) = ec2.describe_instances(Filters=wanted)["Reservations"]
    scaling.terminate_instance_in_auto_scaling_group(
        InstanceId=found["Instances"][0]["InstanceId"], ShouldDecrementDesiredCapacity=False
    )
    scaling.set_desired_capacity(AutoScalingGroupName="life-cloud-train", DesiredCapacity=2)
    foreseen = json.loads(lab.run("hosts", blueprint, "--target", "local", "--check", "--json"))
    assert foreseen["named"] == 1
    done = json.loads(lab.run("hosts", blueprint, "--target", "local", "--json"))
    after = done["nodes"]["train"]["private_ips"]
    assert after["train-2"] == before["train-2"]
    assert after["train-1"] != before["train-1"]
    again = json.loads(lab.run("hosts", blueprint, "--target", "local", "--json"))
    assert (again["named"], again["records"]) == (0, 0)


def assert_outdated_nodes_are_replaced(lab: Any, blueprint: Path) -> None:
    """Nodes stay what they are until they are replaced by name, and none is ended by ``up``."""
    target = ("--target", "local", "--yes")
    before = json.loads(lab.run("status", blueprint, "--target", "local", "--json"))
    assert {one["host"]: one["differs"] for one in before["outdated"]} == {
        "train-1": ["disks"],
        "train-2": ["disks"],
    }
    lab.run("replace", blueprint, "train-1", *target)
    after = json.loads(lab.run("status", blueprint, "--target", "local", "--json"))
    assert [one["host"] for one in after["outdated"]] == ["train-2"]
    ids = [one["nodes"]["train"]["instance_ids"] for one in (before, after)]
    assert ids[0]["train-1"] != ids[1]["train-1"]
    assert ids[0]["train-2"] == ids[1]["train-2"]

    text = blueprint.read_text()
    smaller = blueprint.with_name("smaller.yaml")
    smaller.write_text(text.replace("count: 2", "count: 1"))
    lab.run("up", smaller, *target, expect=2)
    lab.run("replace", smaller, "--surplus", *target)
    lab.run("up", smaller, *target)
    left = json.loads(lab.run("status", smaller, "--target", "local", "--json"))
    assert left["nodes"]["train"]["instance_ids"] == {"train-1": ids[1]["train-1"]}
    lab.run("up", blueprint, *target)


def test_life_of_a_cluster(lab: Any) -> None:
    blueprint = lab.blueprint("life")
    created = lab.stacks("up", blueprint, "--yes")
    assert set(created) == KINDS
    assert all(stack["changes"]["create"] > 0 for stack in created.values())
    exists = names_of(lab, "life")
    assert [len(exists[k]) for k in ("vpcs", "templates", "groups", "file systems")] == [1, 1, 1, 1]

    assert_secrets_are_encrypted(lab, "life-cloud")

    again = lab.stacks("up", blueprint, "--yes")
    assert [stack["changes"] for stack in again.values()] == [{}, {}, {}]
    assert_hosts_have_names(lab, blueprint)

    changed = lab.blueprint("life", **{"root_volume: 500 GiB": "root_volume: 600 GiB"})
    foreseen = lab.stacks("preview", changed)
    assert foreseen["aws-cluster"]["changes"].get("update", 0) >= 1
    assert names_of(lab, "life") == exists, "a preview changes nothing"
    updated = lab.stacks("up", changed, "--yes", expect=8)
    assert updated["aws-cluster"]["changes"].get("update", 0) >= 1
    assert updated["aws-network"]["changes"] == {}
    assert "create" not in updated["aws-cluster"]["changes"]

    status = lab.stacks("status", changed)
    assert set(status) == KINDS
    assert_outdated_nodes_are_replaced(lab, changed)

    removed = lab.stacks("down", changed, "--yes")
    assert removed["aws-cluster"]["retained"] == []
    left = names_of(lab, "life")
    assert left["file systems"] == exists["file systems"], "storage is retained"
    assert left["templates"] == left["groups"] == []
    assert list(lab.temporary.iterdir()) == [], "nothing temporary is left"


def head_of(lab: Any, blueprint: Path) -> tuple[str, str]:
    """The instance of the head node, and its data volume."""
    servers = lab.stacks("status", blueprint)["aws-cluster"]["outputs"]["servers"]["head"]
    return servers["instance_ids"]["head-1"], servers["data_volumes"]["head-1"]


def test_another_image_replaces_the_head_node_and_never_its_data_volume(lab: Any) -> None:
    """Detached before it goes, saved before it is detached; and a snapshot gives the next one its state."""
    ec2 = lab.client("ec2")
    intel = [{"Name": "architecture", "Values": ["x86_64"]}]
    images = sorted(one["ImageId"] for one in ec2.describe_images(Filters=intel)["Images"])

    def blueprint(image: str, volume: str = "size: 200 GiB") -> Path:
        path: Path = lab.blueprint("kept")
        before, head, after = re.split(
            r"( {4}head:.*?100 GiB\n)", path.read_text(), flags=re.DOTALL
        )
        head = re.sub(r"image: \S+", f"image: {image}", head)
        path.write_text(f"{before}{head}      data_volume: {{{volume}}}\n{after}")
        return path

    lab.stacks("up", blueprint(images[0]), "--yes")
    instance, volume = head_of(lab, blueprint(images[0]))
    (policy,) = lab.client("dlm").get_lifecycle_policies()["Policies"]
    assert policy["State"] == "ENABLED"

    other = blueprint(images[1])
    foreseen = lab.stacks("preview", other)
    assert "kept-cloud-head-1" in foreseen["aws-cluster"]["replaced"]
    assert foreseen["aws-storage"]["changes"] == {}
    lab.run("up", other, "--target", "local", "--yes", expect=2)
    assert head_of(lab, other) == (instance, volume), "nobody has said so"

    seen = len(lab.calls())
    lab.stacks("up", other, "--yes", "--replace-head")
    steps = ["CreateSnapshots", "StopInstances", "DetachVolume", "TerminateInstances"]
    called = [one for one in lab.calls()[seen:] if one in {*steps, "RunInstances", "AttachVolume"}]
    assert called == [*steps, "RunInstances", "AttachVolume"]
    successor, same = head_of(lab, other)
    assert (successor != instance, same) == (True, volume)
    (told,) = ec2.describe_volumes(VolumeIds=[volume])["Volumes"]
    assert [one["InstanceId"] for one in told["Attachments"]] == [successor]

    (snapshot,) = [
        one["SnapshotId"]
        for one in ec2.describe_snapshots()["Snapshots"]
        if one["VolumeId"] == volume
    ]
    restored = blueprint(images[1], f"size: 200 GiB, snapshot: {snapshot}")
    lab.run("up", restored, "--target", "local", "--yes", expect=4)  # the volume is protected
    lab.stacks("up", restored, "--yes", "--restore")
    unchanged, fresh = head_of(lab, restored)
    assert (unchanged, fresh != volume) == (successor, True)
    (made, was) = ec2.describe_volumes(VolumeIds=[fresh, volume])["Volumes"]
    made, was = (made, was) if made["VolumeId"] == fresh else (was, made)
    assert (made["SnapshotId"], was["State"]) == (snapshot, "available")
    (running,) = ec2.describe_instances(InstanceIds=[successor])["Reservations"][0]["Instances"]
    assert running["State"]["Name"] == "running"
    again = lab.stacks("up", restored, "--yes")
    assert [stack["changes"] for stack in again.values()] == [{}, {}, {}]


def test_what_is_retained_is_taken_over_by_the_next_stack(lab: Any) -> None:
    """Key, alias, file system and data volume; what is somebody else's is refused."""
    blueprint = lab.blueprint(
        "left", **{"root_volume: 100 GiB": "root_volume: 100 GiB\n      data_volume: {}"}
    )
    lab.stacks("up", blueprint, "--yes")
    kms, fsx, ec2 = lab.client("kms"), lab.client("fsx"), lab.client("ec2")
    own = [{"Name": "tag:Name", "Values": ["left-cloud-head-1-data"]}]

    def retained() -> tuple[list[str], list[str], list[str]]:
        """Ids of what the account has: the target of the alias, file systems, data volumes."""
        return (
            [a["TargetKeyId"] for a in kms.list_aliases()["Aliases"] if "left" in a["AliasName"]],
            [
                one["FileSystemId"]
                for one in fsx.describe_file_systems()["FileSystems"]
                if {"Key": "Name", "Value": "left-cloud-scratch"} in one["Tags"]
            ],
            [one["VolumeId"] for one in ec2.describe_volumes(Filters=own)["Volumes"]],
        )

    before = retained()
    assert [len(ids) for ids in before] == [1, 1, 1]
    record = lab.folder / "state/local/pulumi/.pulumi/stacks/aws-storage/left-cloud.json"
    document = json.loads(record.read_text())
    for resource in document["checkpoint"]["latest"]["resources"]:
        resource["protect"] = False  # as with 'protect: false' in the stack's configuration
    record.write_text(json.dumps(document))
    removed = lab.stacks("down", blueprint, "--yes")
    assert removed["aws-storage"]["retained"] == []
    assert retained() == before, "the stack has forgotten them, and the account has not"

    ((key,), _, _) = before
    other = [{"TagKey": "rackwright:site", "TagValue": "elsewhere"}]
    kms.tag_resource(KeyId=key, Tags=other)
    lab.run("up", blueprint, "--target", "local", "--yes", expect=2)
    kms.tag_resource(KeyId=key, Tags=[{**other[0], "TagValue": "cloud"}])

    foreseen = lab.stacks("preview", blueprint)
    assert foreseen["aws-storage"]["changes"]["import"] == 4
    done = lab.stacks("up", blueprint, "--yes")
    assert done["aws-storage"]["changes"]["import"] == 4
    assert retained() == before
    again = lab.stacks("up", blueprint, "--yes")
    assert [stack["changes"] for stack in again.values()] == [{}, {}, {}]


EFS = """\
    efs:
      - {name: home, mount: /home, tiering: {infrequent_access: 30 d}}
      - {name: software, mount: /software, existing: {id: fs-0123456789abcdef0}}
    file_systems:
      - name: old
        mount: /old
        existing: {id: fs-0123456789abcdef1, mount_name: abcdefgh}
"""


def test_homes_on_efs_outlive_their_stack_and_what_exists_is_left_alone(lab: Any) -> None:
    """An EFS with its mount target and backups; beside it file systems that somebody else has made."""
    changes = {"    file_systems:\n": EFS}
    blueprint = lab.blueprint("homes", **changes)
    lab.stacks("up", blueprint, "--yes")
    efs = lab.client("efs")

    def home() -> dict[str, Any]:
        (found,) = efs.describe_file_systems(CreationToken="homes-cloud-home")["FileSystems"]
        return dict(found)

    made = home()
    identity = made["FileSystemId"]
    assert (made["Encrypted"], made["ThroughputMode"]) == (True, "elastic")
    assert efs.describe_backup_policy(FileSystemId=identity)["BackupPolicy"]["Status"] == "ENABLED"
    (target,) = efs.describe_mount_targets(FileSystemId=identity)["MountTargets"]
    assert target["AvailabilityZoneName"] == "us-east-1a"
    told = json.loads(lab.run("status", blueprint, "--target", "local", "--json"))
    (outputs,) = (s["outputs"] for s in told["stacks"] if "servers" in s["outputs"])
    assert outputs["efs"]["home"]["dns_name"] == f"{identity}.efs.us-east-1.amazonaws.com"
    assert outputs["efs"]["software"]["id"] == "fs-0123456789abcdef0"
    assert outputs["file_systems"]["old"]["mount_name"] == "abcdefgh"
    again = lab.stacks("up", blueprint, "--yes")
    assert [stack["changes"] for stack in again.values()] == [{}, {}, {}]

    slower = {"name: home, ": "name: home, throughput: bursting, "}
    changed = lab.stacks("up", lab.blueprint("homes", **changes, **slower), "--yes")
    assert changed["aws-storage"]["changes"] == {"update": 1}
    assert (home()["FileSystemId"], home()["ThroughputMode"]) == (identity, "bursting")

    record = lab.folder / "state/local/pulumi/.pulumi/stacks/aws-storage/homes-cloud.json"
    document = json.loads(record.read_text())
    for resource in document["checkpoint"]["latest"]["resources"]:
        resource["protect"] = False  # as with 'protect: false' in the stack's configuration
    record.write_text(json.dumps(document))
    lab.stacks("down", blueprint, "--yes")
    assert home()["NumberOfMountTargets"] == 0
    assert efs.describe_backup_policy(FileSystemId=identity)["BackupPolicy"]["Status"] == "ENABLED"
    done = lab.stacks("up", blueprint, "--yes")
    assert done["aws-storage"]["changes"]["import"] >= 3, "the key, its alias and the file system"
    assert (home()["FileSystemId"], home()["NumberOfMountTargets"]) == (identity, 1)


def test_a_violation_leaves_nothing_created(lab: Any) -> None:
    blueprint = lab.blueprint("refused", **{"L-417A185B: 4096": "L-417A185B: 100"})
    lab.run("up", blueprint, "--target", "local", "--yes", expect=5)
    assert not any(names_of(lab, "refused").values())


def test_an_api_failure_halfway_then_up_completes(lab: Any) -> None:
    blueprint = lab.blueprint("faulty")
    # Of the first a group is left that lets everything out. AWS has done the second, whose value is a
    # secret that the engine's events hide, and not the third.
    for operation, after in (
        ("RevokeSecurityGroupEgress", False),
        ("PutParameter", True),
        ("CreateAutoScalingGroup", False),
    ):
        lab.inject(operation=operation, times=50, error="LimitExceeded", after=after)
        lab.run("up", blueprint, "--target", "local", "--yes", expect=4)
        lab.clear_faults()
    lab.stacks("up", blueprint, "--yes")
    assert "AuthorizeSecurityGroupEgress" not in lab.refused(), "the rule of AWS stands in its way"
    exists = names_of(lab, "faulty")
    assert [len(exists[k]) for k in ("vpcs", "templates", "groups", "file systems")] == [1, 1, 1, 1]
    assert [s["changes"] for s in lab.stacks("up", blueprint, "--yes").values()] == [{}, {}, {}]


@contextmanager
def held_in(
    lab: Any, operation: str, blueprint: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """An ``up`` whose call is done and whose answer is held: AWS has it, the engine does not know."""
    before = lab.calls().count(operation)
    lab.inject(operation=operation, times=1, latency_s=20, after=True)
    with (
        log.open("w") as output,
        subprocess.Popen(
            lab.command("up", blueprint, "--target", "local", "--yes"),
            env=lab.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            deadline = time.monotonic() + 240
            while lab.calls().count(operation) == before:
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    "operation",
    [
        "CreateVpc",
        pytest.param(
            "CreateLaunchTemplate",
            marks=pytest.mark.soak(reason="a second place; killed runs have six"),
        ),
    ],
)
def test_kill_9_of_the_engine_then_up_completes(lab: Any, operation: str) -> None:
    cluster = f"killed-{operation.lower()}"
    blueprint = lab.blueprint(cluster)
    log = Path(lab.folder / f"{operation}.log")
    with held_in(lab, operation, blueprint, log) as process:
        engines = [p for p in psutil.Process(process.pid).children(True) if p.name() == "pulumi"]
        assert engines
        for engine in engines:
            os.kill(engine.pid, signal.SIGKILL)
        assert process.wait(timeout=120) == 4, log.read_text()
    assert "Traceback" not in log.read_text()
    # It may be killed while it writes what it keeps beside the state.
    states = lab.folder / "state/local/pulumi/.pulumi/stacks/aws-network"
    (states / f"{cluster}-cloud.json.attrs").write_bytes(b"")
    lab.stacks("up", blueprint, "--yes")
    exists = names_of(lab, cluster)
    assert [len(exists[k]) for k in ("vpcs", "templates", "groups", "file systems")] == [1, 1, 1, 1]
    assert [s["changes"] for s in lab.stacks("up", blueprint, "--yes").values()] == [{}, {}, {}]


def test_a_second_up_is_refused_and_an_interrupted_one_goes_on(lab: Any) -> None:
    blueprint = lab.blueprint("stopped")
    log = Path(lab.folder / "stopped.log")
    with held_in(lab, "CreateVpc", blueprint, log) as process:
        second = subprocess.run(
            lab.command("up", blueprint, "--target", "local", "--yes"),
            env=lab.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        engines = [p for p in psutil.Process(process.pid).children(True) if p.name() == "pulumi"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130, log.read_text()
    assert second.returncode == 4, second.stderr
    assert f"process {process.pid}" in second.stderr
    assert "Traceback" not in second.stderr + log.read_text()
    assert engines
    assert not any(engine.is_running() for engine in engines), "the engine is not left behind"
    lab.stacks("up", blueprint, "--yes")
    exists = names_of(lab, "stopped")
    assert [len(exists[k]) for k in ("vpcs", "templates", "groups", "file systems")] == [1, 1, 1, 1]
