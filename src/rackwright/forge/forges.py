"""GitHub and GitLab: where their comments are, and who the token is."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rackwright.errors import UsageError
from rackwright.forge.comments import Comment
from rackwright.forge.http import Api, ForgeError

MOST_PAGES = 100
"""Pages of a hundred comments that are read."""
GITHUB_ACTOR = "github-actions[bot]"
"""Who comments with the token of a GitHub workflow; such a token cannot ask who it is."""


class Forge(Protocol):
    """Operations of a forge on the comments of one request."""

    def comments(self) -> Iterator[Comment]:
        """Yield every comment."""

    def create(self, body: str) -> None:
        """Add a comment."""

    def update(self, comment: int, body: str) -> None:
        """Change a comment."""


@dataclass(frozen=True)
class GitHub:
    """The comments of one pull request.

    Attributes:
        author: login whose comments are ours.
    """

    api: Api
    repository: str
    number: int
    author: str = GITHUB_ACTOR

    def comments(self) -> Iterator[Comment]:
        """Yield every comment."""
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        for item in _pages(self.api, path):
            author = (item.get("user") or {}).get("login")
            yield Comment(item["id"], item.get("body") or "", author == self.author)

    def create(self, body: str) -> None:
        """Add a comment."""
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        self.api.request("POST", path, {"body": body})

    def update(self, comment: int, body: str) -> None:
        """Change a comment."""
        path = f"/repos/{self.repository}/issues/comments/{comment}"
        self.api.request("PATCH", path, {"body": body})


@dataclass(frozen=True)
class GitLab:
    """The notes of one merge request."""

    api: Api
    project: str
    number: int

    def comments(self) -> Iterator[Comment]:
        """Yield every note of people and programs."""
        me = self.api.request("GET", "/user").data["id"]
        for item in _pages(self.api, self._notes):
            if not item.get("system"):
                mine = (item.get("author") or {}).get("id") == me
                yield Comment(item["id"], item.get("body") or "", mine)

    def create(self, body: str) -> None:
        """Add a note."""
        self.api.request("POST", self._notes, {"body": body})

    def update(self, comment: int, body: str) -> None:
        """Change a note."""
        self.api.request("PUT", f"{self._notes}/{comment}", {"body": body})

    @property
    def _notes(self) -> str:
        project = urllib.parse.quote(self.project, safe="")
        return f"/projects/{project}/merge_requests/{self.number}/notes"


def _pages(api: Api, path: str) -> Iterator[dict[str, Any]]:
    for page in range(1, MOST_PAGES + 1):
        answer = api.request("GET", f"{path}?per_page=100&page={page}")
        if not isinstance(answer.data, list):
            raise ForgeError(f"'GET {path}' was not answered with a list")
        yield from answer.data
        if not answer.more:
            return


def github(
    environment: Mapping[str, str], *, number: int | None, author: str | None = None
) -> GitHub:
    """Return the pull request that a workflow of GitHub runs for.

    Raises:
        UsageError: the environment does not say which, or holds no token.
    """
    repository = needed(environment, "GITHUB_REPOSITORY")
    if not re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", repository):
        raise UsageError(f"'{repository}' in 'GITHUB_REPOSITORY' is not OWNER/NAME")
    token = _token(environment, "GITHUB_TOKEN")
    api = Api(
        environment.get("GITHUB_API_URL") or "https://api.github.com",
        {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "User-Agent": "rackwright",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    return GitHub(api, repository, number or _of_event(environment), author or GITHUB_ACTOR)


def gitlab(environment: Mapping[str, str], *, number: int | None, author: str | None) -> GitLab:
    """Return the merge request that a pipeline of GitLab runs for; the token says who the author is.

    Raises:
        UsageError: as ``github``.
    """
    if author:
        raise UsageError("--author is for GitHub only; GitLab says whose token it is")
    iid = number or _number(needed(environment, "CI_MERGE_REQUEST_IID"))
    token = _token(environment, "GITLAB_TOKEN")
    api = Api(
        needed(environment, "CI_API_V4_URL"),
        {"PRIVATE-TOKEN": token, "User-Agent": "rackwright"},
    )
    return GitLab(api, needed(environment, "CI_PROJECT_ID"), iid)


FORGES: Mapping[str, Callable[..., Forge]] = {"github": github, "gitlab": gitlab}
"""How each forge is reached, by name."""


def needed(environment: Mapping[str, str], name: str) -> str:
    """Return the value of a variable.

    Raises:
        UsageError: it is not set, or empty.
    """
    if value := environment.get(name):
        return value
    raise UsageError(f"the environment variable '{name}' is not set")


def _token(environment: Mapping[str, str], name: str) -> str:
    """Return the token; it is never shown, not even when it is wrong.

    Raises:
        UsageError: the variable is not set, or what is in it is no token.
    """
    token = needed(environment, name)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"what is in '{name}' is no token")
    return token


def _of_event(environment: Mapping[str, str]) -> int:
    """Return the number in the event that started the workflow.

    Raises:
        UsageError: no event is named, or it is not about a pull request.
    """
    path = Path(needed(environment, "GITHUB_EVENT_PATH"))
    try:
        event = json.loads(path.read_text(encoding="utf-8"))
        found = event["pull_request"]["number"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            "the workflow does not run for a pull request", hint="name one with --number"
        ) from None
    return _number(str(found))


def _number(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,9}", text, re.ASCII):
        raise UsageError(f"'{text}' is not the number of a request")
    return int(text)
