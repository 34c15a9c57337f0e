"""Files that a revision approves are named without symbolic links.

A link leads to another file, which may be approved for something else: the revisions would be
compared at a path that nothing changes, while the file that was meant is gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.harmless import visible


def refuse_links(paths: Iterable[Path]) -> None:
    """Refuse paths that are links, or that pass one, below the top of their repository.

    Raises:
        UsageError: the first such path, with what is the link.
    """
    for path in paths:
        if link := link_in(path):
            whole = os.path.abspath(path)  # noqa: PTH100 - resolves no link
            text = "is a link" if str(link) == whole else f"passes the link '{visible(link.name)}'"
            raise UsageError(
                f"'{visible(str(path))}' {text}",
                hint="a base revision approves the file itself: put it there, or name it without links",
            )


def leads_out(path: Path, beside: Path) -> bool:
    """Return True if a file is outside of the repository of the file ``beside``, maybe by a link.

    The top is looked for by name: a folder that is a link would lead to another repository.
    """
    folder = Path(os.path.abspath(beside)).parent  # noqa: PTH100 - resolves no link
    tops = (above for above in (folder, *folder.parents) if os.path.lexists(above / ".git"))
    top = next(tops, None)
    return top is not None and not Path(os.path.realpath(path)).is_relative_to(
        os.path.realpath(top)
    )


def link_in(path: Path) -> Path | None:
    """Return the first link in ``path`` below the top of its repository; None when there is none.

    The top is the outermost folder with ``.git``, by name: a link to a folder that has one as well
    does not stand for it. Without any, only the file itself counts.
    """
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - resolves no link
    chain = (*reversed(whole.parents), whole)
    tops = (n for n, above in enumerate(chain[:-1]) if os.path.lexists(above / ".git"))
    return next(_links(chain[next(tops, len(chain) - 2) + 1 :]), None)


def _links(chain: Iterable[Path]) -> Iterator[Path]:
    return (part for part in chain if part.is_symlink())
