"""User data of instances: what cloud-init does at their first boot, so that they know their names.

Head and login nodes are single instances, whose names are known when they are made. Instances of a node group are
all made from one launch template: each waits for the tag that ``rackwright up`` and ``rackwright hosts`` give it, which
it reads in its own metadata.

Metadata are root's, and of the readers that the way to hosts needs, from the first boot on, before anybody can log in and before slurmd: cloud-init runs ``bootcmd``
before both, at every boot, and where the role ``instance_metadata`` has come it leaves them to its rules. An image
without nftables has them from the role on. Nothing here is secret all the same.
"""

from __future__ import annotations

import base64

from rackwright.model.aws import AwsSite
from rackwright.plan.aws.tags import HOST_TAG

LONGEST = 16_384
"""Bytes of user data before they are encoded (Amazon EC2 User Guide, "Run commands when you launch an EC2 instance")."""

_READERS = {"instance-connect": ["ec2-instance-connect"]}
"""Users that a way to hosts needs: sshd looks for keys that were sent as the one of EC2 Instance Connect
(``AuthorizedKeysCommandUser`` of the package ``ec2-instance-connect``)."""

_BEGIN = """\
#cloud-config
preserve_hostname: {preserve}
bootcmd:
  - |
    readers=0{readers}
    test -e /etc/rackwright/instance-metadata.nft || nft -f - <<END
    table inet rackwright_instance_metadata {{
      chain output {{
        type filter hook output priority 0;
        ip daddr 169.254.169.254 meta skuid != {{ $readers }} reject
        ip6 daddr fd00:ec2::254 meta skuid != {{ $readers }} reject
      }}
    }}
    END
write_files:
  - path: /etc/systemd/resolved.conf.d/rackwright.conf
    content: |
      [Resolve]
      Domains={zone}
"""

_READER = "$(id -u {user} 2>/dev/null | sed 's/^/, /')"
"""Another reader of the metadata; nothing where the image does not have the account."""

_NAMED = """\
hostname: {host}
fqdn: {host}.{zone}
prefer_fqdn_over_hostname: false
runcmd:
  - [systemctl, try-restart, systemd-resolved]
"""

_BY_TAG = """\
  - path: /usr/local/sbin/rackwright-hostname
    permissions: "0755"
    content: |
      #!/bin/sh
      # Names this instance as its tag '{tag}' says, which it may get after its boot.
      export LC_ALL=C
      metadata=http://169.254.169.254/latest
      while :; do
        token=$(curl -sf -m 5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$metadata/api/token")
        name=$(curl -sf -m 5 -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/tags/instance/{tag}")
        case $name in
          '' | *[!a-z0-9-]*) sleep 10 ;;
          *) break ;;
        esac
      done
      hostnamectl set-hostname "$name"
  - path: /etc/systemd/system/rackwright-hostname.service
    content: |
      [Unit]
      Description=Host name from the tag of the instance
      Wants=network-online.target
      After=network-online.target
      Before=slurmd.service

      [Service]
      Type=oneshot
      ExecStart=/usr/local/sbin/rackwright-hostname
      TimeoutStartSec=infinity
      RemainAfterExit=true

      [Install]
      WantedBy=multi-user.target
runcmd:
  - [systemctl, try-restart, systemd-resolved]
  - [systemctl, daemon-reload]
  - [systemctl, enable, --now, --no-block, rackwright-hostname.service]
"""


def server_user_data(site: AwsSite, host: str) -> str:
    """Return the script that names a head or login node at its first boot; only root reads the metadata."""
    zone = site.network.dns_zone
    return (_BEGIN + _NAMED).format(preserve="false", zone=zone, host=host, readers=_readers(site))


def node_user_data(site: AwsSite) -> str:
    """Return the script that names an instance of a node group by its tag at each boot; only root reads metadata."""
    zone = site.network.dns_zone
    return (_BEGIN + _BY_TAG).format(
        preserve="true", zone=zone, tag=HOST_TAG, readers=_readers(site)
    )


def metadata_readers(site: AwsSite) -> list[str]:
    """Return the users beside root that read the metadata, for the way in which hosts are reached."""
    return _READERS.get(site.access.connect, [])


def _readers(site: AwsSite) -> str:
    return "".join(_READER.format(user=user) for user in metadata_readers(site))


def encoded(user_data: str) -> str:
    """Return ``user_data`` as a launch template has it.

    Raises:
        ValueError: it is longer than EC2 takes.
    """
    raw = user_data.encode()
    if len(raw) > LONGEST:
        raise ValueError(f"user data of {len(raw):,} bytes; EC2 takes {LONGEST:,}")
    return base64.b64encode(raw).decode()
