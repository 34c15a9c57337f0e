"""Stand-ins of the kernel's packages; hosts of a lab run the kernel of this machine, whatever they install."""

from __future__ import annotations

import os

from rackwright_lab.mock_packages.package import MockPackage

KERNEL = os.uname().release
NEXT_KERNEL = "99.1.0-1-amd64"
"""A kernel that an upgrade would bring."""

MOCK_PACKAGES = (
    *(
        MockPackage(
            f"linux-{kind}-{release}", f"{version}-1", f"kernel {release} (stand-in of a lab)"
        )
        for release, version in ((KERNEL, "1"), (NEXT_KERNEL, "2"))
        for kind in ("image", "headers")
    ),
    *(
        MockPackage(
            f"linux-{kind}-amd64",
            f"{version}-1",
            "the newest kernel (stand-in of a lab)",
            (f"linux-{kind}-{release} (= {version}-1)",),
        )
        for release, version in ((KERNEL, "1"), (NEXT_KERNEL, "2"))
        for kind in ("image", "headers")
    ),
)
