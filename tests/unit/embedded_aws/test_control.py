"""Start, stop, status and reset of the embedded AWS, and what lasts between them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from rackwright.errors import ExternalToolError
from rackwright_lab.embedded_aws import control
from unit.embedded_aws.clients import IMAGE, ZONE, Connect, a_subnet, client_of

TRUST = '{"Version": "2012-10-17", "Statement": []}'


def made_of_all(aws: Connect) -> Callable[[Connect], list[Any]]:
    """Makes one of each thing whose state is of another form, and returns what reads them all."""
    ec2, fsx, efs, dlm, scaling = (aws(one) for one in ("ec2", "fsx", "efs", "dlm", "autoscaling"))
    subnet = a_subnet(ec2)
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}
    system = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        LustreConfiguration=lustre,
    )["FileSystem"]["FileSystemId"]
    fsx.create_data_repository_association(
        FileSystemId=system, FileSystemPath="/data", DataRepositoryPath="s3://kept-bucket"
    )
    home = efs.create_file_system(CreationToken="home")["FileSystemId"]
    efs.put_backup_policy(FileSystemId=home, BackupPolicy={"Status": "ENABLED"})
    role = aws("iam").create_role(RoleName="role", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    rule = {"IntervalUnit": "HOURS", "Interval": 24, "Times": ["03:30"]}
    schedule = {"Name": "daily", "CreateRule": rule, "RetainRule": {"Count": 14}}
    details = {
        "ResourceTypes": ["VOLUME"],
        "TargetTags": [{"Key": "a", "Value": "b"}],
        "Schedules": [schedule],
    }
    dlm.create_lifecycle_policy(
        Description="kept", State="ENABLED", ExecutionRoleArn=role, PolicyDetails=details
    )
    ec2.create_placement_group(GroupName="near", Strategy="cluster")
    reservation = ec2.create_capacity_reservation(
        AvailabilityZone=ZONE,
        InstanceCount=2,
        InstancePlatform="Linux/UNIX",
        InstanceType="p5.48xlarge",
    )["CapacityReservation"]["CapacityReservationId"]
    target = {"CapacityReservationTarget": {"CapacityReservationId": reservation}}
    ec2.create_launch_template(
        LaunchTemplateName="hosts",
        LaunchTemplateData={
            "ImageId": IMAGE,
            "InstanceType": "p5.48xlarge",
            "CapacityReservationSpecification": target,
            "Placement": {"GroupName": "near"},
        },
    )
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="hosts",
        MinSize=2,
        MaxSize=2,
        VPCZoneIdentifier=subnet,
        LaunchTemplate={"LaunchTemplateName": "hosts"},
    )
    volume = ec2.create_volume(AvailabilityZone=ZONE, Size=100, VolumeType="gp3")["VolumeId"]
    ec2.create_snapshot(VolumeId=volume)
    ec2.modify_volume(VolumeId=volume, Size=200)
    aws("ssm").put_parameter(Name="/a", Value="v", Type="SecureString")

    def read(aws: Connect) -> list[Any]:
        ec2, fsx = aws("ec2"), aws("fsx")
        return [
            fsx.describe_file_systems()["FileSystems"],
            fsx.describe_data_repository_associations()["Associations"],
            aws("efs").describe_backup_policy(FileSystemId=home)["BackupPolicy"],
            aws("dlm").get_lifecycle_policies()["Policies"],
            ec2.describe_placement_groups()["PlacementGroups"],
            ec2.describe_capacity_reservations()["CapacityReservations"],
            ec2.describe_instance_topology(GroupNames=["near"])["Instances"],
            ec2.describe_volumes()["Volumes"],
            ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"],
            ec2.describe_launch_template_versions(LaunchTemplateName="hosts")[
                "LaunchTemplateVersions"
            ],
            aws("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"],
            aws("iam").get_role(RoleName="role")["Role"],
            aws("ssm").get_parameter(Name="/a", WithDecryption=True)["Parameter"],
        ]

    return read


def test_the_state_outlives_the_process(tmp_path: Path) -> None:
    first = control.start(tmp_path)
    try:
        read = made_of_all(partial(client_of, first))
        before = read(partial(client_of, first))
        assert all(before), "nothing is empty"
        key = client_of(first, "kms").create_key()["KeyMetadata"]["KeyId"]
        s3 = client_of(first, "s3")
        s3.create_bucket(
            Bucket="kept-bucket", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
        )
        s3.put_object(Bucket="kept-bucket", Key="k", Body=b"body")
        sealed = client_of(first, "kms").encrypt(KeyId=key, Plaintext=b"p")
        assert control.start(tmp_path) == first

        assert control.stop(tmp_path)
        assert control.status(tmp_path) is None
        second = control.start(tmp_path)
        assert second.pid != first.pid
        # Whatever reached a reply is on the disk, even where the process is killed outright.
        client_of(second, "s3").put_object(Bucket="kept-bucket", Key="l", Body=b"late")
        os.kill(second.pid, signal.SIGKILL)
        os.waitpid(second.pid, 0)
        assert control.status(tmp_path) is None

        third = control.start(tmp_path)
        for was, now in zip(before, read(partial(client_of, third)), strict=True):
            assert now == was
        s3 = client_of(third, "s3")
        assert s3.get_object(Bucket="kept-bucket", Key="k")["Body"].read() == b"body"
        assert s3.get_object(Bucket="kept-bucket", Key="l")["Body"].read() == b"late"
        opened = client_of(third, "kms").decrypt(CiphertextBlob=sealed["CiphertextBlob"])
        assert opened["Plaintext"] == b"p"
        # What was read back is as alive as what is made now.
        scaling = client_of(third, "autoscaling")
        scaling.update_auto_scaling_group(
            AutoScalingGroupName="hosts", MinSize=0, DesiredCapacity=0
        )
        client_of(third, "ec2").delete_placement_group(GroupName="near")

        control.reset(tmp_path)
        assert client_of(third, "s3").list_buckets()["Buckets"] == []
        assert control.status(tmp_path) == third
    finally:
        control.stop(tmp_path)
    assert (tmp_path / "state.pickle").stat().st_mode & 0o777 == 0o600


def test_a_state_that_cannot_be_written_fails_the_call(tmp_path: Path) -> None:
    running = control.start(tmp_path)
    try:
        (tmp_path / "state.pickle.new").mkdir()
        with pytest.raises(ClientError, match="the state could not be written") as raised:
            client_of(running, "ec2").create_vpc(CidrBlock="10.0.0.0/16")
        # A client that tries again, as the provider does, would do so for minutes.
        assert raised.value.response["ResponseMetadata"]["RetryAttempts"] == 0
        (tmp_path / "state.pickle.new").rmdir()
        client_of(running, "ec2").create_vpc(CidrBlock="10.1.0.0/16")
    finally:
        control.stop(tmp_path)


def test_many_starts_at_once_give_one_process(tmp_path: Path) -> None:
    found: list[control.Embedded] = []
    threads = [
        threading.Thread(target=lambda: found.append(control.start(tmp_path))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert len(found) == 4
        assert len(set(found)) == 1
    finally:
        assert control.stop(tmp_path)
    assert not control.stop(tmp_path)


def test_a_process_of_another_release_is_ended_and_what_it_holds_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that a former release left running has answered for its own resources, not for today's."""
    first = control.start(tmp_path)
    try:
        client_of(first, "sqs").create_queue(QueueName="kept")
        with monkeypatch.context() as newer:
            newer.setattr(control, "code", lambda: "of another release")
            second = control.start(tmp_path)
        assert second.pid != first.pid
        assert control.start(tmp_path) == second
        assert "kept" in client_of(second, "sqs").get_queue_url(QueueName="kept")["QueueUrl"]

        ready = json.loads((tmp_path / "ready.json").read_text())
        del ready["code"]  # as those of before did not say
        (tmp_path / "ready.json").write_text(json.dumps(ready))
        assert control.start(tmp_path).pid != second.pid
    finally:
        control.stop(tmp_path)


