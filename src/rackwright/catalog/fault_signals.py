"""Signs of the table of faults for the programs that watch: health checks of nodes, Prometheus, DCGM's exporter. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rackwright.catalog.fault_table import FaultTable
from rackwright.model.faults import Fault, FaultAction, FaultSeverity, Signal

RECOVERY_XID = 154
"""Xid by which the driver asks for a recovery and takes it back: the last one of a GPU counts."""
_DCGM = "dcgm."
_XIDS = "DCGM_FI_DEV_XID_ERRORS"
_OF_NODE = ("nvidia-smi.",)
"""Readings that the health check of a node takes itself."""
_PORTS: Mapping[str, str] = {
    "port.link_downed": "node_infiniband_link_downed_total",
    "port.symbol_error": "node_infiniband_symbol_error_total",
    "port.link_error_recovery": "node_infiniband_link_error_recovery_total",
    "port.excessive_buffer_overrun_errors": "node_infiniband_excessive_buffer_overrun_errors_total",
    "port.port_xmit_discards": "node_infiniband_port_discards_transmitted_total",
}
"""Metrics of the node exporter for counters below /sys/class/infiniband."""
_LEAST_S = 120.0
"""Shortest window of a counter in Prometheus, in s: four scrapes of 30 s."""
_NOW = frozenset({FaultSeverity.DRAIN, FaultSeverity.FATAL})


def faults_of_node(table: FaultTable, xids: Collection[int] = ()) -> list[dict[str, Any]]:
    """Return the signs for which a node drains itself, as the role ``health_check`` takes them.

    Args:
        table: the faults.
        xids: further Xid errors that drain a node, whatever their severity in the table.
    """
    found = []
    drained = set()
    for fault in table.faults.values():
        for signal in fault.signals if fault.severity in _NOW else ():
            if signal.xid == RECOVERY_XID or not _is_of_node(signal):
                continue
            drained.add(signal.xid)
            known = signal.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
            found.append({"fault": fault.id, "name": _words(fault, signal), **known})
    for xid in sorted(set(xids) - drained):
        known_as = table.by_xid.get(xid, ())
        name = _words(known_as[0], Signal(xid=xid)) if known_as else ""
        found.append({"fault": f"xid-{xid:03d}", "name": name, "xid": xid})
    return found


def faults_left_to_loop(table: FaultTable) -> list[str]:
    """Return the faults that a part of many nodes often causes, and that wait for the repair loop to tell.

    A fatal one does not wait, and one for which the node stays in service drains it in no case. Nor does a
    file system: a job that starts on it hangs, so the node leaves service until it answers.
    """
    waits = {FaultSeverity.DEGRADED, FaultSeverity.DRAIN}
    return sorted(
        fault.id for fault in table.faults.values()
        if fault.shared and fault.severity in waits and fault.subject != "file-system"
    )  # fmt: skip


def _is_of_node(signal: Signal) -> bool:
    return (
        signal.xid is not None
        or signal.log == "kernel"
        or (signal.reading or "").startswith(_OF_NODE)
    )


def _words(fault: Fault, signal: Signal) -> str:
    return fault.name.removeprefix(f"Xid {signal.xid}: ")


@dataclass(frozen=True, slots=True)
class AlertRule:
    """Alert of Prometheus for one fault.

    Attributes:
        expr: PromQL that has a value while the fault is seen.
        part: label that names the part of a node.
        wait_s: seconds for which the expression has to have a value.
    """

    alert: str
    fault: str
    name: str
    severity: str
    action: str
    part: str
    expr: str
    wait_s: int


def alert_rules(table: FaultTable, xids: Collection[int] = ()) -> list[dict[str, Any]]:
    """Return the alerts for the faults that Prometheus can see, as the role ``prometheus`` takes them.

    Args:
        table: the faults.
        xids: further Xid errors that drain a node, whatever their severity in the table.
    """
    rules = [rule for fault in table.faults.values() for rule in _rules(fault)]
    told = {expression for rule in rules for expression in rule.expr.split(" or ")}
    rules += [
        AlertRule(f"Xid{xid}", f"xid-{xid:03d}", f"Xid {xid}", "critical", "", "gpu", expression, 0)
        for xid in sorted(set(xids))
        if (expression := f"{_XIDS} == {xid}") not in told
    ]
    return [asdict(rule) for rule in rules]


def _rules(fault: Fault) -> Iterator[AlertRule]:
    unnamed = fault.id.startswith("xid-") and not fault.severity.leaves_service
    if fault.severity is FaultSeverity.INFO or unnamed:
        return
    # Labels differ by exporter, and so does the wait: a value that lasts is no glitch of one scrape.
    kinds: dict[tuple[str, int], list[str]] = {}
    for signal in fault.signals:
        for part, wait, expression in _expressions(signal):
            kinds.setdefault((part, wait), []).append(expression)
    for (part, wait), expressions in kinds.items():
        yield AlertRule(
            alert="".join(word.capitalize() for word in fault.id.split("-")),
            fault=fault.id,
            name=fault.name,
            severity="critical" if fault.severity in _NOW else "warning",
            action="" if fault.action is FaultAction.NONE else fault.action.value,
            part=part,
            expr=" or ".join(expressions),
            wait_s=wait,
        )


def _expressions(signal: Signal) -> Iterator[tuple[str, int, str]]:
    """Yield label of the part, wait in s and PromQL; nothing for a sign that no exporter measures."""
    if signal.xid is not None and signal.pattern is None and signal.times == 1:
        yield "gpu", 0, f"{_XIDS} == {signal.xid}"
    elif signal.reading is not None and signal.reading.startswith(_DCGM):
        name = signal.reading.removeprefix(_DCGM)
        if signal.above is not None:
            yield "gpu", 120, f"{name} > {signal.above:g}"
        elif signal.below is not None:
            yield "gpu", 120, f"{name} < {signal.below:g}"
        elif signal.bits is not None:
            bits = (1 << n for n in range(signal.bits.bit_length()) if signal.bits >> n & 1)
            # PromQL has no operator for bits.
            yield "gpu", 120, " or ".join(f"{name} % {2 * bit} >= {bit}" for bit in bits)
    elif signal.counter is not None and signal.above is not None:
        name = signal.counter.removeprefix(_DCGM)
        metric = name if name != signal.counter else _PORTS.get(signal.counter)
        if metric is not None:
            window = max(signal.within, _LEAST_S)
            limit = signal.above * window / signal.within
            part = "gpu" if signal.counter.startswith(_DCGM) else "device"
            yield part, 0, f"increase({metric}[{window:.0f}s]) > {limit:g}"


def exporter_fields(table: FaultTable) -> dict[str, list[str]]:
    """Return the fields of DCGM that the table reads, as the role ``dcgm_exporter`` takes them."""
    found = {_XIDS: ["gauge", "number of the last Xid error"]}
    for fault in table.faults.values():
        for signal in fault.signals:
            name = signal.reading or signal.counter or ""
            if name.startswith(_DCGM):
                kind = "gauge" if signal.counter is None else "counter"
                found.setdefault(name.removeprefix(_DCGM), [kind, fault.name])
    return dict(sorted(found.items()))
