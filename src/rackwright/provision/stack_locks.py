"""Leftovers of a killed run that block the next one: locks of stacks, and half-written files.

The engine writes a lock beside the state, as ``.pulumi/locks/organization/PROJECT/STACK/ID.json``,
and removes it at its end; one that is killed leaves it behind. Pulumi Cloud keeps them itself.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from rackwright.errors import ExternalToolError

_FOLDER = ".pulumi/locks/organization"
_NAMED = re.compile(r"created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)")
"""A lock in what the CLI says of a stack that is locked."""


@dataclass(frozen=True, slots=True)
class StackLock:
    """A lock of a stack.

    Attributes:
        name: of the file or object that it is; empty where the CLI alone has told of it.
        user: who began the run.
        host: where the run is, or was.
        process: the number of the engine's process there.
        since: when the run began, as in RFC 3339.
    """

    name: str
    user: str
    host: str
    process: int
    since: str

    def __str__(self) -> str:
        return f"{self.user}@{self.host} (process {self.process}) since {self.since}"

    @property
    def is_of_the_living(self) -> bool:
        """True if the holder is a running process of this host."""
        return self.host == socket.gethostname() and _is_alive(self.process)


class LockStore(Protocol):
    """Store of a backend's locks."""

    def list(self, project: str, stack: str) -> list[str]:
        """Return the names of the locks of a stack, in order."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a lock; None if it is gone."""

    def remove(self, name: str) -> None:
        """Remove a lock; one that is gone already is no mistake."""


@dataclass(frozen=True, slots=True)
class FileStore:
    """The locks of a backend that is a folder.

    Attributes:
        folder: of the backend.
    """

    folder: Path

    def list(self, project: str, stack: str) -> list[str]:
        """Return the files of the locks of a stack."""
        held = self.folder / _FOLDER / project / stack
        return sorted(map(str, held.glob("*.json"))) if held.is_dir() else []

    def read(self, name: str) -> bytes | None:
        """Return the content of a lock's file; None if it is gone."""
        try:
            return Path(name).read_bytes()
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove the file of a lock."""
        Path(name).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class BucketStore:
    """The locks of a backend that is a bucket of S3.

    Attributes:
        client: of boto3.
        bucket: its name.
        prefix: of every key, empty or with a slash at its end.
    """

    client: Any
    bucket: str
    prefix: str

    def list(self, project: str, stack: str) -> list[str]:
        """Return the keys of the locks of a stack."""
        below = f"{self.prefix}{_FOLDER}/{project}/{stack}/"
        with _answered(f"locks below 's3://{self.bucket}/{below}' cannot be listed"):
            pages = self.client.get_paginator("list_objects_v2")
            found = pages.paginate(Bucket=self.bucket, Prefix=below)
            return sorted(one["Key"] for page in found for one in page.get("Contents", ()))

    def read(self, name: str) -> bytes | None:
        """Return the content of a lock's object; None if it is gone."""
        with _answered(f"the lock 's3://{self.bucket}/{name}' cannot be read"):
            try:
                found = self.client.get_object(Bucket=self.bucket, Key=name)
            except self.client.exceptions.NoSuchKey:
                return None
            held: bytes = found["Body"].read()
            return held

    def remove(self, name: str) -> None:
        """Remove the object of a lock."""
        with _answered(f"the lock 's3://{self.bucket}/{name}' cannot be removed"):
            self.client.delete_object(Bucket=self.bucket, Key=name)


def file_store(url: str | None) -> FileStore | None:
    """Return the store of locks of a backend that is a folder; None for any other backend."""
    if url is None or not url.startswith("file://"):
        return None
    return FileStore(Path(url.removeprefix("file://").partition("?")[0]).expanduser())


def clear_half_written(store: FileStore, project: str) -> int:
    """Remove the attributes that a killed engine left empty beside a state; the state itself stands.

    The engine replaces a state in one step, but begins ``STACK.json.attrs`` beside it again, which
    holds the state's digest; where that is empty it reads no state ("EOF"), where it is missing it does.

    Returns:
        how many there were.
    """
    folders = (store.folder / ".pulumi", store.folder / ".pulumi/stacks" / project)
    empty = [
        path for folder in folders for path in folder.glob("*.attrs") if not path.stat().st_size
    ]
    for path in empty:
        path.unlink(missing_ok=True)
    return len(empty)


def open_store(url: str | None) -> LockStore | None:
    """Return the store of locks of the backend at ``url``; None if the backend cannot be inspected.

    Of the parameters of an ``s3://`` URL, region, profile, endpoint and the style of paths are
    understood.
    """
    if (folder := file_store(url)) is not None:
        return folder
    parts = urlsplit(url or "")
    if parts.scheme != "s3":
        return None
    import boto3
    from botocore.config import Config

    given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    styles = (given.get("s3ForcePathStyle"), given.get("use_path_style"))
    with _answered(f"the backend 's3://{parts.netloc}' cannot be looked into"):
        client = boto3.Session(
            profile_name=given.get("profile"), region_name=given.get("region")
        ).client(
            "s3",
            endpoint_url=given.get("endpoint"),
            config=Config(s3={"addressing_style": "path" if "true" in styles else "auto"}),
        )
    prefix = parts.path.strip("/")
    return BucketStore(client, parts.netloc, f"{prefix}/" if prefix else "")


def read_locks(store: LockStore, project: str, stack: str) -> tuple[StackLock, ...]:
    """Return the locks of a stack.

    Raises:
        ExternalToolError: one cannot be read.
    """
    found = []
    for name in store.list(project, stack):
        held = store.read(name)
        if held is not None:
            found.append(_parse_lock(name, held, f"{project}/{stack}"))
    return tuple(found)


def named_locks(text: str) -> tuple[StackLock, ...]:
    """Return the locks that the CLI's error message names."""
    return tuple(
        StackLock("", user, host, int(process), since)
        for user, host, process, since in _NAMED.findall(text)
    )


def clear_dead_locks(store: LockStore, project: str, stack: str) -> int:
    """Remove the locks of dead engines of this host, and return their number.

    Raises:
        ExternalToolError: the holder is alive, or ran on another host.
    """  # noqa: DOC501 - locked() makes the ExternalToolError
    removed = 0
    for lock in read_locks(store, project, stack):
        if lock.host != socket.gethostname() or lock.is_of_the_living:
            raise locked(f"{project}/{stack}", (lock,))
        store.remove(lock.name)
        removed += 1
    return removed


def locked(stack: str, locks: tuple[StackLock, ...]) -> ExternalToolError:
    """Return the error for a locked stack, as ``PROJECT/STACK``; Pulumi Cloud names no holder."""
    holders = f" by {', '.join(map(str, locks))}" if locks else ""
    return ExternalToolError(
        f"stack '{stack}' is being updated{holders}",
        hint="wait until that run has ended; where it never will, because its machine is lost, "
        "'rackwright unlock' lifts the lock",
    )


def _parse_lock(name: str, content: bytes, stack: str) -> StackLock:
    try:
        held = json.loads(content)
        return StackLock(
            name,
            str(held.get("username", "?")),
            str(held["hostname"]),
            int(held["pid"]),
            str(held.get("timestamp", "?")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ExternalToolError(
            f"the lock '{name}' of stack '{stack}' cannot be read",
            hint="make sure that no update runs, then delete it",
        ) from error


@contextmanager
def _answered(trouble: str) -> Iterator[None]:
    """Say what S3 refuses.

    Raises:
        ExternalToolError: it does, or nobody can be asked.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise ExternalToolError(
            f"{trouble}: {error}", hint="the role needs to list, read and write the state's bucket"
        ) from None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state == "Z"
