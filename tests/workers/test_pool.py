"""Pages are digested in processes that may die: only the page at fault is blamed, and the crawl continues."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import uvloop

from sumi.errors import SumiError
from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.policy import SITEMAP_BYTES, Preset
from sumi.workers.pool import InProcessDigester, WorkerPool, times_as_long

WORKER = (sys.executable, "-P", str(Path(__file__).with_name("misbehaving_worker.py")))
READY = "import os, signal, sys; os.write(0, bytes(4)); "

Run = Callable[[Callable[[], Awaitable[None]]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def run(story: Callable[[], Awaitable[None]]) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(60):
                await story()

        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(bounded())

    return run


def page(name: str, body: bytes = b"text") -> DigestRequest:
    return DigestRequest(f"https://h.example/{name}", body, "text/html", Kind.PAGE, Preset.MIRROR)


def pool(processes: int = 1, **limits: float) -> WorkerPool:
    return WorkerPool(processes, command=WORKER, **limits)  # type: ignore[arg-type]  # ints where ints belong


async def digest_all(workers: WorkerPool, names: list[str]) -> list[PageDigest | Undigested]:
    try:
        return await asyncio.gather(*(workers.digest(page(name)) for name in names))
    finally:
        await workers.aclose()


def outcome_of(result: PageDigest | Undigested) -> Outcome:
    return result.verdict.outcome if isinstance(result, Undigested) else Outcome.CAPTURED


def test_every_page_gets_its_own_answer(run: Run) -> None:
    async def story() -> None:
        names = [f"page{number}" for number in range(200)]
        results = await digest_all(pool(2), names)
        assert [result.links for result in results if isinstance(result, PageDigest)] == [
            [page(name).url] for name in names
        ]

    run(story)


def test_pages_are_digested_at_the_same_time(run: Run, tmp_path: Path) -> None:
    meeting_point = tmp_path / "pipe"
    os.mkfifo(meeting_point)

    async def story() -> None:
        workers = pool(2)
        bodies = [f"{meeting_point}\n{mode}".encode() for mode in ("rb", "wb")]
        results = await asyncio.gather(*(workers.digest(page("meet", body)) for body in bodies))
        await workers.aclose()
        assert len({result.title for result in results if isinstance(result, PageDigest)}) == 2

    run(story)


def test_a_page_behind_a_slow_one_is_taken_by_another_worker(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sumi.workers.pool._TICKS", 1000)

    async def story() -> None:
        workers = pool(2, wall_seconds=60.0)
        await asyncio.gather(*(workers.digest(page(name)) for name in ("a", "b")))
        slow = asyncio.create_task(workers.digest(page("wait")))
        others = await asyncio.gather(*(workers.digest(page(f"p{number}")) for number in range(8)))
        assert {outcome_of(result) for result in others} == {Outcome.CAPTURED}
        assert not slow.done()
        await workers.aclose()
        with pytest.raises(SumiError):
            await slow

    run(story)


@pytest.mark.parametrize("size", [0, 1, 65_536, 3_000_000, 32 * 1024 * 1024])
def test_bodies_of_any_size_arrive_whole(run: Run, size: int) -> None:
    async def story() -> None:
        body = (b"0123456789abcde\xe9" * (size // 16 + 1))[:size]
        workers = pool()
        result = await workers.digest(page("big", body))
        await workers.aclose()
        assert isinstance(result, PageDigest)
        assert (result.markdown or "").encode("latin-1") == body

    run(story)


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("segfault", Outcome.PARSE_FAILED, "worker died: signal 11 (SIGSEGV)"),
        ("killed", Outcome.PARSE_FAILED, "worker died: signal 9 (SIGKILL)"),
        ("exit", Outcome.PARSE_FAILED, "worker died: exit code 3"),
        ("raise", Outcome.PARSE_FAILED, "worker died: exit code 1, ValueError: bad?[31m page"),
        ("surrogate", Outcome.PARSE_FAILED, "'utf-8' codec"),
        ("spin", Outcome.PARSE_LIMIT, "more than 2 s of CPU time"),
        ("swell", Outcome.PARSE_LIMIT, "more memory than allowed for a page"),
        ("refuse", Outcome.NOT_HTML, "an image"),
    ],
)
def test_a_page_that_breaks_its_worker_is_the_only_one_that_fails(
    run: Run, name: str, outcome: Outcome, words: str
) -> None:
    async def story() -> None:
        workers = pool(cpu_seconds=2, memory_bytes=256 * 1024 * 1024)
        before, broken, *after = await digest_all(workers, ["a", name, "b", "c", "d"])
        assert isinstance(broken, Undigested)
        assert broken.verdict.outcome is outcome
        assert broken.verdict.rule.startswith(words)
        assert {outcome_of(result) for result in (before, *after)} == {Outcome.CAPTURED}

    run(story)


@pytest.mark.parametrize("place", [0, 1, 7, 39])
def test_of_many_small_pages_sent_together_only_the_one_that_crashes_is_blamed(run: Run, place: int) -> None:
    async def story() -> None:
        names = [f"page-{number}" for number in range(40)]
        names.insert(place, "segfault")
        results = await digest_all(pool(), names)
        failed = [name for name, result in zip(names, results, strict=True) if isinstance(result, Undigested)]
        assert failed == ["segfault"]

    run(story)


def test_a_page_that_never_ends_is_given_up_after_the_wall_limit(run: Run) -> None:
    async def story() -> None:
        results = await digest_all(pool(wall_seconds=1.0), ["wait", "a", "b"])
        assert [outcome_of(result) for result in results] == [
            Outcome.PARSE_LIMIT,
            Outcome.CAPTURED,
            Outcome.CAPTURED,
        ]

    run(story)


def test_breaking_pages_in_a_row_are_each_blamed_for_themselves(run: Run) -> None:
    async def story() -> None:
        names = ["segfault", "exit", "good", "killed", "segfault", "good"] * 2
        results = await digest_all(pool(2), names)
        assert [outcome_of(result) for result in results] == [
            Outcome.CAPTURED if name == "good" else Outcome.PARSE_FAILED for name in names
        ]

    run(story)


def test_a_worker_killed_between_pages_costs_no_page(run: Run) -> None:
    async def story() -> None:
        workers = pool()
        first = await workers.digest(page("first"))
        assert isinstance(first, PageDigest)
        os.kill(int(first.title or ""), signal.SIGKILL)
        results = await digest_all(workers, ["a", "b", "c"])
        assert {outcome_of(result) for result in results} == {Outcome.CAPTURED}

    run(story)


def test_what_a_parser_prints_disturbs_nothing(run: Run) -> None:
    async def story() -> None:
        results = await digest_all(pool(), ["chatter", "segfault", "a"])
        assert [outcome_of(result) for result in results] == [
            Outcome.CAPTURED,
            Outcome.PARSE_FAILED,
            Outcome.CAPTURED,
        ]

    run(story)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_meant_for_the_crawler_do_not_end_a_worker(run: Run, number: signal.Signals) -> None:
    async def story() -> None:
        workers = pool()
        first = await workers.digest(page("first"))
        assert isinstance(first, PageDigest)
        os.kill(int(first.title or ""), number)
        second = await workers.digest(page("second"))
        await workers.aclose()
        assert isinstance(second, PageDigest)
        assert second.title == first.title

    run(story)


def test_workers_are_replaced_after_so_many_pages_and_no_page_is_lost(run: Run) -> None:
    async def story() -> None:
        workers = pool(recycle_after=10)
        served_by: set[str | None] = set()
        while len(served_by) < 3:  # a worker serves on until the next one is ready
            result = await workers.digest(page("any"))
            assert isinstance(result, PageDigest)
            served_by.add(result.title)
        await workers.aclose()

    run(story)


def test_a_cancelled_caller_leaves_the_others_alone(run: Run) -> None:
    async def story() -> None:
        workers = pool()
        tasks = [asyncio.create_task(workers.digest(page(f"p{number}"))) for number in range(6)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        tasks[4].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await workers.aclose()
        answered = [number for number, result in enumerate(results) if isinstance(result, PageDigest)]
        assert answered == [1, 2, 3, 5]

    run(story)


def test_closing_fails_those_who_wait_and_blames_no_page(run: Run) -> None:
    async def story() -> None:
        workers = pool()
        await workers.digest(page("first"))
        waiting = [asyncio.create_task(workers.digest(page(name))) for name in ("wait", "a", "b")]
        await asyncio.sleep(0)
        await workers.aclose()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [SumiError] * 3
        with pytest.raises(SumiError, match="closed"):
            await workers.digest(page("late"))

    run(story)


def test_closing_twice_or_unused_is_fine(run: Run) -> None:
    async def story() -> None:
        workers = pool()
        await workers.aclose()
        await workers.aclose()

    run(story)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("/nonexistent/sumi-worker",), "No such file"),
        ((sys.executable, "-c", "raise SystemExit('no such module')"), "no such module"),
        ((sys.executable, "-c", "import os; os.write(0, b'HTTP/1.1 200 OK')"), "invalid message"),
    ],
    ids=["missing", "exits", "garbage"],
)
def test_workers_that_cannot_start_are_reported_not_respawned_endlessly(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr("sumi.workers.pool._FIRST_PAUSE", 0.001)

    async def story() -> None:
        workers = WorkerPool(2, command=command)
        with pytest.raises(SumiError, match=f"do not start: .*{words}"):
            await workers.digest(page("any"))
        await workers.aclose()

    run(story)


# Of four in a row the last one is a worker.
EVERY_FOURTH = """
import os, runpy, sys
folder, worker, *rest = sys.argv[1:]
open(f"{folder}/{os.getpid()}", "w").close()
if len(os.listdir(folder)) % 4:
    sys.exit("not now")
