"""Which part of a large map is drawn: every domain as far as possible, of each its pages most linked to."""

from collections.abc import Sequence
from typing import Final, NamedTuple

# More than this and a browser is slow to draw, and nobody finds anything.
MOST_NODES: Final = 20_000
MOST_LINKS: Final = 200_000


class Selection(NamedTuple):
    domains: list[int]  # positions, those with most pages first
    pages: list[list[int]]  # for each of these domains, positions, the most linked to first


def select(domain_of: Sequence[int], domain_count: int, linked: Sequence[int], most: int) -> Selection:
    """No more pages than ``most``, each domain its share and at least one."""
    by_domain: list[list[int]] = [[] for _ in range(domain_count)]
    for page, domain in enumerate(domain_of):
        by_domain[domain].append(page)
    domains = sorted(range(domain_count), key=lambda one: -len(by_domain[one]))[:most]
    total = sum(len(by_domain[domain]) for domain in domains)
    spare = max(0, most - len(domains))  # beyond the one page that each domain has for certain
    chosen = []
    for domain in domains:
        pages = sorted(by_domain[domain], key=lambda page: -linked[page])
        share = len(pages) if total <= most else 1 + spare * len(pages) // total
        chosen.append(pages[:share])
    return Selection(domains, chosen)
