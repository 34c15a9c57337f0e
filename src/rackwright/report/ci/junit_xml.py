"""JUnit XML of any suites of cases, with the counters that readers expect at each level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree as ET

from rackwright.harmless import harmless_xml

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Tag = Literal["failure", "error", "skipped"]
_COUNTERS: Mapping[Tag, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class Case:
    """One case; it passed where ``tag`` is None.

    Attributes:
        name: what is tested.
        tag: how it did not pass.
        message: why, on one line.
        kind: of the failure or error, for readers that group by it.
        text: the whole explanation.
        place: attributes ``file`` and ``line``, where they are known.
    """

    name: str
    tag: Tag | None = None
    message: str = ""
    kind: str = ""
    text: str | None = None
    place: Mapping[str, str] = field(default_factory=dict)


def render_suites(name: str, suites: Iterable[tuple[str, Iterable[Case]]]) -> str:
    """Return the document with ``suites``, each a name and its cases.

    A character that XML cannot hold is shown as U+FFFD.
    """
    root = ET.Element("testsuites", name=_clean(name))
    totals = dict.fromkeys(("tests", *_COUNTERS.values()), 0)
    for title, cases in suites:
        suite = ET.SubElement(root, "testsuite", name=_clean(title))
        counts = dict.fromkeys(totals, 0)
        for case in cases:
            _add(suite, title, case)
            counts["tests"] += 1
            if case.tag is not None:
                counts[_COUNTERS[case.tag]] += 1
        _count(suite, counts)
        for counter, count in counts.items():
            totals[counter] += count
    _count(root, totals)
    ET.indent(root)
    text = harmless_xml(ET.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _add(suite: ET.Element, title: str, case: Case) -> None:
    words = {"classname": title, "name": case.name, **case.place}
    element = ET.SubElement(suite, "testcase", {key: _clean(word) for key, word in words.items()})
    if case.tag is None:
        return
    why = ET.SubElement(element, case.tag, message=_clean(case.message))
    if case.kind:
        why.set("type", _clean(case.kind))
    if case.text is not None:
        why.text = _clean(case.text)


def _count(element: ET.Element, counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        element.set(name, str(count))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
