"""What on a page is there to get around in it and not to be read: bars, buttons, anchors, editing links."""

import re
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Final
from urllib.parse import unquote

from sumi.parse.html import Element, Node, Text
from sumi.parse.markdown.callouts import is_box


class Part(Enum):
    """What the classes of an element say about it."""

    CONTENT = "content"
    CHROME = "chrome"
    ADMONITION = "admonition"


# Never content, wherever they are. Buttons are looked at one by one: some headings are made of them.
CHROME_TAGS: Final = (
    "script",
    "style",
    "template",
    "nav",
    "iframe",
    "object",
    "embed",
    "canvas",
    "svg",
    "select",
    "textarea",
)

# Of the generators and themes that documentation is made with. Plain words like "sidebar" or "menu" are not
# here on purpose: somewhere they are the class of a chapter.
_PERMALINKS: Final = """
    headerlink hash-link header-anchor anchorjs-link anchor-link heading-anchor doc-anchor direct-link
    heading-link permalink
"""
_ANCHORS: Final = f"""
    {_PERMALINKS} footnote-backref footnote-back data-footnote-backref fn-backref viewcode-link
"""
_CODE_TOOLS: Final = """
    linenos lineno linenodiv linenumbers gutter rouge-gutter copybtn copy-button copy-btn clipboard-copy
    btn-clipboard code-copy zeroclipboard-container md-clipboard
"""
_EDITING: Final = """
    mw-editsection mw-cite-backlink md-content__button
    theme-edit-this-page edit-this-page edit-link edit-page-link editlink
    wy-breadcrumbs-aside md-source-file md-feedback edit-on-github
"""
_WAYS_AROUND: Final = """
    skip-link skip-nav skip-to-content skiplink md-skip mw-jump-link breadcrumb breadcrumbs wy-breadcrumbs
    theme-doc-breadcrumbs md-path pagination-nav prev-next-area prev-next prev-next-footer related-pages
    rst-footer-buttons nav-wrapper nav-wide-wrapper nav-chapters mobile-nav-chapters post-navigation
    page-navigation navpath navheader navfooter navbar topbar top-nav sub-nav topnav subnav bottomnav
    doc-footer vpdocfooter vpdocaside vplocalnav related navigation navigationbar docnav spirit-nav toplang
    bottomlang buildversion
"""
_CONTENTS_LISTS: Final = """
    sphinxsidebar sphinxsidebarwrapper toc-drawer toc-tree table-of-contents theme-doc-toc-mobile
    tableofcontents mw-toc vector-toc
"""
_SURROUNDINGS: Final = """
    sharedaddy jp-relatedposts comments-area printfooter catlinks navbox noprint mw-indicators sidebar-toggle
    feedback--container feedback-container page-feedback
    copyright-footer site-footer page-footer footer nosearch
    search-bar search-results searchbox sr-only visually-hidden screen-reader-text
    cookie-banner cookie-bar cookie-consent cookie-message cookie-notice cookie-popup cookie-warning
    cookieconsent consent-banner gdpr-banner
    sub-logo-container logo-container srclink toggle-label hideme test-arrow
"""
# Formulas drawn beside their source, which is what is kept.
_DRAWN_FORMULAS: Final = """
    katex-html mathjax_preview mathjax mathjax_display mjx-chtml
    mwe-math-fallback-image-inline mwe-math-fallback-image-display
"""
# Of links, if there is little else in them, and of copies of the title, if no text is.
_PAGING_CLASSES: Final = frozenset({"page-nav", "pagenav", "pager", "pagination", "prevnext"})
_LINKING_CLASSES: Final = _PAGING_CLASSES | {"dropdown-menu"}
# Of bars, if they are nearly all links.
_BARS: Final = re.compile(
    r"(?:^|[-_])(?:nav|navigation|navset(?:top|bottom)|sidenav|sidebar|tocset|tocframe)"
    r"(?:[-_](?:top|bottom|bar|table|panel|links?|list|container|inner|wrapper))*$"
)
_IN_BARS: Final = ("nav", "sidebar", "tocset", "tocframe")  # of which all of these have one
_BAR_SHARE: Final = 0.6
_OF_TEXT: Final = ("h1", "pre", "img", "dl", "blockquote")
_PRINTED_CLASSES: Final = frozenset({"only-print", "onlyprint", "print-only", "printonly"})
_CALLED_AFTER_CONTENT: Final = _LINKING_CLASSES | _PRINTED_CLASSES
_MOSTLY_LINKS: Final = 0.5
_CRUMBS: Final = re.compile(r"(?:^|[-_])breadcrumbs?$")
_CHROME_CLASSES: Final = frozenset(
    " ".join(
        (_ANCHORS, _CODE_TOOLS, _EDITING, _WAYS_AROUND, _CONTENTS_LISTS, _SURROUNDINGS, _DRAWN_FORMULAS)
    ).split()
)
# What these are on is a sign or a column of numbers; grids of pages have gutters, and posts permalinks, too.
_SMALL_CLASSES: Final = frozenset(f"{_ANCHORS} {_CODE_TOOLS}".split())
_LONGEST_SMALL: Final = 200
_PERMALINK_CLASSES: Final = frozenset(_PERMALINKS.split())
# What permalinks show. As words they are a sign only beside a heading: alone they are one, of a chapter on
# links.
_SIGNS: Final = frozenset({"", "#", "¶", "§", "🔗", "⚓", "∞", "◆"})
_BACK_SIGNS: Final = frozenset({"↩", "↩︎", "⏎", "↵", "⤴", "⮌"})  # from footnotes
_SIGN_WORDS: Final = frozenset({"link", "anchor", "permalink", "copy link"})
_LABEL: Final = re.compile(
    r"(?:direct |perma)?link (?:to|for)\b|permalink\b|anchor (?:to|for)\b|section titled\b"
)
_DIVIDERS: Final = frozenset({"|", "·", "•"})
_INVISIBLE: Final = " \t\n\r\xa0\u200b\ufe0e\ufe0f"
_NAMED_BY_LINK: Final = "h1, h2, h3, h4, h5, h6, dt"
_IN_LINE: Final = frozenset({"b", "code", "em", "i", "small", "span", "strong", "var"})
_NEARBY: Final = 12  # nodes looked at on each side of a link
_IDS: Final = """
    toc table-of-contents tableofcontents comments breadcrumb breadcrumbs nav-path searchbox jump-to-nav
    sitesub contentsub catlinks skip-to-content mdbook-help-container menu-bar menu-bar-hover-placeholder
    footer page-footer site-footer colophon
    cookie-banner cookie-bar cookie-consent cookie-message cookie-notice cookie-popup cookie-warning
    cookieconsent consent-banner gdpr-banner
"""
CHROME_IDS: Final = frozenset(_IDS.split())
CHROME_ROLES: Final = frozenset(
    {"navigation", "search", "contentinfo", "banner", "complementary", "dialog", "alertdialog"}
)

