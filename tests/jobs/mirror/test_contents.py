"""The table of contents follows the folders, and no title or name breaks it."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sumi.outcomes import Outcome
from tests.jobs.mirror.stored_mirror import CANARY, SITE, StoredMirror


def links_of(markdown: str) -> list[tuple[str, str]]:
    """(target, text) of every link that a CommonMark parser sees."""
    found = []
    for block in MarkdownIt().parse(markdown):
        children = block.children or []
        for position, token in enumerate(children):
            if token.type == "link_open":
                end = next(i for i in range(position, len(children)) if children[i].type == "link_close")
                text = "".join(child.content for child in children[position + 1 : end])
                found.append((str(token.attrs["href"]), text))
    return found


def test_the_contents_follow_the_folders(mirror: StoredMirror) -> None:
    for path, title in {
        "": "Home",
        "docs/": "Docs",
        "docs/guide/one": "One",
        "docs/guide/two": "Two",
        "docs-old": "Old",
        "api/v1/get": "Get (it)",
    }.items():
        mirror.capture(SITE + path, title=title)
    mirror.capture("https://a.example/")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND)
    mirror.finish()
    assert (mirror.home / "_index.md").read_text() == (
        "# example.com\n"
        "\n"
        "Mirror of <https://example.com/>: 7 pages, 1 failed.\n"
        "\n"
        "## example.com (6 pages)\n"
        "\n"
        "- [Home](index.md)\n"
        "- api/ (1 page)\n"
        "  - v1/ (1 page)\n"
        "    - [Get (it)](api/v1/get/index.md)\n"
        "- [Docs](docs/index.md) (3 pages)\n"
        "  - guide/ (2 pages)\n"
        "    - [One](docs/guide/one/index.md)\n"
        "    - [Two](docs/guide/two/index.md)\n"
        "- [Old](docs-old/index.md)\n"
        "\n"
        "## a.example (1 page)\n"
        "\n"
        "- [a.example](../a.example/index.md)\n"
    )


titles = st.one_of(
    st.text(st.characters(), max_size=30),
    st.sampled_from(
        [
            CANARY,
            "a\n- b",
            "](javascript:alert(1))",
            "<script>alert(1)</script>",
            "![x](y)",
            "[a](b)",
            "`code`",
            "\\",
            "a\\]",
            "&amp; &#x5d;",
            "https://auto.example/",
            "| a | b |",
            "***",
            "$x$",
        ]
    ),
)
page_names = st.lists(st.text(st.characters(codec="utf-8"), max_size=10), max_size=3).map("/".join)


@given(st.dictionaries(page_names, titles, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_no_title_or_name_breaks_the_contents(
    tmp_path_factory: pytest.TempPathFactory, pages: dict[str, str]
) -> None:
    mirror = StoredMirror(tmp_path_factory.mktemp("mirror"))
    for name, title in pages.items():
        mirror.capture(SITE + name, title=title)
    manifest = mirror.finish()
    links = links_of((mirror.home / "_index.md").read_text())
    targets = {str((mirror.home / unquote(target)).resolve()) for target, _ in links[1:]}
    assert links[0][0] == SITE
    assert len(links) == len(pages) + 1
    assert targets == {str((mirror.home / page["path"]).resolve()) for page in manifest["pages"]}
    assert all(Path(target).is_file() for target in targets)
    mirror.tree.close()


def test_titles_are_shown_as_they_are(mirror: StoredMirror) -> None:
    title = "a [b](c) *d* `e` <f> & \\ | #g"
    mirror.capture(f"{SITE}a", title=title)
    mirror.finish()
    assert links_of((mirror.home / "_index.md").read_text())[1] == ("a/index.md", title)
