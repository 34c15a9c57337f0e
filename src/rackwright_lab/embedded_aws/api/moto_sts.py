"""Identity tokens that expire, as STS has them: moto takes any token at any time."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
from typing import Any

from moto.core.exceptions import ServiceException
from moto.sts.responses import TokenResponse

from rackwright_lab.embedded_aws.api.patching import first_time, put


class ExpiredTokenError(ServiceException):
    """The token of a job is too old (STS API Reference, ``AssumeRoleWithWebIdentity``)."""

    code = "ExpiredTokenException"
    message = "Token expired: current date/time must be before the expiration date/time"


def install() -> None:
    """Refuse expired tokens; a second call changes nothing."""
    if not first_time(__name__):
        return
    assume = TokenResponse.assume_role_with_web_identity

    def assume_role_with_web_identity(self: Any) -> Any:
        expires = expiry(self._get_param("WebIdentityToken") or "")
        if expires is not None and expires <= dt.datetime.now(dt.UTC):
            raise ExpiredTokenError
        return assume(self)

    put(TokenResponse, assume_role_with_web_identity=assume_role_with_web_identity)


def expiry(token: str) -> dt.datetime | None:
    """Return the moment at which a JSON Web Token expires (RFC 7519, 4.1.4); None for any other token."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return dt.datetime.fromtimestamp(float(claims["exp"]), dt.UTC)
    except (binascii.Error, ValueError, KeyError, TypeError):
        return None
