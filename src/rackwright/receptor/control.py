"""The control service of Receptor on this machine: lines of JSON over a Unix socket.

The protocol is the one that ``receptorctl`` speaks, which is a program for people: what it submits
and what then fails is left behind with its payload.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import ExternalToolError

WORK_TYPE = "ansible-runner"
TLS = "mesh"
"""Name of the TLS settings in the generated configuration."""

ANSWER_WITHIN_S = 30.0
FINISHED = frozenset({"Succeeded", "Failed", "Canceled"})
_CREATED = re.compile(r"Work unit created with ID (\S+)\. Send stdin data and EOF\.")


@dataclass(frozen=True)
class WorkUnit:
    """State of submitted work."""

    state: str
    detail: str


class Results:
    """The output of a unit, read while it is written; ``end`` may be called from another thread."""

    def __init__(self, connection: socket.socket, file: io.BufferedReader) -> None:
        self._connection = connection
        self.file = file

    def end(self) -> None:
        """Let a reader that waits find the end of the output."""
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


@dataclass(frozen=True)
class Control:
    """Receptor on this machine."""

    path: Path

    def nodes(self) -> frozenset[str]:
        """Return the nodes that can be reached now.

        Raises:
            ExternalToolError: Receptor on this machine does not answer.
        """
        return frozenset(self._ask("status").get("RoutingTable") or ())

    def submit(self, node: str, payload: Path, *, begin_within_s: float) -> str:
        """Identifier of the unit of work that ``node`` runs with ``payload`` as its input.

        Work that could not be begun is not left behind.

        Raises:
            ExternalToolError: it is refused.
        """
        wanted = {
            "command": "work",
            "subcommand": "submit",
            "node": node,
            "worktype": WORK_TYPE,
            "tlsclient": TLS,
            "signwork": "true",
            "ttl": f"{begin_within_s:.0f}s",
        }
        with self._connect() as (connection, reader):
            connection.sendall(f"{json.dumps(wanted)}\n".encode())
            match = _CREATED.fullmatch(answer := _line(reader))
            if match is None:
                raise ExternalToolError(f"Receptor refuses work for '{node}': {_error(answer)}")
            unit = match.group(1)
            try:
                connection.settimeout(None)  # it answers when the payload has been sent on
                with payload.open("rb") as source, connection.makefile("wb") as sink:
                    shutil.copyfileobj(source, sink)
                connection.shutdown(socket.SHUT_WR)
                answer = _line(reader)
                if answer.startswith("ERROR"):
                    raise ExternalToolError(f"'{node}' refuses the work: {_error(answer)}")
            except BaseException:
                self.release(unit)
                raise
        return unit

    @contextmanager
    def results(self, unit: str) -> Iterator[Results]:
        """Yield the output of ``unit`` from its beginning.

        Raises:
            ExternalToolError: there is no such unit.
        """
        with self._connect() as (connection, reader):
            connection.sendall(f"work results {unit} 0\n".encode())
            answer = _line(reader)
            if not answer.startswith("Streaming results"):
                raise ExternalToolError(f"Receptor has no results of '{unit}': {_error(answer)}")
            connection.settimeout(None)
            yield Results(connection, reader)

    def unit(self, unit: str) -> WorkUnit:
        """Return the state of ``unit``.

        Raises:
            ExternalToolError: there is no such unit.
        """
        told = self._ask(f"work status {unit}")
        return WorkUnit(str(told.get("StateName", "")), str(told.get("Detail", "")))

    def release(self, unit: str) -> None:
        """Forget ``unit``; its work is cancelled where it still runs.

        On a node that cannot be reached this happens when it is back.

        Raises:
            ExternalToolError: Receptor on this machine does not answer.
        """
        self._ask(f"work release {unit}")

    def _ask(self, command: str) -> dict[str, Any]:
        with self._connect() as (connection, reader):
            connection.sendall(f"{command}\n".encode())
            answer = _line(reader)
        try:
            told = json.loads(answer)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise ExternalToolError(f"Receptor fails at '{command}': {_error(answer)}")
        return told

    @contextmanager
    def _connect(self) -> Iterator[tuple[socket.socket, io.BufferedReader]]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_WITHIN_S)
            try:
                connection.connect(str(self.path))
                with connection.makefile("rb") as reader:
                    if not (answer := _line(reader)).startswith("Receptor Control"):
                        raise ExternalToolError(f"'{self.path}' is no Receptor: {_error(answer)}")
                    yield connection, reader
            except OSError as error:
                raise ExternalToolError(
                    f"Receptor on this machine does not answer at '{self.path}': "
                    f"{(error.strerror or str(error)).lower()}",
                    hint="start it, and name its control socket as 'socket' under 'head'",
                ) from error


def _line(reader: io.BufferedReader) -> str:
    return reader.readline().decode("utf-8", "replace").strip()


def _error(answer: str) -> str:
    return answer.removeprefix("ERROR:").strip() or "no answer"
