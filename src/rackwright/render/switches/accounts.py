"""A script that makes the administrators of a Linux switch, who have keys and no password."""

from __future__ import annotations

from rackwright.plan.switches.records import SwitchConfig


def accounts_script(switch: SwitchConfig, groups: str) -> str:
    """Return the script; it may run again and again.

    Args:
        switch: its configuration.
        groups: of administrators, parted by commas.
    """
    lines = ["set -eu"]
    for one in switch.administrators:
        home = f"/home/{one.name}/.ssh"
        lines += [
            f"id {one.name} >/dev/null 2>&1 || useradd --create-home --shell /bin/bash {one.name}",
            f"usermod --append --groups {groups} {one.name}",
            f"install -d -m 0700 -o {one.name} -g {one.name} {home}",
            f"cat >{home}/authorized_keys <<'KEYS'",
            *one.keys,
            "KEYS",
            f"chown {one.name}:{one.name} {home}/authorized_keys",
            f"chmod 0600 {home}/authorized_keys",
        ]
    return "".join(f"{line}\n" for line in lines)
