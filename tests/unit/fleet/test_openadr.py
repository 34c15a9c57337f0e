"""Events of a grid: which are understood, accepted, begun and ended."""

from __future__ import annotations

import asyncio
import datetime as dt
import importlib
from typing import Any

import pytest

from rackwright.errors import ExternalToolError, UsageError
from rackwright.fleet import openadr
from rackwright.fleet.openadr import GridEvent, Handlers, listen, read_event

NOW = dt.datetime(2020, 11, 27, 18, 0, tzinfo=dt.UTC)
"""A moment that has passed."""
HOUR = dt.timedelta(hours=1)


def event(name: str, kind: str, *payloads: float, start: dt.datetime = NOW) -> dict[str, Any]:
    intervals = [
        {"dtstart": start + n * HOUR, "duration": HOUR, "signal_payload": payload}
        for n, payload in enumerate(payloads)
    ]
    signal = {"signal_name": name, "signal_type": kind, "intervals": intervals}
    return {
        "event_descriptor": {"event_id": "e1", "event_status": "far"},
        "event_signals": [signal],
    }


def test_a_share_of_the_contract_is_read() -> None:
    found = read_event(event("LOAD_CONTROL", "x-loadControlCapacity", 0.75, 0.75), {})
    assert found == GridEvent("e1", 0.75, NOW, NOW + 2 * HOUR)


def test_a_level_has_the_share_that_the_operator_states() -> None:
    assert read_event(event("SIMPLE", "level", 1), {}) is None
    found = read_event(event("SIMPLE", "level", 1), {1: 0.85})
    assert found is not None
    assert found.share == 0.85


@pytest.mark.parametrize(
    "signal",
    [
        event("ELECTRICITY_PRICE", "price", 0.3),
        event("LOAD_CONTROL", "x-loadControlCapacity", 0.0),
        event("LOAD_CONTROL", "x-loadControlCapacity", 1.5),
        event("LOAD_CONTROL", "x-loadControlCapacity"),
        {"event_descriptor": {"event_id": "e1"}},
    ],
)
def test_an_event_of_another_kind_is_none(signal: dict[str, Any]) -> None:
    assert read_event(signal, {1: 0.85}) is None


class Client:
    """A client whose server sends one event twice."""

    def __init__(self, **names: str) -> None:
        self.handlers: dict[str, Any] = {}
        self.answers: list[str] = []
        self.stopped = False
        self.ran = asyncio.Event()

    def add_handler(self, name: str, handler: Any) -> None:
        self.handlers[name] = handler

    async def run(self) -> None:
        sent = event("LOAD_CONTROL", "x-loadControlCapacity", 0.75, start=NOW - 3 * HOUR)
        for _ in range(2):
            self.answers.append(await self.handlers["on_event"](sent))
        self.ran.set()

    async def stop(self) -> None:
        self.stopped = True


def test_an_event_is_begun_and_ended_once() -> None:
    client, done = Client(), []
    handlers = Handlers(
        lambda _: True,
        lambda one: done.append(f"begin {one.id}"),
        lambda one: done.append(f"end {one.id}"),
    )
    asyncio.run(openadr._listen(client, {}, handlers, once=True))
    assert client.answers == ["optIn", "optIn"]
    assert done == ["begin e1", "end e1"]
    assert client.stopped


def test_event_that_cannot_be_kept_is_opted_out_of() -> None:
    client, done = Client(), []
    handlers = Handlers(
        lambda _: False, lambda _: done.append("begin"), lambda _: done.append("end")
    )

    async def run() -> None:
        task = asyncio.create_task(openadr._listen(client, {}, handlers, once=False))
        await asyncio.wait_for(client.ran.wait(), 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
    assert (client.answers, done) == (["optOut", "optOut"], [])


def test_limits_are_given_back_when_the_node_is_stopped() -> None:
    client, done = Client(), []

    async def run() -> None:
        sent = event("LOAD_CONTROL", "x-loadControlCapacity", 0.75, start=dt.datetime.now(dt.UTC))
        begun, loop = asyncio.Event(), asyncio.get_running_loop()

        def begin(_: GridEvent) -> None:
            done.append("begin")
            loop.call_soon_threadsafe(begun.set)

        handlers = Handlers(lambda _: True, begin, lambda _: done.append("end"))
        client.run = lambda: client.handlers["on_event"](sent)  # type: ignore[method-assign]
        task = asyncio.create_task(openadr._listen(client, {}, handlers, once=False))
        await asyncio.wait_for(begun.wait(), 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
    assert done == ["begin", "end"]


@pytest.mark.parametrize("once", [True, False])
def test_limits_that_cannot_be_given_back_end_the_node(once: bool) -> None:
    client = Client()

    def end(_: GridEvent) -> None:
        raise ExternalToolError("ansible-playbook is not installed")

    handlers = Handlers(lambda _: True, lambda _: None, end)
    with pytest.raises(ExternalToolError, match="not installed"):
        asyncio.run(asyncio.wait_for(openadr._listen(client, {}, handlers, once=once), timeout=300))
    assert client.stopped


def test_without_openleadr_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match="openleadr is not installed"):
        listen("http://vtn", "hall", {}, Handlers(lambda _: True, lambda _: None, lambda _: None))
