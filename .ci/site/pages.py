"""Hook of MkDocs: adds pages made from the sources, leads links, refuses what is loaded from elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import links
import reference

ROOT = Path(__file__).resolve().parents[2]
COPIED = {
    "CHANGELOG.md": "reference/changes.md",
    "CONTRIBUTING.md": "reference/contributing.md",
    "SECURITY.md": "reference/reporting.md",
    "inventory/README.md": "reference/inventory.md",
    "roles/README.md": "reference/roles.md",
    "src/ansible_collections/rackwright/cluster/README.md": "reference/collection.md",
    "templates/ci/README.md": "reference/ci.md",
    "tests/README.md": "reference/tests.md",
}
"""Documents of the repository that the site has too, with their pages."""
_LOG = logging.getLogger("mkdocs.plugins.rackwright")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made from the sources."""
    for path, text in made_pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files of the repository to their pages, or make them plain names."""
    path, pages = page.file.src_uri, pages_of_repository()
    documents = {site: document for document, site in pages.items()}
    made = path.startswith("reference/")
    return links.led(markdown, documents.get(path, path if made else f"docs/{path}"), path, pages)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Refuse a page that would load something from another host."""
    for resource in links.foreign_resources(output):
        _LOG.warning("'%s' loads something from another host: %s", page.file.src_uri, resource)
    return output


def made_pages() -> Iterator[tuple[str, str]]:
    """The path in the site and the text of each page that is made."""
    yield from reference.blueprint_pages()
    yield from reference.policy_pages()
    yield "reference/faults.md", reference.faults_page()
    yield "reference/commands.md", reference.commands_page()
    yield "reference/exit-codes.md", reference.exit_codes_page()
    yield "reference/plan.md", reference.plan_page()
    for document, site in pages_of_repository().items():
        yield site, (ROOT / document).read_text(encoding="utf-8")


def pages_of_repository() -> dict[str, str]:
    """Documents outside ``docs/`` with the path of their page in the site."""
    roles = {
        path.relative_to(ROOT).as_posix(): f"reference/roles/{path.parent.name}.md"
        for path in reference.role_readmes(ROOT)
    }
    return {**COPIED, **roles}
