"""Management controllers of nodes: power and restarts (ComputerSystem.Reset), and sensors and logs as material.

A controller may lie: it answers that it has done something, and nothing has happened. What is believed is
the power state that is read afterwards, and what the cluster says of the host.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field

from rackwright.catalog.fault_table import FaultTable
from rackwright.errors import UsageError
from rackwright.model.base import Model
from rackwright.nodelife.redfish import (
    BmcError,
    BmcState,
    Credentials,
    Manners,
    MissingResourceError,
    Redfish,
    link_of,
    restart_manager,
    tls_context,
)
from rackwright.nodelife.repair.actuator import ActionError
from rackwright.nodelife.repair.journal import Journal
from rackwright.nodelife.signs.detect import FaultEvent, detect
from rackwright.nodelife.signs.recordings import read_recording
from rackwright.reading.loader import load
from rackwright.secret_files import read_password

MANNERS = Manners(answer_s=30.0, whole_s=60.0, tries=2, pause_s=1.0)
POLLED_TOGETHER = 64
POLL_S = 30.0
"""Time between two looks at the controllers, in s."""
_ROOT = "/redfish/v1/"
_OTHER_LOGS = re.compile(r"(?i)dump|post|journal|audit|lifecycle")
"""Logs with no events of the hardware, or with each of them once more."""


class BmcAccess(Model):
    """Way to the management controller of one node."""

    url: Annotated[str, Field(pattern=r"^https?://[^\s/@]+/?$")]
    """Address of the controller; without TLS on loopback alone."""
    user: str
    password_file: str
    """File that holds the password, from the folder of this one; readable by its owner alone."""
    certificates: str | None = None
    """File with the certificates of the authority. Those that this machine trusts if omitted."""
    system: Annotated[str, Field(pattern=r"^/redfish/v1/\S+$")] | None = None
    """Path of the system. The only one of the controller if omitted."""


class BmcFile(Model):
    """Management controllers of the nodes of a site."""

    nodes: dict[str, BmcAccess]


@dataclass
class Bmc:
    """Management controller of one node."""

    node: str
    access: BmcAccess
    folder: Path

    def power(self) -> str:
        """Return the power state as the controller has it, like ``On`` or ``PoweringOn``.

        Raises:
            ActionError: the controller does not answer, or tells no state.
        """
        with self._session() as session:
            state = self._system(session).get("PowerState")
        if not isinstance(state, str):
            raise ActionError(f"the BMC of {self.node} tells no power state")
        return state

    def reset(self, kind: str) -> None:
        """Ask for ``ForceOff`` or ``On``.

        Raises:
            ActionError: the controller does not answer, or refuses.
        """
        with self._session() as session:
            system = self._system(session)
            action = system.get("Actions", {}).get("#ComputerSystem.Reset", {})
            own = f"{str(system.get('@odata.id')).rstrip('/')}/Actions/ComputerSystem.Reset"
            session.post(str(action.get("target") or own), {"ResetType": kind})

    def reset_controller(self) -> None:
        """Restart the controller itself.

        Raises:
            ActionError: the controller does not answer, or refuses.
        """
        with self._session() as session:
            restart_manager(session, self._only(session, "Managers"))

    def resources(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return supplies, fans, leak detectors and sensors, and the newest entries of the logs.

        Raises:
            ActionError: the controller does not answer.
        """
        with self._session() as session:
            system = self._system(session)
            found: list[dict[str, Any]] = []
            for chassis in self._related(session, system, "Chassis", "Chassis"):
                found += _parts(session, chassis)
            entries: list[dict[str, Any]] = []
            for owner in (system, *self._related(session, system, "ManagedBy", "Managers")):
                with suppress(MissingResourceError):
                    for log in session.members(owner.get("LogServices")):
                        if not _OTHER_LOGS.search(str(log.get("Id"))):
                            entries += _entries(session, log)
        return found, entries

    def _related(
        self, session: Redfish, system: Mapping[str, Any], link: str, kind: str
    ) -> Iterator[dict[str, Any]]:
        """Yield resources of a controller; those of the system alone where it serves several systems."""
        if self.access.system is None:
            yield from session.members(session.get(_ROOT).get(kind))
            return
        for one in system.get("Links", {}).get(link, ()):
            if (path := link_of(one)) is not None:
                yield session.get(path)

    def _system(self, session: Redfish) -> dict[str, Any]:
        if self.access.system is not None:
            return session.get(self.access.system)
        return self._only(session, "Systems")

    def _only(self, session: Redfish, kind: str) -> dict[str, Any]:
        members = list(session.members(session.get(_ROOT).get(kind)))
        if len(members) != 1:
            raise ActionError(
                f"the BMC of {self.node} has {len(members)} of '{_ROOT}{kind}'",
                hint="state its 'system'",
            )
        return members[0]

    @contextmanager
    def _session(self) -> Iterator[Redfish]:
        url, certificates = urlsplit(self.access.url), self.access.certificates
        try:
            tls = None
            if url.scheme == "https":
                tls = tls_context(None if certificates is None else str(self.folder / certificates))
            password = read_password(self.folder / self.access.password_file)
            known = Credentials(self.access.user, password)
            port = url.port or (443 if tls is not None else 80)
            with Redfish(url.hostname or "", port, known, tls, manners=MANNERS) as session:
                yield session
        except (BmcError, UsageError) as error:
            raise ActionError(f"the BMC of {self.node}: {error.summary}", hint=error.hint) from None


