from __future__ import annotations

import pytest
from pydantic import ValidationError

from aws_factories import a_plan
from rackwright.components.tags import SiteArgs


def test_names_start_with_cluster_and_site() -> None:
    assert SiteArgs(plan=a_plan(), cluster="atlas").name("gpu") == "atlas-use1-gpu"


def test_tags_name_the_resource_and_keep_the_sites_own() -> None:
    args = SiteArgs(plan=a_plan(tags={"cost": "42"}), cluster="atlas", owner="ops")

    assert args.tags("atlas-use1-vpc") == {
        "Name": "atlas-use1-vpc",
        "cost": "42",
        "rackwright:cluster": "atlas",
        "rackwright:owner": "ops",
        "rackwright:site": "use1",
    }
    assert "Name" not in args.common_tags()


def test_arguments_are_strict() -> None:
    with pytest.raises(ValidationError):
        SiteArgs(plan=a_plan(), cluster="atlas", colour="red")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        SiteArgs(plan={}, cluster="atlas")
