"""Answers of an account before anything is made: ok, refused and unknown are never mixed up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from aws_factories import a_group, a_plan
from rackwright.provision.aws import account

TARGET: Any = None


class Quotas:
    """Service Quotas, which moto does not have for EC2."""

    def __init__(self, limits: dict[str, float]) -> None:
        self.limits = limits

    def get_service_quota(self, ServiceCode: str, QuotaCode: str) -> Any:  # noqa: N803
        assert ServiceCode == "ec2"
        if QuotaCode not in self.limits:
            told = {"Error": {"Code": "AccessDeniedException", "Message": "not authorized"}}
            raise ClientError(told, "GetServiceQuota")
        return {"Quota": {"Value": self.limits[QuotaCode]}}


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, float]]:
    """Quotas of the account, which a test sets."""
    granted = {"L-417A185B": 4096.0, "L-1216C47A": 1024.0}

    def client(_target: Any, service: str, region: str) -> Any:
        return Quotas(granted) if service == "service-quotas" else boto3.client(service, region)

    monkeypatch.setattr(account, "make_client", client)
    with mock_aws():
        yield granted


def outcomes(**group: Any) -> dict[str, str]:
    plan = a_plan(a_group(**group))
    return {answer.need: answer.outcome for answer in account.ask_account(plan, TARGET)}


@pytest.mark.usefixtures("limits")
def test_a_site_that_the_account_can_have_is_ok() -> None:
    assert set(outcomes(count={"min": 0, "max": 16}).values()) == {"ok"}


def test_a_quota_below_the_largest_number_is_refused(limits: dict[str, float]) -> None:
    limits["L-417A185B"] = 15 * 192
    assert outcomes(count={"min": 0, "max": 16})["quota L-417A185B, 3,072 vCPUs"] == "refused"
    assert outcomes(count={"min": 0, "max": 15})["quota L-417A185B, 2,880 vCPUs"] == "ok"


def test_forbidden_question_is_unknown_and_not_ok(limits: dict[str, float]) -> None:
    del limits["L-417A185B"]
    assert outcomes()["quota L-417A185B, 3,072 vCPUs"] == "unknown"


@pytest.mark.usefixtures("limits")
def test_a_type_that_the_zone_does_not_have_is_refused() -> None:
    plan = a_plan(a_group(type="trn2.48xlarge", count=1))
    told = {answer.need: answer for answer in account.ask_account(plan, TARGET)}
    assert told["trn2.48xlarge in us-east-1a"].outcome == "refused"


@pytest.mark.usefixtures("limits")
def test_an_image_parameter_that_is_not_there_is_refused() -> None:
    told = outcomes(image="ssm:/images/of/nobody")
    assert told["dry run of 'gpu'"] == "refused"
