"""Recordings of a node: text of logs and tools, read into lines and samples. Pure.

A source that cannot be read is a problem with a sentence, never an empty source.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

LOGS = frozenset({"kernel", "sel", "nccl", "nvidia-smi-text", "fabric-manager", "slurm-reason"})
"""Sources that are lines of text."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a log.

    Attributes:
        at: time in s, of the clock of the log; None where the line has none. In a log of events without
            times -N for the Nth line of one text, so that it is one event however often the log is read.
    """

    log: str
    at: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A value of a part at a time in s, of the clock of its source."""

    name: str
    device: str
    at: float
    value: str


@dataclass(frozen=True, slots=True)
class Recording:
    """Material about one node, in the order of its sources.

    Attributes:
        problems: sources that cannot be read, each with the reason.
    """

    lines: tuple[LogLine, ...] = ()
    samples: tuple[Sample, ...] = ()
    problems: tuple[str, ...] = ()


def read_recording(material: Mapping[str, str]) -> Recording:
    """Return the lines and samples of the sources of a node, by the name of each source."""
    lines: list[LogLine] = []
    samples: list[Sample] = []
    problems: list[str] = []
    for source, text in material.items():
        if source in LOGS:
            lines += read_log(source, text)
        elif source == "slurm":
            try:
                found, reasons = read_slurm(text)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                problems.append(f"{source}: {error}")
                continue
            samples += found
            lines += reasons
        elif (reader := READERS.get(source)) is not None:
            try:
                samples += reader(text)
            except (ValueError, ET.ParseError, KeyError, TypeError, AttributeError) as error:
                problems.append(f"{source}: {error}")
        else:
            problems.append(f"{source}: not a source; there are {', '.join(sorted(SOURCES))}")
    return Recording(tuple(lines), tuple(samples), tuple(problems))


_STATES = frozenset({"nvidia-smi-text", "slurm-reason"})
"""Sources of lines that tell what is now, and no event."""
_LEVEL = re.compile(r"^[a-z0-9]+\s*:[a-z]+\s*: ")
"""Facility and level before a line of dmesg."""
_SECONDS = re.compile(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\]\s*")
_UNIX = re.compile(r"^(\d{9,}\.\d+) ")
_KMSG = re.compile(r"^\d+,\d+,(\d+),[^;]*;")
"""Record of /dev/kmsg, with its time in µs."""
_ISO = re.compile(r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\s+")
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^()([A-Z][a-z]{2} [ \d]\d) (\d\d:\d\d:\d\d) "), "%Y %b %d %H:%M:%S"),
    (re.compile(r"^(\[)([A-Z][a-z]{2} \d\d \d{4}) (\d\d:\d\d:\d\d)\]\s*"), "%b %d %Y %H:%M:%S"),
    (re.compile(r"^((?:\s*[0-9a-f]+ *\| *)?)(\d\d/\d\d/\d{4})[ |]+(\d\d:\d\d:\d\d)(?: [A-Z]+)?[ |]+"), "%m/%d/%Y %H:%M:%S"),
    (re.compile(r"^((?:\s*[0-9a-f]+ *\| *)?)(\d\d/\d\d/\d\d)[ |]+(\d\d:\d\d:\d\d)(?: [A-Z]+)?[ |]+"), "%m/%d/%y %H:%M:%S"),
    (re.compile(r"^((?:\s*\d+ *\| *)?)([A-Z][a-z]{2}-\d\d-\d{4})[ |]+(\d\d:\d\d:\d\d)[ |]+"), "%b-%d-%Y %H:%M:%S"),
)  # fmt: skip
"""Times of syslog (without a year: 2000), of the fabric manager, of ipmitool and of FreeIPMI."""
_RECORD = re.compile(r"^\s*([0-9a-fA-F]+) *\|")
"""Number of a record in the event log of a BMC."""
_SEVERITY = re.compile(r"(\{\d+\})\[Hardware Error\]: .*\b(?:severity|type): (\w+)$")
_SECTION = re.compile(r"(\{\d+\})\[Hardware Error\]: +section_type: ")
"""Lines of an error record of the platform: its severity, and after it the part that has the error."""
_CTIME = re.compile(r"^\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\]\s*")


