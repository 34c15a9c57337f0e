"""Dashboards of the role ``grafana``: the cluster as a whole, its scheduler and its alerts.

Only what the exporters of this collection measure is asked for.
"""

from __future__ import annotations

from grafana_dashboards.build import (
    BAD,
    DOUBTFUL,
    Dashboard,
    Panel,
    PanelRow,
    Query,
    course,
    number,
    share,
    stack,
)
from grafana_dashboards.hosts import GPUS, HOSTS

# Several controllers measure the same Slurm, so that the largest value of each series counts.
NODES = "max by (state) (slurm_nodes)"
JOBS = "max by (state) (slurm_jobs)"
NODES_BY_STATE = stack("Nodes by state", Query(NODES, "{{state}}"))
GPUS_OF_SLURM = course(
    "GPUs",
    Query("max(slurm_gpus_total)", "configured"),
    Query("max(slurm_gpus_usable)", "usable"),
    Query("max(slurm_gpus_allocated)", "given to jobs"),
)
RACK_LIMITS = "max by (site, rack) (rackwright_rack_power_limit_watts)"
RACK_POWER = "sum by (site, rack) (DCGM_FI_DEV_POWER_USAGE)"

CLUSTER = Dashboard(
    "rackwright-cluster",
    "Cluster",
    "Nodes, jobs, GPUs and power of the whole cluster",
    (
        PanelRow(
            "Now",
            (
                number(
                    "Alerts, critical",
                    'count(ALERTS{alertstate="firing",severity="critical"}) or vector(0)',
                    steps=BAD,
                ),
                number(
                    "Hosts that do not answer", 'count(up{job="node"} == 0) or vector(0)', steps=BAD
                ),
                number(
                    "Nodes drained",
                    "count(max by (node) (slurm_node_drained)) or vector(0)",
                    steps=DOUBTFUL,
                ),
                number("GPUs that jobs can have", "max(slurm_gpus_usable)"),
                number(
                    "GPUs that jobs have",
                    "max(slurm_gpus_allocated) / max(slurm_gpus_total)",
                    "percentunit",
                ),
                number("Power of the GPUs", "sum(DCGM_FI_DEV_POWER_USAGE)", "watt"),
            ),
        ),
        PanelRow(
            "Slurm",
            (
                NODES_BY_STATE,
                stack("Jobs by state", Query(JOBS, "{{state}}")),
            ),
        ),
        PanelRow(
            "GPUs",
            (
                share(
                    "Use of the GPUs",
                    Query("avg(DCGM_FI_DEV_GPU_UTIL) / 100", "busy, as DCGM sees it"),
                    Query(
                        "max(slurm_gpus_allocated) / max(slurm_gpus_total)",
                        "given to jobs, as Slurm sees it",
                    ),
                    note="Given to jobs and not busy is time that nobody uses.",
                ),
                GPUS_OF_SLURM,
            ),
        ),
        PanelRow(
            "Power",
            (
                course(
                    "Power of the GPUs",
                    Query("sum by (site) (DCGM_FI_DEV_POWER_USAGE)", "{{site}}"),
                    Query(
                        f"sum by (site) ({RACK_LIMITS})", "{{site}}, limits of its racks with GPUs"
                    ),
                    unit="watt",
                    note="Only GPUs are measured: fans, processors, switches and losses come on top.",
                ),
                Panel(
                    "Racks that are nearest to their limits",
                    (
                        Query(
                            f"topk(20, {RACK_POWER} / on (site, rack) {RACK_LIMITS})",
                            "{{site}} {{rack}}",
                        ),
                    ),
                    "bargauge",
                    "percentunit",
                    note="Power of a rack's GPUs against the 'power_limit' of the blueprint; racks without one are not shown.",
                    steps=((0.7, "orange"), (0.8, "red")),
                    least=0,
                    most=1,
                ),
            ),
        ),
    ),
)

SLURM = Dashboard(
    "rackwright-slurm",
    "Slurm",
    "The queue, the nodes, and whether the scheduler answers",
    (
        PanelRow(
            "Now",
            (
                number("Controllers that answer", "sum(slurm_up)"),
                number(
                    "Age of the measurements",
                    'time() - max(node_textfile_mtime_seconds{file=~".*/slurm.prom"})',
                    "s",
                    ((120, "orange"), (300, "red")),
                ),
                number("Jobs that run", 'max(slurm_jobs{state="running"})'),
                number("Jobs that wait", 'max(slurm_jobs{state="pending"})'),
                number(
                    "GPUs that are free",
                    "max(slurm_gpus_usable) - max(slurm_gpus_allocated)",
                    note="GPUs of drained nodes count as given to jobs while those still run.",
                ),
                number(
                    "GPUs on no usable node",
                    "max(slurm_gpus_total) - max(slurm_gpus_usable)",
                    steps=DOUBTFUL,
                ),
            ),
        ),
        PanelRow(
            "Queue",
            (
                stack("Jobs by state", Query(JOBS, "{{state}}")),
                course("Jobs that wait", Query('max(slurm_jobs{state="pending"})', "jobs")),
            ),
        ),
        PanelRow(
            "Nodes",
            (
                NODES_BY_STATE,
                Panel("Drained nodes", (Query("max by (node) (slurm_node_drained)"),), "table"),
                GPUS_OF_SLURM,
            ),
        ),
        PanelRow(
            "Scheduler",
            (
                course("Controllers that answer", Query("slurm_up", "{{instance}}")),
                course(
                    "Age of the measurements",
                    Query(
                        'time() - node_textfile_mtime_seconds{file=~".*/slurm.prom"}',
                        "{{instance}}",
                    ),
                    unit="s",
                ),
            ),
        ),
    ),
)

