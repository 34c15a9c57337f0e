"""Table of faults: the signs of each, what is done about it, and the source."""

from __future__ import annotations

import datetime as dt
import re
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model, Prose
from rackwright.model.units import Seconds

FaultId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]

Subject = Literal[
    "gpu", "gpu-memory", "nvlink", "pcie", "network", "optic", "cpu", "memory", "storage", "power",
    "cooling", "bmc", "host", "software", "file-system", "job", "silent",
]  # fmt: skip
"""Part of a node, or of what it hangs on, that a fault is about."""


class FaultSeverity(StrEnum):
    """Consequence of a fault for the node and its jobs."""

    INFO = "info"
    """Recorded; the node stays in service."""
    WATCH = "watch"
    """On the worklist; the node stays in service."""
    DEGRADED = "degraded"
    """The node leaves service in a maintenance window, when its jobs have ended."""
    DRAIN = "drain"
    """The node gets no more jobs; running ones may end."""
    FATAL = "fatal"
    """The node gets no more jobs; running ones are queued again elsewhere."""

    @property
    def leaves_service(self) -> bool:
        """True if the node is drained for it."""
        return self in {FaultSeverity.DEGRADED, FaultSeverity.DRAIN, FaultSeverity.FATAL}


class FaultAction(StrEnum):
    """Step of a repair, from nothing at all to the return of a part."""

    NONE = "none"
    WATCH = "watch"
    USER = "user"
    """The owner of the job looks at the program."""
    PATH = "path"
    """The network team looks at the path between nodes; the node is not touched."""
    REQUEUE = "requeue"
    """The jobs on the node are queued again."""
    DIAGNOSE = "diagnose"
    RESET_GPU = "reset-gpu"
    RESET_FABRIC = "reset-fabric"
    """The fabric manager is restarted and all GPUs of the node are reset together."""
    RESTART_SERVICE = "restart-service"
    REBOOT = "reboot"
    COLD_CYCLE = "cold-cycle"
    POWER_OFF = "power-off"
    """The node is switched off at once, by its BMC, and stays off."""
    RESET_BMC = "reset-bmc"
    UPDATE = "update"
    """Firmware or a driver is brought to another version."""
    RESEAT = "reseat"
    CLEAN = "clean"
    """The optic or cable is cleaned, or replaced."""
    REPLACE = "replace"
    RMA = "rma"
    TICKET = "ticket"
    """A person decides."""


BY_HAND = frozenset(
    {
        FaultAction.UPDATE,
        FaultAction.RESEAT,
        FaultAction.CLEAN,
        FaultAction.REPLACE,
        FaultAction.RMA,
        FaultAction.TICKET,
    }
)
"""Actions that a person takes."""
PASSIVE = frozenset({FaultAction.NONE, FaultAction.WATCH, FaultAction.USER, FaultAction.PATH})
"""Actions that leave the node in service."""


def _check_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return _check_plain(text)


def _check_plain(text: str) -> str:
    """Return a text without marks of templates: names and patterns are variables of roles.

    Raises:
        ValueError: it has one.
    """
    if re.search(r"\{[{%#]", text):
        raise ValueError("it has a mark of Ansible's templates: '{{', '{%' or '{#'")
    return text


Pattern = Annotated[str, Field(min_length=2, max_length=500), AfterValidator(_check_pattern)]
Log = Literal["kernel", "sel", "nccl", "nvidia-smi-text", "fabric-manager", "slurm-reason"]
Limit = Annotated[float, Field(ge=-1e18, le=1e18)]


