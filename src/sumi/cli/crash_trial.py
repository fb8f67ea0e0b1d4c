"""``sumi doctor --crash``: mirrors a site, kills every run but the last, and examines the result."""

import asyncio
import contextlib
import io
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from sumi.cli.demo import serving
from sumi.errors import NotWritable, SumiError
from sumi.jobs.mirror.markdown_page import HEAD_END
from sumi.outcomes import Outcome
from sumi.policy import StateBackend
from sumi.state.check import ledger_violations
from sumi.state.folder import STATE_FOLDER, open_snapshot

_PAGES = 200
# Slow enough that ten killed runs do not finish the site between them.
_PAGES_PER_SECOND = 100
_PATIENCE_SECONDS = 300.0
_LOOK_SECONDS = 0.005

Tell = Callable[[str], None]


class _Listed(msgspec.Struct):
    url: str
    path: str
    size_bytes: int
    sha256: str


class _Manifest(msgspec.Struct):
    pages: list[_Listed]
    crawl_completed: str | None


class TrialPage(NamedTuple):
    path: str
    sentence: str


class Limit(NamedTuple):
    """How far a run may get."""

    seconds: float = _PATIENCE_SECONDS
    urls: float = math.inf


class CrashTrial:
    def __init__(self, below: Path, state: StateBackend, kills: int, seed: int, tell: Tell) -> None:
        self._below = below
        self._state = state
        self._kills = kills
        self._chance = random.Random(seed)  # noqa: S311 - which moment, not which secret
        self._tell = tell

    def run(self) -> list[str]:
        """What was found broken. The folder is removed, unless something is broken."""
        try:
            folder = Path(tempfile.mkdtemp(prefix="sumi-doctor-", dir=self._below))
        except OSError as error:
            raise NotWritable(
                f"cannot write to {self._below}: {error.strerror}; choose another folder"
            ) from None
        faults = ["the trial was not finished"]
        try:
            faults = self._in(folder)
        finally:
            if faults:
                self._tell(f"kept for inspection: {folder}")
            else:
                shutil.rmtree(folder, ignore_errors=True)
        return faults

    def _in(self, folder: Path) -> list[str]:
        (folder / "site").mkdir()
        pages = write_site(folder / "site", _PAGES)
        # The server would print a traceback for every connection that a kill cut off.
        with contextlib.redirect_stderr(io.StringIO()), serving(folder / "site") as origin:
            self._tell(
                f"crash trial in {folder}: a site of {len(pages)} pages at {origin}, state in {self._state}"
            )
            seconds, failure = self._left_alone(origin, folder / "whole", "for comparison")
            if failure:
                return [failure]
            output = folder / "killed"
            killed = self._kill_again_and_again(origin, output, seconds)
            _, failure = self._left_alone(origin, output, "last run")
            faults = [failure] if failure else []
            faults += examine(output, folder / "whole", origin, pages)
        if not killed:
            faults.append("every run ended before it could be killed")
        if not faults:
            self._tell(f"  examined: {len(pages)} pages, once each and whole; none settled twice")
        return faults

    def _left_alone(self, origin: str, output: Path, which: str) -> tuple[float, str]:
        """How long the run took, and what went wrong."""
        started = time.monotonic()
        with self._mirroring(origin, output) as process:
            code = process.wait(_PATIENCE_SECONDS)
        seconds = time.monotonic() - started
        self._tell(f"  {which}: not killed, {seconds:.1f} s, exit code {code}")
        if code == 0:
            return seconds, ""
        said = _log_of(output).read_text(errors="replace").strip().splitlines() or ["no message"]
        return seconds, f"a run that was not killed ended with exit code {code}: {said[-1]}"

    def _kill_again_and_again(self, origin: str, output: Path, whole_seconds: float) -> int:
        """Every third run is killed while it starts, the others in the middle of their share of the work."""
        killed = 0
        for number in range(1, self._kills + 1):
            if number % 3 == 0:
                limit = Limit(seconds=self._chance.uniform(0, whole_seconds / 4))
            else:
                before = recorded(output)
                share = (_PAGES - before) / (self._kills - number + 1)
                limit = Limit(urls=before + max(1, round(share * self._chance.uniform(0.2, 1))))
            was_killed = self._killed_at(limit, origin, output)
            killed += was_killed
            words = "killed" if was_killed else "had nothing left to do"
            self._tell(f"  run {number:>2}: {words}; {recorded(output)} URLs done so far")
        return killed

    def _killed_at(self, limit: Limit, origin: str, output: Path) -> bool:
        started = time.monotonic()
        with self._mirroring(origin, output) as process:
            while process.poll() is None:
                if time.monotonic() - started >= limit.seconds or recorded(output) >= limit.urls:
                    return True
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
        return False

    def _mirroring(self, origin: str, output: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
        words = ["mirror", f"{origin}/", "--output", str(output), "--state", self._state]
        pace = ["--rate-limit", "0", "--content-rate-limit", str(_PAGES_PER_SECOND), "--per-host", "4"]
        return _running([*words, *pace, "--quiet", "--min-free", "0"], _log_of(output))


@contextlib.contextmanager
def _running(words: list[str], log_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A separate process; when the block ends, it and all its workers are killed."""
    with log_path.open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "sumi", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _log_of(output: Path) -> Path:
    return output.with_suffix(".log")


def recorded(output: Path) -> int:
    """How many URLs the runs so far have recorded as done."""
    return sum(len(path.read_bytes().splitlines()) for path in output.glob("*/_processed.txt"))


def examine(output: Path, whole: Path, origin: str, expected: list[TrialPage]) -> Iterator[str]:
    """Every way in which the killed mirror differs from the site, and from a mirror that was not killed."""
    found, compared = _manifest(output), _manifest(whole)
    if found is None or compared is None:
        yield "there is no manifest"
        return
    home, manifest = found
    times = Counter(page.url for page in manifest.pages)
    yield from (f"lost: {page.path}" for page in expected if not times[origin + page.path])
    yield from (f"recorded {count} times: {url}" for url, count in times.items() if count > 1)
    sentences = {origin + page.path: page.sentence for page in expected}
    yield from (f"not requested: {url}" for url in times if url not in sentences)
    hashes = {page.url: page.sha256 for page in compared[1].pages}
    for page in manifest.pages:
        wrong = _file_fault(home / page.path, page, sentences.get(page.url, ""))
        if wrong or hashes.get(page.url) != page.sha256:
            yield f"{page.path}: {wrong or 'differs from the mirror that was not killed'}"
    yield from asyncio.run(_state_faults(home / STATE_FOLDER))


def _manifest(output: Path) -> tuple[Path, _Manifest] | None:
    for path in output.glob("*/_manifest.json"):
        with contextlib.suppress(msgspec.MsgspecError):
            return path.parent, msgspec.json.decode(path.read_bytes(), type=_Manifest)
    return None


def _file_fault(path: Path, page: _Listed, sentence: str) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        return str(error.strerror)
    body = data.partition(HEAD_END)[2]
    if len(data) != page.size_bytes or sha256(body).hexdigest() != page.sha256:
        return "not the recorded content"
    return "" if sentence.encode() in body else "another page's content"


async def _state_faults(state: Path) -> list[str]:
    """Contradictions in the stored state. A page is captured exactly once, whatever was killed."""
    try:
        store = open_snapshot(state, time.time())
    except (SumiError, OSError) as error:
        return [f"the state cannot be read: {error}"]
    try:
        faults = [words async for words in ledger_violations(store, 0)]
        async for record in store.records({Outcome.CAPTURED}):
            times = sum(attempt.outcome is Outcome.CAPTURED for attempt in await store.history(record.url))
            if times != 1:
                faults.append(f"settled {times} times: {record.url}")
    finally:
        await store.aclose()
    return faults


# ── a site for the trial: every page has a sentence, and words, that no other page has ──────────────────────

_NEIGHBOURS = (1, 2, 7, 31)
_SYLLABLES = tuple(first + vowel for first in "bdfghklmnprstvz" for vowel in ("a", "e", "i", "o", "u", "ei"))
_PARAGRAPHS = 8
_SECTIONS = 12


def write_site(folder: Path, count: int) -> list[TrialPage]:
    """A front page, pages that link to each other, and a sitemap, in which the server fills in ``{origin}``.

    Names and texts are random, but the same each time, so that nothing looks like a trap or a duplicate.
    """
    chance = random.Random(count)  # noqa: S311 - words, not secrets
    sections = [_words(chance, 1) for _ in range(_SECTIONS)]
    pages = [TrialPage("/", "This is the front page and no other.")]
    for number in range(1, count):
        path = f"/{chance.choice(sections)}/{_words(chance, 2).replace(' ', '-')}-{number}.html"
        pages.append(TrialPage(path, f"This is page {number} and no other."))
    for number, page in enumerate(pages):
        file = folder / (page.path[1:] or "index.html")
        file.parent.mkdir(exist_ok=True)
        file.write_text(_html(pages, number, chance), encoding="utf-8")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow:\nSitemap: {origin}/sitemap.xml\n")
    urls = "".join(f"<url><loc>{{origin}}{page.path}</loc></url>\n" for page in pages)
    head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    (folder / "sitemap.xml").write_text(f"{head}{urls}</urlset>\n")
    return pages


def _html(pages: list[TrialPage], number: int, chance: random.Random) -> str:
    links = [pages[(number + step) % len(pages)].path for step in _NEIGHBOURS]
    body = "".join(f"<p>{_words(chance, 60)}.</p>\n" for _ in range(_PARAGRAPHS))
    menu = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    title = _words(chance, 3).capitalize()
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1>\n"
        f"<p>{pages[number].sentence}</p>\n{body}<ul>{menu}</ul></body></html>\n"
    )


def _words(chance: random.Random, count: int) -> str:
    return " ".join("".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(count))
