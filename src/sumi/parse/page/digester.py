"""One body in, everything the engine wants to know about it out, from a single parse."""

import hashlib
from collections.abc import Iterable
from itertools import chain, islice
from typing import Final, NamedTuple

import msgspec

from sumi.model import Kind
from sumi.outcomes import Outcome, Verdict
from sumi.parse.commonmark import render
from sumi.parse.html import Document, Element, count_nodes, is_deeper_than, parse_html, to_plain_text
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.fidelity import Expected, Fidelity, judge
from sumi.parse.markdown.link_targets import image_targets, replace_targets
from sumi.parse.page.challenge import challenge_page
from sumi.parse.page.digest import ROUTES, UNRENDERED, DigestRequest, PageDigest, Undigested
from sumi.parse.page.fingerprint import simhash, vocabulary, words_of
from sumi.parse.page.javascript import needs_javascript
from sumi.parse.page.media_type import Form, form_of
from sumi.parse.page.metadata import REDIRECT_SECONDS, Metadata, licenses_of, looks_missing, read_metadata
from sumi.parse.page.text import charset_label, clean, decode_text, harmless
from sumi.policy import Preset
from sumi.urls import PRESETS, LinkNormalizer, normalize, rules_for, spelled

# Markdown is about half as long as its page; beyond this it is a bomb that grows by being indented.
_GROWTH: Final = 4
_GROWTH_FLOOR: Final = 1024 * 1024
_INDENT_PER_LEVEL: Final = 2  # at most, in characters per line
# Of a body so long the tree takes ten times as much, and so does that of its Markdown, read again to be
# judged: the first is gone by then. Of shorter ones it is kept, as what only it can tell is seldom asked.
_LARGE_BODY: Final = 512 * 1024


class _Written(NamedTuple):
    markdown: str | None
    problem: str = ""
    expected: Expected | None = None  # of it; None: it is not to be judged
    fidelity: Fidelity | None = None  # as far as it is known without a look at it
    unfiltered: str = ""  # before what does harm was taken out
    left_out: dict[str, int] = {}  # noqa: RUF012 - never changed


class _Read(NamedTuple):
    """All that was asked of an HTML document."""

    facts: Metadata
    normalizer: LinkNormalizer
    charset: str | None
    links: list[str]
    dropped: int
    licenses: list[str]
    alternate: str | None
    downloads: list[str]
    navigation: list[str]
    routes: list[str]  # what there is to say about addresses that only its scripts know
    written: _Written


_NOT_WRITTEN: Final = _Written(None)
_SHORT_PAGE: Final = 2_000  # characters; a longer one says something without its scripts
# All of the words, and nothing that tells a heading from a cell: below any bar.
_DEGRADED: Final = Fidelity(0.0, ["structure: kept as plain text"])


def digest(request: DigestRequest) -> PageDigest | Undigested:
    """Never raises for what a body contains. MemoryError passes: only the end of the process cures that."""
    read = _READERS.get(request.kind, digest_page)
    try:
        return _with_raw(read(request), request) if request.raw else read(request)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the one edge where an unforeseen fault costs one page, not the crawl
        return Undigested(Verdict(Outcome.PARSE_FAILED, f"{type(error).__name__}: {error}"[:500]))


def _with_raw(digest: PageDigest | Undigested, request: DigestRequest) -> PageDigest | Undigested:
    if isinstance(digest, Undigested):
        return digest
    from sumi.parse.page.raw import name_of, packed  # most jobs do without

    body = request.body
    name, frame = packed(body, request.dictionary) if request.pack else (name_of(body), b"")
    return msgspec.structs.replace(digest, raw=frame, raw_sha256=name)


def digest_page(request: DigestRequest) -> PageDigest | Undigested:
    if request.full_text:
        from sumi.parse.page.llms_full import parts_by_page

        text, _ = decode_text(request.body, request.content_type)
        return PageDigest(links=[], parts=parts_by_page(text, request.url))
    form, why = form_of(request.content_type, request.body)
    if form is Form.OTHER:
        return _digest_document(request, why)
    return _digest_html(request) if form is Form.HTML else _digest_markdown(request)


