"""The filter ``rackwright.cluster.slurm_restarts``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

DOCUMENTATION = r"""
name: slurm_restarts
short_description: Settings that daemons of Slurm read when they start, and only then
description:
  - Compares the configuration of a host with the one that it is to have, and lists what has changed that a running
    slurmctld or slurmd does not take over by C(scontrol reconfigure) or the signal HUP. The list is empty where
    nothing has to start again.
  - Up to Slurm 23.02 that is what slurm.conf(5) of 22.05 and 23.02 says to need a restart, nodes that come, go or
    change, and whatever else names a plugin. From 23.11 on daemons start anew by themselves, and keep only their
    ports and their way of authentication (scontrol(1), 23.11).
  - Up to 23.02 a slurmctld that reads of a QOS which it has not heard of yet from slurmdbd ends; one that starts asks.
  - A changed gres.conf needs a restart in every release, as gres.conf(5) says of some of it.
  - Where the release or the former configuration is not known, more is taken to need a restart.
positional: after, release
options:
  _input:
    description: The texts of slurm.conf, gres.conf and cgroup.conf that are there, by their names; none where there is no file.
    type: dict
    required: true
  after:
    description: Those that are to be there.
    type: dict
    required: true
  release:
    description: What C(scontrol --version) prints.
    type: str
    default: ""
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Say why daemons start again
  ansible.builtin.debug:
    msg: "{{ before | rackwright.cluster.slurm_restarts(after, 'slurm 24.11.5') }}"
"""

RETURN = r"""
_value:
  description: The settings, sorted; names of files where the whole file counts.
  type: list
  elements: str
"""

ALWAYS = frozenset(
    {"authalttypes", "authinfo", "authtype", "cgroupplugin", "credtype", "slurmctldport",
     "slurmdport", "slurmduser", "slurmuser"}
)  # fmt: skip
"""Ports and authentication; who a daemon runs as, and how it confines itself."""

BEFORE_23_11 = frozenset(
    {"accountingstorageenforce", "corespecplugin", "grestypes",
     "jobcontainertype", "maxjobcount", "maxnodecount", "nodename", "nodeset", "plugindir",
     "powerplugin", "proctracktype", "schedulertype", "selecttype", "selecttypeparameters",
     "slurmctldhost", "statesavelocation", "switchtype", "x11parameters"}
)  # fmt: skip

OPTIONS_BEFORE_23_11 = {
    "schedulerparameters": "no_backup_scheduling",
    "slurmctldparameters": "enable_configless",
}
"""Of these lists one option alone needs a restart."""

SELF_STARTING = (23, 11)

Texts = Mapping[str, "str | None"]


def slurm_restarts(before: Texts, after: Texts, release: str = "") -> list[str]:
    """Return the settings that need a restart, in the words of the files."""
    if not before.get("slurm.conf"):
        return ["slurm.conf"]
    found = set()
    if _settings(before.get("gres.conf")) != _settings(after.get("gres.conf")):
        found.add("gres.conf")
    number = re.search(r"(\d+)\.(\d+)", release)
    newer = number is not None and tuple(map(int, number.groups())) >= SELF_STARTING
    for name in ("slurm.conf", "cgroup.conf"):
        old, new = _settings(before.get(name)), _settings(after.get(name))
        for key in old.keys() | new.keys():
            (said, former), (word, wanted) = old.get(key, (key, [])), new.get(key, (key, []))
            if former != wanted and _needs_restart(key, former, wanted, newer=newer):
                found.add(word if wanted else said)
    return sorted(found)


def _needs_restart(key: str, before: list[str], after: list[str], *, newer: bool) -> bool:
    if key in ALWAYS:
        return True
    if newer:
        return False
    if (option := OPTIONS_BEFORE_23_11.get(key)) is not None:
        return _has(option, before) != _has(option, after)
    if key == "partitionname":
        return bool(_qos(after) - _qos(before))
    return key in BEFORE_23_11 or key.endswith(("type", "plugin"))


def _qos(partitions: list[str]) -> set[str]:
    """Return the QOS that partitions name."""
    found = re.findall(r"\b(?:allowqos|denyqos|qos)=(\S+)", "\n".join(partitions).lower())
    return {name for names in found for name in names.split(",")}


def _has(option: str, values: list[str]) -> bool:
    words = ",".join(values).lower().split(",")
    return option in (word.strip() for word in words)


def _settings(text: str | None) -> dict[str, tuple[str, list[str]]]:
    """Return, by key in lower case, the key as written and its values in their order."""
    found: dict[str, tuple[str, list[str]]] = {}
    for line in (text or "").splitlines():
        key, _, value = line.partition("#")[0].strip().partition("=")
        if key:
            found.setdefault(key.strip().lower(), (key.strip(), []))[1].append(value.strip())
    return found


class FilterModule:
    """Return the filters of this file by name, as Ansible asks for them."""

    def filters(self) -> dict[str, Callable[..., list[str]]]:
        """Return the filters by their names."""
        return {"slurm_restarts": slurm_restarts}