def test_a_pid_of_another_process_is_not_believed(tmp_path: Path) -> None:
    record = {"pid": os.getpid(), "started": "1"}
    (tmp_path / "server.pid").write_text(json.dumps(record))
    ready = {"endpoint": "http://127.0.0.1:1", "pid": os.getpid(), "code": None}
    (tmp_path / "ready.json").write_text(json.dumps(ready))
    assert control.status(tmp_path) is None
    assert not control.stop(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}'])
def test_a_damaged_pid_file_is_no_process(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.pid").write_text(text)
    assert control.status(tmp_path) is None


def test_a_state_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "state.pickle").write_bytes(b"not a state")
    with pytest.raises(ExternalToolError, match="does not start") as caught:
        control.start(tmp_path)
    assert f"'{tmp_path / 'state.pickle'}' is damaged" in str(caught.value)
    assert control.status(tmp_path) is None
    control.reset(tmp_path)
    assert not (tmp_path / "state.pickle").exists()


def test_a_state_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExternalToolError, match="cannot be made"):
        control.start(tmp_path / "file" / "folder")


def test_the_default_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RACKWRIGHT_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert control.default_state_dir() == tmp_path / "rackwright" / "embedded-aws"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert control.default_state_dir().is_absolute()


def test_only_loopback_is_bound(embedded: control.Embedded) -> None:
    sockets = [
        line
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]
    listening = {
        int(line.split()[1].split(":")[1], 16): line.split()[1].split(":")[0]
        for line in sockets
        if line.split()[3] == "0A"
    }
    port = int(embedded.endpoint.rsplit(":", 1)[1])
    assert listening[port] == "0100007F"


def test_a_server_that_nobody_uses_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rackwright_lab.embedded_aws.server", str(tmp_path)]
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run([*command, "--idle", "0.5"], stderr=log, timeout=300, check=False)
    assert done.returncode == 0
    assert "no request for" in (tmp_path / "log").read_text()
    assert (tmp_path / "state.pickle").exists()
