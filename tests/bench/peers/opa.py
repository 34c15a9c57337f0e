"""Open Policy Agent, built once from its released Go module into the cache.

The module files beside this one pin it: ``go.sum`` holds the checksum of every source.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from rackwright.folders import cache_folder
from rackwright.provision.tools.gobuild import Go

PACKAGE = "github.com/open-policy-agent/opa"
PINS = Path(__file__).parent / "opa_module"
FILES = ("go.mod", "go.sum", "opa.go")


def version() -> str:
    """The version of OPA that the module files pin."""
    match = re.search(rf"^require {PACKAGE} v(\S+)$", (PINS / "go.mod").read_text(), re.MULTILINE)
    assert match is not None
    return match.group(1)


def program(progress: Callable[[str], None]) -> Path:
    """The program, from the cache or built there: about 4 minutes on 2 cores.

    Raises:
        ExternalToolError: Go is missing or too old, or the build failed.
    """
    pins = hashlib.sha256(b"".join((PINS / name).read_bytes() for name in FILES)).hexdigest()
    cache = cache_folder("bench")
    built = cache / f"opa-{version()}-{pins[:12]}"
    if built.is_file():
        return built
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        module = Path(folder)
        for name in FILES:
            shutil.copyfile(PINS / name, module / name)
        go = Go(module)
        progress(f"building OPA {version()} with {go.version}, once")
        go.build(PACKAGE, module / "program", None, progress)
        (module / "program").replace(built)
    return built
