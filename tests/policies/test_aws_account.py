"""What AWS refuses on the day of a deployment is refused by `check`: quotas, windows, tags, names, endpoints."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli_support import run_here
from rackwright.policy.base_approval.claims import hold_claims
from rackwright.policy.packs.loader import builtin_pack

AWS = builtin_pack() / "fixtures" / "aws.yaml"
BLOCK = "{kind: capacity-block, id: cr-0123456789abcdef0, instances: 16, availability_zone: us-east-1a, ends: %s}"


@dataclass(frozen=True)
class Checked:
    code: int
    results: list[dict[str, Any]]

    def told(self, *outcomes: str) -> list[str]:
        """Subjects and messages of these outcomes."""
        return [
            f"{one['subject']}: {one['message']}"
            for one in self.results
            if one["outcome"] in outcomes
        ]


def check(folder: Path, rule: str, site: str = "", *options: str, name: str = "atlas") -> Checked:
    """How `check` judges the site of the fixture with these fields, by one rule of set 0.3."""
    layer = folder / "layer.yaml"
    fields = f"{{name: use1, {site}}}" if site else "{name: use1}"
    layer.write_text(f'policy_set: "0.3"\nname: {name}\nsites: [{fields}]\n')
    arguments = ("check", str(AWS), "--layer", str(layer), "--only", rule, "--json", *options)
    ended = run_here(folder, *arguments)
    return Checked(ended.code, json.loads(ended.out)["results"])


def test_two_thousand_p5_without_quota(tmp_path: Path) -> None:
    """66,000 interfaces of nodes; AWS grants 5,000 without being asked."""
    nodes = "network: {growth: 0 %}, node_groups: [{name: train, count: 2000}]"
    found = check(tmp_path, "AWS-010", nodes)
    assert found.code == 5
    (text,) = [text for text in found.told("fail") if "L-DF5E4CA3" in text]
    assert "is 66,038;" in text
    assert "the limit is 5,000:" in text
    granted = f"{nodes}, limits: {{quotas: {{L-DF5E4CA3: 70000, L-7A658B76: 1000}}}}"
    assert check(tmp_path, "AWS-010", granted).told("fail") == []


@pytest.mark.parametrize("now", [None, 70_000])
def test_a_change_does_not_grant_itself_a_quota(now: int | None) -> None:
    """One that is left out would be AWS's default, which is more than the base has recorded."""
    base, head = (yaml.safe_load(AWS.read_text()) for _ in range(2))
    base["sites"][0]["limits"]["quotas"]["L-DF5E4CA3"] = 100
    if now is not None:
        head["sites"][0]["limits"]["quotas"]["L-DF5E4CA3"] = now
    held = hold_claims(head, base)
    assert held.data["sites"][0]["limits"]["quotas"]["L-DF5E4CA3"] == 100
    (kept,) = held.kept
    assert kept.path == ("sites", 0, "limits", "quotas")


def test_quotas_are_of_an_account_in_a_region(tmp_path: Path) -> None:
    """Two sites of one region share them, and the lower of what they record holds."""
    group = (
        "{name: cpu, type: m7i.4xlarge, count: 2500, efa: false, capacity: {kind: on-demand}, "
        "image: ami-0123456789abcdef0, root_volume: 1 GiB}"
    )
    head = "{type: m7i.4xlarge, image: ami-0123456789abcdef0, root_volume: 1 GiB}"
    network = (
        "{cidr: 10.%s.0.0/16, availability_zones: [us-%s-1a], nat: none, "
        "endpoints: [s3], dns_zone: %s.internal}"
    )

    def sites(second: str) -> str:
        made = [
            f"{{name: {name}, provider: aws, region: us-{side}-1, head: {head}, "
            f"network: {network % (number, side, name)}, node_groups: [{group}]}}"
            for number, (name, side) in enumerate((("one", "east"), ("two", second)))
        ]
        return f'apiVersion: rackwright/v1\nname: atlas\nowner: a@b.c\npolicy_set: "0.3"\nsites: [{", ".join(made)}]\n'

    blueprint = tmp_path / "blueprint.yaml"
    totals = {}
    for second in ("east", "west"):
        blueprint.write_text(sites(second))
        ended = run_here(tmp_path, "check", str(blueprint), "--only", "AWS-010", "--json")
        totals[second] = {
            one["subject"]: (one["outcome"], one["value"])
            for one in json.loads(ended.out)["results"]
            if "L-DF5E4CA3" in one["subject"]
        }
    assert totals == {
        "east": {"us-east-1 quota L-DF5E4CA3": ("fail", 5002)},
        "west": {
            "us-east-1 quota L-DF5E4CA3": ("pass", 2501),
            "us-west-1 quota L-DF5E4CA3": ("pass", 2501),
        },
    }


@pytest.mark.parametrize(("day", "code"), [("2026-12-23", 0), ("2026-12-24", 5), ("2027-06-01", 5)])
def test_a_capacity_block_that_ended(day: str, code: int, tmp_path: Path) -> None:
    """The end was in the blueprint, and nothing read it."""
    block = BLOCK % "2026-12-24T11:30:00Z"
    site = f"node_groups: [{{name: train, capacity: {block}}}]"
    found = check(tmp_path, "AWS-011", site, "--today", day)
    assert found.code == code
    assert found.told("fail", "pass") == [
        (
            "use1 cr-0123456789abcdef0: 'cr-0123456789abcdef0' ends on 2026-12-24 11:30 UTC, "
            "and its instances are ended from 11:00 UTC on"
        )
    ]


