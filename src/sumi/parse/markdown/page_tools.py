"""What pages offer beside their text and no name tells: settings, lists of their own headings, questions
about themselves, ways to the next page, and the source of what they describe, shown by a click.

Each is known by what it is made of, and what it says only decides where that could be a text as well.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from sumi.parse.html import Document, Element, Node, Text, collapse, element_children
from sumi.parse.markdown.chrome import link_share
from sumi.parse.markdown.left_out import HIDDEN, NAVIGATION, NOTICE, LeftOut, number_of_words

_OWN_HEADINGS: Final = frozenset(
    """
    on this page|in this page|in this article|in this topic|page contents|jump to|auf dieser seite|
    in diesem artikel|sur cette page|dans cet article|en esta página|en este artículo|in questa pagina|
    nesta página|neste artigo|op deze pagina|na tej stronie|på denna sida|на этой странице|本页目录|本页内容|
    このページの内容|目次|이 페이지에서
    """.replace("\n    ", "")
    .strip()
    .split("|")
)
_CONTENTS: Final = _OWN_HEADINGS | frozenset(
    {
        "contents", "table of contents", "inhalt", "inhaltsverzeichnis", "table des matières", "sommaire",
        "contenido", "índice", "indice",
    }
)  # fmt: skip
_ABOUT_THE_PAGE: Final = re.compile(
    r"(?:feedback\W+)?(?:was|is|did|does|how|war|ist|hat|cette|ce|est|te|fue|questa|é|esta)\b.*\b"
    r"(?:page|article|docs?|topic|section|information|content|seite|artikel|página|pagina|artículo)\b.*"
    r"(?:help|useful|hilfreich|geholfen|utile|útil|like|rate)|"
    r"(?:help|useful|hilfreich|geholfen|utile|útil)\w*\b.*\b(?:page|article|seite|artikel|página|pagina)",
    re.IGNORECASE | re.DOTALL,
)
_ANSWERS: Final = frozenset({"yes", "no", "ja", "nein", "oui", "non", "sí", "si", "👍", "👎"})
_ONWARD: Final = re.compile(
    r"\W*(?:next|prev|previous|weiter|zurück|nächste|vorherige|suivant|précédent|siguiente|anterior|próximo)"
    r"(?:\W*(?:page|chapter|section|topic|article|seite|kapitel|page suivante))?\W*(?:[:»→›←«‹].*)?",
    re.IGNORECASE,
)
_SOURCE: Final = frozenset({"view source", "show source", "source", "source code", "[source]"})
_BACK: Final = re.compile(r"[←«‹⟵⇐◀]\s*\S.*", re.DOTALL)
_FORTH: Final = re.compile(r".*\S\s*[→»›⟶⇒▶]", re.DOTALL)
_TURNING: Final = re.compile(r"(?:^|[-_\s])(?:next|prev|previous|older|newer)(?=$|[-_\s])")
_CONSENTS: Final = frozenset(
    {
        "accept", "accept all", "accept cookies", "allow all", "i agree", "agree", "got it", "ok",
        "akzeptieren", "alle akzeptieren", "tout accepter", "accepter", "aceptar", "accetta",
    }
)  # fmt: skip
_COOKIES: Final = re.compile("cookie", re.IGNORECASE)
_HERE: Final = re.compile(r"(?:you are here|sie sind hier|vous êtes ici)?[\W_]*", re.IGNORECASE)
_SHORT: Final = 30
_FEW_WORDS: Final = 25
_LAST: Final = 14  # links and buttons of a page
_HIGHEST: Final = 5  # ancestors
_NEARLY_ALL: Final = 0.85
_HEADINGS: Final = ("h2", "h3", "h4", "h5", "h6")
_OF_TEXT: Final = ("h1", "pre", "table", "article", "main", "code", "img", "blockquote")
_OF_RELATED: Final = tuple(tag for tag in _OF_TEXT if tag not in ("table", "img"))
_RELATIONS: Final = frozenset({"next", "prev", "previous", "up", "start", "top", "contents", "index"})
_HALF: Final = 0.5
_MOST_RELATED: Final = 2_000
_FIELDS: Final = ("input", "select")
_WHOLES: Final = frozenset({"body", "html", "main", "article"})
_BARS: Final = frozenset({"center", "div", "footer", "p", "section"})


def take_off_tools(document: Document, navs: list[Element], left_out: LeftOut) -> None:
    for tool, kind in list(_tools(document, navs)):
        left_out.take_off(tool, kind)


def _tools(document: Document, navs: list[Element]) -> Iterator[tuple[Element, str]]:
    yield from ((label, NAVIGATION) for nav in navs if nav.tag == "nav" for label in _labels_before(nav))
    yield from ((fold, NAVIGATION) for fold in document.find_all("details") if _is_settings(fold))
    for label in _possible_labels(document):
        if _says(label, _OWN_HEADINGS):
            yield from ((part, NAVIGATION) for part in _own_contents(label))
    for title in document.find_all("h1")[:1]:
        yield from ((crumbs, NAVIGATION) for crumbs in _crumbs_before(title))
    yield from _asked(document)
    yield from ((bar, NAVIGATION) for bar in _bars_of_relations(document))
    for label in document.select("label[for]"):
        if _says(label, _SOURCE):
            yield from ((part, HIDDEN) for part in _shown_by_box(label))


def _asked(document: Document) -> Iterator[tuple[Element, str]]:
    """What is answered by a click: consent, whether the page helped, and where to go next."""
    links, buttons = document.find_all("a")[-_LAST:], document.find_all("button")
    for each in dict.fromkeys((*buttons[:_LAST], *buttons[-_LAST:])):
        if _says(each, _CONSENTS):
            yield from ((part, NOTICE) for part in _notice_around(each))
    for each in (*buttons[-_LAST:], *links):
        if _says(each, _ANSWERS):
            yield from ((part, NOTICE) for part in _question_around(each))
    for link in links:
        if _is_pictured_way(link):
            yield link, NAVIGATION
        elif link.attr("href") is not None and _turns_page(link):
            yield from ((part, NAVIGATION) for part in _bar_around(link))


def _says(element: Element, phrases: frozenset[str]) -> bool:
    text = element.text
    return len(text) < 4 * _SHORT and text.strip().lower().rstrip(":") in phrases


def _labels_before(nav: Element) -> Iterator[Element]:
    """Of a list of the page's headings: what would be left alone without it."""
    before = _shown_before(nav)
    if before is None and isinstance(nav.parent, Element) and nav.parent.tag not in _WHOLES:
        before = _shown_before(nav.parent)
    if isinstance(before, Element) and before.tag != "h1" and _says(before, _CONTENTS):
        yield before


