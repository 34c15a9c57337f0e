"""Dashboards of the role ``grafana`` about single hosts: their GPUs, and all else.

Clusters are large: where every host would be a line of its own, the most remarkable twenty are
shown, and readers choose others.
"""

from __future__ import annotations

from grafana_dashboards.build import (
    BAD,
    DOUBTFUL,
    Dashboard,
    LabelChoice,
    Panel,
    PanelRow,
    Query,
    course,
    number,
    share,
)

HERE = 'instance=~"$instance"'
"""The hosts that a reader has chosen."""


def _top(expression: str) -> str:
    """The twenty largest."""
    return f"topk(20, {expression})"


def _slowed(bit: int) -> str:
    """GPUs of each host whose clocks are lowered for the reason of a bit."""
    reasons, weight = f"DCGM_FI_DEV_CLOCKS_EVENT_REASONS{{{HERE}}}", 2**bit
    return _top(f"count by (instance) ({reasons} % {2 * weight} >= {weight})")


def _rate(counter: str, *labels: str) -> str:
    """Change in a second of a counter of the chosen hosts, with further choices of labels."""
    return f"rate({counter}{{{','.join((HERE, *labels))}}}[$__rate_interval])"


def _by_host(counter: str, *labels: str) -> str:
    """The hosts on which a counter changes most, all devices of a host together."""
    return _top(f"sum by (instance) ({_rate(counter, *labels)})")


def _rare(counter: str, *labels: str) -> str:
    """The same, without hosts on which it does not change at all."""
    return f"{_by_host(counter, *labels)} > 0"


def _chosen(job: str) -> tuple[LabelChoice, ...]:
    return (LabelChoice("instance", "Hosts", f'label_values(up{{job="{job}"}}, instance)'),)