def _digest_document(request: DigestRequest, why: str) -> PageDigest | Undigested:
    from sumi.parse.documents.document import Unreadable
    from sumi.parse.documents.reading import kind_of_document, read_document

    kind = kind_of_document(request.body) if request.documents else ""
    if not kind:
        return Undigested(Verdict(Outcome.NOT_HTML, why))
    try:
        document = read_document(request.body, kind)
    except Unreadable as error:
        return Undigested(Verdict(Outcome.PARSE_FAILED, f"{kind}: {error}"))
    page = _digest_html(
        msgspec.structs.replace(
            request,
            body=f"<main>{document.html}</main>".encode("utf-8", "replace"),
            content_type="text/html; charset=utf-8",
            anchors=True,
        )
    )
    return msgspec.structs.replace(
        page,
        title=harmless(document.title) or page.title,
        language=harmless(document.language) or page.language,
        fidelity=None if page.fidelity is None else round(page.fidelity * document.share, 3),
        shortfalls=[*page.shortfalls, *document.shortfalls],
        problem=document.problem or page.problem,
    )


def digest_sitemap(request: DigestRequest) -> PageDigest | Undigested:
    from sumi.parse.sitemap.reader import dated_pages, read_sitemap

    sitemap = read_sitemap(request.body, request.url)
    if sitemap.problem and not sitemap.entries and not sitemap.children:
        return Undigested(Verdict(Outcome.PARSE_FAILED, sitemap.problem))
    # Files of an index often differ in their query alone, which some presets drop.
    files = LinkNormalizer(PRESETS[Preset.MIRROR], request.url)
    pages = LinkNormalizer(rules_for(request.preset, request.keep_params), request.url)
    if request.dates:
        links, modified = dated_pages(sitemap.entries, pages)
    else:
        links, modified = pages.many(entry.url_raw for entry in sitemap.entries), {}
    return PageDigest(
        links=links,
        addresses=pages.addresses,
        sitemaps=files.many(sitemap.children),
        modified=modified,
        problem=sitemap.problem,
        cut=sitemap.cut,
    )


def digest_navigation(request: DigestRequest) -> PageDigest | Undigested:
    from sumi.parse.page.navigation import read_navigation

    text, _ = decode_text(request.body, request.content_type)
    name = request.url.partition("?")[0].rpartition("/")[2]
    navigation = read_navigation(text, name.removesuffix(".js"))
    if not navigation.found:
        return Undigested(Verdict(Outcome.NOT_HTML, "there is no navigation data in it"))
    normalizer = LinkNormalizer(rules_for(request.preset, request.keep_params), request.url)
    return PageDigest(
        links=normalizer.many(navigation.addresses),
        navigation=normalizer.many(navigation.files),
        addresses=normalizer.addresses,
        cut=navigation.cut,
        problem="its navigation data could not be read to the end" if navigation.cut else "",
    )


_READERS: Final = {Kind.SITEMAP: digest_sitemap, Kind.NAVIGATION: digest_navigation}  # of what is no page


def _digest_markdown(request: DigestRequest) -> PageDigest:
    text, charset = decode_text(request.body, request.content_type)
    text = harmless(clean(_with_absolute_targets(_without_front_matter(text), request.url)))
    normalizer = LinkNormalizer(rules_for(request.preset, request.keep_params), request.url)
    links, dropped = page_links(parse_html(render(text).encode(), "utf-8"), normalizer, request.max_links)
    digest = PageDigest(
        links=links,
        addresses=normalizer.addresses,
        title=_first_heading(text),
        charset=charset,
        markdown=text if request.markdown else None,
        sha256=_fingerprint(text) if request.markdown else None,
        links_dropped=dropped,
    )
    if request.assets:
        digest = _with_assets(digest, [], normalizer, request.max_links)
    return _with_signals(digest, text, request) if request.markdown else digest


def _with_absolute_targets(text: str, base: str) -> str:
    """As in Markdown made from HTML: a page is read elsewhere than where it was written for."""

    def absolute(target: str) -> str | None:
        address, hash_mark, fragment = target.partition("#")
        url = normalize(address, Preset.MIRROR, base) if address else None
        if url is None:
            return None
        whole = f"{url}{hash_mark}{fragment}"
        return f"<{whole}>" if set(whole) & set(" ()<>") else whole

    return replace_targets(text, absolute)


def _without_front_matter(text: str) -> str:
    if not text.startswith(("---\n", "---\r\n")):
        return text
    _, end, rest = text[3:].partition("\n---")
    closing, newline, after = rest.partition("\n")
    return after.lstrip("\r\n") if end and newline and not closing.strip() else text


def _first_heading(text: str) -> str | None:
    for line in text[:20_000].splitlines():
        if line.startswith("# "):
            return line[2:].strip().rstrip("#").rstrip() or None
    return None