def _entries(session: Redfish, log: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a log; the first of them where it has too many.

    Raises:
        BmcError: they cannot be read.
    """
    found: list[dict[str, Any]] = []
    try:
        for entry in session.members(log.get("Entries")):
            found.append(entry)  # noqa: PERF402 - what was read before an error counts
    except BmcError as error:
        if not found or error.state is not BmcState.ERRORS:
            raise
    return found


def _parts(session: Redfish, chassis: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a chassis that have a health; those of former schemas are lists in one resource."""
    for name, lists, former in (
        ("PowerSubsystem", ("PowerSupplies",), "Power"),
        ("ThermalSubsystem", ("Fans",), "Thermal"),
    ):
        with suppress(MissingResourceError):
            if name in chassis:
                subsystem = session.get(chassis[name]["@odata.id"])
                for one in lists:
                    yield from session.members(subsystem.get(one))
                if "LeakDetection" in subsystem:
                    leaks = session.get(subsystem["LeakDetection"]["@odata.id"])
                    yield from session.members(leaks.get("LeakDetectors"))
                    yield from _groups(leaks)
            elif former in chassis:
                yield session.get(chassis[former]["@odata.id"])
    if session.expands:  # one by one there are hundreds
        with suppress(MissingResourceError):
            yield from session.members(chassis.get("Sensors"))


def _groups(leaks: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the detectors that a controller has in groups instead of a collection."""
    for group in leaks.get("LeakDetectorGroups", ()):
        for one in group.get("Detectors", ()) if isinstance(group, dict) else ():
            if isinstance(one, dict) and "DetectorState" in one:
                name = one.get("DeviceName") or one.get("DataSourceUri")
                yield {**one, "@odata.type": "#LeakDetector.v1_0_0.LeakDetector", "Name": name}


@dataclass
class BmcPoller:
    """Faults that management controllers tell, asked many at a time.

    A log keeps old entries, so those of the first look at a controller are no faults.

    Attributes:
        problems: controllers of which something could not be read at the last look, by node.
    """

    bmcs: Mapping[str, Bmc]
    problems: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _events: list[tuple[str, FaultEvent]] = field(default_factory=list, init=False)
    _polled: float | None = field(default=None, init=False)

    def events(
        self, table: FaultTable, journal: Journal, now: float
    ) -> Iterator[tuple[str, FaultEvent]]:
        """Yield the faults of all controllers at the last look; of a node, those newer than its state."""
        if self.bmcs and (self._polled is None or now - self._polled >= POLL_S):
            self._polled = now
            self._poll(table, journal)
        for node, event in self._events:
            record = journal.nodes.get(node)
            if self._polled is not None and (record is None or record.since <= self._polled):
                yield node, event

    def _poll(self, table: FaultTable, journal: Journal) -> None:
        self.problems.clear()
        self._events.clear()
        with ThreadPoolExecutor(min(POLLED_TOGETHER, len(self.bmcs))) as pool:
            for node, material in pool.map(self._material, sorted(self.bmcs)):
                if (entries := material.pop("entries", None)) is not None:
                    material["sel"] = self._new_lines(node, json.loads(entries), journal)
                recording = read_recording(material)
                if recording.problems:
                    self.problems[node] = recording.problems
                self._events += [(node, event) for event in detect(table, recording)]

    def _material(self, node: str) -> tuple[str, dict[str, str]]:
        try:
            resources, entries = self.bmcs[node].resources()
        except ActionError as error:
            self.problems[node] = (error.summary,)
            return node, {"host": "0 bmc_answers 0\n"}
        return node, {"redfish": json.dumps(resources), "entries": json.dumps(entries)}

    def _new_lines(self, node: str, entries: list[dict[str, Any]], journal: Journal) -> str:
        """Return the entries that were not there at the first look, as lines of a log."""
        lines = {}
        for one in entries:
            at, text = (
                str(one.get("Created") or ""),
                " ".join(str(one.get("Message") or "").split()),
            )
            if not at:
                self.problems[node] = ("an entry of its log has no time",)
            elif text:
                key = hashlib.sha256(f"{one.get('Id')} {at} {text}".encode()).hexdigest()[:12]
                lines[key] = f"{at} {text}\n"
        name = f"log of the BMC of {node}"
        former = journal.setting(name)
        if former is None:
            journal.set(name, sorted(lines))
            former = list(lines)
        known = set(former)
        return "".join(line for key, line in lines.items() if key not in known)


def read_bmcs(path: Path) -> dict[str, Bmc]:
    """Return the management controllers of a file by node.

    Raises:
        SpecErrors: the file is not valid.
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'")
    file = load(path, BmcFile).value
    return {node: Bmc(node, access, path.resolve().parent) for node, access in file.nodes.items()}
