"""Sites, instances and plans on AWS for tests."""

from __future__ import annotations

import datetime as dt
from typing import Any

from rackwright.model.aws import AwsSite
from rackwright.model.hardware import Confidence
from rackwright.model.instances import Instance
from rackwright.plan.aws.site import AwsSitePlan, plan_aws_site

SOURCE = {
    "title": "EC2 user guide",
    "date": dt.date(2026, 11, 1),
    "confidence": Confidence.OFFICIAL,
}


def cards(
    count: int, interfaces: int = 2, *, without: tuple[int, ...] = ()
) -> list[dict[str, Any]]:
    return [
        {"index": index, "interfaces": interfaces, "efa": index not in without}
        for index in range(count)
    ]


def fact(value: Any) -> dict[str, Any] | None:
    return None if value is None else {"value": value, "source": "guide"}


def an_instance(
    name: str = "p5.48xlarge",
    *,
    network_cards: list[dict[str, Any]] | None = None,
    efa: int | None = None,
    vcpus: int | None = 192,
    quota: str | None = "L-417A185B",
) -> Instance:
    return Instance.model_validate(
        {
            "id": name,
            "kind": "instance",
            "vendor": "aws",
            "provider": "aws",
            "name": name,
            "instance_type": name,
            "sources": {"guide": SOURCE},
            "vcpus": fact(vcpus),
            "efa_interfaces": fact(efa),
            "cards": fact(network_cards),
            "quota": quota,
        }
    )


def p5() -> Instance:
    return an_instance("p5.48xlarge", network_cards=cards(32), efa=32)


def trn2() -> Instance:
    return an_instance("trn2.48xlarge", efa=16)


def m7i() -> Instance:
    return an_instance(
        "m7i.4xlarge", network_cards=cards(1, 8, without=(0,)), efa=0, vcpus=16, quota="L-1216C47A"
    )


INSTANCES = {instance.instance_type: instance for instance in (p5(), trn2(), m7i())}


def a_group(**changes: Any) -> dict[str, Any]:
    return {
        "name": "gpu",
        "type": "p5.48xlarge",
        "count": 16,
        "name_digits": 2,
        "capacity": {"kind": "on-demand"},
        "image": "ami-0123456789abcdef0",
        "root_volume": "200 GiB",
    } | changes


def a_file_system(**changes: Any) -> dict[str, Any]:
    return {
        "name": "scratch",
        "deployment": "PERSISTENT_2",
        "capacity": "38400 GiB",
        "throughput": "250 MB/s/TiB",
        "efa": True,
        "mount": "/fsx",
    } | changes


def a_site(
    *groups: dict[str, Any], network: dict[str, Any] | None = None, **changes: Any
) -> AwsSite:
    return AwsSite.model_validate(
        {
            "provider": "aws",
            "name": "use1",
            "region": "us-east-1",
            "network": {
                "cidr": "10.20.0.0/16",
                "availability_zones": ["us-east-1a"],
                "nat": "single",
                "dns_zone": "atlas.internal",
            }
            | (network or {}),
            "node_groups": groups or (a_group(),),
            "head": {
                "type": "m7i.4xlarge",
                "image": "ami-0123456789abcdef0",
                "root_volume": "100 GiB",
            },
        }
        | changes
    )


def a_plan(
    *groups: dict[str, Any], network: dict[str, Any] | None = None, **changes: Any
) -> AwsSitePlan:
    return plan_aws_site(a_site(*groups, network=network, **changes), ("sites", 0), INSTANCES)