def read_log(log: str, text: str) -> Iterator[LogLine]:
    """Yield the whole lines of a log: a last line without its end is still being written.

    An event log whose record numbers only fall has the newest line first, and is read from its end.
    A line that comes twice with one time was read twice, and counts once. The severity of an error record of
    the platform is a line of its own: the line with the type of the section gets it, too.
    """
    severities: dict[str, str] = {}
    seen: set[tuple[float, str]] = set()
    untimed: Counter[str] = Counter()
    written = text.split("\n")[:-1]
    numbers = [int(match[1], 16) for line in written if (match := _RECORD.match(line))]
    falling = all(first > second for first, second in pairwise(numbers))
    if log == "sel" and len(numbers) > 1 and falling:
        written.reverse()
    for line in written:
        at, rest = _time_of(line)
        if not rest.strip():
            continue
        if at is not None:
            if (at, rest) in seen:
                continue
            seen.add((at, rest))
        elif log not in _STATES:
            untimed[rest] += 1
            at = -float(untimed[rest])
        if section := _SECTION.search(rest):
            rest += f", severity: {severities.get(section[1], 'unknown')}"
        elif severity := _SEVERITY.search(rest):
            severities[severity[1]] = severity[2]
        yield LogLine(log, at, rest)


def _time_of(line: str) -> tuple[float | None, str]:
    if match := _LEVEL.match(line):
        line = line[match.end() :]
    if match := _SECONDS.match(line) or _UNIX.match(line):
        return float(match[1]), line[match.end() :]
    if match := _KMSG.match(line):
        return int(match[1]) / 1e6, line[match.end() :]
    try:
        for pattern, words in _WORDS:
            if match := pattern.match(line):
                year = "2000 " if words.startswith("%Y") else ""
                made = dt.datetime.strptime(f"{year}{match[2]} {match[3]} +0000", f"{words} %z")
                return made.timestamp(), line[match.end() :]
        if match := _ISO.match(line):
            made = dt.datetime.fromisoformat(match[1].replace(",", "."))
            if made.tzinfo is None:
                made = made.replace(tzinfo=dt.UTC)
            return made.timestamp(), line[match.end() :]
        if match := _CTIME.match(line):
            made = dt.datetime.strptime(f"{match[1]} +0000", "%a %b %d %H:%M:%S %Y %z")
            return made.timestamp(), line[match.end() :]
    except ValueError:
        pass
    return None, line


def read_nvidia_smi(text: str) -> Iterator[Sample]:
    """Yield every field of ``nvidia-smi --query --xml-format``, named by its path below the GPU.

    Raises:
        ValueError: it defines entities.
    """
    if "<!ENTITY" in text:
        raise ValueError("it defines entities")
    for gpu in ET.fromstring(text).iter("gpu"):  # without entities # nosec B314 # noqa: S314
        device = gpu.get("id", "")
        for path, value in _leaves(gpu, ""):
            yield Sample(f"nvidia-smi.{path}", device, 0.0, value)


def _leaves(element: ET.Element, path: str) -> Iterator[tuple[str, str]]:
    for child in element:
        name = f"{path}/{child.tag}" if path else child.tag
        if len(child):
            yield from _leaves(child, name)
        else:
            yield name, (child.text or "").strip()


_METRIC = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+(-?\d+))?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def read_metrics(text: str) -> Iterator[Sample]:
    """Yield the metrics of dcgm-exporter, in the text format of Prometheus."""
    for line in text.splitlines():
        if (match := _METRIC.match(line.strip())) is not None:
            labels = dict(_LABEL.findall(match[2] or ""))
            device = labels.get("pci_bus_id") or labels.get("gpu") or ""
            at = int(match[4]) / 1000 if match[4] else 0.0
            yield Sample(f"dcgm.{match[1]}", device, at, match[3])


def read_amd_smi(text: str) -> Iterator[Sample]:
    """Yield the fields of ``amd-smi metric --json``."""
    data = json.loads(text)
    for gpu in data if isinstance(data, list) else data["gpu_data"]:
        for path, value in _fields(gpu):
            yield Sample(f"amd-smi.{path}", str(gpu["gpu"]), 0.0, value)