# No theme writes more into one attribute; what is longer is neither read nor remembered.
MAX_CLASSES: Final = 500

_ADMONITIONS: Final = (
    "admonition admonitionblock theme-admonition custom-block markdown-alert starlight-aside callout "
    "notecard alert"
)
_ADMONITION_CLASSES: Final = frozenset(_ADMONITIONS.split())
# docutils puts footnotes, topics and its own sidebars into <aside>; others put remarks there.
_ASIDE_OF_TEXT: Final = re.compile(
    r"footnote|citation|admonition|callout|note|tip|hint|warn|caution|danger|info|important|alert|topic|aside|"
    r"definition|fact-?box|glossar|ingredient|key-?facts|zutat"
)

_CHROME_WORDS: Final = frozenset(
    {
        "edit this page",
        "edit page",
        "edit on github",
        "edit on gitlab",
        "edit this page on github",
        "improve this page",
        "improve this doc",
        "suggest edits",
        "suggest an edit",
        "create documentation issue",
        "create project issue",
        "create child page",
        "view page source",
        "show source",
        "back to top",
        "skip to content",
        "skip to main content",
        "skip to navigation",
        "jump to content",
        "copy link",
        "copy to clipboard",
        "[−]",
    }
)
# To the code of what is described, beside its heading.
_SOURCE_WORDS: Final = frozenset({"source", "[source]", "src", "[src]", "view source"})
_SOURCE_CLASSES: Final = frozenset({"src", "source", "srclink", "source-link", "sourcelink", "view-source"})
# Of links that lead nowhere.
_TOGGLES: Final = frozenset(
    {"collapse", "collapse all", "expand", "expand all", "hide", "hide all", "show", "show all", "toggle"}
)
_PICTURED: Final = frozenset({"permalink", "anchor", "link to this heading", "¶", "#", "🔗"})
_LONGEST_WORDS: Final = 60
_BLANKS: Final = frozenset(letter for letter in map(chr, range(0x3001)) if letter.isspace())
# What a link can begin with that says one of these, or nothing: by it nearly all others are told apart.
_BEGINNINGS: Final = (
    _BLANKS
    | {"", *(words[0] for words in _CHROME_WORDS | _TOGGLES)}
    | {words[0].upper() for words in _CHROME_WORDS | _TOGGLES}
    | {sign[:1] for sign in _SIGNS | _BACK_SIGNS}
)

PLACE: Final = "sumi-place"  # where a link was that others lead to
IDS_INSIDE: Final = "data-sumi-ids"  # of code, which is no more than its text by now

