"""A mirror is a tree of Markdown files; its manifest, contents and logs always agree with the ledger."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sumi.errors import OutputRefused
from sumi.events import Progress
from sumi.jobs.mirror.output import MarkdownTree
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Response, Timing
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Attempt, FrontierStats, Output, RobotsRecord, UrlRecord

T = TypeVar("T")

HOME = "example.com"
SITE = "https://example.com/"
NOON = 1_767_441_600.0  # 2026-01-03T12:00:00Z
CANARY = "\x1b[31m\r\n\t\u202e|](x) <b>`*_\\\x9b\ud800"


class FakeClock:
    def __init__(self, now: float = NOON) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    async def sleep_until(self, when: float) -> None:
        self.time = max(self.time, when)

    async def wait(self, event: asyncio.Event, until: float) -> None:
        event.set()


class FakeLedger:
    """What the store would know, in discovery order."""

    def __init__(self) -> None:
        self.rows: dict[str, UrlRecord] = {}
        self.notes: dict[str, str] = {}

    def settle(
        self,
        url: str,
        outcome: Outcome,
        *,
        facts: PageFacts | None = None,
        rule: str = "",
        kind: Kind = Kind.PAGE,
    ) -> None:
        at = NOON + len(self.rows)
        self.rows[url] = UrlRecord(
            url, Hop.LINK, kind, 1, SITE, outcome, rule, at, attempts=0, facts=facts or PageFacts()
        )

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        wanted = None if outcomes is None else set(outcomes)
        for row in self.rows.values():
            if wanted is None or row.outcome in wanted:
                yield row

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        for row in self.rows.values():
            if row.outcome is Outcome.PENDING and row.facts != PageFacts():
                yield row

    async def record(self, url: str) -> UrlRecord | None:
        return self.rows.get(url)

    async def history(self, url: str) -> list[Attempt]:
        return []

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return None

    async def put_robots(self, record: RobotsRecord) -> None:
        return None

    async def get_note(self, key: str) -> str | None:
        return self.notes.get(key)

    async def put_note(self, key: str, value: str) -> None:
        self.notes[key] = value

    def stats(self, pending: int = 0) -> FrontierStats:
        counts: dict[Outcome, int] = {}
        for row in self.rows.values():
            counts[row.outcome] = counts.get(row.outcome, 0) + 1
        return FrontierStats(len(self.rows) + pending, pending, 0, counts, 0, counts.get(Outcome.CAPTURED, 0))


class Mirror:
    """A tree, its ledger and its folder, driven as the engine does: output, then settlement, then logs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / HOME
        self.ledger = FakeLedger()
        self.clock = FakeClock()
        self.tree = self.reopened()

    def reopened(self) -> MarkdownTree:
        self.tree = MarkdownTree(self.root, HOME, SITE, self.clock)
        run(self.tree.load(self.ledger))
        return self.tree

    def capture(self, url: str, markdown: str = "text\n", **meta: Any) -> PageFacts:
        output: Output = self.tree
        facts = run(output.accept(lease(url), response(), PageDigest([], markdown=markdown, **meta)))
        self.ledger.settle(url, Outcome.CAPTURED, facts=facts)
        run(output.settled(lease(url), Verdict(Outcome.CAPTURED), NOON, facts))
        return facts

    def end(self, url: str, outcome: Outcome, rule: str = "") -> None:
        verdict = Verdict(outcome, rule)
        run(self.tree.note_ending(lease(url), verdict, NOON))
        self.ledger.settle(url, outcome, rule=rule)
        run(self.tree.settled(lease(url), verdict, NOON, PageFacts()))

    def finish(self, pending: int = 0) -> dict[str, Any]:
        run(self.tree.finish(self.ledger, self.ledger.stats(pending)))
        return self.json("_manifest.json")

    def json(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.home / name).read_bytes())
        return content

    def lines(self, name: str) -> list[str]:
        """As a script would read them: by newline and nothing else."""
        return (self.home / name).read_bytes().decode().split("\n")[:-1]

    def page_files(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob("index.md")}


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def lease(url: str) -> Lease:
    return Lease(Candidate(url), "example.com", token=1, deadline=NOON + 60)


