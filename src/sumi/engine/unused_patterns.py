"""Patterns of a user that no URL matched: most of them are written in the syntax of another program."""

from sumi.ports import Ledger
from sumi.scope import Scope
from sumi.scope.patterns import path_pattern
from sumi.urls import split
from sumi.urls.identity import tidy_escapes

_MOST_NAMED = 5


async def unused_patterns(ledger: Ledger, scope: Scope) -> tuple[str, ...]:
    left = {text: path_pattern(text) for text in (*scope.include, *scope.exclude)}
    if not left:
        return ()
    async for record in ledger.records():
        path = tidy_escapes(split(record.url).path)
        left = {text: pattern for text, pattern in left.items() if not pattern.matches(path)}
        if not left:
            return ()
    return tuple(
        f"no URL matched the pattern {text}: patterns are globs, with *, ** and ? only, or regular "
        "expressions after re:"
        for text in list(left)[:_MOST_NAMED]
    )