sys.argv = [worker, *rest]
runpy.run_path(worker, run_name="__main__")
"""


def test_starts_that_fail_now_and_then_do_not_add_up_to_the_end_of_a_run(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sumi.workers.pool._FIRST_PAUSE", 0.001)

    async def story() -> None:
        workers = WorkerPool(1, command=(sys.executable, "-P", "-c", EVERY_FOURTH, str(tmp_path), WORKER[-1]))
        for _ in range(3):
            assert outcome_of(await workers.digest(page("good"))) is Outcome.CAPTURED
            assert outcome_of(await workers.digest(page("segfault"))) is Outcome.PARSE_FAILED
        await workers.aclose()

    run(story)


# The first to come is a worker; the others end without having served, once it has.
ONLY_ONE = """
import os, runpy, sys, time
folder, worker, *rest = sys.argv[1:]
open(f"{folder}/{os.getpid()}", "w").close()
try:
    os.mkdir(f"{folder}/first")
except FileExistsError:
    while not os.path.exists(f"{folder}/served"):
        time.sleep(0.01)
    sys.exit("there is one")
sys.argv = [worker, *rest]
runpy.run_path(worker, run_name="__main__")
"""


def test_while_one_worker_serves_others_that_do_not_start_end_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sumi.workers.pool._FIRST_PAUSE", 0.001)
    too_many = 10  # entries: the two that are no starts, the one that serves, and seven that do not

    async def story() -> None:
        workers = WorkerPool(2, command=(sys.executable, "-P", "-c", ONLY_ONE, str(tmp_path), WORKER[-1]))
        assert outcome_of(await workers.digest(page("one"))) is Outcome.CAPTURED
        (tmp_path / "served").touch()
        while len(os.listdir(tmp_path)) < too_many:
            assert outcome_of(await workers.digest(page("another"))) is Outcome.CAPTURED
        await workers.aclose()

    run(story)


@pytest.mark.parametrize(
    "reply",
    [b"\0\0\0\x05hello", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x05\x91\x81\xa1a\xc0"],
    ids=["not msgpack", "huge length", "empty", "wrong shape"],
)
def test_an_answer_that_makes_no_sense_fails_its_page_only(run: Run, reply: bytes) -> None:
    begin = "os.pwrite(1, (1).to_bytes(8, 'big'), 0); os.read(0, 9); "
    speak = READY + begin + f"os.write(0, {reply!r}); signal.pause()"

    async def story() -> None:
        workers = WorkerPool(1, command=(sys.executable, "-c", speak))
        results = [await workers.digest(page(name)) for name in ("a", "b")]
        await workers.aclose()
        assert [outcome_of(result) for result in results] == [Outcome.PARSE_FAILED] * 2

    run(story)


PARENT = """
import asyncio, sys
from sumi.workers.pool import WorkerPool
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest
from sumi.policy import Preset

