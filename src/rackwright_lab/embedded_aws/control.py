"""Starting, finding and ending the process of the embedded AWS."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.files import state_folder, write_changed
from rackwright.locks import turn
from rackwright.processes import started

_LOCK = "lock"
_PID = "server.pid"
_READY = "ready.json"
_LOG = "server.log"
_STATE = "state.pickle"
FAILED, HINT = "rackwright cannot start: ", " | hint: "
"""How the process says in its log why it ends."""
_START_LIMIT_S = 90.0
_STOP_LIMIT_S = 30.0
_POLL_S = 0.05
# Held so that a server that outlives its starter is not reported as a forgotten child.
_CHILDREN: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Embedded:
    """A running embedded AWS: its API and its process.

    Attributes:
        code: digest of what it was started from; None where it did not say, as those of before.
    """

    endpoint: str
    pid: int
    code: str | None


def default_state_dir() -> Path:
    """Return the folder used where none is named."""
    return state_folder() / "embedded-aws"


def start(state_dir: Path | None = None) -> Embedded:
    """Return the embedded AWS of a state folder, started if it was not running.

    One that other code than this has started is ended first; what it holds is kept.

    Raises:
        ExternalToolError: it could not start, or was not ready in time.
    """
    folder = _folder(state_dir)
    with turn(folder / _LOCK):
        running = _running(folder)
        if running is not None and running.code == code():
            return running
        return _launch(folder)


def stop(state_dir: Path | None = None) -> bool:
    """Return whether a process was running; its state is kept for the next start.

    Raises:
        ExternalToolError: the process did not end in time.
    """
    folder = _folder(state_dir)
    with turn(folder / _LOCK):
        return _end(folder)


def status(state_dir: Path | None = None) -> Embedded | None:
    """Return the running embedded AWS of a state folder, None where none answers."""
    folder = state_dir or default_state_dir()
    return _running(folder) if folder.is_dir() else None


def reset(state_dir: Path | None = None) -> None:
    """Empty the embedded AWS, running or not.

    Raises:
        ExternalToolError: the running process refused or did not end.
    """
    folder = _folder(state_dir)
    with turn(folder / _LOCK):
        running = _running(folder)
        if running is None:
            _end(folder)
            (folder / _STATE).unlink(missing_ok=True)
            return
        request = urllib.request.Request(  # noqa: S310 - the endpoint is our own, on loopback
            f"{running.endpoint}/rackwright/reset", method="POST"
        )
        try:
            with _direct().open(request, timeout=_STOP_LIMIT_S):
                return
        except OSError as error:
            raise ExternalToolError(f"the embedded AWS was not emptied: {error}") from error


def code() -> str:
    """Return a digest of this package: what a running process was started from."""
    here = Path(__file__).parent
    whole = hashlib.sha256()
    for path in sorted(here.rglob("*.py")):
        whole.update(f"{path.relative_to(here)}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def _folder(state_dir: Path | None) -> Path:
    folder = state_dir or default_state_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ExternalToolError(
            f"the state folder '{folder}' cannot be made: {error.strerror}",
            hint="name another folder, or set RACKWRIGHT_STATE",
        ) from error
    return folder.resolve()


def _recorded(folder: Path) -> int | None:
    """Return the id of the live process that the pid file names."""
    try:
        record = json.loads((folder / _PID).read_text(encoding="utf-8"))
        pid, began = int(record["pid"]), str(record["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if started(pid) == began else None


def _running(folder: Path) -> Embedded | None:
    pid = _recorded(folder)
    if pid is None:
        return None
    try:
        ready = json.loads((folder / _READY).read_text(encoding="utf-8"))
        found = Embedded(ready["endpoint"], int(ready["pid"]), ready.get("code"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.pid == pid and _answers(found.endpoint) else None


def _direct() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _answers(endpoint: str) -> bool:
    try:
        with _direct().open(f"{endpoint}/rackwright/health", timeout=10.0) as reply:
            return bool(reply.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _launch(folder: Path) -> Embedded:
    _end(folder)
    (folder / _READY).unlink(missing_ok=True)
    log = folder / _LOG
    with log.open("ab") as output:
        began = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rackwright_lab.embedded_aws.server", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd=folder,
            env=_environment(),
        )
    _CHILDREN[process.pid] = process
    record = {"pid": process.pid, "started": started(process.pid)}
    try:
        write_changed(folder / _PID, json.dumps(record))
    except OSError:
        process.kill()  # it would be an orphan
        _CHILDREN.pop(process.pid).wait()
        raise
    deadline = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < deadline:
        running = _running(folder)
        if running is not None:
            return running
        if process.poll() is not None:
            raise _ended(log, began, process.returncode)
        time.sleep(_POLL_S)
    _end(folder)
    raise ExternalToolError(
        f"the embedded AWS was not ready within {_START_LIMIT_S:.0f} s", hint=f"its log is '{log}'"
    )


def _ended(log: Path, began: int, status: int) -> ExternalToolError:
    """Return the error about the ended process, with the last words of its part of the log."""
    with log.open("rb") as file:
        file.seek(began)
        text = file.read().decode("utf-8", "replace")
    said = [line.removeprefix(FAILED) for line in text.splitlines() if line.startswith(FAILED)]
    if said:
        summary, _, hint = said[-1].partition(HINT)
        return ExternalToolError(f"the embedded AWS does not start: {summary}", hint=hint or None)
    return ExternalToolError(
        f"the embedded AWS ended at once with status {status}", hint=f"its log is '{log}'"
    )


def _environment() -> dict[str, str]:
    package_root = str(Path(__file__).resolve().parents[2])
    paths = [package_root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def _end(folder: Path) -> bool:
    pid = _recorded(folder)
    if pid is None:
        (folder / _PID).unlink(missing_ok=True)
        return False
    began = started(pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _STOP_LIMIT_S
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        while time.monotonic() < deadline:
            child = _CHILDREN.get(pid)
            # A child is there until it is reaped.
            if started(pid) != began if child is None else child.poll() is not None:
                _CHILDREN.pop(pid, None)
                (folder / _PID).unlink(missing_ok=True)
                return True
            time.sleep(_POLL_S)
    raise ExternalToolError(f"the process {pid} of the embedded AWS did not end")
