"""Management controllers by Redfish (DMTF DSP0266): a session, resources by GET, actions by POST.

Machines are installed through Ironic. Controllers are asked here because discovery has to name what is
wrong with one that Ironic's library refuses as a whole (half an inventory, a clock of 1970, a password
that has to be changed first), and because repair polls sensors and switches power where no Ironic is.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self
from urllib.parse import urlsplit

from rackwright.errors import ExternalToolError
from rackwright.harmless import visible
from rackwright.web.fetching import basic_authorization

LARGEST_ANSWER = 16 * 1024 * 1024
"""Bytes of one answer."""
MOST_MEMBERS = 2_000
"""Members of one collection that are read."""
_ROOT = "/redfish/v1/"
_SESSIONS = "/redfish/v1/SessionService/Sessions"
_LONGEST = 200
_TOO_OLD, _TOO_NEW, _OTHER_NAME, _OTHER_ADDRESS = 10, 9, 62, 64
"""Verification errors of OpenSSL: expired, not yet valid, and a certificate of another name."""


class BmcState(StrEnum):
    """State of a management controller as discovery has found it."""

    READY = "ready"
    UNREACHABLE = "unreachable"
    SILENT = "no answer in time"
    LOST = "lost while it was read"
    ERRORS = "answers with errors"
    BUSY = "busy"
    NOT_REDFISH = "not Redfish"
    REFUSED_PASSWORD = "password refused"  # noqa: S105 - the name of a state
    EXPIRED_PASSWORD = "password expired"  # noqa: S105 - the name of a state
    EXPIRED_CERTIFICATE = "certificate expired"
    UNTRUSTED_CERTIFICATE = "certificate not trusted"
    OTHER_NAME = "certificate of another name"
    WRONG_CLOCK = "wrong clock"
    SEVERAL_SYSTEMS = "several systems"
    PARTIAL = "inventory incomplete"
    STUCK_TASK = "task stuck"
    VANISHED_TASK = "task vanished"


class BmcError(ExternalToolError):
    """A controller that cannot be read.

    Args:
        state: the state that this is.
        reason: what happened, in words.
    """

    code = "bmc"

    def __init__(self, state: BmcState, reason: str) -> None:
        super().__init__(f"{state.value}: {reason}")
        self.state, self.reason = state, reason


class MissingResourceError(BmcError):
    """A resource that the controller names and does not have."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """User of a controller, and the password, which no message shows."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Manners:
    """Timeouts and retries for one controller.

    Attributes:
        connect_s: seconds for a connection.
        answer_s: seconds without a byte of an answer.
        whole_s: seconds for everything that is read of it.
        tries: of a request that is answered with 500, 502, 503 or 504.
        pause_s: seconds before the second try; twice as many before the third.
    """

    connect_s: float = 5.0
    answer_s: float = 20.0
    whole_s: float = 180.0
    tries: int = 3
    pause_s: float = 2.0


DEFAULT_MANNERS = Manners()


