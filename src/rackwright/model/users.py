"""Who may use a cluster: groups, accounts with their public keys, and what they may do as root."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY, PART, OnChange
from rackwright.model.names import refuse_twins
from rackwright.model.scheduler_settings import SlurmName, WholeMinutes

_FORMER = "files keep the former number: they must be given to it"

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

    name: Annotated[LoginName, KEY]
    """Name of the group on every host."""
    gid: Annotated[Number, HARDWARE, OnChange("refused", _FORMER, event="changed")]
    """Number of the group on every host."""


class Account(Model):
    """A person or service, with the same number on every host and no password on any."""

    name: Annotated[LoginName, KEY]
    """Name of the account on every host."""
    uid: Annotated[Number, HARDWARE, OnChange("refused", _FORMER, event="changed")]
    """Number of the account on every host."""
    group: Annotated[LoginName, HARDWARE]
    """Primary group; one of ``groups``."""
    groups: Annotated[tuple[LoginName, ...], Field(max_length=100), HARDWARE] = ()
    """Further groups, and no others."""
    keys: Annotated[tuple[PublicKey, ...], Field(max_length=50), HARDWARE] = ()
    """Public keys that let this account in, and no others."""
    comment: Annotated[str, Field(pattern=r"^[A-Za-z0-9 @._'-]{0,80}$"), HARDWARE] = ""
    """Name of the person."""
    shell: Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]{1,80}$"), HARDWARE] = "/bin/bash"
    """Path of the shell at a login."""
    slurm_account: Annotated[SlurmName | None, HARDWARE] = None
    """Account of Slurm that jobs are charged to. The user may submit no jobs if omitted."""
    removed: Annotated[bool, HARDWARE] = False
    """True to lock the account, without keys and groups. The entry stays, so that its number is not
    used again."""


class SudoRule(Model):
    """Commands that the members of a group may run as root, without a password."""

    group: Annotated[LoginName, KEY]
    """Group whose members may."""
    commands: Annotated[tuple[Command, ...], Field(min_length=1, max_length=100), HARDWARE]
    """Commands that members of the group may run, with whole paths."""


class Ssh(Model):
    """Who may log in where; the way in is always a key."""

    root_login: Annotated[Literal["key", "no"], HARDWARE] = "key"
    """Login of root: by a key, or not at all."""
    login_groups: Annotated[tuple[LoginName, ...], Field(max_length=100), HARDWARE] = ()
    """Groups that may log in on hosts where users do. Everyone with a key if omitted."""
    admin_groups: Annotated[tuple[LoginName, ...], Field(max_length=100), HARDWARE] = ()
    """Groups that may log in on every host, also without a job."""
    compute: Annotated[Literal["jobs", "groups"], HARDWARE] = "groups"
    """Access to compute hosts: for users with a job on the host (pam_slurm_adopt), or by ``login_groups``."""


DistinguishedName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z][A-Za-z0-9-]*=[A-Za-z0-9 ._@+-]+(,[A-Za-z][A-Za-z0-9-]*=[A-Za-z0-9 ._@+-]+)*$",
        max_length=250,
    ),
]
"""The name of an entry of LDAP, without characters that need an escape (RFC 4514)."""

ControlPath = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_][A-Za-z0-9._@+-]*)+$", max_length=250)]
"""A file with its whole path on the machine that runs ``configure``."""

LdapUri = Annotated[
    str, Field(pattern=r"^ldaps?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[1-9][0-9]{0,4})?$")
]
"""A server of LDAP; ``ldap://`` is encrypted by StartTLS before anything is asked."""


class DirectoryBind(Model):
    """As whom hosts ask the directory."""

    dn: Annotated[DistinguishedName, KEY]
    """Name of the entry."""
    password_file: Annotated[ControlPath, HARDWARE]
    """File with its password, one line, readable by its owner only."""


class Directory(Model):
    """A directory of LDAP with the site's accounts and groups; every connection is encrypted and checked."""

    uris: Annotated[tuple[LdapUri, ...], Field(min_length=1, max_length=10), HARDWARE]
    """Servers, the first one first; all ``ldaps://``, or all ``ldap://``."""
    base: Annotated[DistinguishedName, HARDWARE]
    """Entry of the directory that accounts and groups are below."""
    ca: Annotated[ControlPath, HARDWARE]
    """Certificates (PEM) of who signs those of the servers."""
    allowed_groups: Annotated[tuple[LoginName, ...], Field(min_length=1, max_length=100), HARDWARE]
    """Groups of the directory whose members may use hosts; other users may not."""
    bind: Annotated[DirectoryBind | None, PART] = None
    """Credentials with which hosts query the directory. Anonymous if omitted."""
    members: Annotated[Literal["memberUid", "member"], HARDWARE] = "memberUid"
    """Form of group members: by name (RFC 2307), or by the name of the entry (RFC 2307bis)."""
    cache: Annotated[WholeMinutes, Field(ge=60, le=604_800), HARDWARE] = 5400.0
    """Time for which hosts cache answers, in s; without an answer from the directory they keep using them."""
    make_homes: Annotated[bool, HARDWARE] = False
    """Hosts make a home at the first login; not where homes are shared and made elsewhere."""

    @model_validator(mode="after")
    def _encrypted_in_one_way(self) -> Directory:
        if len({uri.partition("://")[0] for uri in self.uris}) > 1:
            raise ValueError(
                "the servers of 'uris' are encrypted in two ways; write all as 'ldaps://' or all as 'ldap://' (StartTLS)"
            )
        return self


class Users(Model):
    """Accounts of a cluster. Public keys are public; a secret has no place here."""

    groups: Annotated[tuple[UserGroup, ...], Field(max_length=MOST), PART] = ()
    directory: Annotated[Directory | None, PART] = None
    accounts: Annotated[
        tuple[Account, ...],
        Field(max_length=MOST),
        PART,
        OnChange(
            "review",
            "the accounts stay on the hosts as they are: mark them 'removed' to have them locked",
            event="removed",
        ),
    ] = ()
    sudo: Annotated[tuple[SudoRule, ...], Field(max_length=100), PART] = ()
    ssh: Annotated[Ssh, PART] = Ssh()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Users:
        if not self.groups and self.directory is None:
            raise ValueError("needs 'groups', or a 'directory' that has them")
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
        of_directory = set() if self.directory is None else {*self.directory.allowed_groups}
        if both := sorted(known & of_directory):
            raise ValueError(
                f"the group '{both[0]}' is in 'groups' and in 'allowed_groups' of the directory; "
                "give it one place"
            )
        logins = (*self.ssh.login_groups, *self.ssh.admin_groups)
        used += [("ssh", name) for name in logins if name not in of_directory]
        for who, name in used:
            if name not in known:
                raise ValueError(f"{who} names the group '{name}', which does not exist")
        return self
