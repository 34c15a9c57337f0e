"""Style of the drawings, light and dark, for readers with and without colour vision deficiency.

Feeds have the colours of Okabe and Ito (https://jfly.uni-koeln.de/color) and a letter. A scale has one hue that becomes
darker, or brighter on a dark background; values beyond its end have another hue and another shape.
"""

from __future__ import annotations

STEPS = 6
"""Colours of the steps of a scale."""

_LIGHT = (
    "--ground:#fff;--ink:#16202b;--soft:#52606d;--line:#9aa5b1;--faint:#e4e9ee;--panel:#f6f8fa;"
    "--s0:#e9f2fb;--s1:#c5ddf1;--s2:#90c1e4;--s3:#559ccf;--s4:#2373b3;--s5:#0b4780;"
    "--t0:#16202b;--t1:#16202b;--t2:#16202b;--t3:#0b1722;--t4:#fff;--t5:#fff;"
    "--over:#c2410c;--over-ink:#fff;--none:#eceff2;--node:#dbe7f3;--switch:#d8efe4;--power:#f7e8cd;"
    "--cool:#d4eef3;--other:#e6e3ee;--good:#1f7a4d;--tight:#9a6700;--lost:#c2410c"
)
_DARK = (
    "--ground:#11181f;--ink:#e6edf3;--soft:#a3b1bf;--line:#5b6875;--faint:#26313b;--panel:#19222b;"
    "--s0:#16283a;--s1:#1c4163;--s2:#246091;--s3:#3a86bf;--s4:#74b3e0;--s5:#bfe1f8;"
    "--t0:#e6edf3;--t1:#e6edf3;--t2:#fff;--t3:#fff;--t4:#0b1722;--t5:#0b1722;"
    "--over:#f97316;--over-ink:#11181f;--none:#222c36;--node:#20374d;--switch:#1d4032;--power:#4a3a1b;"
    "--cool:#1b424b;--other:#35314a;--good:#4cc38a;--tight:#e3b341;--lost:#f97316"
)
FEED_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Colours of the feeds of a rack in their order, repeated for more feeds."""

_STEPS = "".join(
    f".b{step}{{fill:var(--s{step})}}svg.drawing .b{step}+text{{fill:var(--t{step})}}"
    for step in range(STEPS)
)
_FEEDS = "".join(
    f".f{number}{{fill:{colour}}}.l{number}{{stroke:{colour}}}"
    for number, colour in enumerate(FEED_COLOURS)
)
VARIABLES = (
    f":root{{{_LIGHT}}}@media (prefers-color-scheme:dark){{:root:not(.light){{{_DARK}}}}}"
    f":root.dark{{{_DARK}}}@media print{{:root:root{{{_LIGHT}}}}}"
)
"""Colours by theme."""
SHAPES = (
    "svg.drawing{font:11px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;max-width:100%;height:auto}"
    "svg.drawing text{fill:var(--ink)}svg.drawing .soft{fill:var(--soft)}"
    "svg.drawing .head{font-size:14px;font-weight:600}svg.drawing .sub{font-weight:600}"
    "svg.drawing .small{font-size:9px}svg.drawing .mid{text-anchor:middle}"
    "svg.drawing .end{text-anchor:end}"
    ".ground{fill:var(--ground)}.panel{fill:var(--panel);stroke:var(--line)}"
    ".frame{fill:none;stroke:var(--ink);stroke-width:1.5}.slot{fill:var(--none)}"
    ".node{fill:var(--node)}.switch{fill:var(--switch)}.pdu,.shelf{fill:var(--power)}"
    ".cdu,.manifold,.door,.fluid{fill:var(--cool)}.device{stroke:var(--line)}"
    ".wire{fill:none;stroke:var(--line);stroke-width:1.2}.thin{fill:none;stroke:var(--line);stroke-width:.6}"
    ".dash{stroke-dasharray:4 3}.track{fill:var(--faint)}.used{fill:var(--s4)}.more{fill:var(--s2)}"
    ".mark{stroke:var(--ink);stroke-width:1.5}"
    ".rack{stroke:var(--ground);stroke-width:1}.over{fill:var(--over)}"
    "svg.drawing .over+text{fill:var(--over-ink);font-weight:700}"
    ".unknown{fill:var(--none)}.rack.unknown{stroke:var(--line);stroke-dasharray:3 2}"
    ".cord{fill:none;stroke-width:1.3;opacity:.8}.plug{stroke:var(--ground);stroke-width:.8}"
    "svg.drawing .letter{fill:#fff;font-size:8px;font-weight:700;text-anchor:middle}"
    "svg.drawing .letter.dark{fill:#16202b}"
    ".lost .panel{stroke:var(--lost);stroke-width:2;stroke-dasharray:5 3}.dead .panel{opacity:.55;"
    "stroke-dasharray:3 3}.dead .used{fill:var(--none)}"
    "svg.drawing .bad{fill:var(--lost);font-weight:600}svg.drawing .good{fill:var(--good)}"
)
"""Shapes of the elements."""
STYLE = VARIABLES + SHAPES + _STEPS + _FEEDS
"""Complete style sheet of a drawing."""


def feed_class(number: int, kind: str = "f") -> str:
    """Return the CSS class of the ``number``-th feed of a rack: ``f`` for fills, ``l`` for lines."""
    return f"{kind}{number % len(FEED_COLOURS)}"


def letter_class(number: int) -> str:
    """Return the CSS class of the letter on a feed's colour: dark on light colours."""
    dark = FEED_COLOURS[number % len(FEED_COLOURS)] in {"#e69f00", "#56b4e9", "#cc79a7"}
    return "letter dark" if dark else "letter"