def _digest_html(request: DigestRequest) -> PageDigest:
    page = _read_html(request)
    facts, normalizer, written = page.facts, page.normalizer, page.written
    markdown = written.markdown
    fidelity, rival = _judged(written, request)
    if markdown is not None and len(markdown) < _SHORT_PAGE:
        fidelity = _without_scripts(fidelity, request)
    digest = PageDigest(
        links=page.links,
        addresses=normalizer.addresses,
        title=facts.title,
        language=facts.language,
        description=facts.description,
        canonical=_resolved(facts.canonical, normalizer),
        robots_meta=facts.robots,
        refresh=_refresh_target(facts, normalizer, request),
        markdown=markdown,
        sha256=None if markdown is None else _fingerprint(markdown),
        charset=page.charset,
        links_dropped=page.dropped,
        licenses=page.licenses,
        problem=written.problem,
        fidelity=None if fidelity is None else fidelity.score,
        shortfalls=[*([] if fidelity is None else fidelity.shortfalls), *page.routes],
        left_out=written.left_out,
        alternate=page.alternate,
        rival_fidelity=None if rival is None else rival.score,
        navigation=page.navigation,
    )
    if request.assets:
        digest = _with_assets(digest, page.downloads, normalizer, request.max_links)
    return digest if markdown is None else _with_signals(digest, markdown, request)


def _read_html(request: DigestRequest) -> _Read:
    document = parse_html(request.body, charset_label(request.content_type, request.body))
    facts = read_metadata(document)
    base = _base_of(facts, request.url)
    normalizer = LinkNormalizer(rules_for(request.preset, request.keep_params), base)
    links, dropped = page_links(document, normalizer, request.max_links, _late_refresh(facts))
    return _Read(
        facts=facts,
        normalizer=normalizer,
        charset=document.encoding,
        links=links,
        dropped=dropped,
        licenses=licenses_of(document, request.body, normalizer, links),
        alternate=_resolved(markdown_href(document), normalizer) if request.alternate else None,
        downloads=download_hrefs(document) if request.assets else [],
        navigation=_navigation(document, normalizer, request) if request.navigation else [],
        routes=_routes(document) if request.markdown else [],
        # Last, because it changes the document.
        written=_write(document, base, request) if request.markdown else _NOT_WRITTEN,
    )


def _navigation(document: Document, normalizer: LinkNormalizer, request: DigestRequest) -> list[str]:
    from sumi.parse.page.navigation import navigation_scripts

    return normalizer.many(navigation_scripts(document, request.body))


def _routes(document: Document) -> list[str]:
    """Pages behind the fragment of this one: a server knows nothing of them, and a link to them is no other
    page."""
    first = document.select_one("a[href^='#/'], a[href^='#!']")
    if first is None:
        return []
    number = len({link.attr("href") for link in document.select("a[href^='#/'], a[href^='#!']")})
    return [
        f"{ROUTES}{number:,} of its pages are behind {(first.attr('href') or '')[:2]} and were not followed"
    ]


def _without_scripts(fidelity: Fidelity | None, request: DigestRequest) -> Fidelity | None:
    """What little there is may be all there, and the page is not."""
    reason = needs_javascript(request.body)
    if not reason:
        return fidelity
    return Fidelity(0.0, [f"{UNRENDERED}the page is filled by JavaScript ({reason}); --render auto shows it"])


def _with_assets(
    digest: PageDigest, downloads: list[str], normalizer: LinkNormalizer, most: int
) -> PageDigest:
    images = islice(dict.fromkeys(image_targets(digest.markdown or "")), most)
    return msgspec.structs.replace(
        digest, images=normalizer.many(images), downloads=normalizer.many(downloads[:most])
    )


def _with_signals(digest: PageDigest, text: str, request: DigestRequest) -> PageDigest:
    """What the text is like, and whether it is one."""
    words = words_of(text)
    return msgspec.structs.replace(
        digest,
        simhash=simhash(words),
        vocabulary=vocabulary(words) if request.vocabulary else b"",
        challenge=challenge_page(request.body, text),
        looks_missing=looks_missing(digest.title, text),
    )


def _resolved(href: str | None, normalizer: LinkNormalizer) -> str | None:
    return next(iter(normalizer.many((href,))), None) if href else None


def _late_refresh(facts: Metadata) -> tuple[str, ...]:
    refresh = facts.refresh
    return (refresh.target,) if refresh is not None and refresh.seconds > REDIRECT_SECONDS else ()


