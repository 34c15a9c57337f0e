"""Restart a unit of systemd, however often that was done before."""

# For any Python from 3.6 on, since it runs on the hosts.
from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: restart
short_description: Restart a systemd unit however often it was restarted before
description:
  - Has systemd read changed unit files and forget earlier starts of the unit, then restarts it.
  - systemd refuses to start a unit too often within seconds, and counts restarts that were asked for
    too. Roles that follow each other, or runs that do, would meet that limit.
  - In check mode it only says that the unit would be restarted.
options:
  name:
    description: The unit, as in V(sssd.service). Without a suffix it is a service.
    type: str
    required: true
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Restart SSSD
  rackwright.cluster.restart:
    name: sssd.service
"""

RETURN = r""" # """


def main() -> None:
    """Restart the unit that the task names."""
    options = {"name": {"type": "str", "required": True}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    unit = module.params["name"]
    if not module.check_mode:
        # Always: systemd does not know that it has to where the folder of a drop-in is new (NeedDaemonReload=no).
        module.run_command(["systemctl", "daemon-reload"], check_rc=True)
        # It fails for a unit that is not loaded, which has no starts to forget.
        module.run_command(["systemctl", "reset-failed", unit])
        code, _, error = module.run_command(["systemctl", "restart", unit])
        if code:
            module.fail_json(msg="cannot restart %s: %s" % (unit, error.strip()), rc=code)
    module.exit_json(changed=True)


if __name__ == "__main__":
    main()
