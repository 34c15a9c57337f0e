"""AWS's own managed policies in IAM, each brought in when it is first asked for.

moto holds all of them or none; all of them would make every write of the state slow.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend

from rackwright_lab.embedded_aws.api.patching import first_time, put

_METHODS = (
    "attach_group_policy",
    "attach_role_policy",
    "attach_user_policy",
    "get_policy",
    "get_policy_version",
    "list_policy_versions",
)


def install() -> None:
    """Wrap the methods of IAM that take a policy's ARN; a second call changes nothing."""
    if first_time(__name__):
        put(IAMBackend, **{name: _with_policies(getattr(IAMBackend, name)) for name in _METHODS})


@functools.cache
def _data() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(aws_managed_policies_data)
    return found


def _with_policies(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, str) and ":iam::aws:policy/" in value:
                _bring(self, value)
        return method(self, *args, **kwargs)

    return wrapped


def _bring(backend: Any, arn: str) -> None:
    name = arn.rsplit("/", 1)[-1]
    data = _data().get(name)
    if arn in backend.managed_policies or data is None:
        return
    policy = AWSManagedPolicy.from_data(name, backend.account_id, backend.region_name, data)
    if policy.arn == arn:
        backend.managed_policies[arn] = policy
