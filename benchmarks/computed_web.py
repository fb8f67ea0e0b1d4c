"""A web whose pages and links are computed from their numbers: any size, no storage, the same everywhere.

Imports nothing, so that a peer can crawl it from its own environment.
"""

CHILDREN = 3  # pages that a page leads to in any case: so all can be reached from the first
POPULAR = 1000  # few pages that every third link goes to, as on the web


class ComputedWeb:
    def __init__(self, pages: int, domains: int, links: int) -> None:
        self.pages, self.domains, self.links = pages, domains, links

    def url(self, number: int) -> str:
        return f"https://d{number % self.domains}.example/articles/{number // self.domains}/{number}"

    def targets(self, number: int) -> list[str]:
        deeper = [CHILDREN * number + n for n in range(1, CHILDREN + 1)]
        found = {n for n in deeper if n < self.pages}
        chance = number + 1
        while len(found) < min(self.links, self.pages):
            chance = chance * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            found.add((chance >> 33) % (POPULAR if chance >> 60 < 5 else self.pages))
        return [self.url(n) for n in found]
