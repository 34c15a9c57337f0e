"""New work is told once at each place, its end to PagerDuty, and no secret is in a message."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from rackwright.errors import SpecErrors
from rackwright.nodelife.ledger import SuiteResult
from rackwright.nodelife.metrics import render_metrics
from rackwright.nodelife.notify import (
    CommandPlace,
    NoticeFile,
    PagerDutyPlace,
    SlackPlace,
    key_of,
    notices,
    send,
)
from rackwright.nodelife.service import ServiceFigures
from rackwright.nodelife.status import PartOutOfService, PlanPart, SiteStatus
from rackwright.nodelife.worklist import HandTask, WorkItem
from rackwright.reading.loader import load

GPU = WorkItem(
    HandTask("gpu-1", "swap", "row remap failed <!channel>", "gpu", "1b:00.0", "1650"),
    rack="c02",
    unit=7,
)
FAN = WorkItem(HandTask("gpu-2", "look at", "heat"), rack="c03")


class Server:
    """A server that keeps what it is sent."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.code = 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.bodies.append(
                    json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                )
                self.send_response(outer.code)
                if outer.code == 302:
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook/s3cret"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.server.shutdown()
    made.thread.join()
    made.server.server_close()


class Known:
    """Keys of which a place knows."""

    def __init__(self) -> None:
        self.keys: set[str] = set()

    def __call__(self, key: str, known: bool) -> None:
        (self.keys.add if known else self.keys.discard)(key)


def test_chat_is_told_once_and_calls_nobody(server: Server) -> None:
    place, known = SlackPlace(kind="slack", name="hall", url="env:HOOK"), Known()
    for _ in range(2):
        assert (
            send(place, "atlas", notices([GPU, FAN], known.keys), known, {"HOOK": server.url})
            is None
        )
    (body,) = server.bodies
    assert body["text"].startswith(
        "atlas: 2 new tasks in the hall\n• c02 U7: swap GPU 1b:00.0 of gpu-1"
    )
    assert "<!channel>" not in body["text"]
    assert known.keys == {key_of(GPU), key_of(FAN)}


def test_pagerduty_gets_an_event_and_its_end(server: Server, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("R0UT1NG\n")
    place = PagerDutyPlace(kind="pagerduty", name="pd", routing_key=f"file:{key}", url=server.url)
    known = Known()
    assert send(place, "atlas", notices([GPU], known.keys), known, {}) is None
    assert send(place, "atlas", notices([], known.keys), known, {}) is None
    begun, ended = server.bodies
    assert (begun["routing_key"], begun["event_action"]) == ("R0UT1NG", "trigger")
    assert begun["dedup_key"] == ended["dedup_key"] == key_of(GPU)
    assert begun["payload"]["severity"] == "error"
    assert begun["payload"]["source"] == "gpu-1"
    assert begun["payload"]["custom_details"]["serial"] == "1650"
    assert ended["event_action"] == "resolve"
    assert known.keys == set()


def test_command_files_a_ticket_for_each_task(tmp_path: Path) -> None:
    program = "import sys, json, pathlib; d = json.load(sys.stdin); pathlib.Path(sys.argv[1], d['key']).write_text(d['text'])"
    place = CommandPlace(
        kind="command", name="t", argv=(sys.executable, "-c", program, str(tmp_path))
    )
    known = Known()
    assert send(place, "atlas", notices([GPU, FAN], ()), known, {}) is None
    assert {path.name for path in tmp_path.iterdir()} == known.keys


@pytest.mark.parametrize("code", [302, 403, 500])
def test_place_that_does_not_take_it_is_told_again_and_keeps_its_secret(
    server: Server, code: int
) -> None:
    server.code = code
    place, known = SlackPlace(kind="slack", name="hall", url="env:HOOK"), Known()
    why = send(place, "atlas", notices([GPU], ()), known, {"HOOK": server.url})
    assert why == f"'127.0.0.1' answers with {code}"
    assert known.keys == set()


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        ("http://chat.example/s3cret", "its address is not of https"),
        ("", "the secret 'env:HOOK' is empty"),
        ("http://127.0.0.1:1/s3cret", "'127.0.0.1' cannot be reached"),
    ],
)
def test_bad_addresses_are_said_without_the_secret(hook: str, why: str) -> None:
    told = send(
        SlackPlace(kind="slack", name="x", url="env:HOOK"),
        "a",
        notices([GPU], ()),
        Known(),
        {"HOOK": hook},
    )
    assert told is not None
    assert told.startswith(why)
    assert "s3cret" not in told


def test_command_that_fails_is_said() -> None:
    place = CommandPlace(kind="command", name="t", argv=("/nonexistent/ticket",))
    assert send(place, "a", notices([GPU], ()), Known(), {}) == "'/nonexistent/ticket' is not there"
    place = CommandPlace(kind="command", name="t", argv=("sh", "-c", "echo no quota >&2; exit 3"))
    assert send(place, "a", notices([GPU], ()), Known(), {}) == "'sh' ended with 3: no quota"


def test_key_is_of_the_part_and_not_of_the_words() -> None:
    other = WorkItem(HandTask("gpu-1", "swap", "other words", "gpu", "1b:00.0", "1650"))
    assert key_of(other) == key_of(GPU) != key_of(FAN)


def test_secret_in_the_file_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notify.yaml"
    path.write_text("places: [{kind: slack, name: hall, url: 'https://hooks.example/s3cret'}]\n")
    with pytest.raises(SpecErrors) as caught:
        load(path, NoticeFile)
    assert "url" in str(caught.value)


def test_metrics_are_in_the_text_format_of_prometheus() -> None:
    status = SiteStatus(
        cluster="atlas",
        states={"idle": ("a", "b"), "down": ("c", "d")},
        reasons={"c": 'node health: Xid 79 "off"', "d": "heat: 92"},
        missing=("e",),
        shared=(PartOutOfService(PlanPart("room", "leaf", "l1"), ("c", "d"), 4),),
        alone=(),
        differs={},
        silent={},
        repairs={"c": "draining: waits for jobs"},
        work=(GPU, FAN),
        service=ServiceFigures(86400, 5, 2, 216000.0, None, {"heat": 60.0}),
    )
    suites = [SuiteResult("a", "pass"), SuiteResult("b", "fail")]
    lines = render_metrics(status, suites, 1000.0).splitlines()
    values = [line for line in lines if not line.startswith("#")]
    assert 'rackwright_nodes{cluster="atlas",state="idle"} 2' in values
    assert 'rackwright_nodes{cluster="atlas",state="unknown to Slurm"} 1' in values
    assert 'rackwright_nodes_out_of_service{cluster="atlas",cause="Xid \\"off\\""} 1' in values
    assert (
        'rackwright_shared_part_nodes{cluster="atlas",site="room",kind="leaf",part="l1"} 2'
        in values
    )
    assert 'rackwright_nodes_under_repair{cluster="atlas",state="draining"} 1' in values
    assert 'rackwright_burn_in_nodes{cluster="atlas",outcome="pass"} 1' in values
    assert 'rackwright_mtbi_seconds{cluster="atlas"} 216000' in values
    assert not any("mttr" in line for line in values), "unknown is left out"
    assert 'rackwright_lost_node_seconds{cluster="atlas",cause="heat"} 60' in values
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert named == {line.split("{")[0] for line in values}