def response(*headers: tuple[str, str]) -> Response:
    timing = Timing(NOON - 2, NOON - 1.75, NOON)
    return Response(SITE, 200, (("content-type", "text/html"), *headers), b"<html>", timing)


def split_page(content: str) -> tuple[dict[str, Any], str]:
    _, head, body = content.split("---\n", 2)
    fields: dict[str, Any] = yaml.safe_load(head)
    return fields, body.removeprefix("\n")


def links_of(markdown: str) -> list[tuple[str, str]]:
    """(target, text) of every link that a CommonMark parser sees."""
    found = []
    for block in MarkdownIt().parse(markdown):
        children = block.children or []
        for position, token in enumerate(children):
            if token.type == "link_open":
                end = next(i for i in range(position, len(children)) if children[i].type == "link_close")
                text = "".join(child.content for child in children[position + 1 : end])
                found.append((str(token.attrs["href"]), text))
    return found


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "output")


def test_a_page_is_its_front_matter_and_its_markdown(mirror: Mirror) -> None:
    facts = mirror.capture(
        f"{SITE}docs/a", "\n# Hello\n\nworld\n\n\n", title="Hello", description="d", language="en"
    )
    content = (mirror.root / "example.com/docs/a/index.md").read_bytes()
    fields, body = split_page(content.decode())
    assert body == "# Hello\n\nworld\n"
    assert fields == {
        "title": "Hello",
        "url": f"{SITE}docs/a",
        "fetched_at": "2026-01-03T12:00:00Z",
        "sha256": sha256(body.encode()).hexdigest(),
        "description": "d",
        "language": "en",
    }
    assert (facts.path, facts.size, facts.sha256) == (
        "example.com/docs/a/index.md",
        len(content),
        fields["sha256"],
    )


def test_the_facts_are_what_the_exchange_and_the_digest_said(mirror: Mirror) -> None:
    answer = response(("etag", '"v1"'), ("last-modified", "yesterday"), ("x-robots-tag", "noarchive"))
    digest = PageDigest(
        [SITE], title="T\n\x1b", robots_meta="noindex", canonical=SITE, markdown="x", links_dropped=2
    )
    facts = run(mirror.tree.accept(lease(SITE), answer, digest))
    assert facts == PageFacts(
        status=200,
        content_type="text/html",
        path="example.com/index.md",
        size=facts.size,
        sha256=sha256(b"x\n").hexdigest(),
        title="T",
        canonical=SITE,
        robots_meta="noindex, noarchive",
        etag='"v1"',
        last_modified="yesterday",
        body_bytes=6,
        latency_ms=250,
        fetched_at=NOON,
        links=3,
    )


def test_accepting_a_page_again_leaves_the_same_files(mirror: Mirror) -> None:
    first = mirror.capture(f"{SITE}a")
    before = {path: path.read_bytes() for path in mirror.root.rglob("*.md")}
    assert mirror.capture(f"{SITE}a") == first
    assert {path: path.read_bytes() for path in mirror.root.rglob("*.md")} == before


def test_a_failed_page_leaves_a_placeholder_until_it_succeeds(mirror: Mirror) -> None:
    url = f"{SITE}broken"
    placeholder = mirror.home / "_failed" / f"{sha256(url.encode()).hexdigest()[:16]}.md"
    mirror.end(url, Outcome.SERVER_ERROR, "HTTP 503")
    fields, body = split_page(placeholder.read_text())
    assert (fields["url"], fields["outcome"], fields["reason"]) == (url, "server_error", "HTTP 503")
    assert "5xx on every attempt." in body
    assert "Run again later" in body
    mirror.reopened()
    mirror.capture(url)
    assert not placeholder.exists()


@pytest.mark.parametrize("ending", [Outcome.DUPLICATE, Outcome.REDIRECTED])
def test_a_page_that_failed_once_and_is_now_elsewhere_is_no_longer_called_failed(
    mirror: Mirror, ending: Outcome
) -> None:
    failed = mirror.home / "_failed"
    mirror.end(f"{SITE}a", Outcome.SERVER_ERROR)
    mirror.end(f"{SITE}b", Outcome.SERVER_ERROR)
    assert len(list(failed.iterdir())) == 2
    mirror.end(f"{SITE}a", ending)
    assert len(list(failed.iterdir())) == 1
    mirror.ledger.settle(f"{SITE}b", ending)  # killed before anything else was told of it
    mirror.reopened()
    assert list(failed.iterdir()) == []


