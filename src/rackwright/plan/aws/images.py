"""Facts about an image: those of the blueprint, or those that the path of its public parameter states.

Sources: Canonical, "Find Ubuntu images on AWS" (paths of ``/aws/service/canonical``); AWS Deep Learning AMIs
Developer Guide, "Getting AMI ID" (``/aws/service/deeplearning/ami``); Amazon Linux 2023 User Guide (``/aws/service/
ami-amazon-linux-latest``). Root devices: EC2 User Guide, "Device names on Linux instances".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from rackwright.model.aws_instances import ImageRecord

_ARCHITECTURES: dict[str, Literal["x86_64", "arm64"]] = {
    "amd64": "x86_64",
    "x86_64": "x86_64",
    "arm64": "arm64",
    "aarch64": "arm64",
}
_WORDS = re.compile(r"amd64|x86_64|arm64|aarch64")
_ROOTS = {"ubuntu": "/dev/sda1", "amazon-linux": "/dev/xvda", "al2023": "/dev/xvda"}
_USERS = {"ubuntu": "ubuntu", "amazon-linux": "ec2-user", "al2023": "ec2-user"}
_FIXED = re.compile(r"20\d{6}|/\d+\.\d+\.\d+")
"""A date or a full version in a path: the parameter never names another image (``current``, ``latest``, ``recommended``
and the like do)."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """Facts about an image; None is unknown.

    Attributes:
        architecture: of the CPUs that it runs on.
        root_device: name of its root device.
        user: account that it makes for logins.
        floats: the public parameter names another image from time to time; one that does not stays with its kernel.
        kernel: kernel that it starts.
    """

    architecture: Literal["x86_64", "arm64"] | None = None
    root_device: str | None = None
    user: str | None = None
    floats: bool | None = None
    kernel: str | None = None


def image_facts(image: str, records: Iterable[ImageRecord] = ()) -> ImageFacts:
    """Return the facts about ``image``, an AMI id or ``ssm:/path``, with those that a record states."""
    told = _told(image)
    own = next((one for one in records if one.id == image), None)
    if own is None:
        return told
    return replace(
        told,
        architecture=own.architecture or told.architecture,
        root_device=own.root_device or told.root_device,
        kernel=own.kernel,
    )


def _told(image: str) -> ImageFacts:
    """Return the facts that the name of an image states."""
    if not image.startswith("ssm:/aws/service/"):
        return ImageFacts()
    words = {_ARCHITECTURES[word] for word in _WORDS.findall(image)}
    system = next((name for name in _ROOTS if name in image), None)
    return ImageFacts(
        architecture=words.pop() if len(words) == 1 else None,
        root_device=None if system is None else _ROOTS[system],
        user=None if system is None else _USERS[system],
        floats=_FIXED.search(image) is None,
    )