def read_neuron(text: str) -> Iterator[Sample]:
    """Yield the hardware counters of the last whole report of ``neuron-monitor``, which writes one a line."""
    try:
        report = json.loads(text)
    except ValueError:
        report = json.loads(text.rpartition("\n")[0].rpartition("\n")[2])
    for device in report["system_data"]["neuron_hw_counters"]["neuron_devices"]:
        for path, value in _fields(device):
            yield Sample(f"neuron.{path}", str(device["neuron_device_index"]), 0.0, value)


def read_nvme(text: str) -> Iterator[Sample]:
    """Yield the SMART logs of disks, by name, as ``nvme smart-log --output-format=json`` has each."""
    for disk, log in json.loads(text).items():
        for path, value in _fields(log):
            yield Sample(f"nvme.{path}", disk, 0.0, value)


def read_redfish(text: str) -> Iterator[Sample]:
    """Yield the fields of a resource of Redfish, or of a list of them; parts of a resource by their list."""
    data = json.loads(text)
    for resource in data if isinstance(data, list) else [data]:
        kind = str(resource.get("@odata.type", "")).lstrip("#").partition(".")[0]
        device = str(resource.get("Name") or resource.get("Id") or "")
        if kind:
            for path, value in _fields(
                {k: v for k, v in resource.items() if not isinstance(v, list)}
            ):
                yield Sample(f"redfish.{kind}.{path}", device, 0.0, value)
        for name, parts in resource.items():
            for part in parts if isinstance(parts, list) else ():
                for path, value in _fields(part) if isinstance(part, dict) else ():
                    own = str(part.get("Name") or part.get("MemberId") or "")
                    yield Sample(f"redfish.{name}.{path}", own, 0.0, value)


def read_slurm(text: str) -> tuple[list[Sample], list[LogLine]]:
    """Return state and reason of the nodes in ``scontrol show node --json``.

    Slurm 22.05 has the state as one text, later releases as a list.
    """
    samples, reasons = [], []
    for node in json.loads(text)["nodes"]:
        state = node["state"]
        words = [state, *node.get("state_flags", [])] if isinstance(state, str) else list(state)
        samples.append(Sample("slurm.state", "", 0.0, "+".join(map(str.upper, words))))
        if node.get("reason"):
            reasons.append(LogLine("slurm-reason", None, str(node["reason"])))
    return samples, reasons


def read_samples(prefix: str) -> Callable[[str], Iterator[Sample]]:
    """Return a reader of lines ``TIME [DEVICE] NAME VALUE``; a cut last line is left out."""

    def read(text: str) -> Iterator[Sample]:
        for line in text.split("\n")[:-1]:
            words = line.split(maxsplit=3)
            if len(words) == 3 or (len(words) == 4 and prefix == "host" and _is_number(words[2])):
                words = [words[0], "", *line.split(maxsplit=2)[1:]]
            if len(words) == 4 and _is_number(words[0]):
                yield Sample(f"{prefix}.{words[2]}", words[1], float(words[0]), words[3].strip())
            elif line.strip():
                raise ValueError(f"'{line[:60]}' is no sample")

    return read


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fields(data: Any, path: str = "") -> Iterable[tuple[str, str]]:
    for name, value in data.items():
        whole = f"{path}/{name}" if path else name
        if isinstance(value, dict):
            yield from _fields(value, whole)
        elif not isinstance(value, list) and value is not None:
            yield whole, str(value)


READERS: Mapping[str, Callable[[str], Iterator[Sample]]] = {
    "nvidia-smi": read_nvidia_smi,
    "dcgm": read_metrics,
    "amd-smi": read_amd_smi,
    "neuron-monitor": read_neuron,
    "nvme": read_nvme,
    "redfish": read_redfish,
    "ports": read_samples("port"),
    "pcie": read_samples("pcie"),
    "host": read_samples("host"),
    "burnin": read_samples("burnin"),
}
"""Reader of each source that has samples."""
SOURCES = LOGS | READERS.keys() | {"slurm"}
