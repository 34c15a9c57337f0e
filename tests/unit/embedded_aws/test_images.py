"""Machine images of the embedded AWS are the same on every machine, and parameters name them."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright_lab.embedded_aws.api.amis import IMAGES, Image
from unit.embedded_aws.clients import Connect, refused

OSS = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"


def found(ec2: Any, **asked: Any) -> list[dict[str, Any]]:
    filters = [{"Name": name.replace("_", "-"), "Values": [one]} for name, one in asked.items()]
    return list(ec2.describe_images(Filters=filters)["Images"])


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.name)
def test_a_public_parameter_names_its_image(aws: Connect, image: Image) -> None:
    for parameter in image.parameters:
        named = aws("ssm").get_parameter(Name=parameter)["Parameter"]
        assert (named["Value"], named["DataType"]) == (image.id, "aws:ec2:image")
    (read,) = aws("ec2").describe_images(ImageIds=[image.id])["Images"]
    assert (read["Name"], read["Architecture"]) == (image.name, image.architecture)
    assert (read["State"], read["RootDeviceName"]) == ("available", image.root)


def test_a_release_of_ubuntu_is_named_by_its_date(aws: Connect) -> None:
    path = "/aws/service/canonical/ubuntu/server/22.04/stable/{}/amd64/hvm/ebs-gp2/ami-id"
    current, dated = (
        aws("ssm").get_parameter(Name=path.format(name))["Parameter"]["Value"]
        for name in ("current", "20251015")
    )
    assert current == dated
    assert refused(aws("ssm").get_parameter, Name=path.format("20251016")).startswith(
        "ParameterNotFound"
    )


def test_an_image_is_found_by_its_name_in_every_region(aws: Connect) -> None:
    for region in ("us-west-2", "eu-west-1"):
        (one,) = found(aws("ec2", region), name="Deep Learning Base OSS*(Ubuntu 22.04)*")
        assert one["ImageId"] == aws("ssm", region).get_parameter(Name=OSS)["Parameter"]["Value"]
    assert found(aws("ec2"), name="none") == []


def test_other_parameters_are_those_that_were_put(aws: Connect) -> None:
    ssm = aws("ssm")
    ssm.put_parameter(Name="/lab/secret", Value="hush", Type="SecureString")
    read = ssm.get_parameter(Name="/lab/secret", WithDecryption=True)["Parameter"]
    assert (read["Value"], read["Type"]) == ("hush", "SecureString")
    assert refused(ssm.get_parameter, Name=f"{OSS}s").startswith("ParameterNotFound")
