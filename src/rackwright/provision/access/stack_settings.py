"""Settings that a team keeps for a stack: configuration of the AWS provider, and ESC environments.

They are in ``stacks/KIND/Pulumi.STACK.yaml``, as plain ``pulumi`` reads them, beside the blueprint or above it in its
repository. Names: pulumi-aws, "Configuration options"; Pulumi, "Stack settings file reference".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rackwright.errors import UsageError
from rackwright.reading.loader import load_tree
from rackwright.team.place import config_folders

_PROVIDER: Final = "aws:"
_ANYWHERE: Final = frozenset({"defaultTags", "ignoreTags", "maxRetries", "region", "retryMode"})
_ON_AWS: Final = frozenset(
    {
        "allowedAccountIds",
        "forbiddenAccountIds",
        "profile",
        "useDualstackEndpoint",
        "useFipsEndpoint",
    }
)
"""Settings that the embedded AWS has no use for. Neither these nor those above give the provider an identity or
endpoints that Rackwright's own calls do not have."""
_ENVIRONMENTS: Final = "environment"
ENCRYPTION: Final = ("secretsprovider", "encryptedkey", "encryptionsalt")
"""Settings that say how secrets of a stack are encrypted."""


def stack_settings(
    blueprint: Path, kind: str, stack: str, *, region: str, account: str | None, local: bool
) -> dict[str, Any]:
    """Return the settings that a team keeps for a stack; empty without any.

    Configuration of the programs is left out: the blueprint states it.

    Args:
        blueprint: the blueprint.
        kind: the project.
        stack: name of the stack.
        region: region of the site.
        account: id of the only account that the site may be in.
        local: the stack is on the embedded AWS, with secrets and credentials of its own.

    Raises:
        UsageError: a setting contradicts the blueprint, or the way in which Rackwright reaches AWS.
        SpecErrors: the file is not YAML.
    """
    place = Path("stacks", kind, f"Pulumi.{stack}.yaml")
    found = (folder / place for folder in config_folders(blueprint))
    path = next((one for one in found if one.is_file()), None)
    if path is None:
        return {}
    document = load_tree(path).data
    config = dict(_passed(path, document.get("config") or {}, region, account, local=local))
    if local:
        return {"config": config}
    kept = {name: document[name] for name in (_ENVIRONMENTS, *ENCRYPTION) if name in document}
    return {**kept, "config": config}


def _passed(
    path: Path, config: Mapping[str, Any], region: str, account: str | None, *, local: bool
) -> Iterator[tuple[str, Any]]:
    """Yield the settings of the provider.

    Raises:
        UsageError: one is not passed on.
    """
    for name, value in config.items():
        if not name.startswith(_PROVIDER):
            continue
        short = name.removeprefix(_PROVIDER)
        if short not in _ANYWHERE | _ON_AWS:
            raise UsageError(
                f"'{path}' sets '{name}', by which the provider would reach AWS otherwise than "
                "Rackwright's own calls do",
                hint="use variables that both take, such as AWS_PROFILE: the profile may assume a role",
            )
        if local and (short in _ON_AWS or (isinstance(value, Mapping) and "secure" in value)):
            continue
        _check(path, short, value, region, account)
        yield name, value


def _check(path: Path, short: str, value: Any, region: str, account: str | None) -> None:
    """Compare a setting with the blueprint and the environment.

    Raises:
        UsageError: it says something else.
    """
    if short == "region" and value != region:
        raise UsageError(
            f"'{path}' sets 'aws:region' to '{value}', and the site is in '{region}'",
            hint="remove 'aws:region': the blueprint states it",
        )
    if short == "allowedAccountIds" and account is not None and account not in value:
        raise UsageError(
            f"'{path}' allows other accounts than '{account}', which the blueprint states",
            hint="remove 'aws:allowedAccountIds', or correct 'account' of the site",
        )
    if short == "profile" and value != os.environ.get("AWS_PROFILE"):
        raise UsageError(
            f"'{path}' sets 'aws:profile' to '{value}', which Rackwright's own calls do not use",
            hint=f"set AWS_PROFILE={value}",
        )
