from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from aws_factories import a_file_system, a_site
from rackwright.model.aws_storage import LustreFileSystem
from rackwright.plan.aws.file_systems.fsx import (
    association_args,
    bucket_name,
    bucket_names,
    efa_unit,
    file_system_args,
    is_capacity,
    next_capacity,
    repository_path,
)


def system(**changes: Any) -> LustreFileSystem:
    return a_site(file_systems=(a_file_system(**changes),)).file_systems[0]


@pytest.mark.parametrize(
    ("throughput", "unit"), [(125, 38400), (250, 19200), (500, 9600), (1000, 4800)]
)
def test_the_efa_unit_scales_inversely(throughput, unit):
    assert efa_unit(throughput) == unit


@pytest.mark.parametrize(
    ("capacity", "offered"), [(1200, True), (2400, True), (3600, False), (4800, True), (0, False)]
)
def test_capacities(capacity, offered):
    assert is_capacity(capacity) is offered


@pytest.mark.parametrize(("wanted", "offered"), [(1, 1200), (1201, 2400), (2400, 2400)])
def test_the_next_capacity_holds_what_is_wanted(wanted, offered):
    assert next_capacity(wanted) == offered


def test_the_next_capacity_with_efa_is_a_multiple_of_the_unit():
    assert next_capacity(24000, 19200) == 38400


def test_a_linked_file_system_has_no_backups():
    linked = system(data_repositories=({"bucket": "atlas-data", "path": "/data"},))

    assert file_system_args(linked)["automatic_backup_retention_days"] == 0
    assert file_system_args(system())["automatic_backup_retention_days"] == 7


@pytest.mark.parametrize(
    ("prefix", "url"), [("", "s3://atlas-data"), ("/a/b/", "s3://atlas-data/a/b")]
)
def test_an_association_names_bucket_and_prefix(prefix, url):
    repository = system(
        data_repositories=({"bucket": "atlas-data", "path": "/data", "prefix": prefix},)
    ).data_repositories[0]

    assert association_args(repository)["file_system_path"] == "/data"
    assert repository_path(repository, repository.bucket) == url


def test_account_and_region_make_a_bucket_s_name_one_s_own():
    template = "data-{account}-{region}"

    assert bucket_name(template, "111122223333", "eu-west-1") == "data-111122223333-eu-west-1"
    assert bucket_name("data", "111122223333", "eu-west-1") == "data"


@pytest.mark.parametrize(
    "name", ["{zone}-data", "data-{}", "-data", "data-", "Data", "d", "d" * 64]
)
def test_nothing_else_stands_for_anything_in_a_bucket_s_name(name):
    with pytest.raises(ValidationError):
        system(data_repositories=({"bucket": name, "path": "/data"},))


def test_buckets_are_made_once_and_only_where_asked():
    site = a_site(
        file_systems=(
            a_file_system(
                data_repositories=(
                    {"bucket": "one", "path": "/1"},
                    {"bucket": "one", "path": "/2"},
                    {"bucket": "theirs", "path": "/3", "create_bucket": False},
                )
            ),
        )
    )

    assert bucket_names(site) == ("one",)
