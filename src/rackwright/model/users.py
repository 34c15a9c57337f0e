"""Who may use a cluster: groups, accounts with their public keys, and what they may do as root."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.names import refuse_twins
from rackwright.model.scheduler_settings import SlurmName

LoginName = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,30}$")]
"""As useradd of every distribution takes it."""

Number = Annotated[int, Field(ge=1000, le=2_000_000_000)]
"""A uid or gid above those that distributions give to their daemons."""

PublicKey = Annotated[
    str,
    Field(
        pattern=r"^(sk-)?(ssh-ed25519|ecdsa-sha2-nistp(256|384|521)|ssh-rsa)(@openssh\.com)?"
        r" [A-Za-z0-9+/]{40,1500}={0,2}( [A-Za-z0-9@._+-]{1,100})?$"
    ),
]
"""A line of a ``.pub`` file, without options."""

Command = Annotated[str, Field(pattern=r"^(ALL|/[A-Za-z0-9._/@+ -]{1,250})$")]
"""``ALL``, or a program with its whole path; arguments that follow must be the same."""

MOST = 20_000
"""Most groups, and most accounts, of a cluster."""


class UserGroup(Model):
    """A group with the same number on every host."""

    name: LoginName
    """Its name on every host."""
    gid: Number
    """Its number on every host."""


class Account(Model):
    """A person or service, with the same number on every host and no password on any."""

    name: LoginName
    """Its name on every host."""
    uid: Number
    """Its number on every host."""
    group: LoginName
    """Primary group; one of ``groups``."""
    groups: Annotated[tuple[LoginName, ...], Field(max_length=100)] = ()
    """Further groups, and no others."""
    keys: Annotated[tuple[PublicKey, ...], Field(max_length=50)] = ()
    """Public keys that let this account in, and no others."""
    comment: Annotated[str, Field(pattern=r"^[A-Za-z0-9 @._'-]{0,80}$")] = ""
    """The person's name."""
    shell: Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]{1,80}$")] = "/bin/bash"
    """Path of the shell at a login."""
    slurm_account: SlurmName | None = None
    """Account of Slurm that jobs are charged to; absent, the account may send none."""
    removed: bool = False
    """Locked, without keys and groups. The entry stays, so that nobody gets its number again."""


class SudoRule(Model):
    """What the members of a group may do as root, without a password: nobody has one."""

    group: LoginName
    """Group whose members may."""
    commands: Annotated[tuple[Command, ...], Field(min_length=1, max_length=100)]
    """What they may run, with whole paths."""


class Ssh(Model):
    """Who may log in where; the way in is always a key."""

    root_login: Literal["key", "no"] = "key"
    """Whether root logs in by a key, or not at all."""
    login_groups: Annotated[tuple[LoginName, ...], Field(max_length=100)] = ()
    """Groups that may log in on hosts where users do; absent, everybody with a key."""
    admin_groups: Annotated[tuple[LoginName, ...], Field(max_length=100)] = ()
    """Groups that may log in on every host, also without a job."""
    compute: Literal["jobs", "groups"] = "groups"
    """Compute hosts let in whoever has a job there (pam_slurm_adopt), or by ``login_groups``."""


class Users(Model):
    """Accounts of a cluster. Public keys are public; a secret has no place here."""

    groups: Annotated[tuple[UserGroup, ...], Field(min_length=1, max_length=MOST)]
    accounts: Annotated[tuple[Account, ...], Field(max_length=MOST)] = ()
    sudo: Annotated[tuple[SudoRule, ...], Field(max_length=100)] = ()
    ssh: Ssh = Ssh()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Users:
        refuse_twins("group", (group.name for group in self.groups))
        refuse_twins("gid", (str(group.gid) for group in self.groups))
        refuse_twins("account", (account.name for account in self.accounts))
        refuse_twins("uid", (str(account.uid) for account in self.accounts))
        refuse_twins("sudo rule of", (rule.group for rule in self.sudo))
        known = {group.name for group in self.groups}
        used = [
            (f"the account '{account.name}'", name)
            for account in self.accounts
            for name in (account.group, *account.groups)
        ]
        used += [("a sudo rule", rule.group) for rule in self.sudo]
        used += [("ssh", name) for name in (*self.ssh.login_groups, *self.ssh.admin_groups)]
        for who, name in used:
            if name not in known:
                raise ValueError(f"{who} names the group '{name}', which does not exist")
        return self