GPUS = Dashboard(
    "rackwright-gpus",
    "GPUs",
    "What DCGM measures on every GPU",
    (
        PanelRow(
            "Now",
            (
                number("GPUs that are measured", f"count(DCGM_FI_DEV_GPU_TEMP{{{HERE}}})"),
                number(
                    "Exporters that do not answer",
                    f'count(up{{job="dcgm",{HERE}}} == 0) or vector(0)',
                    steps=BAD,
                ),
                number(
                    "GPUs with an Xid error",
                    f"count(DCGM_FI_DEV_XID_ERRORS{{{HERE}}} > 0) or vector(0)",
                    steps=DOUBTFUL,
                ),
                number(
                    "GPUs with memory to replace",
                    f"count(DCGM_FI_DEV_ROW_REMAP_FAILURE{{{HERE}}} > 0) or vector(0)",
                    steps=BAD,
                ),
                number("Use", f"avg(DCGM_FI_DEV_GPU_UTIL{{{HERE}}}) / 100", "percentunit"),
                number(
                    "Energy of the last day",
                    f"sum(increase(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{HERE}}}[1d])) / 3.6e9",
                    "kwatth",
                ),
            ),
        ),
        PanelRow(
            "Load",
            (
                share(
                    "Use, the busiest hosts",
                    Query(
                        _top(f"avg by (instance) (DCGM_FI_DEV_GPU_UTIL{{{HERE}}}) / 100"),
                        "{{instance}}",
                    ),
                ),
                share(
                    "Use, the idlest hosts",
                    Query(
                        f"bottomk(20, avg by (instance) (DCGM_FI_DEV_GPU_UTIL{{{HERE}}}) / 100)",
                        "{{instance}}",
                    ),
                ),
                course(
                    "Memory used",
                    Query(
                        _top(f"max by (instance) (DCGM_FI_DEV_FB_USED{{{HERE}}})"), "{{instance}}"
                    ),
                    unit="mbytes",
                    note="Of the GPU that uses most on each host.",
                ),
                share(
                    "Memory used, share of all",
                    Query(
                        _top(
                            f"sum by (instance) (DCGM_FI_DEV_FB_USED{{{HERE}}})"
                            f" / sum by (instance) (DCGM_FI_DEV_FB_USED{{{HERE}}} + DCGM_FI_DEV_FB_FREE{{{HERE}}})"
                        ),
                        "{{instance}}",
                    ),
                ),
            ),
        ),
        PanelRow(
            "Heat and power",
            (
                course(
                    "Temperature of the hottest GPUs",
                    Query(_top(f"DCGM_FI_DEV_GPU_TEMP{{{HERE}}}"), "{{instance}} GPU {{gpu}}"),
                    unit="celsius",
                ),
                course(
                    "Temperature of the hottest memories",
                    Query(_top(f"DCGM_FI_DEV_MEMORY_TEMP{{{HERE}}}"), "{{instance}} GPU {{gpu}}"),
                    unit="celsius",
                ),
                course(
                    "Power",
                    Query(
                        _top(f"sum by (instance) (DCGM_FI_DEV_POWER_USAGE{{{HERE}}})"),
                        "{{instance}}",
                    ),
                    unit="watt",
                ),
                course(
                    "Slowest clocks",
                    Query(
                        f"bottomk(20, 1e6 * DCGM_FI_DEV_SM_CLOCK{{{HERE}}})",
                        "{{instance}} GPU {{gpu}}",
                    ),
                    unit="hertz",
                ),
                course(
                    "GPUs that are slowed",
                    Query(_slowed(2), "{{instance}}: power limit as set"),
                    Query(_slowed(3), "{{instance}}: by the hardware"),
                    Query(_slowed(5), "{{instance}}: heat, as the driver sees it"),
                    Query(_slowed(6), "{{instance}}: heat, as the hardware sees it"),
                    Query(_slowed(7), "{{instance}}: power supply"),
                    note="The bits of DCGM's reasons for events of clocks.",
                ),
            ),
        ),
        PanelRow(
            "Errors",
            (
                Panel(
                    "Last Xid errors",
                    (Query(f"DCGM_FI_DEV_XID_ERRORS{{{HERE}}} > 0"),),
                    "table",
                    value="Xid",
                    note="Stays until the driver is loaded again.",
                ),
                Panel(
                    "Memory that could not be corrected",
                    (
                        Query(
                            f"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{{{HERE}}} > 0 or DCGM_FI_DEV_ROW_REMAP_PENDING{{{HERE}}} > 0"
                            f" or DCGM_FI_DEV_ROW_REMAP_FAILURE{{{HERE}}} > 0"
                        ),
                    ),
                    "table",
                    value="Rows, or 1",
                    note="GPUs with rows remapped, with a remapping that waits for a reset, or that failed.",
                ),
                course(
                    "Errors of NVLinks",
                    *(
                        Query(
                            _rare(f"DCGM_FI_DEV_NVLINK_{kind}_ERROR_COUNT_TOTAL"),
                            f"{{{{instance}}}}: {name}",
                        )
                        for kind, name in (
                            ("CRC_DATA", "CRC of data"),
                            ("CRC_FLIT", "CRC of flow control"),
                            ("REPLAY", "sent again"),
                            ("RECOVERY", "recovered"),
                        )
                    ),
                    unit="ops",
                ),
                course(
                    "Packets sent again on PCIe",
                    Query(_rare("DCGM_FI_DEV_PCIE_REPLAY_COUNTER"), "{{instance}}"),
                    unit="ops",
                ),
            ),
        ),
    ),
    _chosen("dcgm"),
)

_IDLE = 'mode="idle"'
_REAL_DISKS = 'fstype!~"tmpfs|ramfs|squashfs|iso9660|overlay"'
_REAL_LINKS = 'device!~"lo|veth.*|docker.*|br.*"'
_FABRIC_ERRORS = (
    ("node_infiniband_symbol_error_total", "symbols"),
    ("node_infiniband_port_errors_received_total", "packets received"),
    ("node_infiniband_link_error_recovery_total", "links recovered"),
    ("node_infiniband_link_downed_total", "links lost"),
)