def test_a_passed_over_page_leaves_a_placeholder_among_the_skipped(mirror: Mirror) -> None:
    mirror.end(f"{SITE}x.pdf", Outcome.SERVER_ERROR)
    mirror.end(f"{SITE}x.pdf", Outcome.NOT_HTML, "application/pdf")
    assert len(list((mirror.home / "_skipped").iterdir())) == 1
    assert list((mirror.home / "_failed").iterdir()) == []


def test_guesses_and_redirects_leave_no_placeholder(mirror: Mirror) -> None:
    mirror.end(f"{SITE}sitemap.xml", Outcome.ABSENT)
    mirror.end(f"{SITE}old", Outcome.REDIRECTED)
    assert not (mirror.home / "_skipped").exists()
    assert not (mirror.home / "_failed").exists()


def test_the_manifest_lists_what_is_here_and_what_is_not(mirror: Mirror) -> None:
    mirror.ledger.settle(f"{SITE}sitemap.xml", Outcome.READ, kind=Kind.SITEMAP)
    mirror.ledger.settle(f"{SITE}sitemap2.xml", Outcome.READ, kind=Kind.SITEMAP)
    mirror.capture(f"{SITE}a", title="A")
    mirror.capture("https://other.example/b")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND, "HTTP 404")
    mirror.end(f"{SITE}x.pdf", Outcome.NOT_HTML)
    mirror.ledger.settle("https://elsewhere.example/", Outcome.OUT_OF_SCOPE)
    manifest = mirror.finish()
    assert {key: value for key, value in manifest.items() if not key.endswith("pages")} == {
        "version": "2.0.0",
        "source_url": SITE,
        "sitemap_url": f"{SITE}sitemap.xml",
        "crawl_started": "2026-01-03T12:00:00Z",
        "crawl_completed": "2026-01-03T12:00:05Z",
        "successful": 2,
        "failed": 1,
        "skipped": 1,
        "outcomes": {"captured": 2, "read": 2, "out_of_scope": 1, "not_html": 1, "not_found": 1},
        "discovered": 7,
        "last_update": None,
        "assets": [],
    }
    assert manifest["total_pages"] == 4
    assert [page["path"] for page in manifest["pages"]] == ["a/index.md", "../other.example/b/index.md"]
    assert [(page["url"], page["reason"]) for page in manifest["failed_pages"]] == [
        (f"{SITE}gone", "HTTP 404")
    ]
    assert [page["url"] for page in manifest["skipped_pages"]] == [f"{SITE}x.pdf"]
    for page in manifest["pages"]:
        file = mirror.home / page["path"]
        _, body = split_page(file.read_text())
        assert page["size_bytes"] == file.stat().st_size
        assert page["sha256"] == sha256(body.encode()).hexdigest()
        assert page["fetched_at"] == "2026-01-03T12:00:00Z"


def test_the_manifest_of_nothing_is_valid(mirror: Mirror) -> None:
    manifest = mirror.finish()
    assert (manifest["total_pages"], manifest["pages"], manifest["sitemap_url"]) == (0, [], None)


def test_a_job_with_work_left_is_not_called_complete(mirror: Mirror) -> None:
    mirror.capture(f"{SITE}a")
    manifest = mirror.finish(pending=3)
    assert manifest["crawl_completed"] is None
    assert manifest["outcomes"] == {"captured": 1, "pending": 3}
    assert manifest["discovered"] == sum(manifest["outcomes"].values())
    checkpoint = mirror.json("_checkpoint.json")
    assert checkpoint["status"] == "interrupted"
    assert (checkpoint["processed"], checkpoint["pending"], checkpoint["total_expected"]) == (1, 3, 4)
    assert "same command" in checkpoint["resume"]


