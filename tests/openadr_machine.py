"""An OpenADR 2.0b server by openleadr, in an environment of its own that is made once and kept.

python tests/openadr_machine.py PORT SHARE SECONDS    in that environment: one event for the first node that registers
"""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
from pathlib import Path

RELEASE = "0.5.36"
"""Release of openleadr."""


def environment() -> Path:
    """Return the environment's Python, made where there is none.

    It finds what the tests' own Python finds as well, so that it runs ``rackwright``.
    """
    import site

    from rackwright.locks import turn
    from rackwright_lab.base import cache_folder, recipe_key
    from rackwright_lab.system import run

    own = site.getsitepackages()[0]
    cache_folder().mkdir(parents=True, exist_ok=True)
    found = f"import site; site.addsitedir({own!r})\n"  # which reads .pth files there too
    folder = cache_folder() / f"openadr-{recipe_key([RELEASE, found, sys.version])}"
    with turn(cache_folder() / "openadr.lock"):
        if not (folder / "ready").exists():
            run(sys.executable, "-m", "venv", "--clear", folder)
            run(folder / "bin/pip", "install", "--quiet", f"openleadr=={RELEASE}", timeout_s=600)
            (place,) = folder.glob("lib/python*/site-packages")
            (place / "others.pth").write_text(found)
            (folder / "ready").touch()
    return folder / "bin/python"


async def serve(port: int, share: float, seconds: float) -> None:
    """Register one node, and give it one event that begins soon."""
    from openleadr import OpenADRServer

    server = OpenADRServer(
        vtn_id="grid", http_port=port, requested_poll_freq=dt.timedelta(seconds=1)
    )

    async def register(info: dict[str, object]) -> tuple[str, str]:
        print(f"registered {info['ven_name']}", flush=True)
        server.add_event(
            ven_id="hall",
            signal_name="LOAD_CONTROL",
            signal_type="x-loadControlCapacity",
            intervals=[
                {
                    "dtstart": dt.datetime.now(dt.UTC) + dt.timedelta(seconds=3),
                    "duration": dt.timedelta(seconds=seconds),
                    "signal_payload": share,
                }
            ],
            callback=answered,
        )
        return "hall", "registration"

    async def answered(ven_id: str, event_id: str, opt_type: str) -> None:
        print(f"{ven_id} answers {opt_type}", flush=True)

    server.add_handler("on_create_party_registration", register)
    await server.run()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])))
