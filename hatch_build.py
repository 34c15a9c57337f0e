"""Put the content folders into the wheel; see DESIGN: editable installs use the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("policies", "stacks", "templates", "inventory")
COLLECTION = "ansible_collections/rackwright/cluster"


class ContentHook(BuildHookInterface):  # type: ignore[misc]
    """Force-includes the folders in standard builds only, so that editable ones stay live."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Map each folder to its place in the wheel."""
        if version != "standard":
            return
        root = Path(self.root)
        include = build_data["force_include"]
        for folder in FOLDERS:
            include[str(root / folder)] = f"rackwright/_bundled/{folder}"
        include[str(root / "roles")] = f"{COLLECTION}/roles"
        for path in sorted((root / "src" / COLLECTION).iterdir()):
            # A checkout has a link to the roles.
            if not path.is_symlink() and path.name != "__pycache__":
                include[str(path)] = f"{COLLECTION}/{path.name}"