def _shown_before(node: Node) -> Node | None:
    return next((each for each in node.previous_siblings if not _is_blank(each)), None)


def _is_blank(node: Node) -> bool:
    if isinstance(node, Text):
        return not node.data.strip()
    return not isinstance(node, Element) or (node.tag == "button" or not node.text.strip())


def _is_settings(fold: Element) -> bool:
    """A fold that holds nothing but fields to choose by, and what they are called."""
    if next(fold.iter_elements(("p", "a", *_OF_TEXT)), None) is not None:
        return False
    fields = list(fold.iter_elements(_FIELDS))
    if not fields or any(field.attr("disabled") is not None for field in fields):
        return False
    return any(field.attr("name") or field.attr("id") for field in fields) and _is_short(fold)


def _is_short(element: Element) -> bool:
    return number_of_words(element) <= _FEW_WORDS


def _possible_labels(document: Document) -> Iterator[Element]:
    for tag in ("summary", *_HEADINGS):
        yield from document.find_all(tag)
    paragraphs = document.find_all("p")
    yield from paragraphs[:4]
    yield from paragraphs[4:][-4:]


def _own_contents(label: Element) -> Iterator[Element]:
    """The widest part around the label in which all else is links into the page itself."""
    found, element = None, label
    for _ in range(_HIGHEST):
        parent = element.parent
        if not isinstance(parent, Element) or parent.tag in _WHOLES or not _is_list_of_own(parent, label):
            break
        found = element = parent
    if found is not None:
        yield found


def _is_list_of_own(part: Element, label: Element) -> bool:
    links = list(part.iter_elements("a"))
    if any(not (link.attr("href") or "#").startswith("#") for link in links):
        return False
    named = [label, *(fold for fold in part.iter_elements("summary") if label not in fold.descendants)]
    rest = _letters(part) - sum(map(_letters, named))
    if rest and sum(map(_letters, links)) < _NEARLY_ALL * rest:
        return False
    return next(part.iter_elements(_OF_TEXT), None) is None


def _letters(element: Element) -> int:
    return len("".join(element.text.split()))


def _question_around(answer: Element) -> Iterator[Element]:
    """The widest part around the answer that says nothing more."""
    found = None
    for part in _parts_around(answer):
        words = collapse(" ".join(islice(part.stripped_strings, 4 * _FEW_WORDS)))
        if not _is_short(part):
            break
        if _ABOUT_THE_PAGE.match(words) or (found is not None and len(words) < 12 * _SHORT):
            found = part
    if found is not None:
        yield found


def _bar_around(link: Element) -> Iterator[Element]:
    """The widest part around the link that is all links, one of them at least saying no more than where."""
    found = None
    for part in _parts_around(link):
        if not _is_short(part) or link_share(part) < _NEARLY_ALL:
            break
        texts = [collapse(each.text) for each in part.iter_elements("a")]
        if all(not text or _ONWARD.match(text) for text in texts) or _is_back_and_forth(part):
            found = part
    if found is not None:
        yield found


