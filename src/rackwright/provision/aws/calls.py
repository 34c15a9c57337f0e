"""Clients of AWS where a target provisions."""

from __future__ import annotations

from functools import cache
from typing import Any

from rackwright.errors import UsageError
from rackwright.provision.access.errors import refusals
from rackwright.provision.targets import Target

ATTEMPTS = 10
"""Times that a call is made when AWS throttles it or fails; the waits between them grow."""


def make_client(target: Target, service: str, region: str) -> Any:
    """Return a client of the place where ``target`` provisions.

    On AWS the credentials are those that the Pulumi provider has: of the role that a job has taken, or
    those that botocore finds.
    """
    from botocore.config import Config

    retries = {"total_max_attempts": ATTEMPTS, "mode": "adaptive"}
    if target.endpoint is None:
        made = _session(target).create_client(
            service, region_name=region, config=Config(retries=retries)
        )
    else:
        # Real credentials and a proxy's hosts must not meet the embedded AWS.
        made = _session(target).create_client(
            service,
            aws_access_key_id=target.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=target.environment["AWS_SECRET_ACCESS_KEY"],
            region_name=region,
            endpoint_url=target.endpoint,
            config=Config(retries=retries, proxies={}),
        )
    return made


def _session(target: Target) -> Any:
    import botocore.session

    own = botocore.session.Session(profile=target.environment.get("AWS_PROFILE") or None)
    if "AWS_CONFIG_FILE" in target.environment:
        own.set_config_variable("config_file", target.environment["AWS_CONFIG_FILE"])
        own.set_config_variable(
            "credentials_file", target.environment["AWS_SHARED_CREDENTIALS_FILE"]
        )
    own.register_component("data_loader", _loader(own.get_config_variable("data_path")))
    return own  # a session of boto3 would add its folder to the shared loader, each time


@cache
def _loader(more_folders: str | None) -> Any:
    """Return the reader of service descriptions for all sessions; each of their own would read megabytes again."""
    from botocore.loaders import create_loader

    return create_loader(more_folders)


def refuse_other_account(target: Target, region: str, account: str | None) -> None:
    """Let nothing be changed, or read for a plan, in another account than that of the blueprint.

    Args:
        target: where it would be; the embedded AWS has an account of its own.
        region: whose STS is asked.
        account: id that the blueprint states; None for any.

    Raises:
        UsageError: the credentials are of another account.
        ExternalToolError: AWS refuses, or cannot be asked.
    """
    if account is None or target.name != "aws":
        return
    with refusals("sts:GetCallerIdentity"):
        here = str(make_client(target, "sts", region).get_caller_identity()["Account"])
    if here != account:
        raise UsageError(
            f"the credentials are of the account {here}, and the site is in {account}",
            hint="choose the profile or the role of that account; nothing was changed",
        )
