"""Secrets in a blueprint: found by their shape, never repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import AnyUrl, BaseModel

from rackwright.model.cluster import Blueprint
from rackwright.plan.audit.secrets import _SHAPES, _may_hold_one, find_secrets
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack
from rackwright.reading.loader import load_tree, validate
from rackwright.report.json import render_json
from rackwright.report.text import render_text
from work import operations_of

FIXTURE = builtin_pack() / "fixtures" / "aws.yaml"
# Put together here, so that no scanner of repositories takes this file for a leak.
SECRETS = {
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "an AWS access key": "AKIA" + "IOSFODNN7EXAMPLE",
    "a GitHub token": "ghp_" + "a1B2" * 9,
    "a GitLab token": "glpat-" + "x" * 20,
    "a Slack token": "xoxb-" + "1234567890ab",
    "a Vault token": "hvs." + "C" * 24,
    "a JSON web token": "eyJ" + "a" * 20 + ".eyJ" + "b" * 20,
    "a URL with a password": "https://ops:" + "hunter2@wiki.example.com/",
    "a password hash": "$6$" + "rounds=5000$saltsalt",
    "a password": "password = " + "hunter2",
}
HARMLESS = (
    "ssm:/aws/service/ami",
    "https://wiki.example.com/token/page",
    "team@example.com",
    "the token is in the vault",
    "password: ${DB_PASSWORD}",
    "sha256:" + "0" * 64,
    "AKIAlike",
)


def blueprint(tmp_path: Path, text: str) -> Blueprint:
    layer = tmp_path / "layer.yaml"
    layer.write_text(text)
    return validate(load_tree(FIXTURE, layers=(layer,)), Blueprint).value


def tagged(tmp_path: Path, tags: dict[str, str]) -> Blueprint:
    return blueprint(tmp_path, json.dumps({"sites": [{"name": "use1", "tags": tags}]}))


@pytest.mark.parametrize(("kind", "text"), SECRETS.items(), ids=SECRETS)
def test_a_secret_is_known_by_its_shape(tmp_path: Path, kind: str, text: str) -> None:
    (found,) = find_secrets(tagged(tmp_path, {"note": f"see {text} there"}))
    assert (found.kind, found.name) == (kind, "sites.use1.tags.note")
    assert found.path == ("sites", 0, "tags", "note")


@pytest.mark.parametrize("text", HARMLESS)
def test_a_reference_is_no_secret(tmp_path: Path, text: str) -> None:
    assert find_secrets(tagged(tmp_path, {"note": text})) == ()


@pytest.mark.parametrize(
    ("key", "value", "count"),
    [
        ("db_password", "hunter2", 1),
        ("API-KEY", "0123", 1),
        ("token", "vault:kv/x", 0),
        ("token", "/run/secrets/x", 0),
        ("tokens", "4096", 0),
        ("secret", "", 0),
    ],
)
def test_a_key_can_tell_as_well(tmp_path: Path, key: str, value: str, count: int) -> None:
    assert len(find_secrets(tagged(tmp_path, {key: value}))) == count


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_no_report_repeats_a_secret(tmp_path: Path, text: str) -> None:
    layer = tmp_path / "layer.yaml"
    tags = {text: "as a key", "note": text}
    settings: dict[str, Any] = {"SEC-004": {"enforcement": "mandatory"}}
    layer.write_text(json.dumps({"sites": [{"name": "use1", "tags": tags}], "policies": settings}))
    report = check_blueprint(FIXTURE, layers=(layer,), only=("SEC-004",))
    assert report.exit_code == 5
    assert len(report.results) == 2
    assert len({r.fingerprint for r in report.results}) == 2
    assert text not in render_text(report, verbose=True)
    assert text not in "".join(render_json(report))


def test_every_repetition_is_bounded() -> None:
    """So no text is slow: from each place a shape looks at a certain number of characters at most."""
    bounds = {
        kind: [
            int(argument[1])
            for operation, argument in operations_of(shape.pattern, shape.flags)
            if operation in {"MAX_REPEAT", "MIN_REPEAT"}
        ]
        for kind, shape in _SHAPES.items()
    }
    assert max(bounds["a JSON web token"]) == 2000
    assert max(most for found in bounds.values() for most in found) == 2000


def test_a_hostile_text_is_looked_at(tmp_path: Path) -> None:
    hostile = {
        f"t{n}": (unit * (60_000 // len(unit))).strip()
        for n, unit in enumerate(
            ("a", "eyJa", "a://", "a://b:", "password", "$6$a", "-----BEGIN ", "x ")
        )
    }
    assert [place.kind for place in find_secrets(tagged(tmp_path, hostile))] == ["a password hash"]


def test_value_that_is_not_text_is_scanned_as_written() -> None:
    class Linked(BaseModel):
        page: AnyUrl

    assert _may_hold_one(Linked(page=AnyUrl(SECRETS["a URL with a password"])))
    assert not _may_hold_one(Linked(page=AnyUrl("https://wiki.example.com/token/page")))
