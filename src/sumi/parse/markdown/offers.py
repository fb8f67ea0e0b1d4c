"""What sites say in the midst of a story to lead away from it: to read on elsewhere, to comment, to join."""

import re
from typing import Final

_LONGEST: Final = 160  # letters; a paragraph that goes on is of the story
_LINKED: Final = 0.4
# With a colon or a link: as the beginning of a sentence some of these are words like others.
_READ_ALSO: Final = re.compile(
    r"\W*(?:read (?:more|also|next)|also read|see also|related|more on this|you (?:may|might) (?:also )?like|"
    r"lesen sie|lies auch|lest auch|mehr (?:zum thema|dazu|lesen)|auch interessant|zum weiterlesen|"
    r"passend dazu|das (?:thema )?könnte (?:sie|dich|euch)|(?:à )?lire aussi|voir aussi|à découvrir|"
    r"sur le même sujet|le[ea] (?:también|tambien|também|mais|más)|te puede interesar|ver también|"
    r"veja também|leggi anche|ti potrebbe interessare|lees ook|bekijk ook|läs (?:också|även|mer)|"
    r"læs også|les også|lue myös|"
    r"(?:czytaj|zobacz|przeczytaj|sprawdź|polecamy) ?(?:też|także|również|więcej)?|čtěte (?:také|též)|"
    r"olvass(?:a)? (?:el|tovább)|citește și|vezi și|ayrıca okuyun|читайте (?:также|также|ещё|також)|"
    r"по теме|на ту же тему|関連記事|あわせて読みたい|もっと読む|"
    r"相关阅读|延伸閱讀|推荐阅读|اقرأ أيضا|관련 기사)(?=\W|$)",
    re.IGNORECASE,
)
# As all that a line says.
_ALONE: Final = re.compile(
    r"\W*(?:(?:post|leave|add|write) (?:a|your) (?:comment|reply)|"
    r"(?:schreibe?|hinterlasse?|verfasse)n? (?:sie )?(?:einen |deinen )?kommentar|"
    r"kommentar (?:schreiben|verfassen|hinterlassen)|deja (?:un|tu) comentario|"
    r"laisser un commentaire|lascia un commento|share this(?: \w+)?|(?:artikel|beitrag) (?:teilen|drucken)|"
    r"last (?:modified|updated?)|read more|weiterlesen|lire la suite|leer más|leggi tutto|lees meer|"
    r"you (?:may|might) also like|related (?:articles|posts|stories|links)|ähnliche (?:artikel|beiträge)|"
    r"das (?:thema )?könnte (?:sie|dich|euch) auch interessieren|zum weiterlesen|mehr zum thema|"
    r"articles (?:similaires|liés)|artículos relacionados|artigos relacionados|関連記事|相关阅读)\W*",
    re.IGNORECASE,
)


def is_offer(text: str, linked: int) -> bool:
    """``linked``: how many of its letters are in links."""
    if len(text) > _LONGEST:
        return False
    if _ALONE.fullmatch(text) is not None:
        return True
    found = _READ_ALSO.match(text)
    return found is not None and (linked > _LINKED * len(text) or text[found.end() : found.end() + 1] == ":")
