"""Comments on a fake GitHub and a fake GitLab: in place, in order, once, in spite of failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forge_fake import Failure, FakeForge, a_forge
from rackwright.cli import main
from rackwright.errors import UsageError
from rackwright.forge.comments import CommentOutcome
from rackwright.forge.forges import FORGES, Forge
from rackwright.forge.http import ForgeError
from rackwright.forge.publish import publish
from rackwright.forge.retry import ATTEMPTS, LONGEST_WAIT

BODY = "<!-- rackwright:pr:atlas -->\n### one ‰\n"
OTHER = BODY.replace("one", "two")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


@pytest.fixture
def fake() -> Iterator[FakeForge]:
    with a_forge() as forge:
        yield forge


def environment(fake: FakeForge) -> dict[str, str]:
    return {
        "GITHUB_API_URL": fake.address,
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_TOKEN": fake.token,
        "CI_API_V4_URL": f"{fake.address}/api/v4",
        "CI_PROJECT_ID": "o/r",
        "CI_MERGE_REQUEST_IID": "7",
        "GITLAB_TOKEN": fake.token,
    }


@pytest.fixture(params=["github", "gitlab"])
def forge(request: pytest.FixtureRequest, fake: FakeForge) -> Forge:
    return FORGES[request.param](environment(fake), number=7, author=None)


class Sleeps(list[float]):
    """What was slept, instead of sleeping."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def test_created_then_changed_in_place_then_left_alone(forge: Forge, fake: FakeForge) -> None:
    fake.add("a person's comment", login="ada", user=2)
    assert publish(forge, BODY, NOON) is CommentOutcome.CREATED
    assert publish(forge, OTHER, LATER) is CommentOutcome.UPDATED
    assert publish(forge, OTHER, LATER) is CommentOutcome.UNCHANGED
    assert [body.splitlines()[-1] for body in fake.bodies] == ["a person's comment", "### two ‰"]
    assert len(fake.writes) == 2


def test_an_older_run_never_replaces_a_newer(forge: Forge, fake: FakeForge) -> None:
    publish(forge, BODY, LATER)
    assert publish(forge, OTHER, NOON) is CommentOutcome.STALE
    assert "one" in fake.bodies[0]
    assert len(fake.writes) == 1


def test_an_equal_report_of_a_newer_run_still_holds_off_one_between(
    forge: Forge, fake: FakeForge
) -> None:
    publish(forge, BODY, NOON)
    assert publish(forge, BODY, LATER) is CommentOutcome.UPDATED
    assert publish(forge, OTHER, NOON + timedelta(minutes=1)) is CommentOutcome.STALE


def test_markers_of_others_are_neither_believed_nor_touched(forge: Forge, fake: FakeForge) -> None:
    forged = "<!-- rackwright:pr:atlas valid-at=9999-01-01T00:00:00Z -->\nall is well"
    fake.add(forged, login="mallory", user=2)
    assert publish(forge, BODY, NOON) is CommentOutcome.CREATED
    assert fake.bodies[0] == forged


def test_the_comment_is_found_on_a_later_page(forge: Forge, fake: FakeForge) -> None:
    fake.page = 2
    for _ in range(3):
        fake.add("x", login="ada", user=2)
    publish(forge, BODY, NOON)
    assert publish(forge, OTHER, LATER) is CommentOutcome.UPDATED
    assert len(fake.comments) == 4


@pytest.mark.parametrize(
    "failure",
    [
        Failure(500),
        Failure(503, {"Retry-After": "7"}),
        Failure(429, {"Retry-After": "3600"}),
        Failure(403, {"x-ratelimit-remaining": "0"}),
        Failure(200, body=b"<html>"),
    ],
)
def test_failures_that_pass_are_tried_again(
    forge: Forge, fake: FakeForge, failure: Failure
) -> None:
    sleeps = Sleeps()
    fake.failures = [failure]
    assert publish(forge, BODY, NOON, sleep=sleeps) is CommentOutcome.CREATED
    asked = failure.headers.get("Retry-After")
    assert sleeps == [min(float(asked), LONGEST_WAIT) if asked else 1.0]


