"""The HTTP front of the embedded AWS: faults and the call log before moto, the state after it."""

from __future__ import annotations

import io
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4
from xml.sax.saxutils import escape

from moto.core.base_backend import BackendDict
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from rackwright.errors import StateError
from rackwright.system_errors import damaged
from rackwright_lab.embedded_aws import snapshot
from rackwright_lab.embedded_aws.api import moto_capacity, moto_health, moto_scaling
from rackwright_lab.embedded_aws.api.moto_access import AccessRefusedError
from rackwright_lab.embedded_aws.operations import JSON_REST, Book, Fault, Operation, identify
from rackwright_lab.embedded_aws.pace import PACE

ADMIN = "/rackwright/"
_LOG = logging.getLogger(__name__)
_RETRYABLE = {"InternalError", "InternalFailure", "ServiceUnavailable", "InternalServerError"}
_XML = "text/xml"
_JSON = "application/json"

StartResponse = Callable[..., Any]


class StateFile:
    """Keeps the backends in a file; many writers share one write (group commit)."""

    def __init__(self, path: Path, guard: threading.RLock) -> None:
        self._path = path
        self._guard = guard
        self._changed = threading.Condition()
        self._wanted = 0
        self._saved = 0
        self._failure: Exception | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="state", daemon=True)
        self._thread.start()

    def load(self) -> int:
        """Return how many backends the file held; a missing file holds none.

        Raises:
            StateError: it is damaged, written in another format, or others may write it.
            OSError: it cannot be read.
        """  # noqa: DOC501 - damaged() makes the StateError
        if not self._path.exists():
            return 0
        try:
            return snapshot.load_backends(snapshot.read_own(self._path))
        except (OSError, StateError):
            raise
        except Exception:  # noqa: BLE001 - a damaged pickle raises whatever it likes
            _LOG.exception("the state in '%s' cannot be read", self._path)
            remedy = "remove it and the folder 'pulumi' with its stacks, and provision again"
            raise damaged(self._path, remedy=remedy) from None

    def save(self) -> None:
        """Return once a write that began after this call has reached the disk.

        Raises:
            Exception: what kept the state from being written.
        """
        with self._changed:
            self._wanted += 1
            ticket = self._wanted
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._saved >= ticket)
            if self._failure is not None:
                raise self._failure

    def close(self) -> None:
        """Write what is left and ends the writer."""
        with self._changed:
            self._wanted += 1
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted > self._saved or self._closed)
                ticket, closed = self._wanted, self._closed
            failure: Exception | None = None
            try:
                with self._guard:
                    data = snapshot.dump_backends()
                snapshot.write_atomically(self._path, data)
            except Exception as error:  # noqa: BLE001 - it reaches all who wait
                _LOG.exception("the state could not be written to '%s'", self._path)
                failure = error
            with self._changed:
                self._failure = failure
                self._saved = ticket
                self._changed.notify_all()
            if closed:
                return


