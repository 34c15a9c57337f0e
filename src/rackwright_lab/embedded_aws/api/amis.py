"""The machine images that the embedded AWS offers in every region."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

_OWNERS = {"amazon": "137112412989", "canonical": "099720109477", "dlami": "898082745236"}
_DLAMI = "Deep Learning Base OSS Nvidia Driver GPU AMI"


@dataclass(frozen=True, slots=True)
class Image:
    """One image: its name, who owns it, and the public parameter that names the newest."""

    name: str
    owner: str
    architecture: str
    created: str
    parameter: str
    root: str = "/dev/sda1"

    @property
    def id(self) -> str:
        """Returns an id that depends on the name alone, the same on every machine."""
        return f"ami-{hashlib.sha256(self.name.encode()).hexdigest()[:17]}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Public parameters that name the image: Canonical's have one with the date of the release as well."""
        dated = self.parameter.replace("/current/", f"/{self.name[-8:]}/")
        return tuple(dict.fromkeys((self.parameter, dated)))


IMAGES = (
    Image(
        f"{_DLAMI} (Ubuntu 22.04) 20251101",
        "dlami",
        "x86_64",
        "2025-11-01T00:00:00.000Z",
        "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id",
    ),
    Image(
        f"{_DLAMI} (Ubuntu 24.04) 20251101",
        "dlami",
        "x86_64",
        "2025-11-01T00:00:01.000Z",
        "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id",
    ),
    Image(
        f"{_DLAMI} (Amazon Linux 2023) 20251101",
        "dlami",
        "x86_64",
        "2025-11-01T00:00:02.000Z",
        "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id",
        "/dev/xvda",
    ),
    Image(
        "Deep Learning ARM64 Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04) 20251101",
        "dlami",
        "arm64",
        "2025-11-01T00:00:03.000Z",
        "/aws/service/deeplearning/ami/arm64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id",
    ),
    Image(
        "Deep Learning ARM64 Base OSS Nvidia Driver GPU AMI (Ubuntu 24.04) 20251101",
        "dlami",
        "arm64",
        "2025-11-01T00:00:04.000Z",
        "/aws/service/deeplearning/ami/arm64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id",
    ),
    Image(
        "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20251015",
        "canonical",
        "x86_64",
        "2025-10-15T00:00:00.000Z",
        "/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id",
    ),
    Image(
        "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20251015",
        "canonical",
        "x86_64",
        "2025-10-15T00:00:01.000Z",
        "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
    ),
    Image(
        "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-arm64-server-20251015",
        "canonical",
        "arm64",
        "2025-10-15T00:00:02.000Z",
        "/aws/service/canonical/ubuntu/server/24.04/stable/current/arm64/hvm/ebs-gp3/ami-id",
    ),
    Image(
        "al2023-ami-2023.9.20251014.0-kernel-6.1-x86_64",
        "amazon",
        "x86_64",
        "2025-10-14T00:00:00.000Z",
        "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-6.1-x86_64",
        "/dev/xvda",
    ),
    Image(
        "al2023-ami-2023.9.20251014.0-kernel-6.1-arm64",
        "amazon",
        "arm64",
        "2025-10-14T00:00:01.000Z",
        "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-6.1-arm64",
        "/dev/xvda",
    ),
    Image(
        "amzn2-ami-kernel-5.10-hvm-2.0.20251014.0-x86_64-gp2",
        "amazon",
        "x86_64",
        "2025-10-14T00:00:02.000Z",
        "/aws/service/ami-amazon-linux-latest/amzn2-ami-kernel-5.10-hvm-x86_64-gp2",
        "/dev/xvda",
    ),
)


def moto_images() -> str:
    """Return the images as the JSON text that moto reads them from."""
    rows: list[dict[str, Any]] = [
        {
            "ami_id": image.id,
            "architecture": image.architecture,
            "creation_date": image.created,
            "description": image.name,
            "hypervisor": "xen",
            "image_location": f"amazon/{image.name}",
            "image_type": "machine",
            "name": image.name,
            "owner_id": _OWNERS[image.owner],
            "platform": None,
            "public": True,
            "root_device_name": image.root,
            "root_device_type": "ebs",
            "sriov": "simple",
            "state": "available",
            "virtualization_type": "hvm",
        }
        for image in IMAGES
    ]
    return json.dumps(rows)


def by_parameter(name: str) -> Image | None:
    """Return the image that a public parameter names, None for any other parameter."""
    return next((image for image in IMAGES if name in image.parameters), None)
