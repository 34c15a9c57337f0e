"""Permissions of instances: calls with credentials of a role are checked against the role's policies, as IAM does.

The commands of a team act as the owner of the account, who may do everything, also with a role that IAM here
does not have, like the one that a job takes by OIDC. Credentials of a role are those with a session token, as an
instance finds them in its metadata. moto judges either all calls or none, knows
no conditions and no boundaries, and of most services not the resource: whatever is not Parameter Store's is judged
as if all resources were asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moto.core.authorization import ActionAuthenticatorMixin
from moto.iam.exceptions import NotFoundException
from moto.ssm.responses import SimpleSystemManagerResponse
from moto.utilities.utils import get_partition
from werkzeug.exceptions import HTTPException

from rackwright_lab.embedded_aws.api.patching import first_time, put

_TOKEN = "X-Amz-Security-Token"  # noqa: S105 - the name of a header
_DENIED = {"ec2": "UnauthorizedOperation", "iam": "AccessDenied", "s3": "AccessDenied"}
"""What a service calls what is not allowed ("Common errors" of their API references)."""
_UNKNOWN = {"ec2": "AuthFailure", "iam": "InvalidClientTokenId", "s3": "InvalidAccessKeyId"}
"""What it calls credentials that it does not know."""


class AccessRefusedError(Exception):
    """A call with credentials of a role is not answered.

    Args:
        denied: its policies do not allow the call; else the credentials are none.
        message: which call.
    """

    def __init__(self, message: str, *, denied: bool) -> None:
        super().__init__(message)
        self._denied = denied

    def code(self, service: str) -> str:
        """Return the error code of ``service`` for it."""
        if self._denied:
            return _DENIED.get(service, "AccessDeniedException")
        return _UNKNOWN.get(service, "UnrecognizedClientException")


def install() -> None:
    """Check calls with a session token; a second call changes nothing."""
    if first_time(__name__):
        put(ActionAuthenticatorMixin, _authenticate_and_authorize_action=_judge)
        put(SimpleSystemManagerResponse, _determine_resource=_parameters)


def _judge(self: Any, request_class: type, resource: str | Iterable[str] = "*") -> None:
    """Refuse what the role of the caller is not allowed, for any of the resources.

    Raises:
        AccessRefusedError: it is not allowed, or the credentials are unknown.
    """
    if _TOKEN not in self.headers:
        return
    try:
        request: Any = request_class(
            account_id=self.current_account,
            method=self.method,
            path=self.raw_path,
            data=self.data,
            body=self.raw_body,
            headers=self.headers,
            action=self._get_action(),
        )
        if not _is_here(request):
            return
        request.check_signature()
        for one in (resource,) if isinstance(resource, str) else resource:
            request.check_action_permitted(one)
    except HTTPException as error:
        denied = "AccessDenied" in str(getattr(error, "error_type", ""))
        message = str(getattr(error, "message", "") or error.name)
        raise AccessRefusedError(message, denied=denied) from None


def _is_here(request: Any) -> bool:
    """Return True if IAM has the role of the caller."""
    try:
        request.backend.get_role(request._access_key._owner_role_name)
    except NotFoundException:
        return False
    return True


def _parameters(self: Any) -> str | list[str]:
    """Return ARNs of the parameters that are asked for; ``*`` where the action names none."""
    asked = [self._get_param("Name"), self._get_param("Path"), *(self._get_param("Names") or ())]
    start = f"arn:{get_partition(self.region)}:ssm:{self.region}:{self.current_account}:parameter"
    names = (name if name.startswith("/") else f"/{name}" for name in asked if name)
    return [start + name.rstrip("/") for name in names] or "*"
