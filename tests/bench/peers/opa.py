"""Open Policy Agent, built once from its released Go module into the cache.

The module files beside this one pin it: ``go.sum`` holds the checksum of every source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from rackwright.files import cache_folder
from rackwright.provision.tools.built import install_built
from rackwright.provision.tools.go import default_compiler
from rackwright.provision.tools.recipe import Recipe

PACKAGE = "github.com/open-policy-agent/opa"
PINS = Path(__file__).parent / "opa_module"


def version() -> str:
    """The version of OPA that the module files pin."""
    match = re.search(rf"^require {PACKAGE} v(\S+)$", (PINS / "go.mod").read_text(), re.MULTILINE)
    assert match is not None
    return match.group(1)


def program(progress: Callable[[str], None]) -> Path:
    """The program, from the cache or built there.

    Raises:
        ExternalToolError: Go is missing or too old, or the build failed.
    """
    recipe = Recipe(
        program="opa",
        title=f"OPA {version()}",
        duration="about 4 minutes on 2 cores, once",
        module=PINS,
        package=PACKAGE,
        hint="install Go 1.26 or newer",
        inputs=(Path(__file__),),
    )
    return install_built(recipe, cache_folder("bench"), default_compiler, progress)
