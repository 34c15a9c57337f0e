"""Naming the AWS operation of an HTTP request, and holding faults and a log of calls."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, unquote_plus

_READS = ("Describe", "Get", "List", "Head", "Lookup", "Search", "Query", "Scan")
_CREDENTIAL = re.compile(r"Credential=[^/]+/\d+/([\w-]+)/([\w-]+)/")
_ACTION = re.compile(rb"(?:^|&)Action=([^&]+)")
_REST = {
    "dlm": "dlm",
    "elasticfilesystem": "efs",
    "route53": "route53",
    "s3": "s3",
    "s3control": "s3control",
}
"""Services whose operations are named by method and path, and the model that names them."""
JSON_REST = frozenset({"dlm", "elasticfilesystem"})
"""Those of them that answer with JSON."""
_COPIES = frozenset({"CopyObject", "UploadPartCopy"})


@dataclass(frozen=True, slots=True)
class Operation:
    """An API operation: the service that signs it, its region and its name."""

    service: str
    region: str
    name: str

    @property
    def reads_only(self) -> bool:
        """Returns whether the operation leaves the state as it was."""
        return self.name.startswith(_READS)


@dataclass(frozen=True, slots=True)
class _Route:
    method: str
    path: re.Pattern[str]
    query: frozenset[str]
    name: str


@cache
def _routes(service: str) -> tuple[_Route, ...]:
    from botocore.session import get_session

    model = get_session().get_service_model(service)
    routes = []
    for name in model.operation_names:
        http = model.operation_model(name).http
        path, _, query = http["requestUri"].partition("?")
        parts = re.split(r"(\{\w+\+?\})", path)
        pattern = "".join(
            (".+" if part.endswith("+}") else "[^/]+") if part.startswith("{") else re.escape(part)
            for part in parts
        )
        keys = frozenset(item.split("=")[0] for item in query.split("&") if item)
        routes.append(_Route(http["method"], re.compile(pattern.rstrip("/") + "/?"), keys, name))
    return tuple(sorted(routes, key=lambda route: (-len(route.query), route.name)))


def identify(method: str, path: str, query: str, headers: dict[str, str], body: bytes) -> Operation:
    """Return the operation of a request; its name is "METHOD path" where no model names it."""
    match = _CREDENTIAL.search(headers.get("authorization", ""))
    region, service = match.groups() if match else ("us-east-1", "s3")
    target = headers.get("x-amz-target")
    if target:
        return Operation(service, region, target.rsplit(".", 1)[-1])
    found = _ACTION.search(body) or _ACTION.search(query.encode())
    if match is None and found:  # who takes a role by a token has nothing to sign with yet
        service = "sts"
    if service not in _REST:
        if found:
            return Operation(service, region, unquote_plus(found.group(1).decode()))
        return Operation(service, region, f"{method} {path}")
    present = set(parse_qs(query, keep_blank_values=True))
    for route in _routes(_REST[service]):
        if route.name in _COPIES and "x-amz-copy-source" not in headers:
            continue
        if route.method == method and route.query <= present and route.path.fullmatch(path):
            return Operation(service, region, route.name)
    return Operation(service, region, f"{method} {path}")


@dataclass(slots=True)
class Fault:
    """A fault to inject: the operation it meets, how often, the error and the delay.

    ``*`` is any operation that changes something. ``skip`` calls pass before the first that is met.
    With ``after`` the operation is done and in the log of calls before the delay and the error.
    """

    operation: str
    times: int = 1
    error: str | None = None
    message: str = ""
    latency_s: float = 0.0
    after: bool = False
    skip: int = 0


@dataclass(slots=True)
class Book:
    """The faults still to come, the number of calls held now, and the last calls answered."""

    limit: int = 10_000
    faults: list[Fault] = field(default_factory=list)
    calls: deque[dict[str, Any]] = field(default_factory=deque)
    held: int = 0
    _cleared: int = 0
    _lock: threading.Condition = field(default_factory=threading.Condition)

    def add(self, document: Any) -> Fault:
        """Return the fault made of a JSON document.

        Raises:
            ValueError: the document is no fault.
        """
        known = {"operation", "times", "error", "message", "latency_s", "after", "skip"}
        if not isinstance(document, dict) or set(document) - known:
            raise ValueError(f"a fault has the keys {', '.join(sorted(known))}")
        if not isinstance(document.get("operation"), str):
            raise ValueError("'operation' names the API operation, such as 'CreateLaunchTemplate'")
        fault = Fault(**document)
        if int(fault.times) < 1 or float(fault.latency_s) < 0 or int(fault.skip) < 0:
            raise ValueError("'times' is at least 1, 'latency_s' and 'skip' are at least 0")
        with self._lock:
            self.faults.append(fault)
        return fault

    def take(self, operation: Operation) -> Fault | None:
        """Return the next fault of an operation and counts it, None where none is due."""
        with self._lock:
            for fault in self.faults:
                any_change = fault.operation == "*" and not operation.reads_only
                if fault.operation != operation.name and not any_change:
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                if fault.times == 0:
                    self.faults.remove(fault)
                return fault
        return None

    def hold(self, seconds: float) -> None:
        """Wait for ``seconds``, or until the faults are cleared, counted among the held calls."""
        if not seconds:
            return
        with self._lock:
            before = self._cleared
            self.held += 1
            self._lock.wait_for(lambda: self._cleared != before, timeout=seconds)
            self.held -= 1

    def pending(self) -> list[dict[str, Any]]:
        """Return the faults that are still to come."""
        with self._lock:
            return [asdict(fault) for fault in self.faults]

    def clear(self) -> None:
        """Forget every fault, and release the calls that are held."""
        with self._lock:
            self.faults.clear()
            self._cleared += 1
            self._lock.notify_all()

    def record(self, operation: Operation, status: int) -> None:
        """Add an answered call to the log; the oldest ones give way."""
        with self._lock:
            self.calls.append(
                {
                    "service": operation.service,
                    "region": operation.region,
                    "operation": operation.name,
                    "status": status,
                    "time": time.time(),
                }
            )
            while len(self.calls) > self.limit:
                self.calls.popleft()

    def log(self) -> list[dict[str, Any]]:
        """Return the calls answered, oldest first."""
        with self._lock:
            return list(self.calls)
