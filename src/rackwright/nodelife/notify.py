"""Notices of new work: to chats that take Slack's webhooks, to PagerDuty, and as tickets by a command.

A place is told of each task once, and PagerDuty also of its end. Secrets are references: ``env:NAME`` or ``file:PATH``.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from rackwright.errors import UsageError
from rackwright.model.base import Model
from rackwright.nodelife.worklist import WorkItem
from rackwright.web.fetching import NoReplyError, fetch, may_take_secrets

PAGERDUTY = "https://events.pagerduty.com/v2/enqueue"
TIMEOUT_S = 15
COMMAND_S = 60
MOST_LINES = 40
"""Tasks that one message of a chat lists."""
Reference = Annotated[str, Field(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:/.+)$")]
"""Reference to a secret: ``env:NAME`` or ``file:/PATH``."""


class SlackPlace(Model):
    """A chat that takes Slack's incoming webhooks, as Mattermost and Rocket.Chat do."""

    kind: Literal["slack"]
    name: str
    """Name of the place in messages."""
    url: Reference
    """Reference to the address of the webhook, which is a secret itself."""


class PagerDutyPlace(Model):
    """A service of PagerDuty, by version 2 of its Events API."""

    kind: Literal["pagerduty"]
    name: str
    """Name of the place in messages."""
    routing_key: Reference
    """Reference to the integration key of the service."""
    severity: Literal["critical", "error", "warning", "info"] = "error"
    """Severity of the alerts."""
    url: str = PAGERDUTY
    """Address of the Events API."""


class CommandPlace(Model):
    """A command that files a ticket; it gets the task as JSON on its standard input."""

    kind: Literal["command"]
    name: str
    """Name of the place in messages."""
    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    """Program and its arguments; no shell is between."""


Place = Annotated[SlackPlace | PagerDutyPlace | CommandPlace, Field(discriminator="kind")]


class NoticeFile(Model):
    """Places that are told of new work."""

    places: tuple[Place, ...]
    """Chats, services and commands."""


@dataclass(frozen=True, slots=True)
class Notices:
    """Notices that a place still needs.

    Attributes:
        new: tasks of which a place does not know yet, by their keys.
        ended: keys of which it knows and that are no tasks any more.
    """

    new: Mapping[str, WorkItem]
    ended: tuple[str, ...]


def key_of(item: WorkItem) -> str:
    """Return the key of a task: the same for the same part of the same node, whatever the words of its reason."""
    task = item.task
    words = (task.node, task.action, task.part, task.slot, task.serial, task.port)
    return "rackwright-" + hashlib.sha256("\0".join(words).encode()).hexdigest()[:24]


def notices(work: Sequence[WorkItem], known: Collection[str]) -> Notices:
    """Return what a place that knows of some keys has to be told."""
    keys = {key_of(item): item for item in work}
    return Notices(
        {key: item for key, item in keys.items() if key not in known},
        tuple(key for key in sorted(known) if key not in keys),
    )


def secret(reference: str, environment: Mapping[str, str]) -> str:
    """Return the secret behind a reference.

    Raises:
        UsageError: it is not there, or empty.
    """
    kind, _, name = reference.partition(":")
    if kind == "env":
        value = environment.get(name, "")
    else:
        try:
            value = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"the secret '{reference}' cannot be read: {error.strerror}") from None
    if not (value := value.strip()):
        raise UsageError(f"the secret '{reference}' is empty", hint="set it, or name another one")
    return value


def send(
    place: SlackPlace | PagerDutyPlace | CommandPlace,
    cluster: str,
    found: Notices,
    told: Callable[[str, bool], None],
    environment: Mapping[str, str] = os.environ,
) -> str | None:
    """Tell one place; the reason why it could not be told, or None.

    Args:
        place: where to.
        cluster: name of the cluster.
        found: what it has to be told.
        told: called with each key as soon as the place knows of it, and of its end (False).
        environment: of secrets.
    """
    try:
        if isinstance(place, SlackPlace):
            _to_chat(secret(place.url, environment), cluster, found, told)
        elif isinstance(place, PagerDutyPlace):
            key = secret(place.routing_key, environment)
            for name, body in _events(place, key, cluster, found):
                _post(place.url, body)
                told(name, body["event_action"] == "trigger")
        else:
            for name, item in found.new.items():
                _run(
                    place.argv,
                    {"cluster": cluster, "key": name, "text": str(item), **item.as_data()},
                )
                told(name, True)  # noqa: FBT003 - as the callback has it
            for name in found.ended:
                told(name, False)  # noqa: FBT003 - likewise
    except (UsageError, _NotSentError) as error:
        return error.summary if isinstance(error, UsageError) else str(error)
    return None


class _NotSentError(Exception):
    """A place does not take a notice."""


def _to_chat(url: str, cluster: str, found: Notices, told: Callable[[str, bool], None]) -> None:
    if found.new:
        lines = [f"• {_plain(str(item))}" for item in found.new.values()]
        more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        count = f"{len(lines)} new {'task' if len(lines) == 1 else 'tasks'} in the hall"
        _post(url, {"text": "\n".join([f"{cluster}: {count}", *lines[:MOST_LINES], *more])})
    for name in found.new:
        told(name, True)  # noqa: FBT003 - as the callback has it
    for name in found.ended:
        told(name, False)  # noqa: FBT003 - likewise


def _plain(text: str) -> str:
    """Return the text without the signs by which a chat calls people: Slack's escapes for ``<!channel>`` and links."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _events(
    place: PagerDutyPlace, key: str, cluster: str, found: Notices
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, item in found.new.items():
        yield (
            name,
            {
                "routing_key": key,
                "event_action": "trigger",
                "dedup_key": name,
                "client": "rackwright",
                "payload": {
                    "summary": f"{cluster}: {item}"[:1024],
                    "source": item.task.node,
                    "severity": place.severity,
                    "component": item.task.part or "node",
                    "group": item.rack or item.site,
                    "class": item.task.action,
                    "custom_details": item.as_data(),
                },
            },
        )
    for name in found.ended:
        yield name, {"routing_key": key, "event_action": "resolve", "dedup_key": name}


def _post(url: str, body: Mapping[str, Any]) -> None:
    """Send JSON; over TLS, or to this machine.

    Raises:
        _NotSentError: the address is not one, or it does not take the notice. The address is not in the text.
    """
    parts = urlsplit(url)
    if not may_take_secrets(url):
        raise _NotSentError("its address is not of https")
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    try:
        reply = fetch(request, TIMEOUT_S)
    except NoReplyError as error:
        raise _NotSentError(f"'{parts.hostname}' cannot be reached: {error}") from None
    if reply.refuses:
        raise _NotSentError(f"'{parts.hostname}' answers with {reply.status}")


def _run(argv: Sequence[str], document: Mapping[str, Any]) -> None:
    """Run a command with JSON on its standard input.

    Raises:
        _NotSentError: it is missing, fails or does not end.
    """
    try:
        done = subprocess.run(
            list(argv), input=json.dumps(document) + "\n", capture_output=True, text=True,
            timeout=COMMAND_S, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise _NotSentError(f"'{argv[0]}' is not there") from None
    except OSError as error:
        raise _NotSentError(f"'{argv[0]}' cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise _NotSentError(f"'{argv[0]}' has not ended within {COMMAND_S} s") from None
    if done.returncode != 0:
        words = " ".join((done.stderr or done.stdout).split())[:200]
        raise _NotSentError(f"'{argv[0]}' ended with {done.returncode}: {words}")
