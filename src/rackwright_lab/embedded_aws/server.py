"""The process of the embedded AWS: ``python -m rackwright_lab.embedded_aws.server FOLDER``."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from rackwright.errors import RackwrightError
from rackwright.exit_codes import ExitCode
from rackwright.files import write_changed
from rackwright.system_errors import system_fault
from rackwright_lab.embedded_aws import control
from rackwright_lab.embedded_aws.api import amis

LOOPBACK = "127.0.0.1"
STATE = "state.pickle"
READY = "ready.json"
IDLE_S = 1800.0
"""The process ends by itself when it is idle; the next command starts it again."""
_LOG = logging.getLogger("rackwright_lab.embedded_aws")


def _prepare(folder: Path) -> None:
    """Set what moto reads at import, before anything imports it."""
    images = folder / "amis.json"
    write_changed(images, amis.moto_images())
    os.environ["MOTO_AMIS_PATH"] = str(images)
    for name in list(os.environ):
        if name.startswith("AWS_") or (name.startswith("MOTO_") and name != "MOTO_AMIS_PATH"):
            del os.environ[name]
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"


def serve(folder: Path, idle_s: float = IDLE_S) -> None:
    """Serve the AWS API until a signal or ``idle_s`` without a request."""
    code = control.code()  # before anything of it is imported that may change meanwhile
    _prepare(folder)
    from werkzeug.serving import make_server

    from rackwright_lab.embedded_aws.api.additions import install_additions
    from rackwright_lab.embedded_aws.gateway import Gateway, StateFile

    install_additions()
    guard = threading.RLock()
    state = StateFile(folder / STATE, guard)
    count = state.load()
    _LOG.info("%d backends read from '%s'", count, folder / STATE)
    gateway = Gateway(state, guard)
    http = make_server(LOOPBACK, 0, gateway, threaded=True)
    http.daemon_threads = True  # type: ignore[attr-defined]
    endpoint = f"http://{LOOPBACK}:{http.server_port}"

    def finish(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=http.shutdown, daemon=True).start()

    def finish_when_idle() -> None:
        while gateway.idle_s < idle_s:
            time.sleep(max(0.0, idle_s - gateway.idle_s))
        _LOG.info("no request for %.0f s", idle_s)
        http.shutdown()

    threading.Thread(target=finish_when_idle, name="idle", daemon=True).start()
    signal.signal(signal.SIGTERM, finish)
    signal.signal(signal.SIGINT, finish)
    ready = {"endpoint": endpoint, "pid": os.getpid(), "code": code}
    write_changed(folder / READY, json.dumps(ready))
    _LOG.info("ready: %s", endpoint)
    http.serve_forever()
    state.close()
    _LOG.info("ended")


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status of the server process."""
    parser = argparse.ArgumentParser(prog="rackwright_lab.embedded_aws.server")
    parser.add_argument("folder", type=Path, help="where state, log and ready file are kept")
    parser.add_argument("--idle", type=float, default=IDLE_S, help="seconds until it ends unused")
    options = parser.parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    try:
        serve(options.folder, options.idle)
    except (RackwrightError, OSError) as error:
        told = error if isinstance(error, RackwrightError) else system_fault(error)
        hint = f"{control.HINT}{told.hint}" if told.hint else ""
        sys.stderr.write(f"{control.FAILED}{told.summary}{hint}\n")
        return int(ExitCode.EXTERNAL)
    except Exception:  # noqa: BLE001 - the log is where the starter looks
        _LOG.exception("the embedded AWS could not go on")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
