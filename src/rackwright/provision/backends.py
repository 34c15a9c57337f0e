"""Backends of the state of stacks, and encryption of the secrets in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import UsageError

BACKEND = "PULUMI_BACKEND_URL"
SECRETS_PROVIDER = "RACKWRIGHT_SECRETS_PROVIDER"
PASSPHRASE = "passphrase"  # noqa: S105 - a name of Pulumi's
PASSPHRASE_TEXT, PASSPHRASE_FILE = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
SERVICES = ("https://", "http://")
"""Pulumi Cloud, or one's own installation of it: it encrypts secrets itself."""
_KEYS = ("awskms://", "azurekeyvault://", "gcpkms://", "hashivault://")
"""Key services, by the names that ``pulumi stack init --secrets-provider`` gives them."""


@dataclass(frozen=True, slots=True)
class Backend:
    """A state backend of Pulumi.

    Attributes:
        url: as Pulumi writes it; None for the one that the user is logged in to.
        secrets_provider: ``passphrase``, the URL of a key, or None for what the backend itself has.
    """

    url: str | None
    secrets_provider: str | None


def read_backend(environment: Mapping[str, str]) -> Backend:
    """Return the backend that the variables of ``environment`` name; empty ones count as absent.

    Raises:
        UsageError: secrets in the state would not be encrypted, or nobody can tell by what.
    """
    url = environment.get(BACKEND) or None
    provider = environment.get(SECRETS_PROVIDER) or None
    if provider is not None and provider != PASSPHRASE and not provider.startswith(_KEYS):
        kinds = ", ".join(f"{kind}…" for kind in _KEYS)
        raise UsageError(
            f"{SECRETS_PROVIDER} '{provider}' is no secrets provider of Pulumi",
            hint=f"give '{PASSPHRASE}' or the URL of a key: {kinds}",
        )
    encrypts_itself = url is None or url.startswith(SERVICES)
    if provider == PASSPHRASE or (provider is None and not encrypts_itself):
        _demand_passphrase(environment)
        provider = PASSPHRASE
    return Backend(url, provider)


def _demand_passphrase(environment: Mapping[str, str]) -> None:
    """Refuse to go on without a passphrase.

    Raises:
        UsageError: there is none, or its file holds none.
    """
    if environment.get(PASSPHRASE_TEXT):
        return
    file = environment.get(PASSPHRASE_FILE)
    if not file:
        raise UsageError(
            "the state backend needs a key or a passphrase to encrypt secrets",
            hint=f"set {SECRETS_PROVIDER} to the URL of a key, as 'awskms://alias/NAME?region=…', "
            f"or {PASSPHRASE_FILE} to a file that holds a passphrase",
        )
    try:
        held = Path(file).read_bytes().strip()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"the file '{file}', which {PASSPHRASE_FILE} names, cannot be read: {reason}"
        ) from None
    if not held:
        raise UsageError(f"the file '{file}', which {PASSPHRASE_FILE} names, is empty")
