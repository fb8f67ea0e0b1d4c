"""What people and agents ask: any text is a query that the index can answer, or is refused with a reason."""

import tempfile
from functools import cache
from pathlib import Path

from fuzz.inputs import as_text
from sumi.corpus.index_store import SearchIndex
from sumi.corpus.query import MOST_TERMS, parse_query
from sumi.corpus.retrieval import candidates
from sumi.errors import UsageError


def check(data: bytes) -> None:
    text = as_text(data)
    try:
        query = parse_query(text)
    except UsageError as error:
        str(error).encode("utf-8", "backslashreplace")
        return
    assert 0 < len(query.terms) <= MOST_TERMS
    candidates(_index(), query, None)
    candidates(_index(), query, [1])


@cache
def _index() -> SearchIndex:
    """Empty: what MATCH makes of a query does not depend on what is there."""
    return SearchIndex(Path(tempfile.mkdtemp()))
