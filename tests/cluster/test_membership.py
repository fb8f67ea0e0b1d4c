"""Who owns a bucket is decided by PostgreSQL: one at a time, and whoever lost its session writes nothing
more."""

import asyncio

import msgspec
import psycopg
import pytest

from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.state.cluster.holdings import Holdings
from sumi.state.cluster.keys import BUCKETS, bucket_of, first_key, key_of, last_key, runs_of
from sumi.state.cluster.membership import Membership, Place, Taken, fair_share
from sumi.state.cluster.session import Lost, Unreachable, connect
from sumi.state.cluster.timing import Timing
from tests.cluster.between import between
from tests.cluster.conftest import FAST, MakeJob
from tests.postgres import Postgres

PATIENT = Timing()


def test_a_bucket_has_one_owner_and_is_free_as_soon_as_that_one_is_gone(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make().id

    async def scenario() -> None:
        one = await Membership.join(postgres.address(), job, "one", PATIENT)
        two = await Membership.join(postgres.address(), job, "two", PATIENT)
        taken = await one.take(range(BUCKETS))
        assert len(taken) == BUCKETS
        assert all(bucket.in_order for bucket in taken)  # nobody had them before
        assert await two.take([1, 2, 3]) == []
        await one.let_go({1: 7})
        assert await two.take([1, 2]) == [(1, True)]
        await one.connection.close()  # as a kill does
        inherited = await _taken_in_time(two, [2, 3])
        assert not any(bucket.in_order for bucket in inherited)
        await two.bury()
        assert len(await two.living()) == 1
        await two.leave({1: 0, 2: 0, 3: 0})

    asyncio.run(scenario())


async def _taken_in_time(member: Membership, buckets: list[int]) -> list[Taken]:
    """The server notices within milliseconds that a client has gone."""
    found: list[Taken] = []
    while len(found) < len(buckets):
        found += await member.take(buckets)
    return found


def test_a_silent_owner_is_ended_by_the_server_and_can_write_nothing_afterwards(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make().id

    async def scenario() -> None:
        silent = await Membership.join(postgres.address(), job, "silent", FAST)
        heir = await Membership.join(postgres.address(), job, "heir", PATIENT)
        await silent.take([5])
        assert await _taken_in_time(heir, [5]) == [(5, False)]
        with pytest.raises(Lost):
            await silent.let_go({5: 99})
        places = {place.bucket: place for place in await heir.places()}
        assert places[5] == Place(5, busy=False, held=True)  # not the 99 of the other
        await heir.leave({5: 0})
        await silent.close()

    asyncio.run(scenario())


async def _half_a_transaction(still: Membership, heir: Membership) -> None:
    async with still.talking() as connection, connection.transaction():
        await connection.execute("INSERT INTO sumi.note VALUES (%s, 'half', '')", (still.job,))
        assert await _taken_in_time(heir, [5]) == [(5, False)]
        await connection.execute("INSERT INTO sumi.note VALUES (%s, 'rest', '')", (still.job,))


def test_half_a_transaction_of_a_worker_that_stands_still_is_not_there(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make().id

    async def scenario() -> None:
        still = await Membership.join(postgres.address(), job, "still", FAST)
        heir = await Membership.join(postgres.address(), job, "heir", PATIENT)
        await still.take([5])
        with pytest.raises((psycopg.Error, Lost)):
            await _half_a_transaction(still, heir)
        looking = await connect(postgres.address(), PATIENT)
        answer = await looking.execute("SELECT count(*) FROM sumi.note WHERE job = %s", (job,))
        assert await answer.fetchone() == (0,)
        await looking.close()
        await heir.leave({5: 0})
        await still.close()

    asyncio.run(scenario())


def test_what_a_dead_worker_counted_and_reserved_is_not_lost(postgres: Postgres, make: MakeJob) -> None:
    job = make(max_pages=25).id

    async def scenario() -> None:
        one = await Membership.join(postgres.address(), job, "one", PATIENT)
        two = await Membership.join(postgres.address(), job, "two", PATIENT)
        assert await one.reserve(10) == (10, 15)
        assert await two.reserve(20) == (15, 0)
        assert await two.reserve(1) == (0, 0)  # never one more than the limit
        await one.connection.execute(
            """UPDATE sumi.worker SET totals = '{"known": 4, "open page": -1}', pages_held = 7 WHERE id =
            %s""",
            (one.worker,),
        )
        await one.connection.close()
        while len(await two.living()) > 1:
            await asyncio.sleep(0)
        await two.bury()
        word = await two.word()
        assert (word.totals, word.pages_left, word.workers) == ({"known": 4, "open page": -1}, 7, 1)
        await two.leave({})

    asyncio.run(scenario())


def test_whoever_hands_on_what_it_inherited_hands_on_the_wait(postgres: Postgres, make: MakeJob) -> None:
    job = make().id

    async def scenario() -> None:
        heir = await Membership.join(postgres.address(), job, "heir", PATIENT)
        next_one = await Membership.join(postgres.address(), job, "next", PATIENT)
        await heir.take([1, 2])
        await heir.let_go({1: 0, 2: 0}, waiting={2})
        assert sorted(await next_one.take([1, 2])) == [(1, True), (2, False)]
        await next_one.leave({1: 0, 2: 0})
        await heir.leave({})

    asyncio.run(scenario())


def test_a_host_that_comes_back_counts_as_asked_when_it_came() -> None:
    holdings = Holdings(FrontierPolicy(PacingPolicy(delay=1.0)), 0.0)
    schedule = holdings.machine.hosts.schedule
    schedule.pace("a.test")  # somebody asks how long it waits, though it is not ours
    holdings.begin({bucket_of("a.test"): 100.0})
    assert schedule.pace("a.test").asked_at == 100.0
    assert holdings.waiting({bucket_of("a.test")}, 99.0) == {bucket_of("a.test")}
    assert holdings.waiting({bucket_of("a.test")}, 101.0) == set()


def test_buckets_are_shared_evenly_and_busy_ones_first() -> None:
    places = [Place(number, busy=number < 4, held=number < 6) for number in range(8)]
    assert fair_share(places, set(), 2) == ([6, 7], [])  # what is held is not to be had
    assert fair_share(places, {0, 1, 2, 3, 4, 5}, 1) == ([6, 7], [])
    assert fair_share(places, {0, 1, 2, 3, 4, 5}, 2) == ([], [2, 3])
    assert fair_share(places, {0, 1, 4, 5}, 2) == ([], [])
    many = [Place(number, busy=True, held=True) for number in range(32)]
    assert fair_share(many, set(range(17)), 2) == ([], [])  # not for one that runs empty
    assert fair_share(many, set(range(19)), 2) == ([], [16, 17, 18])


def test_a_host_stays_in_its_bucket_and_its_keys_lie_together() -> None:
    for host in ("a.test", "b.test:8080", "www.c.test"):
        bucket = bucket_of(host)
        assert first_key(bucket) <= key_of(host, f"https://{host}/") <= last_key(bucket)
    assert bucket_of("www.a.test") == bucket_of("a.test")
    assert key_of("a.test", "https://a.test/1") != key_of("a.test", "https://a.test/2")
    assert runs_of([5, 1, 2, 9, 3]) == [(1, 3), (5, 5), (9, 9)]
    assert bucket_of("example.org") == 62  # for ever: another number would lose the hosts of every job


def test_a_session_that_the_server_ends_within_a_transaction_is_lost_and_no_fault_of_ours(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make().id
    hasty = msgspec.structs.replace(PATIENT, in_transaction=0.1)

    async def scenario() -> None:
        still = await Membership.join(postgres.address(), job, "still", hasty)
        looking = await connect(postgres.address(), PATIENT)
        process = still.connection.info.backend_pid

        async def stand_still() -> None:
            asking = "SELECT 1 FROM pg_stat_activity WHERE pid = %s"
            async with still.talking() as connection, connection.transaction():
                await connection.execute("SELECT 1")
                while await (await looking.execute(asking, (process,))).fetchone():
                    await asyncio.sleep(0)

        with pytest.raises(Lost):
            await stand_still()
        await looking.close()

    asyncio.run(scenario())


def test_a_worker_whose_server_goes_while_it_connects_may_try_again(
    postgres: Postgres, make: MakeJob
) -> None:
    job = make().id
    with between(postgres.port) as line:
        line.heard = lambda sent: "cut after" if b"set_config" in sent else None
        with pytest.raises(Unreachable) as refused:
            asyncio.run(Membership.join(postgres.address(port=line.port), job, "late", PATIENT))
        assert refused.value.patience > 0


def test_a_worker_that_stands_still_while_it_joins_may_try_again(postgres: Postgres, make: MakeJob) -> None:
    job = make().id
    hasty = msgspec.structs.replace(PATIENT, in_transaction=0.1)
    with between(postgres.port) as line:
        line.heard = lambda sent: "hold before" if b"INSERT INTO sumi.worker" in sent else None
        with pytest.raises(Unreachable) as refused:
            asyncio.run(Membership.join(postgres.address(port=line.port), job, "still", hasty))
        assert refused.value.patience > 0
