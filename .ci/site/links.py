"""Links of the repository's documents, led to pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

_PARTS = re.compile(
    r"^```.*?^```"  # a block of code
    r"|(?<!!)\[(?P<text>[^\]\n]+)\]\((?P<target>[^)\s]+)\)"
    r"|`[^`\n]*`",
    re.MULTILINE | re.DOTALL,
)
_FOREIGN = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=["']?(?:https?:)?//[^"' >]+"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon|modulepreload))"""
    r"""[^>]*\bhref=["']?(?:https?:)?//[^"' >]+""",
    re.IGNORECASE,
)


def led(markdown: str, place: str, page: str, pages: Mapping[str, str]) -> str:
    """``markdown`` of the document ``place``, with links that work in the page ``page`` of the site.

    Links inside code stay as they are. A link to a file that the site lacks becomes the file's name.

    Args:
        markdown: the document.
        place: its path in the repository.
        page: the path of its page in the site.
        pages: documents outside ``docs/`` with the path of their page in the site.
    """

    def lead(part: re.Match[str]) -> str:
        text, target = part["text"], part["target"]
        if target is None:  # code
            return part[0]
        path, mark, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return part[0]
        found = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
        if place.startswith("reference/"):  # from one made page to another
            return part[0]
        site = pages.get(found, pages.get(f"{found}/README.md"))
        if site is None and found.startswith("docs/"):
            site = _page_of(found.removeprefix("docs/"))
        if site is None:
            return text if "`" in text else f"{text} (`{found}`)"
        near = posixpath.relpath(site, posixpath.dirname(page) or ".")
        return f"[{text}]({near}{mark}{anchor})"

    return _PARTS.sub(lead, markdown)


def _page_of(document: str) -> str | None:
    """The page of a document in ``docs/``; None where it is no page."""
    if document.endswith(".md"):
        return document
    return None if "." in posixpath.basename(document) else f"{document}/README.md"


def foreign_resources(html: str) -> list[str]:
    """What a page would load from another host: scripts, styles, pictures."""
    return [found[0] for found in _FOREIGN.finditer(html)]
