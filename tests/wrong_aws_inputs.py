"""Mistakes in a blueprint of a cluster on AWS with Slurm, each one change of a blueprint without one."""

from __future__ import annotations

AWS_BASE = """apiVersion: rackwright/v1
name: atlas
policy_set: "0.4"
sites:
  - name: cloud
    provider: aws
    region: us-east-1
    network: {cidr: 10.20.0.0/16, availability_zones: [us-east-1a], nat: single, dns_zone: atlas.internal, ssh_from: ["192.0.2.0/24"]}
    head: {type: m7i.4xlarge, image: ami-0123456789abcdef0, root_volume: 200 GiB}
    node_groups:
      - {name: train, type: p5.48xlarge, count: 16, name_digits: 4, capacity: {kind: on-demand}, image: ami-0123456789abcdef0, root_volume: 500 GiB}
    file_systems:
      - {name: scratch, deployment: PERSISTENT_2, capacity: 38400 GiB, throughput: 250 MB/s/TiB, efa: true, mount: /scratch, data_repositories: [{bucket: atlas-datasets, path: /datasets, keep_versions: 30 d}]}
    limits: {recorded: 2026-11-21, quotas: {L-417A185B: 4096}}
scheduler:
  kind: slurm
  version: "25.05"
  controllers: [{host: head-1}]
  topology: {plugin: flat}
  partitions: [{name: train, groups: [train], default_time: 0-04:00:00, max_time: 7-00:00:00}]
"""

AWS_CASES: tuple[tuple[str, str], ...] = (
    ("region: us-east-1", "region: us-east1"),
    ("region: us-east-1", "region: US East (N. Virginia)"),
    ("region: us-east-1", "region: us-east-1a"),
    ("10.20.0.0/16", "10.20.0.0"),
    ("10.20.0.0/16", "10.20.1.0/16"),
    ("10.20.0.0/16", "10.20.0.0/8"),
    ("10.20.0.0/16", "10.20.0.0/28"),
    ("10.20.0.0/16", "fd00::/56"),
    ("[us-east-1a]", "[us-west-2a]"),
    ("[us-east-1a]", "us-east-1a"),
    ("[us-east-1a]", "[]"),
    ("nat: single", "nat: yes"),
    ('["192.0.2.0/24"]', "192.0.2.1"),
    ('["192.0.2.0/24"]', "[any]"),
    ('["192.0.2.0/24"]', "[192.0.2.7/24]"),
    ("type: p5.48xlarge", "type: P5.48xlarge"),
    ("type: p5.48xlarge", "type: p5"),
    ("type: p5.48xlarge", "type: p5.24xlarge"),
    ("type: p5.48xlarge", "type: dgx-h100"),
    ("type: p5.48xlarge", "type: H200"),
    ("root_volume: 200 GiB", "root_volume: 200"),
    ("count: 16", "count: {min: 4}"),
    ("count: 16", "count: {min: 8, max: 4}"),
    ("count: 16", "count: 4-16"),
    ("name_digits: 4", "name_digits: 0"),
    ("{kind: on-demand}", "on-demand"),
    ("{kind: on-demand}", "{kind: ondemand}"),
    ("{kind: on-demand}", "{kind: reservation}"),
    ("{kind: on-demand}", "{kind: capacity-block, id: cr-1}"),
    ("image: ami-0123456789abcdef0", "image: ami-123"),
    ("image: ami-0123456789abcdef0", "image: ubuntu-22.04"),
    ("PERSISTENT_2", "persistent_2"),
    ("250 MB/s/TiB", "250 MB/s"),
    ("mount: /scratch", "mount: scratch"),
    ("mount: /scratch", "mount: /"),
    ("mount: /scratch", "mount: /etc"),
    ("mount: /scratch", "mount: /dev/shm/x"),
    ("mount: /scratch", "mount: /a b"),
    ("keep_versions: 30 d", "keep_versions: 30"),
    ("atlas-datasets", "s3://atlas-datasets"),
    ("atlas-datasets", "Atlas_Datasets"),
    ("2026-11-21", "21.11.2026"),
    ("4096", "4,096"),
    ('"25.05"', "25.05"),
    ('"25.05"', '"25.5"'),
    ('"25.05"', "latest"),
    ("0-04:00:00", "4h"),
    ("name: train, groups", "name: DEFAULT, groups"),
    ("name: train, groups", "name: default, groups"),
    ("groups: [train]", "groups: [train, train]"),
    ("{plugin: flat}", "{plugin: topology/flat}"),
    ("{plugin: flat}", "flat"),
)
"""A text of the blueprint, and what is written instead."""
