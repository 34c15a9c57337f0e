"""Facts about an image that the path of its public parameter states; an AMI id states none.

Sources: Canonical, "Find Ubuntu images on AWS" (paths of ``/aws/service/canonical``); AWS Deep Learning AMIs
Developer Guide, "Getting AMI ID" (``/aws/service/deeplearning/ami``); Amazon Linux 2023 User Guide (``/aws/service/
ami-amazon-linux-latest``). Root devices: EC2 User Guide, "Device names on Linux instances".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_ARCHITECTURES: dict[str, Literal["x86_64", "arm64"]] = {
    "amd64": "x86_64",
    "x86_64": "x86_64",
    "arm64": "arm64",
    "aarch64": "arm64",
}
_WORDS = re.compile(r"amd64|x86_64|arm64|aarch64")
_ROOTS = {"ubuntu": "/dev/sda1", "amazon-linux": "/dev/xvda", "al2023": "/dev/xvda"}
_USERS = {"ubuntu": "ubuntu", "amazon-linux": "ec2-user", "al2023": "ec2-user"}
_FLOATING = re.compile(r"/(current|latest)(/|$)|-latest/")


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """Facts that the parameter of an image states; None is unknown.

    Attributes:
        architecture: of the CPUs that it runs on.
        root_device: name of its root device.
        user: account that it makes for logins.
        floats: the parameter names another image from time to time.
    """

    architecture: Literal["x86_64", "arm64"] | None = None
    root_device: str | None = None
    user: str | None = None
    floats: bool | None = None


def image_facts(image: str) -> ImageFacts:
    """Return the facts about ``image``, an AMI id or ``ssm:/path``."""
    if not image.startswith("ssm:/aws/service/"):
        return ImageFacts(floats=None if image.startswith("ssm:") else False)
    words = {_ARCHITECTURES[word] for word in _WORDS.findall(image)}
    system = next((name for name in _ROOTS if name in image), None)
    return ImageFacts(
        architecture=words.pop() if len(words) == 1 else None,
        root_device=None if system is None else _ROOTS[system],
        user=None if system is None else _USERS[system],
        floats=_FLOATING.search(image) is not None,
    )
