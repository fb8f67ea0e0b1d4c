"""No statement that a crawl repeats reads a whole table, however large the job is."""

import asyncio
import uuid

import msgspec
import pytest

from sumi.state.cluster import batch, membership, rows
from sumi.state.cluster.keys import first_key, last_key
from sumi.state.cluster.session import connect
from sumi.state.cluster.timing import Timing
from tests.cluster.conftest import MakeJob
from tests.postgres import Postgres

KEY = uuid.UUID(int=5)
# With what stands for each parameter. Rows that are inserted touch nothing else; these read.
REPEATED = {
    "changed": (batch._CHANGED, ([KEY], *[["a"]] * 4, [1], [1.0], [1], *[["a"]] * 4, [1], 1)),
    "amended": (batch._AMENDED, ([KEY], [1], ["{}"], 1)),
    "taken in": (batch._TAKEN_IN, ([1], [1], 1)),
    "let go": (batch._OPEN, ([1], [1], 1)),
    "robots": (f"{rows._ROBOTS} AND origin = ANY(%s)", (1, ["https://a.test"])),
    "mail": (
        "SELECT bucket, id, items FROM sumi.mail WHERE job = %s AND bucket = ANY(%s) ORDER BY bucket, id",
        (1, [1, 2]),
    ),
    "bucket": (
        "SELECT * FROM sumi.url WHERE job = %s AND key BETWEEN %s AND %s",
        (1, first_key(3), last_key(3)),
    ),
    "word": (membership._WORD, (1,)),
    "crew": (membership._CREW, (30.0, 1, 1)),
}
SMALL = {"job", "worker", "bucket"}  # a row for each job and worker; a thousand for a job


@pytest.mark.parametrize("name", REPEATED)
def test_what_is_repeated_uses_an_index(postgres: Postgres, make: MakeJob, name: str) -> None:
    make()
    text, values = REPEATED[name]

    async def plan() -> object:
        connection = await connect(postgres.address(), Timing())
        try:
            await connection.execute("SET enable_seqscan = off")  # as if all tables were large
            answer = await connection.execute(f"EXPLAIN (FORMAT JSON) {text}", values)
            row = await answer.fetchone()
            assert row is not None
            return row[0]
        finally:
            await connection.close()

    found = msgspec.json.encode(asyncio.run(plan())).decode()
    assert scanned(msgspec.json.decode(found)) <= SMALL


def scanned(node: object) -> set[str]:
    """Tables that are read from end to end."""
    if isinstance(node, list):
        return set().union(*map(scanned, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = {str(node["Relation Name"])} if node.get("Node Type") == "Seq Scan" else set()
    return own.union(*map(scanned, node.values()))