HOSTS = Dashboard(
    "rackwright-nodes",
    "Nodes",
    "What the node exporter measures on every host",
    (
        PanelRow(
            "Processors and memory",
            (
                share(
                    "Processors busy",
                    Query(
                        _top(f"1 - avg by (instance) ({_rate('node_cpu_seconds_total', _IDLE)})"),
                        "{{instance}}",
                    ),
                ),
                course("Load of a minute", Query(_top(f"node_load1{{{HERE}}}"), "{{instance}}")),
                share(
                    "Memory used",
                    Query(
                        _top(
                            f"1 - node_memory_MemAvailable_bytes{{{HERE}}} / node_memory_MemTotal_bytes{{{HERE}}}"
                        ),
                        "{{instance}}",
                    ),
                ),
                course(
                    "Clock off by",
                    Query(_top(f"abs(node_timex_offset_seconds{{{HERE}}})"), "{{instance}}"),
                    unit="s",
                ),
            ),
        ),
        PanelRow(
            "Disks",
            (
                share(
                    "Fullest file systems",
                    Query(
                        _top(
                            f"1 - node_filesystem_avail_bytes{{{HERE},{_REAL_DISKS}}} / node_filesystem_size_bytes{{{HERE},{_REAL_DISKS}}}"
                        ),
                        "{{instance}} {{mountpoint}}",
                    ),
                ),
                share(
                    "Time in which disks are busy",
                    Query(
                        _top(_rate("node_disk_io_time_seconds_total")), "{{instance}} {{device}}"
                    ),
                ),
                course(
                    "Read",
                    Query(_by_host("node_disk_read_bytes_total"), "{{instance}}"),
                    unit="Bps",
                ),
                course(
                    "Written",
                    Query(_by_host("node_disk_written_bytes_total"), "{{instance}}"),
                    unit="Bps",
                ),
            ),
        ),
        PanelRow(
            "Ethernet",
            (
                course(
                    "Received",
                    Query(
                        _by_host("node_network_receive_bytes_total", _REAL_LINKS), "{{instance}}"
                    ),
                    unit="Bps",
                ),
                course(
                    "Sent",
                    Query(
                        _by_host("node_network_transmit_bytes_total", _REAL_LINKS), "{{instance}}"
                    ),
                    unit="Bps",
                ),
                course(
                    "Errors and packets dropped",
                    *(
                        Query(
                            _rare(f"node_network_{kind}_total", _REAL_LINKS),
                            f"{{{{instance}}}}: {name}",
                        )
                        for kind, name in (
                            ("receive_errs", "errors received"),
                            ("transmit_errs", "errors sent"),
                            ("receive_drop", "dropped on receipt"),
                            ("transmit_drop", "dropped on sending"),
                        )
                    ),
                    unit="ops",
                ),
            ),
        ),
        PanelRow(
            "InfiniBand",
            (
                course(
                    "Received",
                    Query(
                        _by_host("node_infiniband_port_data_received_bytes_total"), "{{instance}}"
                    ),
                    unit="Bps",
                ),
                course(
                    "Sent",
                    Query(
                        _by_host("node_infiniband_port_data_transmitted_bytes_total"),
                        "{{instance}}",
                    ),
                    unit="Bps",
                ),
                Panel(
                    "Ports that are not active",
                    (Query(f"node_infiniband_state_id{{{HERE}}} != 4"),),
                    "table",
                    value="State",
                    note="1 down, 2 initialising, 3 armed.",
                ),
                course(
                    "Errors in an hour",
                    *(
                        Query(
                            _top(f"increase({name}{{{HERE}}}[1h]) > 0"),
                            f"{{{{instance}}}} {{{{device}}}}: {what}",
                        )
                        for name, what in _FABRIC_ERRORS
                    ),
                ),
            ),
        ),
    ),
    _chosen("node"),
)