async def main():
    pool = WorkerPool(1, command=sys.argv[2:])
    def page(name): return DigestRequest(f"https://h/{name}", b"", "text/html", Kind.PAGE, Preset.MIRROR)
    print((await pool.digest(page("first"))).title, flush=True)
    await pool.digest(page(sys.argv[1]))
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches a process that is not its child")
@pytest.mark.parametrize("second_page", ["fine", "wait", "spin"])
def test_a_crawler_that_is_killed_leaves_no_worker_behind(second_page: str) -> None:
    command = [sys.executable, "-c", PARENT, second_page, *WORKER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        worker = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    try:
        ended, _, _ = select.select([worker], [], [], 30)
        assert ended
    finally:
        os.close(worker)


def test_real_pages_are_digested_alike_in_a_process_and_without(run: Run) -> None:
    body = b"<html lang=en><title>T</title><body><main><h1>T</h1><p><a href='/b'>b</a> text</p></main>"
    request = DigestRequest("https://h.example/a", body, "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)

    async def story() -> None:
        results = []
        for digester in (WorkerPool(1), InProcessDigester()):
            results.append(await digester.digest(request))
            await digester.aclose()
        assert isinstance(results[0], PageDigest)
        assert results[0].links == ["https://h.example/b"]
        assert results[0] == results[1]

    run(story)


def test_without_a_process_too_memory_that_runs_out_costs_one_page(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def swell(request: DigestRequest) -> PageDigest:
        raise MemoryError

    monkeypatch.setattr("sumi.parse.page.digester.digest", swell)

    async def story() -> None:
        assert outcome_of(await InProcessDigester().digest(page("any"))) is Outcome.PARSE_LIMIT

    run(story)


def test_a_body_as_large_as_a_thousand_pages_may_take_longer_than_a_page() -> None:
    assert times_as_long(0) == times_as_long(8 * 1024 * 1024) == 1
    assert times_as_long(SITEMAP_BYTES) > 6
