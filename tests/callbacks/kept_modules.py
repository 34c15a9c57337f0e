"""A plugin of Ansible's: runs of tests keep the packed modules that they send to hosts.

Ansible packs each module that a run uses, which takes a third of a second a module, and throws the
packs away when the run ends. Tests make some hundred runs of the same version of Ansible.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ansible import constants
from ansible.plugins.callback import CallbackBase
from ansible.release import __version__

DOCUMENTATION = """
name: kept_modules
type: aggregate
short_description: Keeps packed modules
description: Packs are kept in the folder that RACKWRIGHT_KEPT_MODULES names.
"""


class CallbackModule(CallbackBase):
    """Puts the folder that stays where Ansible looks for its own; it locks and renames files there."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kept_modules"

    def __init__(self) -> None:
        super().__init__()
        kept = Path(os.environ["RACKWRIGHT_KEPT_MODULES"])
        kept /= f"{__version__}-{sys.version_info.major}.{sys.version_info.minor}"
        kept.mkdir(parents=True, exist_ok=True)
        own = Path(constants.DEFAULT_LOCAL_TMP) / "ansiballz_cache"
        if not own.exists():
            own.symlink_to(kept)
