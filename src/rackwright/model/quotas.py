"""Quotas of accounts in a file system."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY, PART
from rackwright.model.names import refuse_twins
from rackwright.model.units import Gibibytes
from rackwright.model.users import MOST, LoginName

KIB_PER_GIB = 1 << 20
SMALLEST_KIB = 1024
"""Least quota of space: what a file system keeps for one file may be more than a few KiB."""

FileCount = Annotated[int, Field(gt=0, le=10**15)]
"""Files and directories."""


class QuotaLimits(NamedTuple):
    """Limits of an account; None is no limit."""

    space_kib: int | None
    files: int | None


class AccountQuota(Model):
    """Quota of one account, instead of the default."""

    name: Annotated[LoginName, KEY]
    """Name of one of ``users.accounts``."""
    space: Annotated[Gibibytes | None, HARDWARE] = None
    """Space of this account, in GiB. As of all accounts if omitted."""
    files: Annotated[FileCount | None, HARDWARE] = None
    """Number of files and directories. As of all accounts if omitted."""

    @model_validator(mode="after")
    def _limits(self) -> AccountQuota:
        _refuse_no_limit(self.space, self.files, f"the quota of '{self.name}'")
        return self


class FileSystemQuota(Model):
    """Quotas of a file system: hard limits for each account, beyond which writes fail."""

    space: Annotated[Gibibytes | None, HARDWARE] = None
    """Space of each account, in GiB. No limit if omitted."""
    files: Annotated[FileCount | None, HARDWARE] = None
    """Number of files and directories. No limit if omitted."""
    accounts: Annotated[tuple[AccountQuota, ...], Field(max_length=MOST), PART] = ()
    """Accounts with limits of their own."""

    @model_validator(mode="after")
    def _limits(self) -> FileSystemQuota:
        _refuse_no_limit(self.space, self.files, "the quota")
        refuse_twins("quota of account", (account.name for account in self.accounts))
        return self

    def limits(self, names: Iterable[str]) -> dict[str, QuotaLimits]:
        """Return the limits of each of the accounts ``names``."""
        own = {account.name: account for account in self.accounts}
        return {name: self._with(own.get(name)) for name in names}

    @property
    def default(self) -> QuotaLimits:
        """Limits of an account that is not named."""
        return self._with(None)

    def _with(self, own: AccountQuota | None) -> QuotaLimits:
        space = own.space if own is not None and own.space is not None else self.space
        files = own.files if own is not None and own.files is not None else self.files
        return QuotaLimits(None if space is None else round(space * KIB_PER_GIB), files)


def _refuse_no_limit(space: float | None, files: int | None, what: str) -> None:
    if space is None and files is None:
        raise ValueError(f"{what} limits nothing; give 'space', 'files' or both")
    if space is not None and space * KIB_PER_GIB < SMALLEST_KIB:
        raise ValueError(f"{what} is {space * KIB_PER_GIB:g} KiB; the least is {SMALLEST_KIB} KiB")