def _is_pictured_way(link: Element) -> bool:
    """To the next page or the one before, by a picture alone, in whatever bar that is."""
    if link.text.strip() or link.attr("href") is None:
        return False
    words = [(picture.attr("alt") or "").strip() for picture in islice(link.iter_elements("img"), 2)]
    return len(words) == 1 and bool(words[0]) and _ONWARD.fullmatch(words[0]) is not None


def _turns_page(link: Element) -> bool:
    text = link.text.strip()
    return _ONWARD.fullmatch(text) is not None or _is_arrowed(text)


def _is_arrowed(text: str) -> bool:
    return _BACK.fullmatch(text) is not None or _FORTH.fullmatch(text) is not None


def _is_back_and_forth(part: Element) -> bool:
    """Titles with arrows: one each way, or of which a class says that they turn the page."""
    links = [link for link in islice(part.iter_elements("a"), 3) if link.text.strip()]
    if not 1 <= len(links) <= 2 or not all(_is_arrowed(link.text.strip()) for link in links):
        return False
    if len(links) == 2:
        return bool(_BACK.fullmatch(links[0].text.strip()) and _FORTH.fullmatch(links[1].text.strip()))
    around = (links[0], *(each for each in islice(links[0].ancestors, 2) if isinstance(each, Element)))
    return any(_TURNING.search((each.attr("class") or "").lower()) for each in around)


def _notice_around(answer: Element) -> Iterator[Element]:
    """The widest short part around the answer, if it speaks of cookies."""
    found = None
    for part in _parts_around(answer):
        if number_of_words(part) > 3 * _FEW_WORDS:
            break
        if _COOKIES.search(part.text):
            found = part
    if found is not None:
        yield found


def _crumbs_before(title: Element) -> Iterator[Element]:
    """A line of links that ends with the title of the page, without a link."""
    words = collapse(title.text)
    node = title
    for _ in range(_HIGHEST):
        before = _shown_before(node)
        if isinstance(before, Element):
            if _is_trail(before, words):
                yield before
            return
        if before is not None or not isinstance(node.parent, Element) or node.parent.tag in ("body", "html"):
            return
        node = node.parent


def _is_trail(part: Element, title: str) -> bool:
    if not title or not _is_short(part) or next(part.iter_elements(_OF_TEXT), None) is not None:
        return False
    links = [collapse(link.text) for link in part.iter_elements("a")]
    rest = collapse(" ".join(part.stripped_strings))
    if not links or not rest.endswith(title):
        return False
    rest = rest.removesuffix(title)
    for link in links:
        rest = rest.replace(link, " ", 1)
    return _HERE.fullmatch(rest.strip()) is not None


def _bars_of_relations(document: Document) -> Iterator[Element]:
    """The widest parts in which every link says that it leads to the next page, the one before or the like,
    and that say little more."""
    met: set[object] = set()
    for link in document.select("a[rel]")[:_MOST_RELATED]:
        if not _is_onward(link) or not met.isdisjoint(islice(link.ancestors, _HIGHEST)):
            continue
        found = None
        for part in islice(link.ancestors, _HIGHEST):
            if not isinstance(part, Element) or part.tag in _WHOLES or not _is_bar_of_relations(part):
                break
            found = part if part.tag in _BARS or part.tag in ("table", "ul") else found
        if found is not None:
            met.add(found)
            yield found


def _is_bar_of_relations(part: Element) -> bool:
    if next(part.iter_elements(_OF_RELATED), None) is not None or number_of_words(part) > 2 * _FEW_WORDS:
        return False
    return all(map(_is_onward, part.iter_elements("a"))) and link_share(part) >= _HALF


def _is_onward(link: Element) -> bool:
    return not _RELATIONS.isdisjoint((link.attr("rel") or "").lower().split())


def _parts_around(element: Element) -> Iterator[Element]:
    for part in islice(element.ancestors, _HIGHEST):
        if not isinstance(part, Element) or part.tag in _WHOLES:
            return
        if next(part.iter_elements(_OF_TEXT), None) is not None:
            return
        if part.tag in _BARS:
            yield part


def _shown_by_box(label: Element) -> Iterator[Element]:
    """The label, and the code behind it that is seen only while its box is ticked."""
    named = label.attr("for") or ""
    for part in (label, *islice(label.ancestors, 3)):
        before = (each for each in islice(part.previous_siblings, 4) if isinstance(each, Element))
        if any(_is_box(each) and each.attr("id") == named for each in before):
            yield label
            following = (each for each in islice(part.next_siblings, 6) if isinstance(each, Element))
            yield from islice((each for each in following if _is_listing(each)), 1)
            return


def _is_box(element: Element) -> bool:
    return element.tag == "input" and element.attr("type") == "checkbox"


def _is_listing(element: Element) -> bool:
    if element.tag == "pre":
        return True
    inner = list(islice(element_children(element), 2))
    return len(inner) == 1 and inner[0].tag == "pre"