# What is written into is chrome; what has been written into it, as code is where it can be run, is not.
_NAMED_CODE: Final = re.compile(r"(?<![A-Za-z])(?:code|example|snippet)|(?:Code|Example|Snippet)(?![a-z])")
_CODE_LINE: Final = re.compile(r"^[ \t]+\S|[;{}][ \t]*$|^</?\w", re.MULTILINE)
_UNSEEN_STYLE: Final = re.compile(r"display:\s*none|visibility:\s*hidden|opacity:\s*0(?![.\d])|-9999")
_LONGEST_LOOK: Final = 2_000


def part_of(classes: str) -> Part:
    return _remembered_part(classes) if len(classes) < MAX_CLASSES else Part.CONTENT


@lru_cache(maxsize=4096)
def _remembered_part(classes: str) -> Part:
    """The pages of a site share their classes."""
    names = frozenset(classes.lower().split())
    if not names.isdisjoint(_CHROME_CLASSES) or _is_called_after_content(names):
        return Part.CHROME
    is_admonition = not names.isdisjoint(_ADMONITION_CLASSES) or is_box(classes)
    return Part.ADMONITION if is_admonition else Part.CONTENT


def is_too_long_for_its_name(element: Element) -> bool:
    names = frozenset((element.attr("class") or "").lower().split()) & _CHROME_CLASSES
    if not names or not names <= _SMALL_CLASSES:
        return False
    text = element.text
    return len(text) > _LONGEST_SMALL and any(map(str.isalpha, text))


def _is_called_after_content(names: frozenset[str]) -> bool:
    if not names.isdisjoint(_CALLED_AFTER_CONTENT):
        return True
    for name in names:
        if "breadcrumb" in name and _CRUMBS.search(name) is not None:
            return True
        if any(map(name.__contains__, _IN_BARS)) and _BARS.search(name) is not None:
            return True
    return False


def is_more_than_links(element: Element) -> bool:
    """Of what is called after the links in it: a story can be in there, or its title."""
    names = frozenset((element.attr("class") or "").lower().split())
    if names & _CHROME_CLASSES or not _is_called_after_content(names):
        return False
    if names & _PRINTED_CLASSES:
        return element.find("p") is not None
    if element.find("h1") is not None:
        return True
    if not (names & _LINKING_CLASSES or any(map(_CRUMBS.search, names))):
        return not is_bar_of_links(element)
    longest = 0 if names & _PAGING_CLASSES else _LONGEST_SMALL  # crumbs end with what is no link
    return len(element.text) > longest and link_share(element) < _MOSTLY_LINKS


def is_chrome_id(name: str | None) -> bool:
    return name is not None and name.lower() in CHROME_IDS


def is_bar_name(name: str) -> bool:
    return _BARS.search(name.lower()) is not None


def is_bar_of_links(element: Element) -> bool:
    return link_share(element) >= _BAR_SHARE and next(element.iter_elements(_OF_TEXT), None) is None


def is_chrome_role(role: str | None) -> bool:
    return role in CHROME_ROLES


def is_chrome_aside(aside: Element) -> bool:
    words = f"{aside.attr('class') or ''} {aside.attr('role') or ''}".lower()
    if _ASIDE_OF_TEXT.search(words):
        return False
    return aside.select_one(".sidebar-title") is None


def shows_code(field: Element) -> bool:
    """Of a field that text is written into."""
    text = field.text[:_LONGEST_LOOK].strip()
    if not text or field.attr("hidden") is not None or _UNSEEN_STYLE.search(field.attr("style") or ""):
        return False
    names = " ".join(field.attr(name) or "" for name in ("class", "id", "name"))
    if field.attr("readonly") is not None or _NAMED_CODE.search(names[:MAX_CLASSES]):
        return True
    return "\n" in text and _CODE_LINE.search(text) is not None


def drop_chrome_links(links: list[Element]) -> None:
    judged: dict[str | None, bool] = {None: False}  # by their classes, which the links of a page share
    for link in links:
        classes = link.attr("class")
        if classes not in judged:
            judged[classes] = part_of(classes or "") is Part.CHROME
        text = link.text
        if judged[classes]:
            _settle_chrome_link(link, text)
        elif text[:1] in _BEGINNINGS and len(text) < _LONGEST_WORDS and _says_chrome(link, text):
            _drop_apart(link)


def _settle_chrome_link(link: Element, text: str) -> None:
    """Generators put their sign beside a heading, or the heading itself into the link; and the number of a
    footnote into the link back from it."""
    if _is_label(link, text):
        link.unwrap()
    elif is_permalink_sign(link, text) or not _is_permalink(link) or not _is_wording(link, text):
        _drop_apart(link)
    elif (link.attr("href") or "#").startswith("#"):
        link.unwrap()


def _is_label(link: Element, text: str) -> bool:
    return any(map(str.isalnum, text)) and link.closest(".label") is not None and link.has_class("fn-backref")


