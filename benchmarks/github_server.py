"""``python -m benchmarks.github_server REPOS SEED PORT``: the simulated GitHub, composed beforehand.

Every page is made once, before the port opens, so that a crawl shares the machine with as little as can be:
an answer costs one look into a dict. Only for loopback.
"""

import sys

import uvloop

from benchmarks.answering import answer_for_ever
from tests.site.github import HOST, GithubWorld
from tests.site.github_answers import Github
from tests.site.wire import Asked


class Answers:
    """Complete responses by path. What no page of the world's list is, is composed when first asked for."""

    def __init__(self, world: GithubWorld, port: int) -> None:
        self._site = Github(world)
        self._host = {"host": f"{HOST}:{port}"}
        self._ready = {path: self._compose(path) for path, _ in world.pages()}

    def response(self, path: str, _: bytes) -> bytes:
        known = self._ready.get(path)
        if known is None:
            known = self._ready[path] = self._compose(path)
        return known

    def _compose(self, path: str) -> bytes:
        return self._site.answer(Asked("GET", path, self._host)).encode()


if __name__ == "__main__":
    port = int(sys.argv[3])
    made = Answers(GithubWorld(int(sys.argv[1]), int(sys.argv[2])), port)
    uvloop.run(answer_for_ever(made.response, port))
