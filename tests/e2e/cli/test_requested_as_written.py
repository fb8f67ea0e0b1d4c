"""A URL is requested as it was written and known by its identity: every kind of site gives all its pages, in
every job, however it is spelled."""

import csv
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import yaml

from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.e2e.capture.captures import shown
from tests.jobs.map.map_world import tables
from tests.spelling_site import KINDS, MAP_KINDS, NAME, PAGES, SENTENCES, Kind, SpellingSite, spelling_site

HURRIED = ("--rate-limit", "0", "--retries", "0", "--allow-private")


def said_in(texts: Iterable[str]) -> Counter[str]:
    """The pages whose sentences are in the texts, and how often."""
    whole = "\n".join(texts)
    return Counter({page: count for page, text in SENTENCES.items() if (count := whole.count(text))})


def mirror(site: SpellingSite, folder: Path) -> tuple[str, ...]:
    pins = [word for pin in site.pins for word in ("--resolve", pin)]
    hosts = ("--hosts", NAME, "--hosts", f"www.{NAME}")
    return ("mirror", site.seed, "--output", "output", *HURRIED, *pins, *hosts)


def mirrored(folder: Path, run_sumi: RunSumi) -> Counter[str]:
    return said_in(path.read_text() for path in folder.glob("output/**/index.md"))


def capture(site: SpellingSite, folder: Path) -> tuple[str, ...]:
    pins = [word for pin in site.pins for word in ("--resolve", pin)]
    return ("capture", site.seed, *HURRIED, *pins)


def captured(folder: Path, run_sumi: RunSumi) -> Counter[str]:
    assert run_sumi("capture", "export", "--format", "markdown", "-o", "all.md").returncode == 0
    return said_in([(folder / "all.md").read_text()])


def run(site: SpellingSite, folder: Path) -> tuple[str, ...]:
    settings = {
        "user_agent": "testbot/1.0 (+https://example.org/bot)",
        "workspace": str(folder),
        "profile": "generic",
        "scope": {"allowed_hosts": [f"{NAME}:{site.port}", f"www.{NAME}:{site.port}"]},
        "limits": {"req_per_sec": 10_000, "max_retries": 0, "backoff_base_ms": 10},
        "network": {"allow_private": True, "resolve": site.pins},
        "store": {"compress": False},
    }
    (folder / "seeds.txt").write_text(f"{site.seed}\n")
    (folder / "crawl.yaml").write_text(yaml.safe_dump(settings))
    return ("run", "--config", "crawl.yaml", "--run-id", "one", "-q")


def archived(folder: Path, run_sumi: RunSumi) -> Counter[str]:
    with (folder / "logs" / "pages-one.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["url"] for row in rows}) == len(rows)
    return said_in((folder / row["stored_path"]).read_text() for row in rows)


def crawl(site: SpellingSite, folder: Path) -> tuple[str, ...]:
    return ("crawl", *run(site, folder))


def scraped(folder: Path, run_sumi: RunSumi) -> Counter[str]:
    done = run_sumi("scrape", "run", "--config", "crawl.yaml", "--run-id", "one", "-q")
    assert done.returncode == 0, done.stderr
    return archived(folder, run_sumi)


def draw_map(site: SpellingSite, folder: Path) -> tuple[str, ...]:
    lines = [
        "[crawler]",
        "max-depth = 2",
        "minimum-time-on-page = 100",
        "[user-agent]",
        'crawler-name = "Mapper"',
        'contact-email = "me@example.org"',
        "[http]",
        "allow-http = true",
        f"resolve = {site.pins}",
        "[content]",
        "keep = true",
        "[[quality]]",
        f'domain = "{NAME}"',
        f'seeds = ["{site.seed}"]',
    ]
    (folder / "web.toml").write_text("\n".join(lines))
    return ("map", "web.toml")


def mapped(folder: Path, run_sumi: RunSumi) -> Counter[str]:
    titles = tables(folder / "map.db", "SELECT title FROM pages WHERE state = 'Processed' AND title <> ''")
    return Counter("" if title == "home" else title for (title,) in titles)


Command = Callable[[SpellingSite, Path], tuple[str, ...]]
Reader = Callable[[Path, RunSumi], Counter[str]]
JOBS: dict[str, tuple[Command, Reader]] = {
    "mirror": (mirror, mirrored),
    "capture": (capture, captured),
    "run": (run, archived),
    "crawl and scrape": (crawl, scraped),
    "map": (draw_map, mapped),
}
ALL = dict.fromkeys(PAGES, 1)
# A mirror is of what is written: to it a link that leads nowhere is a dead link.
STRICT = {"linked without the slash that it wants", "linked with the slash that it does not know"}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_site_gives_all_its_pages(
    run_sumi: RunSumi, tmp_path: Path, kind: str, job: str
) -> None:
    if job == "mirror" and kind in STRICT:
        pytest.skip("the links of this site are dead where a slash tells pages apart")
    command, read = JOBS[job]
    with spelling_site(KINDS[kind]) as site:
        done = run_sumi(*command(site, tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
        assert read(tmp_path, run_sumi) == ALL, site.asked


@pytest.mark.parametrize("kind", MAP_KINDS)
def test_a_quality_domain_that_has_one_name_only_is_mapped(
    run_sumi: RunSumi, tmp_path: Path, kind: str
) -> None:
    with spelling_site(MAP_KINDS[kind]) as site:
        done = run_sumi(*draw_map(site, tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
        assert mapped(tmp_path, run_sumi) == ALL, site.asked


@pytest.mark.parametrize("job", ["capture", "run", "map"])
def test_a_kill_in_the_midst_forgets_no_spelling(
    run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    """Between the page that had the links and the pages that they lead to."""
    command, read = JOBS[job]
    with spelling_site(Kind(without="missing")) as site:
        running = spawn_sumi(*command(site, tmp_path))
        wait_until(running, lambda: any(asked.endswith("/guide/") for asked in site.asked))
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        words = command(site, tmp_path)
        if job == "capture":
            [found] = shown(run_sumi, "job")
            words = ("capture", "resume", found["id"], *words[2:])
        done = run_sumi(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert read(tmp_path, run_sumi) == ALL, site.asked
        bare = [asked for asked in site.asked if asked.endswith(("/guide", "/about", "/install", "/usage"))]
        assert bare == []


@pytest.mark.parametrize("job", ["capture", "run", "map"])
def test_a_page_that_is_there_under_no_spelling_is_asked_for_twice_at_most(
    run_sumi: RunSumi, tmp_path: Path, job: str
) -> None:
    command, _ = JOBS[job]
    with spelling_site(Kind(with_slash="missing", without="missing")) as site:
        done = run_sumi(*command(site, tmp_path))
        assert done.returncode == 1, done.stdout + done.stderr
        paths = Counter(asked.partition("/")[2] for asked in site.asked)
        assert (paths["guide/"], paths["guide"]) == (1, 1)


def test_what_was_asked_for_is_told_where_it_is_not_the_identity(run_sumi: RunSumi, tmp_path: Path) -> None:
    with spelling_site(KINDS["only with a slash"]) as site:
        assert run_sumi(*run(site, tmp_path)).returncode == 0
        with (tmp_path / "logs" / "pages-one.csv").open(newline="") as file:
            rows = {row["url"]: row["metadata"] for row in csv.DictReader(file)}
        assert f'"requested_url":"{site.seed}guide/"' in rows[f"{site.seed}guide"].replace(" ", "")
        assert "requested_url" not in rows[site.seed]
        told = run_sumi("explain", f"{site.seed}guide", "--in", ".").stdout
        assert f"  requested as {site.seed}guide/\n" in told
