"""What a page says between the lines: its licence, and that it does not really exist."""

import re
from collections.abc import Iterable
from typing import Final

from sumi.parse.html import Document, Element, select_each
from sumi.urls import LinkNormalizer

_MOST_LICENSES: Final = 5
# A tag and an attribute: what the parser's index answers at once.
_RELATIONS: Final = ("link[rel]", "a[rel]")
_PROPERTIES: Final = ("link[itemprop]", "a[itemprop]")
_COMMONS_PATHS: Final = ("creativecommons.org/licenses/", "creativecommons.org/publicdomain/")
# Within JSON-LD. A regular expression, because a broken block still tells.
_SCHEMA: Final = re.compile(rb'"license"\s{0,20}:\s{0,20}(?:\[\s{0,20})?"(https?:[^"\\\s]{1,500})"')

# Words of pages that do not exist. They only raise a suspicion, so they may be broad. Each is looked for by
# itself, which takes a tenth of what one expression for all of them does.
_MISSING: Final = (
    *("not found", "no longer exists", "no longer available"),
    *("does not exist", "doesn't exist", "doesn’t exist"),
    *("could not find", "couldn't find", "couldn’t find"),
    *("cannot be found", "can't be found", "can’t be found"),
    *("nicht gefunden", "existiert nicht", "introuvable", "n'existe pas", "n’existe pas"),
    *("no encontrada", "no encontrado", "no existe", "não encontrada", "não encontrado", "não existe"),
    *("non trovata", "non trovato", "non esiste", "niet gevonden", "hittades inte", "ikke fundet"),
    *("ikke funnet", "ei löyd", "nie znaleziono", "nie istnieje", "nenalezen"),
    *("не найден", "не знайден", "не существует", "bulunamadı"),
    *("不存在", "找不到", "未找到", "見つかりません", "찾을 수 없"),
)
_MISSING_NUMBER: Final = re.compile(r"\b404\b")
_BEGINNING: Final = 300
_LITTLE_TEXT: Final = 3000


def licenses_of(
    document: Document, body: bytes, normalizer: LinkNormalizer, links: Iterable[str]
) -> list[str]:
    """Absolute addresses, distinct. ``links`` are the page's own, resolved.

    Asks the parser's index and the links, because looking through the body takes longer than all of it.
    """
    named = [link for link in select_each(document, _RELATIONS) if _names(link, "rel")]
    named += [link for link in select_each(document, _PROPERTIES) if _names(link, "itemprop")]
    found = [href for link in named if (href := link.attr("href"))]
    found += [url for url in links if "creativecommons.org/" in url and any(p in url for p in _COMMONS_PATHS)]
    if any(map(_holds_json, document.select("script[type]"))) and b"ld+json" in body:
        found += [match[1].decode("utf-8", "replace") for match in _SCHEMA.finditer(body)]
    return normalizer.many(found)[:_MOST_LICENSES] if found else []


def _names(link: Element, attribute: str) -> bool:
    names = (link.attr(attribute) or "").lower()
    return "license" in names and "license" in names.split()


def _holds_json(script: Element) -> bool:
    """A look at the types is a tenth of one through the body; and an example of JSON-LD is no data."""
    return "json" in (script.attr("type") or "").lower()


def looks_missing(title: str | None, text: str) -> bool:
    """Whether title or beginning of a short page speak of a page that does not exist."""
    if len(text) > _LITTLE_TEXT:
        return False
    words = f"{title or ''}\n{text[:_BEGINNING]}".lower()
    if "404" in words and _MISSING_NUMBER.search(words) is not None:
        return True
    return any(map(words.__contains__, _MISSING))
