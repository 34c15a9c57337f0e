"""The vendor's AWS provider, taken by its digest: the program that holds the role of a run.

Apart from ``aws_provider``, whose text is part of the recipe of the plugin that is built.
"""

from __future__ import annotations

from pathlib import Path

from rackwright.provision.tools.archive import Archive, unpack
from rackwright.provision.tools.folder import AWS_PROVIDER, Shelf, installing, tools_dir
from rackwright.provision.tools.go import Progress

PINNED = "RACKWRIGHT_AWS_PROVIDER"
"""Variable with the vendor's archive of the plugin, as ``URL#sha256=DIGEST``."""


def install_pinned(archive: Archive, *, progress: Progress) -> Path:
    """Install the vendor's plugin from an archive whose digest is stated, and return the plugin.

    Raises:
        ExternalToolError: the archive cannot be had, or is not what the digest names.
    """
    shelf = Shelf(tools_dir(), AWS_PROVIDER, archive.digest[:16])
    if not shelf.is_current(None):
        with installing(tools_dir(), progress) as workspace:
            if not shelf.is_current(None):
                progress(f"installing the AWS provider of '{archive.place}'")
                shelf.remove_damaged()
                shelf.put(unpack(archive, workspace, AWS_PROVIDER))
    return shelf.bin / AWS_PROVIDER