def test_an_end_with_another_zone_is_read_in_utc(tmp_path: Path) -> None:
    """01:30 at +02:00 is on the day before; a time without a zone is UTC."""
    for ends, day in (("2026-12-25T01:30:00+02:00", 24), ("2026-12-25T01:30:00", 25)):
        site = f"node_groups: [{{name: train, capacity: {BLOCK % ends}}}]"
        assert check(tmp_path, "AWS-011", site, "--today", f"2026-12-{day - 1}").code == 0
        assert check(tmp_path, "AWS-011", site, "--today", f"2026-12-{day}").code == 5


def test_a_block_that_ends_before_it_starts_is_no_block(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    block = (BLOCK % "2026-12-24T11:30:00Z").replace("ends:", "starts: 2026-12-25T11:30:00Z, ends:")
    layer.write_text(
        f"sites: [{{name: use1, node_groups: [{{name: train, capacity: {block}}}]}}]\n"
    )
    run_here(tmp_path, "check", str(AWS), "--layer", str(layer)).refused("is not before")


@pytest.mark.parametrize(("ends", "outcome"), [("", "unknown"), (", ends: never", "pass")])
def test_a_reservation_says_when_it_ends(ends: str, outcome: str, tmp_path: Path) -> None:
    reservation = f"{{kind: reservation, id: cr-0123456789abcdef0{ends}}}"
    site = f"node_groups: [{{name: train, capacity: {reservation}}}]"
    found = check(tmp_path, "AWS-011", site, "--today", "2026-12-01")
    assert [one["outcome"] for one in found.results] == [outcome]


def test_a_tag_with_a_slash(tmp_path: Path) -> None:
    """Every service takes one in a value; in a key no instance is launched that shows its tags."""
    found = check(tmp_path, "AWS-012", 'tags: {"team/name": hpc}')
    assert found.code == 5
    assert found.told("fail") == [
        (
            "use1 tag team/name: the tag 'team/name': instance metadata takes no '/' in a key, "
            "and no instance is launched with one"
        )
    ]
    assert check(tmp_path, "AWS-012", "tags: {team: research/llm}").code == 0


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ('{"Cost Center": x}', "takes no space in a key"),
        ("{a+b: x}", None),
        ("{straße: x}", "takes no 'ß' in a key"),
        ("{straße: x, Straße: y}", "takes no 'ß' in a key"),
        ("{street: straße}", None),
        ('{"aws:team": x}', "'aws:' is reserved"),
        ("{team: 'aws:x'}", "'aws:' is reserved at the start of a value"),
        ("{Name: x}", "it is set to another value"),
        ("{'rackwright:site': x}", "it is set to another value"),
        ("{name: x}", "IAM takes 'Name' and 'name' for one key"),
        ("{_index: x}", "instance metadata has no such key"),
        ("{team: 'a;b'}", "take no ';' in a value"),
        (f"{{team: {'x' * 256}}}", None),
        (f"{{team: {'x' * 257}}}", "its value has 257 characters"),
    ],
)
def test_tags_are_such_that_every_service_takes_them(
    tags: str, words: str | None, tmp_path: Path
) -> None:
    told = check(tmp_path, "AWS-012", f"tags: {tags}").told("fail")
    assert (words in told[0]) if words else told == []


def test_an_owner_is_a_tag(tmp_path: Path) -> None:
    blueprint = tmp_path / "blueprint.yaml"
    text = AWS.read_text().replace("owner: platform@example.com", "owner: 'Jürgen, HPC'")
    blueprint.write_text(f'policy_set: "0.3"\n{text}')
    ended = run_here(tmp_path, "check", str(blueprint), "--only", "AWS-012", "--json")
    (result,) = [r for r in json.loads(ended.out)["results"] if r["outcome"] == "fail"]
    assert "take no ',' in a value" in result["message"]


def test_a_name_of_80_characters(tmp_path: Path) -> None:
    """The role is called after the blueprint and its site, and IAM takes 64 characters."""
    blueprint = tmp_path / "blueprint.yaml"
    cluster, site = "c" * 40, "s" * 34
    text = AWS.read_text().replace("name: atlas", f"name: {cluster}")
    text = text.replace("name: use1", f"name: {site}")
    blueprint.write_text(f'policy_set: "0.3"\n{text}')
    ended = run_here(tmp_path, "check", str(blueprint), "--only", "AWS-013", "--json")
    assert ended.code == 5
    failed = {r["subject"]: r for r in json.loads(ended.out)["results"] if r["outcome"] == "fail"}
    result = failed.pop(f"{site} IAM role of 'node'")
    assert (result["value"], result["limit"]) == (80, 64)
    assert {one["value"] for one in failed.values()} == {80, 81}, "head and login have roles too"
    assert result["fix"] == "shorten the names of the blueprint and of the site, by 16 characters"


def test_a_site_without_a_way_out_names_what_it_cannot_reach(tmp_path: Path) -> None:
    found = check(tmp_path, "AWS-014", "network: {nat: none, endpoints: [s3]}")
    assert found.code == 5
    (text,) = found.told("fail")
    assert "'ssm':" in text
    assert "'ssmmessages':" in text


def test_an_endpoint_is_named_once(tmp_path: Path) -> None:
    """Two resources of one name ended the deployment."""
    layer = tmp_path / "layer.yaml"
    layer.write_text("sites: [{name: use1, network: {endpoints: [s3, s3]}}]\n")
    run_here(tmp_path, "check", str(AWS), "--layer", str(layer)).refused("'s3' is named twice")
