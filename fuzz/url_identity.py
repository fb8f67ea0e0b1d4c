"""URL identity: nothing raises, an identity is its own identity, and the host is the one ada would dial."""

import ada_url

from fuzz.inputs import as_text
from sumi.model import Candidate
from sumi.policy import Preset
from sumi.scope import Scope
from sumi.urls import PRESETS, LinkNormalizer, host_key, normalize, origin, split

_SCOPE = Scope(hosts=("example.com",), paths=("/docs",))


def check(data: bytes) -> None:
    """The first line is the base, the second a reference on its page."""
    base, _, href = as_text(data).partition("\n")
    for preset in Preset:
        _check_identity(normalize(base, preset), preset)
        resolved = normalize(href, preset, base)
        _check_identity(resolved, preset)
        _check_links(href, base, preset)
    _check_host(href)


def _check_identity(url: str | None, preset: Preset) -> None:
    if url is None:
        return
    again = normalize(url, preset)
    assert again == url, (preset, url, again)
    assert url.isascii()
    assert url.isprintable()
    assert " " not in url
    parts = split(url)
    assert parts.scheme in ("http", "https")
    assert ada_url.URL(url).hostname == parts.host, url
    assert url.startswith(origin(url))
    assert host_key(url)
    if _SCOPE.judge(Candidate(url)) is None:
        assert ada_url.URL(url).hostname == "example.com", url
        assert ada_url.URL(url).pathname.startswith(("/docs", "/%")), url


def _check_links(href: str, base: str, preset: Preset) -> None:
    """The memo of a page's links knows nothing that the parser does not."""
    page = normalize(base, Preset.MIRROR)
    if page is None or not _may_stand_in_a_page(href):
        return
    expected = normalize(href, preset, page)
    for _ in range(2):
        found = LinkNormalizer(PRESETS[preset], page).many([href])
        assert found == ([] if expected is None else [expected]), (href, page, preset)


def _may_stand_in_a_page(href: str) -> bool:
    """What an HTML parser could hand on (no lone surrogates), and not passed over for its first letters."""
    others = ("#", "javascript:", "mailto:", "tel:", "data:")
    return not href.startswith(others) and href.encode("utf-8", "replace").decode() == href


def _check_host(text: str) -> None:
    """Only a trailing dot may go on the way from the text to the identity."""
    url = normalize(text, Preset.MIRROR)
    if url is not None:
        assert ada_url.URL(text).hostname.removesuffix(".") == split(url).host, text
