"""Faults in the recordings of a node, by the table of faults. Pure.

Windows are of the clock of each source. A clock that goes back begins a new stretch; errors in between
still count, and no window reaches across.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rackwright.catalog.fault_signals import RECOVERY_XID
from rackwright.catalog.fault_table import LINK_XIDS, FaultTable
from rackwright.model.faults import Fault, Signal
from rackwright.nodelife.signs.recordings import LogLine, Recording, Sample, read_recording

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([^)]*)\): (\d+)(?:, ?|$|(?=\s))(.*)")
_REASON_XID = re.compile(r"\bXid (\d+)\b(?: \(([^)]*)\))?")
_OF_PROGRAM = ("node health: ", "rackwright")
"""Beginnings of reasons in Slurm of our programs: the words of an operator are about what they know already."""
_REASON_ID = re.compile(r"\[([a-z][a-z0-9-]+)\]")
_NUMBERS = re.compile(r"\((0x[0-9a-fA-F]+) (0x[0-9a-fA-F]+)\b")
_NORMAL = re.compile(
    r"\bto (ok|normal)\b(?!.*deasserted)|\bno (\w+ )?leak|(?<!until it is )(cleared|resolved)\W*$"
)
"""Words by which a sensor is back to normal, in small letters."""
_NOTHING = frozenset({"", "n/a", "[n/a]", "none"})


@dataclass(frozen=True, slots=True, order=True)
class FaultEvent:
    """A fault that was seen.

    Attributes:
        device: part of the node, as its source names it; empty for the node itself.
        at: time of the source in s; 0 for what is so now, below 0 for an event without a time.
        text: line or value that is the sign.
    """

    fault: str
    device: str
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class _Sign:
    """A line or value that may be a sign, before it is counted."""

    device: str
    at: float
    text: str


def detect(table: FaultTable, recording: Recording) -> tuple[FaultEvent, ...]:
    """Return the faults of a recording: of each fault and device the last sign, as a fault may come again.

    Times of two sources cannot be compared: each has its own last sign.
    """
    xids = list(_xids(recording))
    found: dict[tuple[str, str, str], FaultEvent] = {}
    for fault in table.faults.values():
        for signal in fault.signals:
            last = {e.device: e for e in _events(table, fault, signal, recording, xids)}
            for device, event in last.items():
                key = (event.fault, device, _source(signal))
                known = found.get(key)
                if known is None or known.at < event.at:
                    found[key] = event
    for line in recording.lines:
        for name in reason_faults(line.text) if line.log == "slurm-reason" and line.text.startswith(_OF_PROGRAM) else ():  # fmt: skip
            if name in table.faults and not any(fault == name for fault, *_ in found):
                found[name, "", line.log] = FaultEvent(name, "", line.at or 0.0, line.text)
    return tuple(sorted(set(found.values())))


def _source(signal: Signal) -> str:
    """Return the source of a signal's times; that of an Xid is the kernel."""
    return signal.log or (signal.reading or signal.counter or "kernel").partition(".")[0]


def reason_faults(text: str) -> list[str]:
    """Return the ids of faults in a reason of the health check: ``7 of 8 ports [port-down]``."""
    return _REASON_ID.findall(text)


def detect_in(table: FaultTable, material: dict[str, str]) -> tuple[FaultEvent, ...]:
    """Return the faults in the texts of sources.

    Raises:
        ValueError: a source cannot be read.
    """
    recording = read_recording(material)
    if recording.problems:
        raise ValueError("; ".join(recording.problems))
    return detect(table, recording)


@dataclass(frozen=True, slots=True)
class _Xid:
    number: int
    sign: _Sign
    rest: str