def test_finishing_again_later_changes_nothing_but_the_progress(mirror: Mirror) -> None:
    mirror.capture(f"{SITE}a")
    mirror.finish()
    names = ["_manifest.json", "_index.md", "_processed.txt", "_failed.log", "_checkpoint.json"]
    before = [(mirror.home / name).read_bytes() for name in names]
    mirror.clock.time += 3600
    mirror.reopened()
    mirror.finish()
    assert [(mirror.home / name).read_bytes() for name in names] == before


def test_progress_is_there_to_see_while_the_job_runs(mirror: Mirror) -> None:
    mirror.tree.write_progress(Progress(10, 90, 2, 5, 3.14159, 28.6, hosts=("example.com",)))
    progress = mirror.json("_progress.json")
    assert progress["status"] == "running"
    assert (progress["done"], progress["pending"], progress["pages_per_second"]) == (10, 90, 3.14)
    assert mirror.json("_checkpoint.json")["status"] == "running"
    mirror.finish()
    assert mirror.json("_progress.json")["status"] == "finished"


def test_logs_grow_line_by_line(mirror: Mirror) -> None:
    mirror.capture(f"{SITE}a")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND, "HTTP 404")
    mirror.end(f"{SITE}old", Outcome.REDIRECTED)
    mirror.end(f"{SITE}x.pdf", Outcome.NOT_HTML)
    assert mirror.lines("_processed.txt") == [f"{SITE}a", f"{SITE}old"]
    assert mirror.lines("_failed.log") == [f"2026-01-03T12:00:00Z\t{SITE}gone\tnot_found: HTTP 404"]


@pytest.mark.parametrize("damage", [b"", b"https://example.com/a\nhttps://exam", b"\x00\x00garbage"])
def test_torn_or_missing_lines_are_put_right_at_the_next_start(mirror: Mirror, damage: bytes) -> None:
    mirror.capture(f"{SITE}a")
    mirror.capture(f"{SITE}b")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND)
    good = mirror.lines("_processed.txt")
    (mirror.home / "_processed.txt").write_bytes(damage)
    (mirror.home / "_failed.log").unlink()
    mirror.reopened()
    assert mirror.lines("_processed.txt") == good
    assert len(mirror.lines("_failed.log")) == 1


def test_a_line_of_a_settlement_that_was_lost_is_taken_back(mirror: Mirror) -> None:
    mirror.capture(f"{SITE}a")
    mirror.capture(f"{SITE}b")
    del mirror.ledger.rows[f"{SITE}b"]  # the power cut undid it
    mirror.reopened()
    assert mirror.lines("_processed.txt") == [f"{SITE}a"]


def test_resumed_pages_keep_their_files_and_new_ones_get_others(mirror: Mirror) -> None:
    urls = [f"{SITE}x", f"{SITE}X", f"{SITE}x/"]
    paths = [mirror.capture(url).path for url in urls]
    mirror.reopened()
    assert [mirror.capture(url).path for url in reversed(urls)] == list(reversed(paths))
    mirror.capture(f"{SITE}x?")
    assert len(mirror.page_files()) == 4
    manifest = mirror.finish()
    assert {f"{HOME}/{page['path']}" for page in manifest["pages"]} == mirror.page_files()


def test_a_page_that_waits_to_be_asked_for_again_keeps_its_file_and_its_places(mirror: Mirror) -> None:
    facts = mirror.capture(f"{SITE}a?b=1", title="Asked for again")
    mirror.ledger.settle(f"{SITE}a?b=1", Outcome.PENDING, facts=facts)
    mirror.reopened()
    other = mirror.capture(f"{SITE}A?b=1")
    assert other.path != facts.path
    assert str(other.path).lower() != str(facts.path).lower()
    assert {page["url"] for page in mirror.finish(pending=1)["pages"]} == {f"{SITE}a?b=1", f"{SITE}A?b=1"}
    assert "Asked for again" in (mirror.home / "_index.md").read_text()


def test_a_link_planted_as_host_folder_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    mirror = Mirror(tmp_path / "output")
    (mirror.root / "other.example").symlink_to(outside, target_is_directory=True)
    with pytest.raises(OutputRefused):
        mirror.capture("https://other.example/a")
    assert list(outside.iterdir()) == []