def is_permalink_sign(link: Element, text: str) -> bool:
    """And not a word of the heading that it is in."""
    words = text.strip(_INVISIBLE)
    if words in _SIGNS:
        return True
    if words.lower() in _SIGN_WORDS:
        return not _is_alone(link)
    return not any(map(str.isalnum, words)) and link.find("code") is None and not _is_alone(link)


def _is_permalink(link: Element) -> bool:
    names = frozenset((link.attr("class") or "").lower().split())
    return names & _CHROME_CLASSES <= _PERMALINK_CLASSES


def _is_wording(link: Element, text: str) -> bool:
    """Whether it says what its heading or term says, or how that begins; and not how to link to it."""
    if _LABEL.match(text.strip(_INVISIBLE).lower()):
        return _is_alone(link)
    return not _has_letters_nearby(link, backwards=True) or link.find("code") is not None


def _is_alone(link: Element) -> bool:
    if link.closest(_NAMED_BY_LINK) is None:
        return False
    return not (_has_letters_nearby(link, backwards=True) or _has_letters_nearby(link, backwards=False))


def _has_letters_nearby(link: Element, *, backwards: bool) -> bool:
    node: Node = link
    for _ in range(_NEARBY):
        beside = node.previous_sibling if backwards else node.next_sibling
        if beside is None:
            if not isinstance(node.parent, Element) or node.parent.tag not in _IN_LINE:
                return False
            node = node.parent
        elif _begins_with_letters(beside):
            return True
        else:
            node = beside
    return False


def _begins_with_letters(node: Node) -> bool:
    """Numbers of chapters are beside headings, too, that are in links."""
    parts = islice(node.descendants, _NEARBY) if isinstance(node, Element) else (node,)
    return any(isinstance(part, Text) and any(map(str.isalpha, part.data[:_LONGEST_SMALL])) for part in parts)


def _drop_apart(link: Element) -> None:
    """And with what kept it apart from the text before it: a blank at the end of the line, or a dot."""
    around = link.parent
    before = link.previous_sibling
    if isinstance(before, Text):
        text = before.data.rstrip("\xa0") if link.next_sibling is None else before.data
        if text.endswith(("·", "· ")):
            text = text.rstrip("· ")
        if not text.strip():
            before.decompose()
        elif text != before.data:
            before.replace_with(Text(text))
    drop_link(link)
    if isinstance(around, Element) and around.tag == "span" and around.text.strip() in _DIVIDERS:
        around.decompose()  # which kept the link apart from the one beside it


def drop_link(link: Element) -> None:
    """But not the place that others lead to by it."""
    if link.attr("id") is None and link.attr("name") is None:
        link.decompose()
        return
    link.replace_with(place_of(link))


def place_of(link: Element) -> Element:
    place = Element(PLACE)
    place.attrs["id"] = link.attr("id") or link.attr("name") or ""
    return place


def _says_chrome(link: Element, text: str) -> bool:
    """By what it says: "Edit this page" has as many classes as there are themes. Or if it says nothing."""
    words = text.strip().lower()
    if not words:
        return _shows_nothing(link)
    if words in _CHROME_WORDS or (words in _TOGGLES and _leads_nowhere(link)):
        return True
    if (
        words == "view source"
        and isinstance(link.parent, Element)
        and link.parent.text.strip(" |") == text.strip()
    ):
        return True
    if words in _SOURCE_WORDS:
        return not _SOURCE_CLASSES.isdisjoint((link.attr("class") or "").split())
    if words.strip(_INVISIBLE) in _BACK_SIGNS:
        return (link.attr("href") or "").startswith("#")
    return words in _SIGNS and _leads_to_itself(link)


def _shows_nothing(link: Element) -> bool:
    """But perhaps the picture of a chain."""
    pictures = list(islice(link.iter_elements("img"), 2))
    return not pictures or all((each.attr("alt") or "").strip().lower() in _PICTURED for each in pictures)


def _leads_nowhere(link: Element) -> bool:
    return (link.attr("href") or "").partition(":")[0] in ("#", "#!", "javascript")


def _leads_to_itself(link: Element) -> bool:
    """Or to what it is in."""
    _, _, place = (link.attr("href") or "").partition("#")
    names = {place, unquote(place)}  # an id may be written as in the address
    around = (each.attr("id") for each in islice(link.ancestors, _NEARBY) if isinstance(each, Element))
    return bool(place) and (link.attr("id") in names or not names.isdisjoint(around))


def link_share(element: Element) -> float:
    """How much of the text is inside links: near 1 in a bar of links, near 0 in prose."""
    total = len("".join(element.text.split()))
    linked = sum(len("".join(link.text.split())) for link in element.iter_elements("a"))
    return linked / total if total else 1.0