def _xids(recording: Recording) -> Iterator[_Xid]:
    """Yield the Xid errors of the kernel log, of DCGM and of reasons in Slurm.

    By Xid 154 the driver asks for a recovery and takes it back: the last one of a GPU counts. The number
    that DCGM has stays until another one comes.
    """
    lines = {}
    for one in _xids_of_lines(recording):
        lines[one.sign.device if one.number == RECOVERY_XID else id(one)] = one
    yield from lines.values()
    former: dict[str, str] = {}
    for sample in recording.samples:
        if sample.name != "dcgm.DCGM_FI_DEV_XID_ERRORS":
            continue
        same = former.get(sample.device) == sample.value
        former[sample.device] = sample.value
        if not same and (value := _number(sample.value)):
            text = f"{sample.name} {sample.value}"
            yield _Xid(int(value), _Sign(sample.device, sample.at, text), "")


def _xids_of_lines(recording: Recording) -> Iterator[_Xid]:
    for line in recording.lines:
        if line.log == "kernel" and (match := _XID.search(line.text)) is not None:
            sign = _Sign(match[1], line.at or 0.0, line.text)
            yield _Xid(int(match[2]), sign, match[3])
        elif line.log == "slurm-reason" and line.text.startswith(_OF_PROGRAM):
            for number, rest in _REASON_XID.findall(line.text):
                # The reason is short: what the driver asks for comes as the message has it.
                yield _Xid(int(number), _Sign("", line.at or 0.0, line.text), f"to 0 ({rest})")


def _events(
    table: FaultTable, fault: Fault, signal: Signal, recording: Recording, xids: Sequence[_Xid]
) -> Iterator[FaultEvent]:
    if signal.xid is not None or signal.link is not None:
        signs = _xid_signs(table, signal, xids)
    elif signal.log is not None:
        signs = _line_signs(signal, recording)
    elif signal.counter is not None:
        yield from (
            FaultEvent(fault.id, sign.device, sign.at, sign.text)
            for sign in _growth(signal, recording.samples)
        )
        return
    else:
        signs = _reading_signs(signal, recording.samples)
    for sign in _often_enough(signal, signs):
        yield FaultEvent(fault.id, sign.device, sign.at, sign.text)


def _xid_signs(table: FaultTable, signal: Signal, xids: Sequence[_Xid]) -> Iterator[_Sign]:
    for xid in xids:
        if signal.link is not None:
            if xid.number not in LINK_XIDS:
                continue
            immediate, later = _link_class(table, xid)
            if immediate == signal.link and (
                signal.pattern is None or _compiled(signal.pattern).search(later)
            ):
                yield xid.sign
        elif xid.number == signal.xid:
            if signal.pattern is None:
                yield xid.sign
            elif (match := _compiled(signal.pattern).search(xid.rest)) is not None:
                part = match.groupdict().get("device")
                device = f"{xid.sign.device} {part}" if part else xid.sign.device
                yield _Sign(device, xid.sign.at, xid.sign.text)


def _link_class(table: FaultTable, xid: _Xid) -> tuple[str, str]:
    """Return the documented actions of an NVLink error; by its severity where no class fits.

    An error of unknown class and severity is taken for a fatal one.
    """
    if (numbers := _NUMBERS.search(xid.rest)) is not None:
        row = table.class_of(xid.number, int(numbers[1], 16), int(numbers[2], 16))
        if row is not None:
            return row.immediate, row.later
    harmless = re.search(r"\bNon-?fatal\b", xid.rest, re.IGNORECASE)
    return ("IGNORE" if harmless else "RESET_GPU"), ""


def _line_signs(signal: Signal, recording: Recording) -> Iterator[_Sign]:
    given = [s.value for s in recording.samples if s.name == signal.given]
    if given and (latest := _number(given[-1])) is not None and latest <= 0:
        return
    pattern = _compiled(signal.pattern or "")
    lines = [line for line in recording.lines if line.log == signal.log]
    for index, line in enumerate(lines):
        if (match := pattern.search(line.text)) is None:
            continue
        groups = match.groupdict()
        if (sensor := groups.get("sensor")) is None or not any(
            _takes_back(other, line, sensor)
            for place, other in enumerate(lines)
            if _follows((other.at or 0.0, place), (line.at or 0.0, index))
        ):
            yield _Sign(groups.get("device") or "", line.at or 0.0, line.text)