def tls_context(ca: str | None, verify: str = "name") -> ssl.SSLContext:
    """Return the TLS settings: certificates are always verified, names unless ``verify`` is ``chain``.

    Args:
        ca: file with the certificates of the authority; None for those that the machine trusts.
        verify: ``name`` or ``chain``.

    Raises:
        BmcError: the file cannot be read, or holds no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        reason = f"'{ca}' holds no certificates (PEM): {visible(str(error))}"
        raise BmcError(BmcState.UNTRUSTED_CERTIFICATE, reason) from None
    if verify == "chain":
        context.check_hostname = False
    return context


@dataclass
class Redfish:
    """Session with the controller at one address.

    Attributes:
        address: of the controller.
        tls: settings; None for HTTP without TLS, on loopback alone.
        now: clock of deadlines.
        sleep: waits between tries.
    """

    address: str
    port: int
    credentials: Credentials = field(repr=False)
    tls: ssl.SSLContext | None
    manners: Manners = DEFAULT_MANNERS
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _watch: threading.Timer = field(init=False, repr=False)
    _connection: http.client.HTTPConnection | None = field(default=None, init=False, repr=False)
    _token: str | None = field(default=None, init=False, repr=False)
    _session: str | None = field(default=None, init=False, repr=False)
    _began: float = field(default=0.0, init=False, repr=False)
    _connected: bool = field(default=False, init=False, repr=False)
    _answered: bool = field(default=False, init=False, repr=False)
    _basic: bool = field(default=False, init=False, repr=False)
    _over: bool = field(default=False, init=False, repr=False)
    _expand: str = field(default="", init=False, repr=False)

    def __enter__(self) -> Self:
        """Log in.

        Raises:
            BmcError: the controller does not answer, or refuses.
        """
        self._began = self.now()
        if self.tls is None and not self.address.startswith("127."):
            raise BmcError(BmcState.UNTRUSTED_CERTIFICATE, "it is asked for a password without TLS")
        # Timeouts of sockets count from the last byte: this ends an answer that drips.
        self._watch = threading.Timer(self.manners.whole_s, self._end)
        self._watch.daemon = True
        self._watch.start()
        try:
            root = self.get(_ROOT)
            if "RedfishVersion" not in root:
                raise BmcError(BmcState.NOT_REDFISH, f"'{_ROOT}' names no version of Redfish")
            self._note_expansion(root)
            self._log_in(root)
        except BaseException:
            self._watch.cancel()
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Log out: controllers have few sessions."""
        with contextlib.suppress(BmcError):
            if self._session is not None:
                self._ask("DELETE", self._session, None)
        self._watch.cancel()
        self._close()

    def _end(self) -> None:
        self._over = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def get(self, path: str) -> dict[str, Any]:
        """Return a resource.

        Raises:
            MissingResourceError: there is none at the path.
            BmcError: it does not come.
        """
        status, body, _, number = self._try("GET", path, None)
        if status == 200 and isinstance(body, dict):
            return body
        raise self._refused("GET", path, status, body, number)

    def post(self, path: str, payload: Mapping[str, Any]) -> None:
        """Ask for an action; that it was taken says nothing about its effect.

        Raises:
            MissingResourceError: there is none at the path.
            BmcError: it is refused.
        """
        status, body, _, number = self._try("POST", path, payload)
        if not 200 <= status < 300:
            raise self._refused("POST", path, status, body, number)

    def _refused(self, method: str, path: str, status: int, body: Any, number: int) -> BmcError:
        what = f"'{method} {visible(path)}'"
        if status == 404:
            return MissingResourceError(BmcState.PARTIAL, f"{what} is not there")
        if status in {401, 403}:
            if _has_message(body, "PasswordChangeRequired"):
                return BmcError(BmcState.EXPIRED_PASSWORD, "the password has to be changed first")
            reason = f"{what} was answered with {status}"
            return BmcError(BmcState.REFUSED_PASSWORD, reason)
        if status == 503:
            return BmcError(BmcState.BUSY, f"{what} was answered with 503, {number} times")
        if status >= 500:
            return BmcError(BmcState.ERRORS, f"{what} was answered with {status}, {number} times")
        return BmcError(BmcState.NOT_REDFISH, f"{what} was answered with {status} and no object")

    @property
    def expands(self) -> bool:
        """True if the members of a collection come in one answer."""
        return bool(self._expand)

    def members(self, link: Any) -> Iterator[dict[str, Any]]:
        """Yield the members of a collection that a resource links to; none without a link.

        Raises:
            BmcError: a member does not come.
        """
        path: str | None = link_of(link)
        left = MOST_MEMBERS
        while path is not None:
            page = self.get(f"{path}{self._expand}" if "?" not in path else path)
            for member in page.get("Members", ()):
                if (left := left - 1) < 0:
                    raise BmcError(BmcState.ERRORS, f"'{visible(path)}' has no end")
                # A member that is expanded has more than its link.
                there = link_of(member)
                if isinstance(member, dict) and len(member) > 1:
                    yield member
                elif there is not None:
                    yield self.get(there)
            following = page.get("Members@odata.nextLink")
            path = following if isinstance(following, str) and following != path else None

    def _try(
        self, method: str, path: str, payload: Mapping[str, Any] | None
    ) -> tuple[int, Any, Mapping[str, str], int]:
        """Return status, body and headers of the last try, and its number."""
        number = 1
        while True:
            status, body, headers = self._ask(method, path, payload)
            if status < 500 or status == 501 or number >= self.manners.tries:
                return status, body, headers, number
            self._pause(number)
            number += 1

    def _pause(self, number: int) -> None:
        """Wait before the next try.

        Raises:
            BmcError: no time is left for one.
        """
        try:
            self.sleep(self._within(self.manners.pause_s * 2 ** (number - 1)))
        except TimeoutError:
            raise BmcError(
                BmcState.BUSY, "it answered with errors until the time was over"
            ) from None

    def _note_expansion(self, root: Mapping[str, Any]) -> None:
        features = root.get("ProtocolFeaturesSupported")
        query = features.get("ExpandQuery") if isinstance(features, dict) else None
        if isinstance(query, dict) and query.get("NoLinks") is True:
            self._expand = "?$expand=.($levels=1)" if query.get("Levels") is True else "?$expand=."

    def _log_in(self, root: Mapping[str, Any]) -> None:
        links = root.get("Links")
        path = link_of(links.get("Sessions") if isinstance(links, dict) else None)
        if path is None and "SessionService" not in root:
            self._basic = True  # every controller takes HTTP Basic (DSP0266), with each request
            return
        path = path or _SESSIONS
        payload = {"UserName": self.credentials.user, "Password": self.credentials.password}
        status, body, headers, number = self._try("POST", path, payload)
        if status in {404, 405, 501}:
            self._basic = True
            return
        token = headers.get("x-auth-token")
        if status in {200, 201} and token:
            self._token = token
            self._session = urlsplit(headers.get("location", "")).path or link_of(body)
        if _has_message(body, "PasswordChangeRequired"):
            raise BmcError(BmcState.EXPIRED_PASSWORD, "the password has to be changed first")
        if self._token is not None:
            return
        if status in {400, 401, 403}:
            reason = f"the user '{visible(self.credentials.user)}' cannot log in ({status})"
            raise BmcError(BmcState.REFUSED_PASSWORD, reason)
        if status == 503:
            raise BmcError(BmcState.BUSY, f"the login was answered with 503, {number} times")
        raise BmcError(BmcState.ERRORS, f"the login was answered with {status}")

    def _ask(
        self, method: str, path: str, payload: Mapping[str, Any] | None
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Return status, body and headers of one request.

        Raises:
            BmcError: no answer comes.
        """
        if not path.startswith("/") or path.startswith("//") or not path.isascii() or " " in path:
            raise BmcError(BmcState.NOT_REDFISH, f"'{visible(path)[:_LONGEST]}' is no path of it")
        headers = {"Accept": "application/json", "OData-Version": "4.0", "Host": self.address}
        data = None
        if payload is not None:
            data = json.dumps(payload).encode()
            headers["Content-Type"] = "application/json"
        if self._token is not None:
            headers["X-Auth-Token"] = self._token
        elif self._basic:
            who = self.credentials
            headers["Authorization"] = basic_authorization(who.user, who.password)
        fresh = self._connection is None
        try:
            status, text, told = self._send(method, path, data, headers)
        except (http.client.RemoteDisconnected, ConnectionError):
            self._close()
            if self._over:
                raise self._problem(TimeoutError()) from None
            if fresh or method != "GET":
                raise self._lost("the connection was closed") from None
            # Controllers close connections that stay open; one more is opened for the same question.
            status, text, told = self._again(method, path, data, headers)
        except (ssl.SSLError, TimeoutError, http.client.HTTPException, OSError) as error:
            self._close()
            raise self._problem(error) from None
        self._answered = True
        try:
            body = json.loads(text) if text else None
        except (ValueError, RecursionError):
            body = None
        return status, body, told

    def _again(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, Mapping[str, str]]:
        try:
            return self._send(method, path, data, headers)
        except (ssl.SSLError, TimeoutError, http.client.HTTPException, OSError) as error:
            self._close()
            raise self._problem(error) from None

    def _send(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, Mapping[str, str]]:
        connection = self._connection or self._connect()
        if connection.sock is not None:
            connection.sock.settimeout(self._within(self.manners.answer_s))
        connection.request(method, path, data, dict(headers))
        answer = connection.getresponse()
        parts: list[bytes] = []
        size = 0
        while part := answer.read(65_536):
            parts.append(part)
            if (size := size + len(part)) > LARGEST_ANSWER:
                raise http.client.HTTPException(f"more than {LARGEST_ANSWER} bytes")
            if connection.sock is not None:
                connection.sock.settimeout(self._within(self.manners.answer_s))
        if answer.will_close:
            self._close()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, b"".join(parts), told

    def _connect(self) -> http.client.HTTPConnection:
        wait = self._within(self.manners.connect_s)
        if self.tls is None:
            made = http.client.HTTPConnection(self.address, self.port, timeout=wait)
        else:
            made = http.client.HTTPSConnection(
                self.address, self.port, timeout=wait, context=self.tls
            )
        self._connection = made
        made.connect()
        self._connected = True
        return made

    def _within(self, seconds: float) -> float:
        """Return the seconds that may pass, no more than are left of the whole.

        Raises:
            TimeoutError: none are left.
        """
        left = self._began + self.manners.whole_s - self.now()
        if left <= 0:
            raise TimeoutError
        return min(seconds, left)

    def _problem(self, error: Exception) -> BmcError:
        if isinstance(error, ssl.SSLCertVerificationError):
            said = visible(error.verify_message)[:_LONGEST]
            states = {
                _TOO_OLD: BmcState.EXPIRED_CERTIFICATE,
                _TOO_NEW: BmcState.EXPIRED_CERTIFICATE,
                _OTHER_NAME: BmcState.OTHER_NAME,
                _OTHER_ADDRESS: BmcState.OTHER_NAME,
            }
            return BmcError(
                states.get(error.verify_code, BmcState.UNTRUSTED_CERTIFICATE), f"TLS: {said}"
            )
        if isinstance(error, TimeoutError) or self._over:
            if self._connected:
                return BmcError(BmcState.SILENT, "it takes questions and does not answer them")
            return BmcError(BmcState.UNREACHABLE, "no connection in time")
        reason = visible(getattr(error, "strerror", None) or str(error) or type(error).__name__)
        return self._lost(reason[:_LONGEST])

    def _lost(self, reason: str) -> BmcError:
        return BmcError(BmcState.LOST if self._answered else BmcState.UNREACHABLE, reason)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def link_of(value: Any) -> str | None:
    """Return the path of a link as Redfish writes it; None for anything else."""
    path = value.get("@odata.id") if isinstance(value, dict) else None
    return path if isinstance(path, str) and path.startswith("/") else None


def _has_message(body: Any, name: str) -> bool:
    """Return True if an answer carries the message ``name`` of a registry, whatever its version."""
    if not isinstance(body, dict):
        return False
    error = body.get("error")
    lists = [body.get("@Message.ExtendedInfo")]
    lists.append(error.get("@Message.ExtendedInfo") if isinstance(error, dict) else None)
    return any(
        str(one.get("MessageId", "")).rpartition(".")[2] == name
        for infos in lists
        if isinstance(infos, list)
        for one in infos
        if isinstance(one, dict)
    )


def restart_manager(session: Redfish, manager: Mapping[str, Any]) -> None:
    """Ask a controller to restart itself; its machine runs on.

    Raises:
        BmcError: it does not answer, or refuses.
    """
    action = (manager.get("Actions") or {}).get("#Manager.Reset") or {}
    own = f"{str(link_of(manager)).rstrip('/')}/Actions/Manager.Reset"
    session.post(str(action.get("target") or own), {"ResetType": "GracefulRestart"})
