"""Dollars that AWS has charged for a site, by its cost allocation tags (AWS Billing User Guide, "Cost allocation tags")."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from rackwright.model.aws_partitions import partition
from rackwright.plan.cost.spend import Spend, month_to
from rackwright.provision.access.errors import refusals
from rackwright.provision.aws.calls import make_client
from rackwright.provision.targets import Target

TAGS = ("rackwright:cluster", "rackwright:site")
_ENDPOINTS = {"aws": "us-east-1", "aws-cn": "cn-northwest-1"}
"""Region of Cost Explorer by partition (AWS General Reference, "AWS Cost Explorer endpoints and quotas")."""


def ask_spend(cluster: str, site: str, region: str, target: Target, today: dt.date) -> Spend:
    """Return what was charged for a site in the month until ``today``, which is not part of it.

    Raises:
        ExternalToolError: AWS refuses, or cannot be asked.
    """
    begin, end = month_to(today)
    home = _ENDPOINTS.get(partition(region))
    if home is None:
        return Spend(site, begin, end, None, f"Cost Explorer has no known endpoint for '{region}'")
    explorer = make_client(target, "ce", home)
    if (why := _inactive(explorer)) is not None:
        return Spend(site, begin, end, None, why)
    wanted = [
        {"Tags": {"Key": key, "Values": [value]}}
        for key, value in zip(TAGS, (cluster, site), strict=True)
    ]
    with refusals("ce:GetCostAndUsage"):
        told = explorer.get_cost_and_usage(
            TimePeriod={"Start": begin.isoformat(), "End": end.isoformat()},
            Granularity="MONTHLY",
            Metrics=["UnblendedCost"],
            Filter={"And": wanted},
        )
    charged = Decimal(0)
    for period in told["ResultsByTime"]:
        cost = period.get("Total", {}).get("UnblendedCost")
        if cost is None or cost["Unit"] != "USD":
            words = "no amount" if cost is None else f"an amount in {cost['Unit']}"
            return Spend(site, begin, end, None, f"Cost Explorer gives {words}")
        charged += Decimal(cost["Amount"])
    if not told["ResultsByTime"]:
        return Spend(site, begin, end, None, "Cost Explorer gives no amount")
    return Spend(site, begin, end, charged)


def _inactive(explorer: Any) -> str | None:
    """Return why no cost is known by the tags; None if both are active. Without them every cost reads as 0."""
    with refusals("ce:ListCostAllocationTags"):
        told = explorer.list_cost_allocation_tags(TagKeys=list(TAGS))["CostAllocationTags"]
    active = {one["TagKey"] for one in told if one["Status"] == "Active"}
    left = [key for key in TAGS if key not in active]
    if not left:
        return None
    statuses = " ".join(f"TagKey={key},Status=Active" for key in left)
    return (
        f"{' and '.join(left)} {'is' if len(left) == 1 else 'are'} not active for cost allocation; with the account that "
        f"pays, run 'aws ce update-cost-allocation-tags-status --cost-allocation-tags-status {statuses}'; costs are "
        "known from then on"
    )