class Signal(Model):
    """One sign of a fault; exactly one of ``xid``, ``link``, ``log``, ``reading`` and ``counter`` is set."""

    xid: Annotated[int, Field(gt=0, lt=1000)] | None = None
    """Number of an Xid error of NVIDIA's driver in the kernel log, or from DCGM."""
    link: str | None = None
    """Immediate action of the class of an NVLink error (Xid 144 to 150); ``pattern`` is about its later action."""
    log: Log | None = None
    """Log whose lines ``pattern`` is searched in."""
    reading: str | None = None
    """Name of a value as its source has it, like ``nvidia-smi.ecc_mode/current_ecc``."""
    counter: str | None = None
    """Name of a number that only grows, like ``port.link_downed``."""
    pattern: Pattern | None = None
    """Regular expression for a line, or for the text after the number of an Xid.

    Group ``device`` names the part, group ``sensor`` the sensor whose later return to normal takes the sign back.
    """
    given: str | None = None
    """Reading whose latest sample, if there is one, has to be above 0 for a line to be a sign."""
    above: Limit | None = None
    """Limit that a reading exceeds, or that the growth of a counter exceeds within ``within``."""
    below: Limit | None = None
    """Limit that a reading is under."""
    equals: tuple[str, ...] = ()
    """Texts of a reading, any of which is the sign; case does not matter."""
    differs: tuple[str, ...] = ()
    """Texts of a healthy reading; another one is the sign, an empty one or ``N/A`` is not."""
    bits: Annotated[int, Field(gt=0)] | None = None
    """Bits of a reading that is a number, any of which is the sign."""
    under_peer: str | None = None
    """Reading of the same device that this one is normally equal to; less is the sign."""
    times: Annotated[int, Field(ge=1, le=1000)] = 1
    """Lines or readings that are needed within ``within``."""
    within: Annotated[Seconds, Field(gt=0)] = 300.0
    """Length of the window of ``times`` and of a counter, in s."""

    @model_validator(mode="after")
    def _one_kind(self) -> Signal:
        names = ("xid", "link", "log", "reading", "counter")
        kinds = [kind for kind in names if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError("a signal has one of 'xid', 'link', 'log', 'reading' and 'counter'")
        limits = [
            self.above,
            self.below,
            self.equals or None,
            self.differs or None,
            self.bits,
            self.under_peer,
        ]
        known = sum(limit is not None for limit in limits)
        match kinds[0]:
            case "log" if self.pattern is None or known:
                raise ValueError("a 'log' has a 'pattern', and no limit")
            case kind if kind != "log" and self.given is not None:
                raise ValueError("'given' belongs to a 'log'")
            case "xid" | "link" if known:
                raise ValueError("an 'xid' or a 'link' has no limit")
            case "reading" if known != 1 or self.pattern is not None:
                raise ValueError("a 'reading' has one of 'above', 'below', 'equals', 'differs', 'bits' and 'under_peer'")  # fmt: skip
            case "counter" if self.above is None or known != 1 or self.pattern is not None:
                raise ValueError("a 'counter' has 'above', its growth within 'within'")
            case _:
                return self


class FaultExample(Model):
    """A recording and the faults that are found in it."""

    name: str
    """Name of the example, in a few words."""
    material: dict[str, Prose]
    """Text of each source: ``kernel``, ``sel``, ``nvidia-smi`` (XML), ``dcgm``, ``amd-smi``, ``ports``, ``redfish`` and others."""
    expect: tuple[FaultId, ...] | None = None
    """Ids of all faults in it; the fault of this entry alone if omitted, none if empty."""


class FaultSource(Model):
    """Document that states the sign or the action."""

    title: str
    """Name of the document, with its author."""
    date: dt.date
    """Day on which the document was published or read."""
    confidence: Literal["official", "secondary", "judgement"]
    """Weight of the document: ``official`` is the maker's own, ``secondary`` rules that others have published, ``judgement`` none."""


class Fault(Model):
    """One fault."""

    id: FaultId
    """Name by which programs and reasons in Slurm refer to the fault."""
    name: Annotated[str, AfterValidator(_check_plain)]
    """Name of the fault in words."""
    subject: Subject
    """Part that the fault is about."""
    severity: FaultSeverity
    """Consequence of the fault for the node and its jobs."""
    signals: Annotated[tuple[Signal, ...], Field(min_length=1)]
    action: FaultAction
    """First step of the repair."""
    again: tuple[FaultAction, ...] = ()
    """Steps when the fault returns after the repair before it, in their order; a person decides after the last."""
    service: Annotated[str, Field(pattern=r"^[A-Za-z0-9@._-]+$")] | None = None
    """Service of systemd that ``restart-service`` restarts."""
    evidence: tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")], ...] = ()
    """Material to collect before the node is changed, like ``nvidia-bug-report`` or ``sel``."""
    shared: bool = False
    """True if a part that several nodes share often causes it: the part is looked for before a node is drained."""
    source: Annotated[tuple[str, ...], Field(min_length=1)]
    """Keys of ``sources`` of the file."""
    documented: str | None = None
    """Action in the maker's own words: the immediate one, then the one after investigation."""
    note: Prose | None = None
    """Sentences on the fault or its repair for people."""
    examples: tuple[FaultExample, ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> Fault:
        if self.severity.leaves_service and self.action in PASSIVE:
            raise ValueError(f"a node that leaves service for '{self.id}' never comes back by '{self.action}'")  # fmt: skip
        steps = (self.action, *self.again)
        if (FaultAction.RESTART_SERVICE in steps) != (self.service is not None):
            raise ValueError("'restart-service' and 'service' belong together")
        return self

    @property
    def ladder(self) -> tuple[FaultAction, ...]:
        """Steps of the repair, the first one and those when the fault returns."""
        return (self.action, *self.again)


XidRow = tuple[int, str, str, str]
"""An Xid, its description, the immediate action and the one after investigation as the catalogue has them."""


class LinkRow(Model):
    """One class of Xid 144 to 150, by bits of the message."""

    xid: int
    """Number of the Xid, 144 to 150."""
    unit: str
    """Unit of the link that reports the error."""
    v1: Annotated[str, Field(pattern=r"^[01-]{32}$")]
    """Bits of the first number of a message, of drivers before its new form; ``-`` is any."""
    v2: Annotated[str, Field(pattern=r"^[01-]{32}$")]
    """Bits of the first number of a message in its new form; ``-`` is any."""
    status: Annotated[str, Field(pattern=r"^0x[0-9a-f]{8}$")]
    """Second number of a message."""
    immediate: str
    """Action to take at once, as the catalogue names it."""
    later: str
    """Action after investigation, as the catalogue names it."""
    severity: str
    """Severity as the catalogue names it."""


class FaultFile(Model):
    """One file of the table."""

    sources: dict[str, FaultSource]
    faults: tuple[Fault, ...] = ()
    xids: tuple[XidRow, ...] = ()
    """Xid errors with their documented actions; those that no fault has as a signal become faults of their own."""
    xid_source: str | None = None
    """Key of ``sources`` for ``xids`` and ``links``."""
    links: tuple[LinkRow, ...] = ()
    """Classes of NVLink errors from Blackwell on."""

    @model_validator(mode="before")
    @classmethod
    def _spread_links(cls, data: Any) -> Any:
        """Write ``links`` out: a file has units with rows of event, status and actions."""
        if isinstance(data, dict) and isinstance(data.get("links"), list):
            data = {**data, "links": [row for unit in data["links"] for row in _rows(unit)]}
        return data

    @model_validator(mode="after")
    def _sources_are_named(self) -> FaultFile:
        cited = {key for fault in self.faults for key in fault.source}
        cited |= {self.xid_source} - {None} if self.xids or self.links else set()  # type: ignore[arg-type]
        for key in sorted(cited - set(self.sources)):
            raise ValueError(f"'{key}' is not among the 'sources'")
        if (self.xids or self.links) and self.xid_source is None:
            raise ValueError("'xids' and 'links' have an 'xid_source'")
        return self


def _rows(unit: Any) -> list[Any]:
    if not isinstance(unit, dict) or "rows" not in unit:
        return [unit]
    v1, v2 = str(unit.get("v1", "")), str(unit.get("v2", ""))
    return [
        {
            "xid": unit.get("xid"),
            "unit": unit.get("unit"),
            "v1": f"------{event}{'-' * (20 - len(v1))}{v1}",
            "v2": f"------{event}{'-' * (20 - len(v2))}{v2}",
            "status": f"0x{int(str(status), 16):08x}",
            "immediate": immediate,
            "later": later,
            "severity": severity,
        }
        for event, status, immediate, later, severity in unit["rows"]
    ]