class Gateway:
    """A WSGI application: AWS requests go to moto, ``/rackwright/`` ones are for tests."""

    def __init__(self, state: StateFile, guard: threading.RLock) -> None:
        self.book = Book()
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._guard = guard
        self._state = state
        self._last = time.monotonic()

    @property
    def idle_s(self) -> float:
        """Seconds since the last request."""
        return time.monotonic() - self._last

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Return the reply to one HTTP request."""
        self._last = time.monotonic()
        path = environ.get("PATH_INFO", "/")
        body = _body(environ)
        if path.startswith(ADMIN):
            return self._admin(environ["REQUEST_METHOD"], path, body, start_response)
        if path.startswith("/moto-api"):
            return _reply(start_response, "403 Forbidden", b'{"error": "closed"}')
        headers = {
            key[5:].replace("_", "-").lower(): str(value)
            for key, value in environ.items()
            if key.startswith("HTTP_")
        }
        operation = identify(
            environ["REQUEST_METHOD"], path, environ.get("QUERY_STRING", ""), headers, body
        )
        fault = self.book.take(operation)
        if fault is None:
            early = PACE.refusal(operation, headers, body)
            fault = Fault(operation.name) if early is None else Fault(operation.name, 1, *early)
        if not fault.after:
            self.book.hold(fault.latency_s)
        refused = fault.error and not fault.after
        answer = None if refused else self._answer(operation, environ)
        if answer is None or fault.error:
            answer = _failure(operation, fault, headers)
        status, reply_headers, reply = answer
        PACE.note(operation, reply)
        self.book.record(operation, int(status.split()[0]))
        if fault.after:
            self.book.hold(fault.latency_s)
        start_response(status, reply_headers)
        return [reply]

    def _answer(
        self, operation: Operation, environ: dict[str, Any]
    ) -> tuple[str, list[tuple[str, str]], bytes]:
        answer: list[Any] = []
        with self._guard:
            try:
                chunks = self._moto(environ, lambda *reply: answer.extend(reply[:2]))
                data = b"".join(chunks)
            except NotImplementedError as error:
                _LOG.warning("%s %s: %s", operation.service, operation.name, error)
                return _error_reply(
                    operation,
                    environ.get("CONTENT_TYPE", ""),
                    "InvalidAction",
                    400,
                    f"the embedded AWS has no {operation.service} operation {operation.name}",
                )
            except AccessRefusedError as error:
                content = environ.get("CONTENT_TYPE", "")
                status = 400 if "json" in content else 403
                code = error.code(operation.service)
                return _error_reply(operation, content, code, status, str(error))
            except Exception as error:  # noqa: BLE001 - moto fails in any way, the server goes on
                _LOG.exception("%s %s failed", operation.service, operation.name)
                return _error_reply(
                    operation,
                    environ.get("CONTENT_TYPE", ""),
                    "InternalFailure",
                    501,
                    f"{type(error).__name__}: {error}",
                )
        if not operation.reads_only:
            try:
                self._state.save()
            except Exception as error:  # noqa: BLE001 - the caller must not believe it is kept
                content = environ.get("CONTENT_TYPE", "")
                text = f"done, but the state could not be written: {error}"
                # No client tries again by itself: a disk that is full stays so, and 500 is tried for minutes.
                return _error_reply(operation, content, "StateNotWritten", 507, text)
        return str(answer[0]), list(answer[1]), data

    def _admin(
        self, method: str, path: str, body: bytes, start_response: StartResponse
    ) -> list[bytes]:
        action = path.removeprefix(ADMIN).strip("/")
        document: Any = {}
        if (method, action) == ("GET", "health"):
            document = {"ready": True}
        elif (method, action) == ("GET", "calls"):
            document = {"calls": self.book.log()}
        elif (method, action) == ("DELETE", "calls"):
            self.book.calls.clear()
        elif (method, action) == ("GET", "faults"):
            document = {"faults": self.book.pending(), "held": self.book.held}
        elif (method, action) == ("DELETE", "faults"):
            self.book.clear()
        elif (method, action) == ("POST", "faults"):
            try:
                self.book.add(json.loads(body))
            except (ValueError, TypeError) as error:
                reply = json.dumps({"error": str(error)}).encode()
                return _reply(start_response, "400 Bad Request", reply)
            document = {"faults": self.book.pending()}
        elif (method, action) == ("POST", "capacity"):
            try:
                with self._guard:
                    moto_scaling.limit(json.loads(body))
            except (ValueError, TypeError, AttributeError) as error:
                reply = json.dumps({"error": str(error)}).encode()
                return _reply(start_response, "400 Bad Request", reply)
            self._state.save()
        elif (method, action) in {("POST", "spot"), ("POST", "health")}:
            change = moto_capacity.take_back if action == "spot" else moto_health.impair
            try:
                with self._guard:
                    change(json.loads(body))
            except (ValueError, TypeError, AttributeError) as error:
                reply = json.dumps({"error": str(error)}).encode()
                return _reply(start_response, "400 Bad Request", reply)
            self._state.save()
        elif (method, action) == ("POST", "pace"):
            try:
                PACE.set(json.loads(body))
            except ValueError as error:
                reply = json.dumps({"error": str(error)}).encode()
                return _reply(start_response, "400 Bad Request", reply)
        elif (method, action) == ("POST", "reset"):
            with self._guard:
                BackendDict.reset()
                self.book.clear()
                self.book.calls.clear()
            self._state.save()
        else:
            reply = json.dumps({"error": f"no such action: {method} {path}"}).encode()
            return _reply(start_response, "404 Not Found", reply)
        return _reply(start_response, "200 OK", json.dumps(document).encode())


def _body(environ: dict[str, Any]) -> bytes:
    length = environ.get("CONTENT_LENGTH")
    if environ.get("wsgi.input_terminated"):
        data = environ["wsgi.input"].read()
    else:
        data = environ["wsgi.input"].read(int(length)) if length else b""
    environ["wsgi.input"] = io.BytesIO(data)
    environ["CONTENT_LENGTH"] = str(len(data))
    return bytes(data)


def _reply(start_response: StartResponse, status: str, data: bytes) -> list[bytes]:
    start_response(status, [("Content-Type", _JSON), ("Content-Length", str(len(data)))])
    return [data]


def _failure(
    operation: Operation, fault: Fault, headers: dict[str, str]
) -> tuple[str, list[tuple[str, str]], bytes]:
    code = str(fault.error)
    status = 500 if code in _RETRYABLE else 400
    content = "application/x-amz-json-1.1" if "x-amz-target" in headers else ""
    return _error_reply(operation, content, code, status, fault.message or f"injected fault {code}")


def _error_reply(
    operation: Operation, content: str, code: str, status: int, message: str
) -> tuple[str, list[tuple[str, str]], bytes]:
    request = str(uuid4())
    if "json" in content or operation.service in JSON_REST:
        kind = "application/x-amz-json-1.1"
        text = json.dumps({"__type": code, "message": message})
    else:
        kind = _XML
        inner = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
        text = {
            "ec2": f"<Response><Errors><Error>{inner}</Error></Errors>"
            f"<RequestID>{request}</RequestID></Response>",
            "s3": f"<Error>{inner}<RequestId>{request}</RequestId></Error>",
        }.get(
            operation.service,
            f"<ErrorResponse><Error><Type>Sender</Type>{inner}</Error>"
            f"<RequestId>{request}</RequestId></ErrorResponse>",
        )
    data = text.encode()
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(data))),
        ("x-amzn-requestid", request),
    ]
    return f"{status} {HTTPStatus(status).phrase}", headers, data
