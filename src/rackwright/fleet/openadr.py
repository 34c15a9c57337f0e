"""Virtual end node of OpenADR 2.0b, which polls a server and turns its events into power budgets.

The client is openleadr (extra ``openadr``). Two signals are supported: ``LOAD_CONTROL`` with the share of the contract that
the site may draw (``x-loadControlCapacity``), and ``SIMPLE`` levels, for which the operator sets the share. The node opts out
of other events, and of events whose budget cannot be kept.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.errors import UsageError
from rackwright.extras import install_hint

CAPACITY, SIMPLE = "x-loadControlCapacity", "SIMPLE"


@dataclass(frozen=True, slots=True)
class GridEvent:
    """Demand response event.

    Attributes:
        id: id of the event at the server.
        share: share of the contract that the site may draw, from 0 to 1.
        start: start of the event.
        end: end of the event.
    """

    id: str
    share: float
    start: dt.datetime
    end: dt.datetime


@dataclass(frozen=True)
class Handlers:
    """Callbacks for an event.

    Attributes:
        accept: returns True if the budget of the event can be kept.
        begin: sends the power limits.
        end: restores the full limits.
    """

    accept: Callable[[GridEvent], bool]
    begin: Callable[[GridEvent], None]
    end: Callable[[GridEvent], None]


def read_event(event: Mapping[str, Any], levels: Mapping[int, float]) -> GridEvent | None:
    """Return an event of the client; None without a supported signal.

    Args:
        event: event as parsed by openleadr.
        levels: share of the contract at each ``SIMPLE`` level.
    """
    for signal in event.get("event_signals", ()):
        intervals = signal.get("intervals") or ()
        if not intervals:
            continue
        payload = float(intervals[0]["signal_payload"])
        share: float | None = None
        if signal.get("signal_type") == CAPACITY:
            share = payload
        elif signal.get("signal_name") == SIMPLE:
            share = levels.get(round(payload))
        if share is None or not 0 < share <= 1:
            continue
        start = min(one["dtstart"] for one in intervals)
        end = max(one["dtstart"] + one["duration"] for one in intervals)
        return GridEvent(str(event["event_descriptor"]["event_id"]), share, start, end)
    return None


def listen(
    url: str, ven: str, levels: Mapping[int, float], handlers: Handlers, *, once: bool = False
) -> None:
    """Take part in the events of a server until interrupted, or with ``once`` until one event has ended.

    An error of a handler ends the listener as well, after it has restored the limits of the other events.

    Raises:
        UsageError: openleadr is not installed.
    """
    try:
        client = importlib.import_module("openleadr").OpenADRClient
    except ImportError:
        raise UsageError("openleadr is not installed", hint=install_hint("openadr")) from None
    asyncio.run(_listen(client(ven_name=ven, vtn_url=url), levels, handlers, once=once))


async def _listen(
    client: Any, levels: Mapping[int, float], handlers: Handlers, *, once: bool
) -> None:
    known: dict[str, asyncio.Task[None]] = {}
    outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def on_event(event: Mapping[str, Any]) -> str:
        found = read_event(event, levels)
        if found is None:
            return "optOut"
        # The server repeats an event on each poll: start it once.
        if found.id not in known:
            if not await asyncio.to_thread(handlers.accept, found):
                return "optOut"
            known[found.id] = asyncio.create_task(follow(found))
            known[found.id].add_done_callback(on_done)
        return "optIn"

    async def follow(event: GridEvent) -> None:
        try:
            # An error or a cancellation also restores the limits.
            await asyncio.sleep(_until(event.start))
            await asyncio.to_thread(handlers.begin, event)
            await asyncio.sleep(_until(event.end))
        finally:
            await asyncio.to_thread(handlers.end, event)

    def on_done(task: asyncio.Task[None]) -> None:
        if outcome.done():
            return
        error = None if task.cancelled() else task.exception()
        if error is not None:
            outcome.set_exception(error)
        elif once:
            outcome.set_result(None)

    async def on_update(event: Mapping[str, Any]) -> str:
        """Cancel an event that the server withdrew; other updates leave it as it was accepted."""
        task = known.get(str(event["event_descriptor"]["event_id"]))
        if event["event_descriptor"].get("event_status") == "cancelled" and task is not None:
            task.cancel()
        return "optIn"

    client.add_handler("on_event", on_event)
    client.add_handler("on_update_event", on_update)
    await client.run()
    try:
        await outcome
    finally:
        # Cancelled events restore their limits before the client stops.
        for task in known.values():
            task.cancel()
        await asyncio.gather(*known.values(), return_exceptions=True)
        await client.stop()


def _until(moment: dt.datetime) -> float:
    """Return the time until a moment, in s; 0 if it has passed."""
    return max(0.0, (moment - dt.datetime.now(dt.UTC)).total_seconds())