def test_the_contents_follow_the_folders(mirror: Mirror) -> None:
    for path, title in {
        "": "Home",
        "docs/": "Docs",
        "docs/guide/one": "One",
        "docs/guide/two": "Two",
        "docs-old": "Old",
        "api/v1/get": "Get (it)",
    }.items():
        mirror.capture(SITE + path, title=title)
    mirror.capture("https://a.example/")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND)
    mirror.finish()
    assert (mirror.home / "_index.md").read_text() == (
        "# example.com\n"
        "\n"
        "Mirror of <https://example.com/>: 7 pages, 1 failed.\n"
        "\n"
        "## example.com (6 pages)\n"
        "\n"
        "- [Home](index.md)\n"
        "- api/ (1 page)\n"
        "  - v1/ (1 page)\n"
        "    - [Get (it)](api/v1/get/index.md)\n"
        "- [Docs](docs/index.md) (3 pages)\n"
        "  - guide/ (2 pages)\n"
        "    - [One](docs/guide/one/index.md)\n"
        "    - [Two](docs/guide/two/index.md)\n"
        "- [Old](docs-old/index.md)\n"
        "\n"
        "## a.example (1 page)\n"
        "\n"
        "- [a.example](../a.example/index.md)\n"
    )


titles = st.one_of(
    st.text(st.characters(), max_size=30),
    st.sampled_from(
        [
            CANARY,
            "a\n- b",
            "](javascript:alert(1))",
            "<script>alert(1)</script>",
            "![x](y)",
            "[a](b)",
            "`code`",
            "\\",
            "a\\]",
            "&amp; &#x5d;",
            "https://auto.example/",
            "| a | b |",
            "***",
            "$x$",
        ]
    ),
)
page_names = st.lists(st.text(st.characters(codec="utf-8"), max_size=10), max_size=3).map("/".join)


@given(st.dictionaries(page_names, titles, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_no_title_or_name_breaks_the_contents(
    tmp_path_factory: pytest.TempPathFactory, pages: dict[str, str]
) -> None:
    mirror = Mirror(tmp_path_factory.mktemp("mirror"))
    for name, title in pages.items():
        mirror.capture(SITE + name, title=title)
    manifest = mirror.finish()
    links = links_of((mirror.home / "_index.md").read_text())
    targets = {str((mirror.home / unquote(target)).resolve()) for target, _ in links[1:]}
    assert links[0][0] == SITE
    assert len(links) == len(pages) + 1
    assert targets == {str((mirror.home / page["path"]).resolve()) for page in manifest["pages"]}
    assert all(Path(target).is_file() for target in targets)
    mirror.tree.close()


def test_titles_are_shown_as_they_are(mirror: Mirror) -> None:
    title = "a [b](c) *d* `e` <f> & \\ | #g"
    mirror.capture(f"{SITE}a", title=title)
    mirror.finish()
    assert links_of((mirror.home / "_index.md").read_text())[1] == ("a/index.md", title)


def test_hostile_text_breaks_no_line_of_any_file(mirror: Mirror) -> None:
    mirror.capture(f"{SITE}a", title=CANARY, description=CANARY, markdown="text\n")
    mirror.end(f"{SITE}{CANARY}", Outcome.NOT_FOUND, CANARY)
    mirror.end(f"{SITE}skip{CANARY}", Outcome.NOT_HTML, CANARY)
    mirror.end(f"{SITE}moved{CANARY}", Outcome.REDIRECTED, CANARY)
    for finished in (False, True):
        if finished:
            manifest = mirror.finish()
            assert len(manifest["failed_pages"]) == len(manifest["skipped_pages"]) == 1
        assert len(mirror.lines("_processed.txt")) == 2
        assert [line.count("\t") for line in mirror.lines("_failed.log")] == [2]
        for file in filter(Path.is_file, mirror.root.rglob("*")):
            content = file.read_bytes().decode()
            assert not set(content) & set("\x1b\x9b\u202e\r")


def test_very_long_titles_are_cut(mirror: Mirror) -> None:
    facts = mirror.capture(f"{SITE}a", title="x" * 1_000_000)
    assert facts.title is not None
    assert len(facts.title) == 1000
