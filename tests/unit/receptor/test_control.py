"""The control service of Receptor, played by a server that says what a test wants."""

from __future__ import annotations

import json
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.receptor.control import Control, WorkUnit


@dataclass
class Receptor:
    """What it answers, by the beginning of a command; what it was asked and sent."""

    path: Path
    answers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    payloads: list[bytes] = field(default_factory=list)
    after_payload: str = '{"unitid": "U1", "result": "Job Started"}'
    hold: threading.Event = field(default_factory=threading.Event)

    def serve(self, read: Callable[[], bytes], rest: Callable[[], bytes]) -> Iterator[str]:
        yield "Receptor Control, node head"
        command = read().decode().strip()
        self.asked.append(command)
        if command.startswith("{"):
            yield self.answers.get(
                "submit", "Work unit created with ID U1. Send stdin data and EOF."
            )
            self.payloads.append(rest())
            yield self.after_payload
            return
        for beginning, answer in self.answers.items():
            if command.startswith(beginning):
                yield answer
                if beginning == "work results":
                    self.hold.wait(20)
                return
        yield "ERROR: unknown"


@pytest.fixture
def receptor() -> Iterator[Receptor]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is too long for a socket
        made = Receptor(Path(folder) / "s")

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with suppress(BrokenPipeError):  # a client may have heard enough
                    for line in made.serve(self.rfile.readline, self.rfile.read):
                        self.wfile.write(f"{line}\n".encode())

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            block_on_close = False

        with Server(str(made.path), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            yield made
            made.hold.set()
            server.shutdown()
            thread.join()


def payload(tmp_path: Path) -> Path:
    path = tmp_path / "payload"
    path.write_bytes(b"{}\n" * 100_000)
    return path


def test_reachable_nodes_are_those_with_a_route(receptor: Receptor) -> None:
    receptor.answers["status"] = '{"NodeID": "head", "RoutingTable": {"a": "a", "b": "a"}}'
    assert Control(receptor.path).nodes() == {"a", "b"}
    receptor.answers["status"] = '{"NodeID": "head", "RoutingTable": null}'
    assert Control(receptor.path).nodes() == frozenset()


def test_work_is_signed_encrypted_and_begins_soon_or_never(
    receptor: Receptor, tmp_path: Path
) -> None:
    unit = Control(receptor.path).submit("a", payload(tmp_path), begin_within_s=60)
    assert unit == "U1"
    assert receptor.payloads == [payload(tmp_path).read_bytes()]
    assert json.loads(receptor.asked[0]) == {
        "command": "work",
        "subcommand": "submit",
        "node": "a",
        "worktype": "ansible-runner",
        "tlsclient": "mesh",
        "signwork": "true",
        "ttl": "60s",
    }


def test_work_that_is_refused_is_not_left_behind(receptor: Receptor, tmp_path: Path) -> None:
    receptor.after_payload = "ERROR: could not verify signature"
    receptor.answers["work release U1"] = '{"released": "U1"}'
    with pytest.raises(ExternalToolError, match="'a' refuses the work: could not verify signature"):
        Control(receptor.path).submit("a", payload(tmp_path), begin_within_s=60)
    assert receptor.asked[1:] == ["work release U1"]


def test_receptor_may_refuse_work_at_once(receptor: Receptor, tmp_path: Path) -> None:
    receptor.answers["submit"] = "ERROR: no such TLS"
    with pytest.raises(ExternalToolError, match="refuses work for 'a': no such TLS"):
        Control(receptor.path).submit("a", payload(tmp_path), begin_within_s=60)
    assert len(receptor.asked) == 1


def test_results_that_do_not_end_can_be_ended(receptor: Receptor) -> None:
    receptor.answers["work results"] = "Streaming results for work unit U1\nfirst"
    with Control(receptor.path).results("U1") as results:
        assert results.file.readline() == b"first\n"
        threading.Timer(0.2, results.end).start()
        assert results.file.readline() == b"", "a reader that waits finds the end"


def test_what_has_become_of_a_unit(receptor: Receptor) -> None:
    receptor.answers["work status"] = '{"StateName": "Failed", "Detail": "no ansible-runner"}'
    assert Control(receptor.path).unit("U1") == WorkUnit("Failed", "no ansible-runner")


def test_an_error_is_told(receptor: Receptor) -> None:
    receptor.answers["work release"] = "ERROR: unknown work unit U9"
    with pytest.raises(ExternalToolError, match="'work release U9': unknown work unit U9"):
        Control(receptor.path).release("U9")
    receptor.answers["work results"] = "ERROR: unknown work unit U9"
    with (
        pytest.raises(ExternalToolError, match="no results of 'U9'"),
        Control(receptor.path).results("U9"),
    ):
        pass


def test_without_receptor_it_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ExternalToolError, match="does not answer at '/nowhere/s'") as caught:
        Control(Path("/nowhere/s")).nodes()
    assert "'socket' under 'head'" in (caught.value.hint or "")