def _follows(second: tuple[float, int], first: tuple[float, int]) -> bool:
    """Return True if a line is later in both time and place; by place alone if one has no time.

    A clock that was reset, or a log with the newest line first, must not take back a live leak.
    """
    timed = second[0] > 0 and first[0] > 0
    return second[1] > first[1] and (not timed or second[0] > first[0])


def _takes_back(line: LogLine, sign: LogLine, sensor: str) -> bool:
    """Return True if a line deasserts the event of a sign, or says that its sensor is back to normal."""
    text = line.text.lower()
    if (
        text.count("deasserted") == 1
        and text.replace("deasserted", "asserted") == sign.text.lower()
    ):
        return True
    name = re.escape(sensor.lower())
    named = rf"^\s*{name}\s*\|" if "|" in text else rf"(?<!\w){name}(?!\w)"
    return re.search(named, text) is not None and _NORMAL.search(text) is not None


def _reading_signs(signal: Signal, samples: Sequence[Sample]) -> Iterator[_Sign]:
    """Yield the samples that are signs; of one sample a device, only the last counts."""
    latest: dict[tuple[str, str], Sample] = {(s.name, s.device): s for s in samples}
    for sample in samples:
        if sample.name != signal.reading:
            continue
        if signal.times == 1 and sample is not latest[sample.name, sample.device]:
            continue
        if _is_sign(signal, sample, latest):
            yield _Sign(sample.device, sample.at, f"{sample.name} {sample.value}")


def _is_sign(signal: Signal, sample: Sample, latest: dict[tuple[str, str], Sample]) -> bool:
    text = sample.value.strip().lower()
    if signal.equals:
        return text in {word.lower() for word in signal.equals}
    if signal.differs:
        return text not in _NOTHING and text not in {word.lower() for word in signal.differs}
    value = _number(sample.value)
    if value is None:
        return False
    if signal.under_peer is not None:
        peer = latest.get((signal.under_peer, sample.device))
        limit = None if peer is None else _number(peer.value)
        return limit is not None and 0 <= value < limit
    if signal.bits is not None:
        return bool(int(value) & signal.bits)
    if signal.above is not None:
        return value > signal.above
    return signal.below is not None and value < signal.below


def _often_enough(signal: Signal, signs: Iterable[_Sign]) -> Iterator[_Sign]:
    """Yield the signs that complete ``times`` within the window, device by device."""
    if signal.times == 1:
        yield from signs
        return
    before: dict[str, list[_Sign]] = {}
    for sign in signs:
        recent = before.setdefault(sign.device, [])
        recent.append(sign)
        near = [one for one in recent if abs(sign.at - one.at) <= signal.within]
        if len(near) >= signal.times:
            yield sign


def _growth(signal: Signal, samples: Sequence[Sample]) -> Iterator[_Sign]:
    """Yield a sign whenever a counter has grown by more than the limit within the window.

    Growth between two samples that are further apart than the window counts by the window's share. A
    counter that falls was reset, and what it shows has come since.
    """
    former: dict[str, tuple[float, float]] = {}
    steps: dict[str, list[tuple[float, float]]] = {}
    for sample in samples:
        value = _number(sample.value) if sample.name == signal.counter else None
        if value is None:
            continue
        before = former.get(sample.device)
        former[sample.device] = (sample.at, value)
        if before is None:
            continue
        elapsed, growth = sample.at - before[0], value - before[1]
        growth = value if growth < 0 else growth
        window = steps.setdefault(sample.device, [])
        if elapsed <= 0:
            window.clear()
        elif elapsed > signal.within:
            growth *= signal.within / elapsed
        window.append((sample.at, growth))
        total = sum(step for at, step in window if at > sample.at - signal.within)
        if signal.above is not None and total > signal.above + 1e-9:
            text = f"{sample.name} grew by {total:g} within {signal.within:g} s"
            yield _Sign(sample.device, sample.at, text)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _number(text: str) -> float | None:
    match = re.match(r"\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)", text)
    return None if match is None else float(match[1])
