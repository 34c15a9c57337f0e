"""State of a site as metrics of Prometheus, for the text file collector of the node exporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rackwright.nodelife.ledger import SuiteResult
from rackwright.nodelife.service import cause_of
from rackwright.nodelife.status import SiteStatus

Series = Mapping[tuple[tuple[str, str], ...], float]


def render_metrics(status: SiteStatus, suites: Iterable[SuiteResult], now: float) -> str:
    """Return the metrics of a site.

    Args:
        status: of the site.
        suites: last burn-in of each node.
        now: seconds since the epoch.
    """
    return "".join(_lines(status, suites, now))


def _lines(status: SiteStatus, suites: Iterable[SuiteResult], now: float) -> Iterator[str]:
    cluster = (("cluster", status.cluster),)

    def by(name: str, counts: Mapping[str, float]) -> Series:
        return {(*cluster, (name, value)): count for value, count in sorted(counts.items())}

    states = Counter({state: len(names) for state, names in status.states.items()})
    if status.missing:
        states["unknown to Slurm"] = len(status.missing)
    yield from _metric("rackwright_nodes", "Nodes by their state in Slurm.", by("state", states))
    causes = Counter(cause_of(reason) for reason in status.reasons.values())
    yield from _metric(
        "rackwright_nodes_out_of_service", "Nodes that take no jobs, by cause.", by("cause", causes)
    )
    shared: Series = {
        (*cluster, ("site", s.part.site), ("kind", s.part.kind), ("part", s.part.name)): float(len(s.nodes))
        for s in status.shared
    }  # fmt: skip
    yield from _metric(
        "rackwright_shared_part_nodes", "Nodes out of service that share a part.", shared
    )
    repairs = Counter(state.split(":")[0] for state in status.repairs.values())
    yield from _metric("rackwright_nodes_under_repair", "Nodes by their state in repair.", by("state", repairs))  # fmt: skip
    work = Counter(item.task.action for item in status.work)
    yield from _metric("rackwright_work_items", "Tasks for hands in the hall.", by("action", work))
    results = Counter(found.outcome for found in suites)
    yield from _metric("rackwright_burn_in_nodes", "Nodes by their last burn-in.", by("outcome", results))  # fmt: skip
    if (known := status.service) is not None:
        yield from _metric(
            "rackwright_incidents",
            "Incidents that began in the window.",
            {cluster: known.incidents},
        )
        for name, what, value in (
            ("rackwright_mtbi_seconds", "Node time between incidents of a node.", known.mtbi_s),
            ("rackwright_mttr_seconds", "Mean time to repair.", known.mttr_s),
        ):
            if value is not None:
                yield from _metric(name, what, {cluster: value})
        yield from _metric(
            "rackwright_lost_node_seconds", "Node time out of service in the window, by cause.",
            by("cause", known.lost_s),
        )  # fmt: skip
        yield from _metric(
            "rackwright_window_seconds", "Length of the window.", {cluster: known.window_s}
        )
    yield from _metric("rackwright_status_timestamp_seconds", "Time of this file.", {cluster: now})


def _metric(name: str, what: str, series: Series) -> Iterator[str]:
    if not series:
        return
    yield f"# HELP {name} {what}\n# TYPE {name} gauge\n"
    for labels, value in series.items():
        shown = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
        yield f"{name}{{{shown}}} {value:.15g}\n"


def _escaped(text: str) -> str:
    """Return a value of a label as the text format of Prometheus has it."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