def test_a_lost_answer_does_not_make_a_second_comment(fake: FakeForge) -> None:
    forge = FORGES["github"](environment(fake), number=7, author=None)
    publish(forge, "<!-- rackwright:pr:zeus -->\n", NOON)  # the list is asked first, then POST
    fake.failures = [Failure(200, carried_out=True, body=json.dumps(fake.comments).encode())]
    fake.failures.append(Failure(502, carried_out=True))
    assert publish(forge, BODY, NOON, sleep=Sleeps()) is CommentOutcome.UNCHANGED
    assert [body.count("pr:atlas") for body in fake.bodies] == [0, 1]


def test_attempts_end(forge: Forge, fake: FakeForge) -> None:
    sleeps = Sleeps()
    fake.failures = [Failure(500) for _ in range(ATTEMPTS)]
    with pytest.raises(ForgeError, match="was answered with 500"):
        publish(forge, BODY, NOON, sleep=sleeps)
    assert sleeps == [1.0, 2.0, 4.0, 8.0]
    assert not fake.writes


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_a_refusal_is_not_tried_again(forge: Forge, fake: FakeForge, status: int) -> None:
    fake.failures = [Failure(status)]
    with pytest.raises(ForgeError, match=f"was answered with {status}: no") as caught:
        publish(forge, BODY, NOON, sleep=Sleeps())
    assert fake.token not in str(caught.value)
    assert len(fake.seen) == 1


def test_a_redirect_is_not_followed(forge: Forge, fake: FakeForge) -> None:
    with a_forge() as elsewhere:
        fake.failures = [Failure(302, {"Location": f"{elsewhere.address}/steal"})]
        with pytest.raises(ForgeError, match="was answered with 302"):
            publish(forge, BODY, NOON, sleep=Sleeps())
        assert elsewhere.seen == []


def test_nobody_listens(fake: FakeForge) -> None:
    gone = {**environment(fake), "GITHUB_API_URL": "http://127.0.0.1:1"}
    with pytest.raises(ForgeError, match="had no answer"):
        publish(FORGES["github"](gone, number=7, author=None), BODY, NOON, sleep=Sleeps())


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"GITHUB_TOKEN": ""}, "'GITHUB_TOKEN' is not set"),
        ({"GITHUB_TOKEN": "s3cret\r\nHost: x"}, "is no token"),
        ({"GITHUB_REPOSITORY": "o/r/../../x"}, "is not OWNER/NAME"),
        ({"GITHUB_API_URL": "http://forge.example"}, "is no address to send a token to"),
        ({"GITHUB_API_URL": "file:///etc"}, "is no address to send a token to"),
    ],
)
def test_an_environment_that_will_not_do(
    fake: FakeForge, changes: dict[str, str], text: str
) -> None:
    with pytest.raises(UsageError, match=text) as caught:
        FORGES["github"](environment(fake) | changes, number=7, author=None)
    assert "s3cret" not in str(caught.value)


def test_the_command_reads_the_event_and_shows_no_token(
    fake: FakeForge,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    body, event = tmp_path / "comment.md", tmp_path / "event.json"
    body.write_text(BODY)
    event.write_text('{"pull_request": {"number": 7}}')
    for name, value in {**environment(fake), "GITHUB_EVENT_PATH": str(event)}.items():
        monkeypatch.setenv(name, value)
    asked = ["ci", "comment", str(body), "--forge", "github"]
    assert main([*asked, "--valid-at", "2026-11-21T12:00:00Z"]) == 0
    assert capsys.readouterr().out == "comment: created\n"
    monkeypatch.setenv("RACKWRIGHT_VALID_AT", "2026-11-21T11:00:00Z")
    assert main(asked) == 0
    assert capsys.readouterr().out == "comment: stale\n"
    fake.failures = [Failure(403)]
    assert main(asked) == 4
    shown = capsys.readouterr()
    assert "for a change from a fork it never may" in shown.err
    assert fake.token not in shown.err + shown.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--valid-at", "yesterday"], "is not a time"),
        (["--valid-at", "2026-11-21T12:00:00"], "is not a time"),
        (["--number", "0"], "is not the number of a request"),
        ([], "does not run for a pull request"),
    ],
)
def test_bad_usage(
    arguments: list[str],
    text: str,
    fake: FakeForge,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    body, event = tmp_path / "comment.md", tmp_path / "event.json"
    body.write_text(BODY)
    event.write_text('{"push": {}}')
    for name, value in {**environment(fake), "GITHUB_EVENT_PATH": str(event)}.items():
        monkeypatch.setenv(name, value)
    assert main(["ci", "comment", str(body), "--forge", "github", *arguments]) == 2
    assert text in capsys.readouterr().err
    assert not fake.writes
