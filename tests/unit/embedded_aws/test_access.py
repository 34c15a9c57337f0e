"""Calls with credentials of a role are judged by its policies; those of the owner of the account are not."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from rackwright_lab.embedded_aws import control

OWN = "/rackwright/atlas/use1/cluster"
OTHERS = "/rackwright/atlas-2/use1/cluster"
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": ["ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath"],
            "Resource": ["arn:aws:ssm:us-east-1:123456789012:parameter/rackwright/atlas/*"],
        }
    ],
}


class Caller:
    """Clients with one set of credentials."""

    def __init__(self, endpoint: str, **credentials: str) -> None:
        self._endpoint = endpoint
        self._session = boto3.Session(region_name="us-east-1", **credentials)

    def client(self, service: str) -> Any:
        return self._session.client(service, endpoint_url=self._endpoint)

    def refused(self, service: str, operation: str, **arguments: Any) -> str:
        """The code that a call is refused with."""
        with pytest.raises(ClientError) as told:
            getattr(self.client(service), operation)(**arguments)
        return str(told.value.response["Error"]["Code"])


@pytest.fixture(scope="module")
def owner(embedded: control.Embedded) -> Caller:
    made = Caller(embedded.endpoint, aws_access_key_id="embedded", aws_secret_access_key="embedded")
    for name in (OWN, OTHERS):
        made.client("ssm").put_parameter(Name=name, Value=name, Type="String")
    return made


@pytest.fixture(scope="module")
def instance(owner: Caller, embedded: control.Embedded) -> Caller:
    iam = owner.client("iam")
    role = iam.create_role(RoleName="reader", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    iam.put_role_policy(RoleName="reader", PolicyName="p", PolicyDocument=json.dumps(POLICY))
    found = owner.client("sts").assume_role(RoleArn=role, RoleSessionName="i-1")["Credentials"]
    return Caller(
        embedded.endpoint,
        aws_access_key_id=found["AccessKeyId"],
        aws_secret_access_key=found["SecretAccessKey"],
        aws_session_token=found["SessionToken"],
    )


def test_a_job_with_a_role_of_its_forge_acts_as_the_owner(
    owner: Caller, embedded: control.Embedded
) -> None:
    """IAM here has no role of a job, which was refused its state in a bucket."""
    role = "arn:aws:iam::123456789012:role/of-a-job"
    found = owner.client("sts").assume_role(RoleArn=role, RoleSessionName="job")["Credentials"]
    job = Caller(
        embedded.endpoint,
        aws_access_key_id=found["AccessKeyId"],
        aws_secret_access_key=found["SecretAccessKey"],
        aws_session_token=found["SessionToken"],
    )
    job.client("s3").create_bucket(Bucket="state-of-a-job")
    assert job.client("ssm").get_parameter(Name=OTHERS)["Parameter"]["Value"] == OTHERS


def test_allowed_call_is_answered(instance: Caller) -> None:
    ssm = instance.client("ssm")
    assert ssm.get_parameter(Name=OWN)["Parameter"]["Value"] == OWN
    assert [p["Name"] for p in ssm.get_parameters(Names=[OWN])["Parameters"]] == [OWN]
    below = ssm.get_parameters_by_path(Path="/rackwright/atlas/use1/")["Parameters"]
    assert [p["Name"] for p in below] == [OWN]
    assert "reader/i-1" in instance.client("sts").get_caller_identity()["Arn"]


def test_forbidden_call_is_refused(instance: Caller) -> None:
    """Another cluster's parameter was read, and everything else was done, with any credentials."""
    for code, service, operation, arguments in (
        ("AccessDeniedException", "ssm", "get_parameter", {"Name": OTHERS}),
        ("AccessDeniedException", "ssm", "get_parameters", {"Names": [OWN, OTHERS]}),
        ("AccessDeniedException", "ssm", "get_parameters_by_path", {"Path": "/rackwright"}),
        (
            "AccessDeniedException",
            "ssm",
            "put_parameter",
            {"Name": OWN, "Value": "x", "Type": "String"},
        ),
        ("AccessDeniedException", "ssm", "describe_parameters", {}),
        ("AccessDenied", "iam", "list_roles", {}),
        ("AccessDenied", "s3", "list_buckets", {}),
        ("UnauthorizedOperation", "ec2", "describe_instances", {}),
    ):
        assert instance.refused(service, operation, **arguments) == code, operation


def test_credentials_that_are_not_a_roles_are_refused(
    instance: Caller, embedded: control.Embedded
) -> None:
    forged = Caller(
        embedded.endpoint,
        aws_access_key_id="ASIAIOSFODNN7EXAMPLE",
        aws_secret_access_key="embedded",
        aws_session_token="token",
    )
    assert forged.refused("ssm", "get_parameter", Name=OWN) == "UnrecognizedClientException"
    assert forged.refused("ec2", "describe_instances") == "AuthFailure"


def test_the_owner_of_the_account_is_refused_nothing(owner: Caller) -> None:
    assert owner.client("ssm").get_parameter(Name=OTHERS)["Parameter"]["Value"] == OTHERS
    assert "Roles" in owner.client("iam").list_roles()
