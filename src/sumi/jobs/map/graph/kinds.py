"""What each domain of a map is, by what the database says of its pages."""

from enum import StrEnum

import apsw


class DomainKind(StrEnum):
    QUALITY = "quality"
    DISCOVERED = "discovered"
    STUBBED = "stubbed"
    BLACKLISTED = "blacklisted"


# Later ones win: a domain that was put on a list after it was crawled is what the list says.
_EVIDENCE = (
    (DomainKind.DISCOVERED, "SELECT DISTINCT domain FROM pages"),
    # Only pages of quality domains are no link away from one.
    (
        DomainKind.QUALITY,
        "SELECT DISTINCT domain FROM page_depths JOIN pages ON pages.id = page_id WHERE depth = 0",
    ),
    (DomainKind.STUBBED, "SELECT DISTINCT domain FROM stubbed_urls"),
    (DomainKind.BLACKLISTED, "SELECT DISTINCT domain FROM blacklisted_urls"),
)


def domain_kinds(db: apsw.Connection) -> dict[str, DomainKind]:
    return {domain: kind for kind, query in _EVIDENCE for (domain,) in db.execute(query)}
