"""Start, stop, status and reset of the embedded AWS, and what lasts between them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from rackwright.embedded_aws import control
from rackwright.embedded_aws.operations import Book, Operation, identify
from rackwright.errors import ExternalToolError
from unit.embedded_aws.engine import Engine, admin, client_of
from unit.embedded_aws.test_types import TRUST, World


def test_the_state_outlives_the_process(tmp_path: Path) -> None:
    first = control.start(tmp_path)
    try:
        engine = Engine(first.provider_port)
        world = World(engine, "last")
        made = {"fs": world.lustre(), "asg": world.template().id, "key": world.key()}
        world.get(
            "aws:autoscaling/group:Group",
            "asg",
            minSize=2,
            maxSize=2,
            vpcZoneIdentifiers=[world.subnet()],
            launchTemplate={"id": made["asg"]},
        )
        world.get("aws:ssm/parameter:Parameter", "p", name="/a", type="SecureString", value="v")
        world.get("aws:iam/role:Role", "role", assumeRolePolicy=TRUST)
        client_of(first, "s3").create_bucket(
            Bucket="kept-bucket", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
        )
        client_of(first, "s3").put_object(Bucket="kept-bucket", Key="k", Body=b"body")
        sealed = client_of(first, "kms").encrypt(KeyId=made["key"], Plaintext=b"p")
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
        engine.channel.close()
        engine = Engine(third.provider_port)
        for key, one in world.made.items():
            assert engine.read(one).id == one.id, key
        s3 = client_of(third, "s3")
        assert s3.get_object(Bucket="kept-bucket", Key="k")["Body"].read() == b"body"
        assert s3.get_object(Bucket="kept-bucket", Key="l")["Body"].read() == b"late"
        opened = client_of(third, "kms").decrypt(CiphertextBlob=sealed["CiphertextBlob"])
        assert opened["Plaintext"] == b"p"
        groups = client_of(third, "autoscaling").describe_auto_scaling_groups()
        instances = groups["AutoScalingGroups"][0]["Instances"]
        found = client_of(third, "ec2").describe_instances(
            InstanceIds=[one["InstanceId"] for one in instances]
        )
        assert sum(len(one["Instances"]) for one in found["Reservations"]) == 2
        world.engine = engine
        world.close()
        engine.channel.close()

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
        with pytest.raises(ClientError, match="the state could not be written"):
            client_of(running, "ec2", retries=False).create_vpc(CidrBlock="10.0.0.0/16")
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
    ready = {"endpoint": "http://127.0.0.1:1", "pid": os.getpid(), "provider_port": 1}
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
    mapped = "0000000000000000FFFF00000100007F"
    assert listening[embedded.provider_port] in ("0100007F", mapped)


def test_calls_are_recorded_and_bad_faults_refused(embedded: control.Embedded) -> None:
    admin(embedded, "DELETE", "calls")
    client_of(embedded, "s3").list_buckets()
    client_of(embedded, "route53").list_hosted_zones()
    names = [one["operation"] for one in admin(embedded, "GET", "calls")["calls"]]
    assert names == ["ListBuckets", "ListHostedZones"]
    for bad in (
        {},
        {"operation": 1},
        {"operation": "X", "times": 0},
        {"other": 1},
        {"operation": "X", "skip": -1},
    ):
        with pytest.raises(urllib.error.HTTPError, match="400"):
            admin(embedded, "POST", "faults", bad)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        admin(embedded, "GET", "nothing")


def test_a_fault_meets_the_call_after_those_that_it_skips() -> None:
    book = Book()
    book.add({"operation": "*", "skip": 1, "error": "Lost"})
    reads, changes = Operation("ec2", "", "DescribeVpcs"), Operation("ec2", "", "CreateVpc")
    assert [book.take(one) is not None for one in (changes, reads, changes, changes)] == [
        False,
        False,
        True,
        False,
    ]
    book.add({"operation": "CreateVpc", "times": 2})
    assert [book.take(one) is not None for one in (reads, changes, changes, changes)] == [
        False,
        True,
        True,
        False,
    ]


def test_an_operation_that_moto_lacks_says_so(embedded: control.Embedded) -> None:
    with pytest.raises(ClientError, match="the embedded AWS has no ec2 operation"):
        client_of(embedded, "ec2").describe_fast_launch_images()


@pytest.mark.parametrize(
    ("service", "method", "path", "query", "body", "name"),
    [
        ("s3", "PUT", "/b", "", b"", "CreateBucket"),
        ("s3", "PUT", "/b", "policy", b"", "PutBucketPolicy"),
        ("s3", "PUT", "/b/k/l", "", b"", "PutObject"),
        ("ec2", "POST", "/", "", b"Action=CreateVpc&Version=1", "CreateVpc"),
        ("iam", "POST", "/", "", b"Version=1&Action=CreateRole", "CreateRole"),
        ("route53", "POST", "/2013-04-01/hostedzone", "", b"", "CreateHostedZone"),
        ("ec2", "POST", "/", "", b"", "POST /"),
    ],
)
def test_operations_are_named(
    service: str, method: str, path: str, query: str, body: bytes, name: str
) -> None:
    headers = {
        "authorization": f"AWS4-HMAC-SHA256 Credential=x/20260101/us-west-2/{service}/aws4_request"
    }
    assert identify(method, path, query, headers, body).name == name


def test_taking_a_role_by_a_token_is_named_though_nothing_signs_it() -> None:
    body = b"Action=AssumeRoleWithWebIdentity&Version=2011-06-15&WebIdentityToken=x"
    found = identify("POST", "/", "", {}, body)
    assert (found.service, found.name) == ("sts", "AssumeRoleWithWebIdentity")
    assert identify("GET", "/", "", {}, b"").name == "ListBuckets"


def test_a_server_that_nobody_uses_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rackwright.embedded_aws.server", str(tmp_path)]
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run([*command, "--idle", "0.5"], stderr=log, timeout=60, check=False)
    assert done.returncode == 0
    assert "no request for" in (tmp_path / "log").read_text()
    assert (tmp_path / "state.pickle").exists()
