"""The licence that a page names, in whatever way, is known by its address."""

import pytest

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

BY = "https://creativecommons.org/licenses/by/4.0/"


def licenses(html: str) -> list[str]:
    result = digest(
        DigestRequest(
            "https://e.org/docs/a", html.encode(), "text/html", Kind.PAGE, Preset.MIRROR, markdown=True
        )
    )
    assert isinstance(result, PageDigest)
    return result.licenses


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<link rel=license href=/terms>", ["https://e.org/terms"]),
        ("<a rel='nofollow LICENSE' href='../licence.html'>terms</a>", ["https://e.org/licence.html"]),
        (f"<footer><a href='{BY}'>CC BY</a></footer>", [BY]),
        (
            "<a href='//creativecommons.org/publicdomain/zero/1.0/'>CC0</a>",
            ["https://creativecommons.org/publicdomain/zero/1.0/"],
        ),
        (f"<a itemprop=license href='{BY}'>x</a>", [BY]),
        (f'<script type=\'application/ld+json\'>{{"license": "{BY}"}}</script>', [BY]),
        (
            f'<script type=module></script><pre>type="application/ld+json" {{"license": "{BY}"}}</pre>',
            [],
        ),
        (f"<a rel=license href='{BY}'>x</a><a href='{BY}'>y</a>", [BY]),
        ("<a href='https://creativecommons.org/about'>about</a>", []),
        ("<p>The license is a text.</p>", []),
        ("<a rel=license href='javascript:alert(1)'>x</a>", []),
        ("<a rel=license>x</a>", []),
    ],
)
def test_licences(html: str, expected: list[str]) -> None:
    assert licenses(html) == expected


def test_a_page_of_licences_names_a_few() -> None:
    assert len(licenses("".join(f"<a rel=license href=/l{n}>x</a>" for n in range(1000)))) == 5
