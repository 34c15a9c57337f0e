"""Amazon Data Lifecycle Manager, which moto lacks: policies are kept, and no snapshot is ever made by them.

The package has the form of a service of moto, which ``install`` makes it one of.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from types import ModuleType

from moto import backend_index

from rackwright_lab.embedded_aws.api.patching import first_time

NAME = "dlm"


def install() -> None:
    """Make it a service of moto; a second call changes nothing."""
    if not first_time(__name__):
        return
    models = import_module(f"{__name__}.models")
    # moto finds a service by the module of its name below its own.
    package = ModuleType(f"moto.{NAME}")
    package.models = models  # type: ignore[attr-defined]
    package.dlm_backends = models.dlm_backends  # type: ignore[attr-defined]
    sys.modules.setdefault(package.__name__, package)
    sys.modules.setdefault(f"{package.__name__}.models", models)
    pattern = re.compile(r"https?://dlm\.(.+)\.amazonaws\.com")
    backend_index.backend_url_patterns.append((NAME, pattern))
