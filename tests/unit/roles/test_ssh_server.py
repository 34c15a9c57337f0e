"""Who gets in where Slurm is asked: the rules that the role writes, run by this machine's libpam.

The rules of EL 9 have the modules of authselect's profile ``sssd`` in their order (github.com/authselect/authselect,
profiles/sssd/password-auth at 054c83d, without SSSD's own module, which this machine does not have) and those of
its sshd. A module of libpam that answers what it is told stands for pam_slurm_adopt.
"""

from __future__ import annotations

import base64
import ctypes
import ctypes.util
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from role_cases import play_cases

ROLE = Path(__file__).parents[3] / "roles/ssh_server"
EL_SSHD = """\
#%PAM-1.0
auth       substack     password-auth
account    required     pam_nologin.so
account    include      password-auth
password   include      password-auth
session    required     pam_loginuid.so
session    include      password-auth
session    include      postlogin
"""
EL_PASSWORD_AUTH = """\
auth        required                                     pam_deny.so
account     required                                     pam_unix.so
account     sufficient                                   pam_localuser.so
account     sufficient                                   pam_usertype.so issystem
account     required                                     pam_permit.so
session     optional                                     pam_keyinit.so revoke
session     required                                     pam_limits.so
-session    optional                                     pam_systemd.so
session     [success=1 default=ignore]                   pam_succeed_if.so service in crond quiet use_uid
session     required                                     pam_unix.so
"""
DEBIAN_SSHD = """\
@include common-auth
account    required     pam_nologin.so
@include common-account
session    required     pam_loginuid.so
@include common-session
@include common-password
"""
DEBIAN_ACCOUNT = """\
account	[success=1 new_authtok_reqd=done default=ignore]	pam_unix.so
account	requisite			pam_deny.so
account	required			pam_permit.so
"""
FAMILIES = {"RedHat": EL_SSHD, "Debian": DEBIAN_SSHD}
ADOPT = (
    "account required pam_slurm_adopt.so action_no_jobs=deny action_adopt_failure=deny "
    "action_generic_failure=deny nodename=gpu-1"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the role writes: for a family, once more of that, and taken back again."""
    folder = tmp_path_factory.mktemp("pam")
    role = folder / "roles/ssh_server"
    (role / "tasks").mkdir(parents=True)
    for part in ("defaults", "vars", "templates"):
        (role / part).symlink_to(ROLE / part)
    steps = [("first", True, "{{ case_text }}")]
    steps += [
        (
            "again",
            True,
            "{{ lookup('ansible.builtin.file', case_folder ~ '/first', rstrip=false) }}",
        )
    ]
    steps += [
        (
            "back",
            False,
            "{{ lookup('ansible.builtin.file', case_folder ~ '/first', rstrip=false) }}",
        )
    ]
    copy = {"content": "{{ ssh_server_pam_wanted }}", "dest": "{{ case_folder }}/{{ case_step }}"}
    sessions = {"content": "{{ ssh_server_session_rules }}\n", "dest": "{{ case_folder }}/sessions"}
    tasks = [{"ansible.builtin.copy": copy}, {"ansible.builtin.copy": sessions}]
    (role / "tasks/main.yml").write_text(json.dumps(tasks))
    hosts = {}
    for family, text in FAMILIES.items():
        (folder / family).mkdir()
        hosts[family] = {
            "case_family": family,
            "case_text": text,
            "case_folder": str(folder / family),
        }

    def step(name: str, jobs_only: bool, text: str) -> dict[str, Any]:
        given = {
            "case_step": name,
            "ssh_server_family": "{{ case_family }}",
            "ssh_server_node": "gpu-1",
            "ssh_server_jobs_only": jobs_only,
            "ssh_server_admin_groups": ["ops"],
            "ssh_server_pam_read": {"content": text[:-3] + " | b64encode }}"},
            "ssh_server_sessions": {
                "content": base64.b64encode(EL_PASSWORD_AUTH.encode()).decode()
            },
        }
        return {"ansible.builtin.include_role": {"name": "ssh_server"}, "vars": given}

    said = play_cases(folder, hosts, [step(*one) for one in steps], roles=folder / "roles")
    assert "failed=0" in said, said
    assert "failed=1" not in said, said
    return folder


def without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_slurm_is_asked_behind_the_accounts_of_the_distribution(made: Path) -> None:
    el, debian = ((made / family / "first").read_text() for family in ("RedHat", "Debian"))
    assert without_comments(el)[2:5] == [
        "account    substack      password-auth",
        "account [success=1 default=ignore] pam_succeed_if.so quiet user ingroup ops",
        ADOPT,
    ]
    assert without_comments(debian)[2:5] == [
        "account substack common-account",
        *without_comments(el)[3:5],
    ]


def test_pam_systemd_takes_no_session_out_of_its_job(made: Path) -> None:
    assert "session    include      rackwright-session" in (made / "RedHat/first").read_text()
    sessions = (made / "RedHat/sessions").read_text().splitlines()
    assert len(sessions) == 5, "who skips a line skips the same"
    assert sessions[2] == "session optional pam_permit.so"
    assert "@include common-session-noninteractive" in (made / "Debian/first").read_text()


@pytest.mark.parametrize("family", FAMILIES)
def test_configuration_is_written_once_and_restored_completely(made: Path, family: str) -> None:
    folder = made / family
    assert (folder / "again").read_text() == (folder / "first").read_text()
    assert (folder / "back").read_text() == FAMILIES[family]


SUCCESS, DENIED = 0, 6
"""Of ``_pam_types.h``."""


class Conversation(ctypes.Structure):
    """``struct pam_conv``; nobody is asked anything."""

    _fields_ = [("conv", ctypes.c_void_p), ("appdata", ctypes.c_void_p)]


def ask_libpam(folder: Path, sshd: str, user: str, slurm: str) -> int:
    """What libpam says of an account under these rules.

    Args:
        folder: an empty one for the rules.
        sshd: rules of the service.
        user: whose account.
        slurm: what the stand-in for pam_slurm_adopt answers.
    """
    told = sshd.replace(ADOPT, f"account required pam_debug.so acct={slurm}")
    # libpam 1.5 looks for what is included in /etc/pam.d, wherever the rules lie.
    told = re.sub(
        r"(?m)^(@include |.*(?:include|substack)\s+)(\S+)$", rf"\g<1>{folder}/\g<2>", told
    )
    (folder / "sshd").write_text(told)
    (folder / "password-auth").write_text(EL_PASSWORD_AUTH)
    (folder / "common-account").write_text(DEBIAN_ACCOUNT)
    for name in (
        "common-auth",
        "common-session",
        "common-password",
        "postlogin",
        "rackwright-session",
    ):
        (folder / name).write_text("")
    (folder / "common-session-noninteractive").write_text("")
    libpam = ctypes.CDLL(ctypes.util.find_library("pam"))
    handle, conversation = ctypes.c_void_p(), Conversation(None, None)
    started = libpam.pam_start_confdir(
        b"sshd",
        user.encode(),
        ctypes.byref(conversation),
        str(folder).encode(),
        ctypes.byref(handle),
    )
    assert started == SUCCESS
    found = int(libpam.pam_acct_mgmt(handle, 0))
    libpam.pam_end(handle, found)
    return found


needs_pam = pytest.mark.skipif(
    os.geteuid() != 0 or ctypes.util.find_library("pam") is None,
    reason="libpam reads accounts as root",
)


@needs_pam
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("slurm", "expected"), [("perm_denied", DENIED), ("success", SUCCESS)])
def test_a_local_user_gets_in_by_a_job_alone(
    made: Path, tmp_path: Path, family: str, slurm: str, expected: int
) -> None:
    rules = (made / family / "first").read_text()
    assert ask_libpam(tmp_path, rules, "nobody", slurm) == expected


@needs_pam
def test_an_include_let_every_local_user_of_el_in(made: Path, tmp_path: Path) -> None:
    """The rules as they were: pam_localuser ended the stack before Slurm was asked."""
    rules = (
        (made / "RedHat/first")
        .read_text()
        .replace("substack      password-auth", "include password-auth")
    )
    assert "account    include password-auth" in rules
    assert ask_libpam(tmp_path, rules, "nobody", "perm_denied") == SUCCESS


@needs_pam
@pytest.mark.parametrize("family", FAMILIES)
def test_an_administrator_needs_no_job(made: Path, tmp_path: Path, family: str) -> None:
    rules = (made / family / "first").read_text().replace("ingroup ops", "ingroup nogroup")
    assert ask_libpam(tmp_path, rules, "nobody", "perm_denied") == SUCCESS