def _refresh_target(facts: Metadata, normalizer: LinkNormalizer, request: DigestRequest) -> str | None:
    """None for a page that loads itself again, or that gives time to be read first: see _late_refresh."""
    if facts.refresh is None or facts.refresh.seconds > REDIRECT_SECONDS:
        return None
    rules = rules_for(request.preset, request.keep_params)
    target = spelled(facts.refresh.target, rules, _base_of(facts, request.url))
    if target is None or target == spelled(request.url, rules):
        return None
    if target.address:
        normalizer.addresses.setdefault(*target)
    return target.identity


def _base_of(facts: Metadata, url: str) -> str:
    """Only http(s): a base of another kind would take every relative link of the page away."""
    if facts.base is None:
        return url
    base = normalize(facts.base, Preset.MIRROR, url)
    return url if base is None else base


def _write(document: Document, base: str, request: DigestRequest) -> _Written:
    allowed = _GROWTH * len(request.body) + _GROWTH_FLOOR
    problem = _too_much(document, request, allowed)
    if not problem:
        markdown, expected = page_markdown(document, base, anchors=request.anchors)
        if len(markdown) <= allowed:
            markdown = clean(markdown)
            if expected is not None and len(request.body) > _LARGE_BODY:
                expected = expected.without_tree()
            left_out = (expected.left_out if expected is not None else None) or {}
            return _Written(harmless(markdown), "", expected, unfiltered=markdown, left_out=left_out)
        problem = f"Markdown of {len(markdown)} characters"
    return _Written(
        harmless(clean(to_plain_text(document))), f"degraded: {problem}; kept as plain text", None, _DEGRADED
    )


def _judged(written: _Written, request: DigestRequest) -> tuple[Fidelity | None, Fidelity | None]:
    """What was written of the page, and its rival, where there is one."""
    expected = written.expected
    if expected is None:
        return written.fidelity, None
    # As it was converted: what is taken out to do no harm is no loss.
    own = judge(expected, written.unfiltered)
    if not request.rival:
        return own, None
    text, _ = decode_text(request.rival, "text/markdown")
    return own, judge(expected, clean(_without_front_matter(text)))


def _too_much(document: Document, request: DigestRequest, allowed: int) -> str:
    """Why the page must not be converted, "" if it may. Each line is indented by what it is nested in."""
    nodes = count_nodes(document)
    if nodes > request.max_nodes:
        return f"more than {request.max_nodes} nodes"
    lines = nodes + request.body.count(b"\n")
    depth = min(request.max_depth, allowed // (_INDENT_PER_LEVEL * lines + 1))
    if nodes <= depth or not is_deeper_than(document, depth, nodes):
        return ""
    return f"nested deeper than {depth} elements"


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def page_links(
    document: Document, normalizer: LinkNormalizer, limit: int, also: Iterable[str] = ()
) -> tuple[list[str], int]:
    """Distinct URLs in document order, at most ``limit``; and how many more there were.
    ``also`` are hrefs that the page names elsewhere than in its links.

    Once the limit is reached hrefs are counted and not resolved: a page of a million links must not cost a
    million resolutions.
    """
    hrefs = dict.fromkeys(chain(_hrefs(document), also))
    if len(hrefs) <= limit:
        return normalizer.many(hrefs), 0
    waiting = iter(hrefs)
    found: dict[str, None] = {}
    dropped = 0
    while len(found) < limit and (batch := list(islice(waiting, limit))):
        for url in normalizer.many(batch):
            if len(found) < limit:
                found[url] = None
            elif url not in found:
                dropped += 1
    return list(found), dropped + sum(1 for _ in waiting)


def markdown_href(document: Document) -> str | None:
    """Where the page says that it is to be had as Markdown."""
    for link in document.select("link[type]"):
        if link.attr("type") == "text/markdown" and "alternate" in (link.attr("rel") or "").lower().split():
            return link.attr("href")
    return None


def download_hrefs(document: Document) -> list[str]:
    """What the page itself calls something to save; see ``_hrefs``."""
    return [link.attr("href") or "" for link in document.select("a[download]") if link.attr("href")]


def _hrefs(document: Document) -> list[str]:
    links = _links(document)
    if document.select_one("a[download]") is not None or document.select_one("area[download]") is not None:
        # An address to save as a file is not a page, whatever its type turns out to be.
        links = [link for link in links if link.attr("download") is None]
    hrefs = [link.attr("href") or "" for link in links]
    hrefs.extend(frame.attr("src") or "" for frame in document.find_all("frame"))
    return hrefs


def _links(document: Document) -> list[Element]:
    """In the order of the page, which costs a walk over it where the links are of two kinds."""
    if document.find("area") is None:
        return document.select("a[href]")
    return document.select("a[href], area[href]")
