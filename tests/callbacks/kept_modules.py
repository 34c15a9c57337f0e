"""A plugin of Ansible's: runs of tests keep the packed modules that they send to hosts.

Ansible packs each module that a run uses, which takes a third of a second a module, and throws the
packs away when the run ends. Tests make some hundred runs of the same version of Ansible. It finds
a pack by the name of the module alone, so modules of this tree are part of the folder's name.
"""

from __future__ import annotations

import hashlib
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


TREE = Path(__file__).parents[2]

SOURCES = (
    "src/ansible_collections/rackwright/cluster/plugins/modules/**/*.py",
    "src/ansible_collections/rackwright/cluster/plugins/module_utils/**/*.py",
    "roles/*/library/**/*.py",
    "roles/*/module_utils/**/*.py",
)
"""Where a module of this tree may be, with what is packed with it."""


def folder_name(tree: Path) -> str:
    """The name of the folder of packs of the modules in ``tree`` and of this Ansible and Python."""
    packed = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in tree.glob(pattern)):
        packed.update(hashlib.sha256(f"{path.relative_to(tree)}".encode()).digest())
        packed.update(hashlib.sha256(path.read_bytes()).digest())
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{__version__}-{python}-{packed.hexdigest()[:12]}"


class CallbackModule(CallbackBase):
    """Puts the folder that stays where Ansible looks for its own; it locks and renames files there."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kept_modules"

    def __init__(self) -> None:
        super().__init__()
        kept = Path(os.environ["RACKWRIGHT_KEPT_MODULES"])
        kept /= folder_name(TREE)
        kept.mkdir(parents=True, exist_ok=True)
        own = Path(constants.DEFAULT_LOCAL_TMP) / "ansiballz_cache"
        if not own.exists():
            own.symlink_to(kept)
