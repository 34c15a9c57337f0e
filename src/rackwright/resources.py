"""Places of the content folders (policies, stacks, templates, roles, inventory).

This module is the only one that knows: in a wheel they are bundled below the package, in a
checkout they stand at the top of the repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rackwright.errors import RackwrightError

Kind = Literal["policies", "stacks", "templates", "inventory", "roles"]

COLLECTION = "ansible_collections/rackwright/cluster"
"""Where Ansible looks for the collection, below a folder of collections."""

_PACKAGE = Path(__file__).resolve().parent

COLLECTIONS = _PACKAGE.parent
"""For ``ANSIBLE_COLLECTIONS_PATH``: in a checkout and in a wheel, the collection is beside us."""


def bundled(kind: Kind) -> Path:
    """Return the folder that holds the built-in content of ``kind``.

    Raises:
        RackwrightError: neither the wheel nor a checkout holds it.
    """
    packaged = _PACKAGE / "_bundled" / kind
    if kind == "roles":  # packaged as a collection, so that plain Ansible finds them too
        packaged = (COLLECTIONS / COLLECTION / "roles").resolve()  # a checkout has a link
    for folder in (packaged, _PACKAGE.parents[1] / kind):
        if folder.is_dir():
            return folder
    raise RackwrightError(
        f"the built-in folder '{kind}' is missing",
        hint="reinstall rackwright, or run it from a complete checkout",
    )
