"""Connection of Ansible to the hosts of an AWS site: the account, and the way to private subnets.

``ansible_host`` stays the private address, which roles write into files; the way there is an option of ssh.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rackwright.harmless import counted
from rackwright.plan.aws.site import AwsSitePlan

PUBLIC = "rackwright_public_address"
"""Variable of a host with its public address."""
SHARED = "rackwright_shared_address"
"""Variable of a login node with the public address that it has in common with the others."""
INSTANCE = "rackwright_instance_id"
"""Variable of a host with the id of its instance."""

_BY_INSTANCE = {
    "session-manager": (
        "aws ssm start-session --region {region} --target {instance} "
        "--document-name AWS-StartSSHSession --parameters portNumber=%p"
    ),
    "instance-connect": (
        "aws ec2-instance-connect open-tunnel --region {region} --instance-id {instance} "
        "--remote-port %p"
    ),
}
"""Commands that ssh sends its traffic through (AWS Systems Manager User Guide, "Allow and control permissions for SSH
connections through Session Manager"; Amazon EC2 User Guide, "Connect using EC2 Instance Connect Endpoint")."""


def connections(
    site: AwsSitePlan, hosts: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the variables that lead to each of ``hosts``.

    Args:
        site: with ``access``, which says how.
        hosts: what is known of each: its public address, the id of its instance.
    """
    access = site.access
    account = {} if access.user is None else {"ansible_user": access.user}
    jump = _jump(hosts)
    for name, known in hosts.items():
        option = None
        if access.connect == "jump" and PUBLIC in known:
            option = f"-o HostName={known[PUBLIC]}"
        elif access.connect == "jump" and jump is not None:
            option = f"-o ProxyJump={jump if access.user is None else f'{access.user}@{jump}'}"
        elif access.connect in _BY_INSTANCE and INSTANCE in known:
            command = _BY_INSTANCE[access.connect]
            told = command.format(region=site.region, instance=known[INSTANCE])
            option = f'-o ProxyCommand="{told}"'
        yield name, account | ({} if option is None else {"ansible_ssh_common_args": option})


def unreachable(site: AwsSitePlan, hosts: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the reasons why hosts cannot be reached as the blueprint asks."""
    connect = site.access.connect
    if connect == "jump" and _jump(hosts) is None:
        yield f"no login node of '{site.name}' has a public address to jump from: see 'ssh_from'"
    lacking = [name for name, known in hosts.items() if INSTANCE not in known]
    if connect in _BY_INSTANCE and lacking:
        yield (
            f"the outputs do not tell the instances of {counted(len(lacking), 'host')} of '{site.name}', "
            f"which are not reached by '{connect}': write them again with 'rackwright status --json'"
        )


def _jump(hosts: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the public address by which all hosts are reached: a login node's, or that of their load balancer."""
    told = (known.get(PUBLIC) or known.get(SHARED) for known in hosts.values())
    return next((str(address) for address in told if address is not None), None)
