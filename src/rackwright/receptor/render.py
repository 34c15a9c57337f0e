"""The configuration of Receptor on the controlling machine and on its workers."""

from __future__ import annotations

from collections.abc import Mapping

from rackwright.receptor.workers import Workers
from rackwright.resources import bundled
from rackwright.templating import render_file


def render_receptor(workers: Workers) -> Mapping[str, Mapping[str, str]]:
    """Return the text of each file, by node and by name; keys and certificates are not among them."""
    folder = bundled("templates") / "receptor"
    head = workers.head.model_dump(mode="json")
    common = {"head": head, "data_folder": workers.data_folder}
    nodes = [worker.node for worker in workers.workers]
    unit = render_file(folder / "receptor.service.j2", {"user": "receptor"})
    found = {
        workers.head.node: {
            "receptor.yml": render_file(folder / "head.yml.j2", {**common, "workers": nodes}),
            "receptor.service": unit,
        }
    }
    for node in nodes:
        text = render_file(folder / "worker.yml.j2", {**common, "node": node})
        found[node] = {"receptor.yml": text, "receptor.service": unit}
    return found
