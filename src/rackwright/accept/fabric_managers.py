"""Managers of fabrics, asked for their state: UFM of InfiniBand, NMX of NVLink domains.

UFM and NMX Manager answer by REST; the controller of an NVLink domain (NMX-C) speaks gRPC and is seen through
NMX Manager, where it is registered as a service. An answer of another shape is unknown, never a pass.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.request import Request

from pydantic import Field

from rackwright.accept.compare import HostAcceptance, ItemOutcome, ItemResult
from rackwright.errors import UsageError
from rackwright.harmless import visible
from rackwright.model.base import Model
from rackwright.plan.model import Plan
from rackwright.plan.software.versions import WIDE_NVLINK
from rackwright.reading.loader import load
from rackwright.secret_files import read_password
from rackwright.web.fetching import NoReplyError, basic_authorization, fetch, may_take_secrets

ANSWER_S = 30.0
_SHOWN = 3
"""Alarms and ports that a reason names."""

Kind = Literal["ufm", "nmx-m", "nmx-t"]


class ManagerAccess(Model):
    """Way to the manager of a fabric."""

    kind: Kind
    """UFM, NMX Manager (which knows NMX-C and NMX-T), or NMX Telemetry itself."""
    url: Annotated[str, Field(pattern=r"^https?://[^\s/@]+/?$")]
    """Address without a path. With a password it is asked over TLS, or on loopback."""
    user: str | None = None
    """Name to log in with. None is sent if omitted."""
    password_file: str | None = None
    """File that holds the password, from the folder of this one; readable by its owner alone."""
    certificates: str | None = None
    """File with the certificates of the authority. Those that this machine trusts if omitted."""


class ManagerFile(Model):
    """Managers of the fabrics of a site, by name."""

    managers: dict[str, ManagerAccess]


@dataclass(frozen=True, slots=True)
class _Question:
    """One question to a manager.

    Attributes:
        judge: returns outcome, expected, found and reason; raises ``ValueError`` for an answer of another shape.
    """

    item: str
    path: str
    judge: Callable[[Any], ItemResult]


def judge_managers(plan: Plan, file: Path | None) -> tuple[HostAcceptance, ...]:
    """Return the state of the managers in a file, and of each that the plan needs and the file lacks.

    Raises:
        SpecErrors: the file is not valid.
        UsageError: there is no such file, or a secret would be sent in the clear.
    """
    known: Mapping[str, ManagerAccess] = {}
    folder = Path()
    if file is not None:
        if not file.is_file():
            raise UsageError(f"there is no file '{file}'")
        known, folder = load(file, ManagerFile).value.managers, file.resolve().parent
    made = [_ask(name, access, folder) for name, access in known.items()]
    kinds = {access.kind for access in known.values()}
    for name, kind in needed_managers(plan):
        if kind not in kinds:
            reason = f"no '{kind}' is in the file of '--managers'"
            item = ItemResult("state", ItemOutcome.UNKNOWN, "asked for its state", None, reason=reason)  # fmt: skip
            made.append(HostAcceptance(name, None, (item,)))
    return tuple(made)


def needed_managers(plan: Plan) -> Iterator[tuple[str, Kind]]:
    """Yield name and kind of each manager without which a fabric of the plan does not work."""
    for site in plan.onprem:
        appliances = {group.name for group in site.groups if group.product.id.startswith("ufm-")}
        for fabric in (planned.fabric for planned in site.fabrics):
            adaptive = (fabric.routing_engine or "").startswith("ar_")
            if adaptive or any(one.at in appliances for one in fabric.subnet_managers):
                yield f"UFM of {fabric.name}", "ufm"
        if any(
            board.site == site.name and board.accelerators.gres in WIDE_NVLINK
            for board in plan.boards
        ):
            yield f"NMX of {site.name}", "nmx-m"


def _ask(name: str, access: ManagerAccess, folder: Path) -> HostAcceptance:
    headers = {"Accept": "application/json"}
    if access.user is not None:
        if not may_take_secrets(access.url):
            raise UsageError(f"the password of '{visible(name)}' would be sent in the clear to {access.url}")  # fmt: skip
        if access.password_file is None:
            raise UsageError(f"'{visible(name)}' has a 'user' and no 'password_file'")
        password = read_password(folder / access.password_file)
        headers["Authorization"] = basic_authorization(access.user, password)
    tls = _tls(None if access.certificates is None else folder / access.certificates)
    return HostAcceptance(
        name, None, tuple(_answer(question, access.url, headers, tls) for question in QUESTIONS[access.kind])
    )  # fmt: skip


def _tls(certificates: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=certificates)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"'{certificates}' holds no certificates (PEM): {visible(str(error))}") from None  # fmt: skip


def _answer(
    question: _Question, url: str, headers: Mapping[str, str], tls: ssl.SSLContext
) -> ItemResult:
    request = Request(url.rstrip("/") + question.path, headers=dict(headers))  # noqa: S310 - the file takes no other scheme
    try:
        reply = fetch(request, ANSWER_S, tls)
        if reply.refuses:
            raise ValueError(f"it answers with status {reply.status}")
        return question.judge(reply.json())
    except (NoReplyError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = visible(str(error)) or type(error).__name__
        reason = f"{question.path}: {text if isinstance(error, NoReplyError | ValueError) else 'an answer of another shape'}"  # fmt: skip
        return ItemResult(question.item, ItemOutcome.UNKNOWN, None, None, reason=reason)


def _result(item: str, bad: Sequence[str], expected: str, found: str) -> ItemResult:
    if not bad:
        return ItemResult(item, ItemOutcome.PASS, expected, found)
    more = f", and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    reason = visible("; ".join(bad[:_SHOWN])) + more
    return ItemResult(item, ItemOutcome.FAIL, expected, found, reason=reason)


def _version(answer: Any) -> ItemResult:
    release, opensm = str(answer["ufm_release_version"]), str(answer["opensm"])
    return _result("release", [], "any", f"UFM {release}, opensm {opensm}")


_SEVERITIES = ("Info", "Warning", "Minor", "Critical")


def _alarms(answer: Any) -> ItemResult:
    counts = dict.fromkeys(_SEVERITIES, 0)
    bad = []
    for alarm in _rows(answer):
        severity = str(alarm["severity"])
        if severity not in counts:
            raise ValueError(f"the severity '{severity}' is not known")
        counts[severity] += 1
        if severity == "Critical":
            where = alarm.get("object_path") or alarm.get("related_object_path") or "?"
            bad.append(f"{where}: {alarm.get('reason') or alarm['name']}")
    found = ", ".join(f"{count} {severity.lower()}" for severity, count in counts.items() if count)
    return _result("alarms", bad, "none that is critical", found or "none")


def _unhealthy(answer: Any) -> ItemResult:
    bad = [
        f"{port['UnhealthyNode']} port {port['UnhealthyPortNumber']} ({_words(port['Condition'])})"
        for port in _rows(answer)
    ]
    return _result("unhealthy ports", bad, "none", f"{len(bad)}" if bad else "none")


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _services(answer: Any) -> ItemResult:
    """Check that each NMX-C and NMX-T is connected.

    Raises:
        ValueError: one of the two is not registered, so that nothing is known of the domain.
    """
    rows = _rows(answer)
    lacking = {"CONTROLLER", "TELEMETRY"} - {str(row["ServiceType"]) for row in rows}
    if lacking:
        raise ValueError(f"no service of type {' or '.join(sorted(lacking))} is registered")
    bad = [
        f"{row['Name']} ({row['ServiceType']}) is {row['Status']}: {row.get('StatusInfo') or 'no reason'}"
        for row in rows
        if row["Status"] != "UP"
    ]
    return _result("services", bad, "UP", f"{len(rows) - len(bad)} of {len(rows)} UP")


_PARTITION_STATES = ("HEALTHY", "DEGRADED", "BANDWIDTH", "UNHEALTHY")


def _partitions(answer: Any) -> ItemResult:
    rows = _rows(answer)
    if not rows:
        raise ValueError("there is no partition")
    for row in rows:
        if row["Health"] not in _PARTITION_STATES:
            raise ValueError(f"the health '{row['Health']}' is not known")
    bad = [f"{row['Name']} is {row['Health']}" for row in rows if row["Health"] != "HEALTHY"]
    return _result("partitions", bad, "HEALTHY", f"{len(rows) - len(bad)} of {len(rows)} HEALTHY")


def _telemetry(answer: Any) -> ItemResult:
    bad = [] if answer["status"] == 0 else [f"status {answer['status']}: {answer['message']}"]
    return _result("telemetry", bad, "status 0", f"status {answer['status']}")


def _rows(answer: Any) -> list[Mapping[str, Any]]:
    if not isinstance(answer, list) or not all(isinstance(row, dict) for row in answer):
        raise ValueError("the answer is not a list")
    return answer


QUESTIONS: Mapping[Kind, tuple[_Question, ...]] = {
    "ufm": (
        _Question("release", "/ufmRest/app/ufm_version", _version),
        _Question("alarms", "/ufmRest/app/alarms", _alarms),
        _Question("unhealthy ports", "/ufmRest/app/unhealthy_ports", _unhealthy),
    ),
    "nmx-m": (
        _Question("services", "/nmx/v1/services", _services),
        _Question("partitions", "/nmx/v1/partitions", _partitions),
    ),
    "nmx-t": (_Question("telemetry", "/healthcheck", _telemetry),),
}
"""Questions to each kind: NVIDIA's guides of UFM's REST API (6.11 to 6.24), of NMX Manager (85.1) and of NMX Telemetry (1.2)."""
