"""Errors of AWS in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rackwright.errors import ExternalToolError


@contextmanager
def refusals(action: str) -> Iterator[None]:
    """Turn what AWS refuses into an error that says what was asked.

    Raises:
        ExternalToolError: AWS refuses what is asked inside, or cannot be asked.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        message = str(error.response.get("Error", {}).get("Message", "")).strip().rstrip(".")
        hint = "run the same command again"
        if "AccessDenied" in error_code(error) or "Unauthorized" in error_code(error):
            hint = f"the credentials need the permission '{action}'"
        raise ExternalToolError(
            f"AWS refuses '{action}': {error_code(error)}: {message}", hint=hint
        ) from None
    except BotoCoreError as error:
        raise ExternalToolError(
            f"AWS cannot be asked for '{action}': {error}",
            hint="look at the credentials and the network",
        ) from None


def error_code(error: Any) -> str:
    """Return the code of an error that AWS answers with."""
    return str(error.response.get("Error", {}).get("Code", "unknown"))
