"""SVG as text: elements, escaped labels, and drawings with their size."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.drawings.style import STYLE
from rackwright.harmless import visible

NAMESPACE = "http://www.w3.org/2000/svg"
SIGN = 6.1
"""Average width of a character of a label, in pixels."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Drawing with its size.

    Attributes:
        title: description of the content.
        width: width in pixels.
        height: height in pixels.
        body: SVG elements.
    """

    title: str
    width: float
    height: float
    body: str

    def inline(self) -> str:
        """Return the drawing as an element of a page, which provides the style."""
        return element(
            "svg",
            f"<title>{words(self.title)}</title>{self.body}",
            viewBox=f"0 0 {number(self.width)} {number(self.height)}",
            width=self.width,
            height=self.height,
            role="group" if 'tabindex="0"' in self.body else "img",  # an image hides its buttons
            class_="drawing",
        )

    def standalone(self) -> str:
        """Return the drawing as a standalone file with its style."""
        own = element("rect", width="100%", height="100%", class_="ground")
        return (
            element(
                "svg",
                f"<title>{words(self.title)}</title><style>{STYLE}</style>{own}{self.body}",
                xmlns=NAMESPACE,
                viewBox=f"0 0 {number(self.width)} {number(self.height)}",
                width=self.width,
                height=self.height,
                role="img",
                class_="drawing",
            )
            + "\n"
        )


def element(name: str, inside: str = "", /, **attributes: object) -> str:
    """Return an element without its attributes that are None; ``_`` in a name becomes ``-``."""
    made = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{made}>{inside}</{name}>" if inside else f"<{name}{made}/>"


def words(text: object) -> str:
    """Return ``text`` escaped for a document, without characters that XML forbids."""
    return html.escape(visible(str(text)))


def number(value: float) -> str:
    """Return a length in pixels, rounded to a tenth and written as short as possible."""
    return f"{round(value, 1):g}"


def label(x: float, y: float, text: object, **attributes: object) -> str:
    """Return a text element at a position."""
    return element("text", words(text), x=x, y=y, **attributes)


def fitted(text: object, room: float, *, sign: float = SIGN) -> str:
    """Return ``text`` cut to ``room`` pixels, with an ellipsis if it was cut."""
    shown = visible(str(text))
    most = max(1, int(room / sign))
    if cells(shown) <= most:
        return shown
    while shown and cells(shown) >= most:
        shown = shown[:-1]
    return f"{shown}…"


def cells(text: str) -> int:
    """Return the width of ``text``, in characters of average width."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def box(x: float, y: float, width: float, height: float, **attributes: object) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def group(inside: Iterable[str], title: object = None, /, **attributes: object) -> str:
    """Return a group of elements with a tooltip."""
    told = "" if title is None else f"<title>{words(title)}</title>"
    return element("g", told + "".join(inside), **attributes)


def line(points: Iterable[tuple[float, float]], **attributes: object) -> str:
    """Return a line through ``points``."""
    path = "".join(
        f"{'M' if not place else 'L'}{number(x)} {number(y)}" for place, (x, y) in enumerate(points)
    )
    return element("path", "", d=path, **attributes)


def _value(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    return words(value)