ALERTS = Dashboard(
    "rackwright-alerts",
    "Alerts",
    "What is wrong, and whether Prometheus can tell",
    (
        PanelRow(
            "Now",
            (
                number(
                    "Critical",
                    'count(ALERTS{alertstate="firing",severity="critical"}) or vector(0)',
                    steps=BAD,
                ),
                number(
                    "Warnings",
                    'count(ALERTS{alertstate="firing",severity="warning"}) or vector(0)',
                    steps=DOUBTFUL,
                ),
                number(
                    "Not yet for long enough", 'count(ALERTS{alertstate="pending"}) or vector(0)'
                ),
                number("Targets that do not answer", "count(up == 0) or vector(0)", steps=BAD),
                number(
                    "Alertmanagers",
                    "max(prometheus_notifications_alertmanagers_discovered)",
                    note="None means that nobody is told.",
                ),
                number(
                    "Rules that failed in an hour",
                    "sum(increase(prometheus_rule_evaluation_failures_total[1h]))",
                    steps=BAD,
                ),
            ),
        ),
        PanelRow(
            "Alerts",
            (
                Panel(
                    "Firing", (Query('ALERTS{alertstate="firing"}'),), "table", width=24, height=10
                ),
                stack(
                    "Firing, by name",
                    Query('count by (alertname) (ALERTS{alertstate="firing"})', "{{alertname}}"),
                ),
                stack(
                    "Firing, by severity",
                    Query('count by (severity) (ALERTS{alertstate="firing"})', "{{severity}}"),
                ),
            ),
        ),
        PanelRow(
            "Prometheus",
            (
                course("Targets that do not answer", Query("count by (job) (up == 0)", "{{job}}")),
                course(
                    "Alerts that could not be sent",
                    Query(
                        "sum(rate(prometheus_notifications_dropped_total[$__rate_interval]))",
                        "dropped",
                    ),
                    unit="ops",
                ),
            ),
        ),
    ),
)

WINDOW = "max(rackwright_window_seconds)"
SERVICE = Dashboard(
    "rackwright-service",
    "Service",
    "Incidents, repairs, burn-ins and work in the hall, as 'rackwright status' writes them",
    (
        PanelRow(
            "Now",
            (
                number(
                    "Nodes that take no jobs",
                    "sum(rackwright_nodes_out_of_service) or vector(0)",
                    steps=BAD,
                ),
                number(
                    "Nodes under repair",
                    "sum(rackwright_nodes_under_repair) or vector(0)",
                    steps=DOUBTFUL,
                ),
                number(
                    "Tasks in the hall", "sum(rackwright_work_items) or vector(0)", steps=DOUBTFUL
                ),
                number("Node time between incidents", "max(rackwright_mtbi_seconds)", "s"),
                number("Time to repair", "max(rackwright_mttr_seconds)", "s"),
                number(
                    "Node time lost",
                    f"sum(rackwright_lost_node_seconds) / (sum(rackwright_nodes) * {WINDOW})",
                    "percentunit",
                    note="Share of the node time in the window that 'rackwright status' counts over.",
                ),
            ),
        ),
        PanelRow(
            "Causes",
            (
                stack(
                    "Nodes that take no jobs, by cause",
                    Query("sum by (cause) (rackwright_nodes_out_of_service)", "{{cause}}"),
                ),
                stack(
                    "Node hours lost, by cause",
                    Query("sum by (cause) (rackwright_lost_node_seconds) / 3600", "{{cause}}"),
                ),
                Panel(
                    "Parts that nodes out of service share",
                    (Query("max by (site, kind, part) (rackwright_shared_part_nodes)"),),
                    "table",
                ),
            ),
        ),
        PanelRow(
            "Repair and burn-in",
            (
                stack(
                    "Nodes under repair",
                    Query("sum by (state) (rackwright_nodes_under_repair)", "{{state}}"),
                ),
                stack(
                    "Tasks in the hall",
                    Query("sum by (action) (rackwright_work_items)", "{{action}}"),
                ),
                stack(
                    "Nodes by their last burn-in",
                    Query("sum by (outcome) (rackwright_burn_in_nodes)", "{{outcome}}"),
                ),
                course(
                    "Age of these numbers",
                    Query("time() - rackwright_status_timestamp_seconds", "{{cluster}}"),
                    unit="s",
                ),
            ),
        ),
    ),
)

DASHBOARDS = (CLUSTER, GPUS, HOSTS, SLURM, ALERTS, SERVICE)
"""All of them, in the order in which a person in charge reads them."""
