"""Calls of the embedded AWS: how they are named and recorded, and faults that tests put in their way."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from typing import Any

import pytest
from botocore.exceptions import ClientError

from rackwright_lab.embedded_aws.control import Embedded
from rackwright_lab.embedded_aws.operations import Book, Operation, identify
from unit.embedded_aws.clients import Connect, admin, refused


def fault(embedded: Embedded, operation: str, **more: Any) -> None:
    admin(embedded, "POST", "faults", {"operation": operation, **more})


def left(embedded: Embedded) -> int:
    """How many faults are still to come."""
    return len(admin(embedded, "GET", "faults")["faults"])


def log(embedded: Embedded) -> list[tuple[str, int]]:
    """Operation and status of the calls answered."""
    calls = admin(embedded, "GET", "calls")["calls"]
    return [(one["operation"], one["status"]) for one in calls]


def vpcs(ec2: Any) -> int:
    """How many VPCs there are beside the one that is in each region."""
    found = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["false"]}])
    return len(found["Vpcs"])


def test_calls_are_recorded_with_their_service_and_region(aws: Connect, embedded: Embedded) -> None:
    admin(embedded, "DELETE", "calls")
    began = time.time()
    aws("s3").list_buckets()
    aws("route53").list_hosted_zones()
    aws("efs", "eu-west-1").describe_file_systems()
    refused(aws("ec2").delete_vpc, VpcId="vpc-none")
    calls = admin(embedded, "GET", "calls")["calls"]
    assert [(one["service"], one["region"], one["operation"], one["status"]) for one in calls] == [
        ("s3", "us-west-2", "ListBuckets", 200),
        ("route53", "us-west-2", "ListHostedZones", 200),
        ("elasticfilesystem", "eu-west-1", "DescribeFileSystems", 200),
        ("ec2", "us-west-2", "DeleteVpc", 400),
    ]
    assert began <= calls[0]["time"] <= calls[-1]["time"] <= time.time()
    admin(embedded, "DELETE", "calls")
    assert log(embedded) == []


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"operation": 1},
        {"operation": "X", "times": 0},
        {"operation": "X", "latency_s": -1},
        {"other": 1},
        {"operation": "X", "skip": -1},
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(embedded: Embedded, bad: dict[str, Any]) -> None:
    with pytest.raises(urllib.error.HTTPError, match="400"):
        admin(embedded, "POST", "faults", bad)
    assert left(embedded) == 0


def test_there_is_no_other_action_for_tests(embedded: Embedded) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        admin(embedded, "GET", "nothing")


@pytest.mark.parametrize(
    ("service", "call", "arguments"),
    [
        ("ec2", "create_vpc", {"CidrBlock": "10.0.0.0/16"}),
        ("s3", "list_buckets", {}),
        ("iam", "list_roles", {}),
        ("ssm", "describe_parameters", {}),
        ("efs", "describe_file_systems", {}),
        ("efs", "create_file_system", {"CreationToken": "home"}),
        ("dlm", "get_lifecycle_policies", {}),
        ("fsx", "describe_file_systems", {}),
    ],
)
def test_a_fault_is_met_once_in_the_form_of_its_service(
    aws: Connect, embedded: Embedded, service: str, call: str, arguments: dict[str, Any]
) -> None:
    client = aws(service, retries=False)
    operation = client.meta.method_to_api_mapping[call]
    fault(embedded, operation, error="InsufficientInstanceCapacity", message="none is left")
    told = refused(getattr(client, call), **arguments)
    assert told == "InsufficientInstanceCapacity: none is left"
    getattr(client, call)(**arguments)


def test_call_with_an_injected_fault_has_no_effect(aws: Connect, embedded: Embedded) -> None:
    fault(embedded, "CreateVpc", error="VpcLimitExceeded")
    told = refused(aws("ec2").create_vpc, CidrBlock="10.0.0.0/16")
    assert told == "VpcLimitExceeded: injected fault VpcLimitExceeded"
    assert vpcs(aws("ec2")) == 0


def test_with_after_what_a_fault_meets_is_done_and_its_answer_lost(
    aws: Connect, embedded: Embedded
) -> None:
    fault(embedded, "CreateVpc", error="Lost", after=True)
    assert refused(aws("ec2").create_vpc, CidrBlock="10.0.0.0/16").startswith("Lost")
    assert vpcs(aws("ec2")) == 1


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "InternalError", "ServiceUnavailable"])
def test_a_call_that_is_throttled_is_tried_again(
    aws: Connect, embedded: Embedded, code: str
) -> None:
    admin(embedded, "DELETE", "calls")
    fault(embedded, "CreateVpc", error=code, times=2)
    aws("ec2").create_vpc(CidrBlock="10.0.0.0/16")
    status = 400 if code == "RequestLimitExceeded" else 500
    assert log(embedded) == [("CreateVpc", status), ("CreateVpc", status), ("CreateVpc", 200)]
    assert vpcs(aws("ec2")) == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_call_is_held_before_or_after_it_is_done(
    aws: Connect, embedded: Embedded, after: bool
) -> None:
    admin(embedded, "DELETE", "calls")
    fault(embedded, "CreateVpc", latency_s=3600, after=after)
    ec2 = aws("ec2")
    call = threading.Thread(target=lambda: ec2.create_vpc(CidrBlock="10.0.0.0/16"))
    call.start()
    deadline = time.monotonic() + 300
    while not admin(embedded, "GET", "faults")["held"] and time.monotonic() < deadline:
        time.sleep(0.02)
    seen = (vpcs(ec2), ("CreateVpc", 200) in log(embedded))
    assert admin(embedded, "GET", "faults")["held"] == 1, "others are answered meanwhile"
    admin(embedded, "DELETE", "faults")
    call.join()
    assert seen == (after, after)
    assert vpcs(ec2) == 1
    assert admin(embedded, "GET", "faults") == {"faults": [], "held": 0}


def test_clearing_the_faults_releases_a_held_call(aws: Connect, embedded: Embedded) -> None:
    """A caller that was killed leaves its call behind: each killed run waited for the rest of its time."""
    fault(embedded, "CreateVpc", latency_s=3600)
    ec2 = aws("ec2")
    call = threading.Thread(target=lambda: ec2.create_vpc(CidrBlock="10.0.0.0/16"), daemon=True)
    call.start()
    deadline = time.monotonic() + 300
    while not admin(embedded, "GET", "faults")["held"] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert vpcs(ec2) == 0
    admin(embedded, "DELETE", "faults")
    call.join(300)
    assert vpcs(ec2) == 1, "what was held is done"
    assert admin(embedded, "GET", "faults") == {"faults": [], "held": 0}


def test_a_fault_of_any_change_meets_no_reading(aws: Connect, embedded: Embedded) -> None:
    fault(embedded, "*", error="Lost")
    assert vpcs(aws("ec2")) == 0
    assert left(embedded) == 1
    assert refused(aws("sqs").create_queue, QueueName="q").startswith("Lost")
    assert left(embedded) == 0


def test_faults_and_calls_are_forgotten_with_all_else(aws: Connect, embedded: Embedded) -> None:
    aws("ec2").create_vpc(CidrBlock="10.0.0.0/16")
    for action in ("faults", "reset"):
        fault(embedded, "DescribeVpcs", error="Lost")
        admin(embedded, "DELETE" if action == "faults" else "POST", action)
        assert left(embedded) == 0
    assert log(embedded) == []
    assert vpcs(aws("ec2")) == 0


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


def test_an_operation_that_moto_lacks_says_so(aws: Connect) -> None:
    with pytest.raises(ClientError, match="the embedded AWS has no ec2 operation"):
        aws("ec2").describe_fast_launch_images()


def test_the_actions_of_moto_itself_are_closed(embedded: Embedded) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with pytest.raises(urllib.error.HTTPError, match="403"):
        opener.open(f"{embedded.endpoint}/moto-api/reset", data=b"", timeout=300)


@pytest.mark.parametrize(
    ("service", "method", "path", "query", "body", "name"),
    [
        ("s3", "PUT", "/b", "", b"", "CreateBucket"),
        ("s3", "PUT", "/b", "policy", b"", "PutBucketPolicy"),
        ("s3", "PUT", "/b/k/l", "", b"", "PutObject"),
        ("ec2", "POST", "/", "", b"Action=CreateVpc&Version=1", "CreateVpc"),
        ("iam", "POST", "/", "", b"Version=1&Action=CreateRole", "CreateRole"),
        ("dlm", "GET", "/policies", "", b"", "GetLifecyclePolicies"),
        ("elasticfilesystem", "POST", "/2015-02-01/file-systems", "", b"{}", "CreateFileSystem"),
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
