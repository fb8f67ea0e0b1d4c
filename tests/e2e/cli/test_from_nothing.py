"""Every job begins without a file, and the file that it or ``sumi init`` writes is one that runs."""

import csv
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sumi.jobs.map.config import load_map_config
from sumi.jobs.mirror.settings import load_sites
from sumi.jobs.pipeline.config_file import load_crawl_config
from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

COMMENTED = re.compile(r"^(\s*)# ([a-z_-]+)( = |: )", re.MULTILINE)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as running:
        running.write("index.html", '<p>The first page of a small site.</p><a href="two.html">Two</a>')
        running.write("two.html", '<p>The second page, with other words.</p><a href="/">One</a>')
        yield running


def test_a_map_of_domains_makes_its_file_and_continues_with_it(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    words = ("map", site.url, "--minimum-time-on-page", "100", "--max-depth", "1")
    done = run_sumi(*words)
    assert done.returncode == 0, done.stderr
    config = load_map_config(tmp_path / "map" / "map.toml")
    assert (config.crawler.max_depth, config.quality[0].seeds) == (1, (site.url,))
    again = run_sumi(*words)
    assert (again.returncode, "finished at" in again.stderr) == (0, True)
    other = run_sumi("map", "example.org")
    assert (other.returncode, "describes another map" in other.stderr) == (2, True)
    assert run_sumi("map", "map", "--stats").returncode == 0
    assert run_sumi("map", "export", "--format", "graphml").returncode == 0
    assert run_sumi("map", "map/map.toml", "--max-depth", "3").returncode == 2


@pytest.mark.parametrize("word", ["web.tomll", "nonsense", "ftp://example.org/", "a/b"])
def test_what_is_neither_a_domain_nor_a_file_is_said(run_sumi: RunSumi, tmp_path: Path, word: str) -> None:
    done = run_sumi("map", word) if word != "web.tomll" else run_sumi("map", "./web.tomll")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_crawl_of_a_url_ends_with_a_csv(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    words = ("run", site.url, "--rate-limit", "100", "--max-pages", "9", "--run-id", "one")
    done = run_sumi(*words)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "workspace" / "logs" / "pages-one.csv").open() as file:
        assert {row["url"] for row in csv.DictReader(file)} == {site.url, f"{site.url}two.html"}
    config = load_crawl_config(tmp_path / "workspace" / "crawl.yaml")
    assert (config.caps.max_pages, config.limits.req_per_sec, config.profile) == (9, 100.0, "generic")
    assert (tmp_path / "workspace" / "seeds.txt").read_text() == f"{site.url}\n"
    assert run_sumi(*words).returncode == 0
    other = run_sumi("crawl", "run", "https://example.org/")
    assert (other.returncode, "describes another crawl" in other.stderr) == (2, True)
    assert run_sumi("crawl", "run").returncode == 2


def test_crawl_run_takes_a_url_too(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    done = run_sumi("crawl", "run", site.url, "--rate-limit", "100", "--workspace", "w", "--json")
    assert (done.returncode, done.events[-1]["outcomes"]["captured"]) == (0, 2)
    assert (tmp_path / "w" / "spool").is_dir()


def test_the_settings_of_a_run_can_be_saved(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    flags = ("--max-pages", "3", "--include", "/t*", "--assets", "--rate-limit", "2.5", "--max-body", "1MiB")
    done = run_sumi("mirror", site.url, *flags, "--auth", "me:secret", "--save-config", "site.toml")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "site.toml").read_text()
    assert "secret" not in text
    (read,) = load_sites({}, {}, str(tmp_path / "site.toml"))
    assert (read.url, read.max_pages, read.include, read.assets) == (site.url, 3, ("/t*",), True)
    assert (read.rate_limit, read.max_body, read.auth) == (2.5, 1024**2, None)
    for command in ("mirror", "map", "run"):
        refused = run_sumi(command, site.url, "--save-config", "site.toml")
        assert (refused.returncode, "site.toml exists, and is not replaced" in refused.stderr) == (2, True)
    assert not (tmp_path / "output").exists()
    run_sumi("map", "a.org", "*.b.org", "--stub", "github.com", "--save-config", "m.toml")
    assert [entry.domain for entry in load_map_config(tmp_path / "m.toml").quality] == ["a.org", "*.b.org"]
    run_sumi("run", "https://github.com/o/r", "--contact", "me@example.org", "--save-config", "c.yaml")
    crawl = load_crawl_config(tmp_path / "c.yaml")
    assert (crawl.profile, "me@example.org" in crawl.user_agent) == ("github", True)


def test_a_crawl_of_a_list_takes_its_pages_and_no_others(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    (tmp_path / "pages.csv").write_text(f"name,url\nfirst,{site.url}\nbad,nowhere\n")
    words = ("run", "--unified", "--rate-limit", "100", "--json")
    done = run_sumi(*words, "--urls", "pages.csv")
    assert (done.returncode, done.events[-1]["outcomes"]["captured"]) == (0, 1), done.stderr
    assert "pages.csv: 1 line without an address" in done.stderr
    assert not [answer for answer in site.answers if "two" in answer.path]
    assert run_sumi(*words, "--urls", "pages.csv").returncode == 0
    deeper = run_sumi(*words, "--urls", "pages.csv", "--max-depth", "1", "--workspace", "deeper")
    assert deeper.events[-1]["outcomes"]["captured"] == 2
    assert run_sumi("run", "--urls", "nothing.csv").returncode == 2
    (tmp_path / "empty.txt").write_text("# nothing\n")
    assert "no address in empty.txt" in run_sumi("run", "--urls", "empty.txt").stderr
    saved = run_sumi("crawl", "run", "--urls", "pages.csv", "--save-config", "c.yaml")
    assert saved.returncode == 0
    assert load_crawl_config(tmp_path / "c.yaml").scope.max_depth == 0


def test_the_seeds_of_a_crawl_may_be_any_list(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "llms.txt").write_text(f"# Site\n\n- [Two]({site.url}two.html): the second\n")
    (tmp_path / "c.yaml").write_text(
        "workspace: w\nprofile: generic\nuser_agent: t/1 (+https://a.test/)\nseeds_file: llms.txt\n"
        "limits:\n  req_per_sec: 100\nscope:\n  max_depth: 0\n"
    )
    done = run_sumi("run", "--unified", "--config", "c.yaml", "--json")
    assert (done.returncode, done.events[-1]["outcomes"]["captured"]) == (0, 1), done.stderr
    (tmp_path / "w" / "llms.txt").write_text("# Site\n")
    assert run_sumi("run", "--config", "c.yaml").returncode == 2


def test_a_map_of_a_list_explores_its_hosts(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    lines = f"{site.url}two.html\n{site.url}\nexample.org\nhttps://www.example.org/about\nno address\n"
    (tmp_path / "pages.txt").write_text(lines)
    done = run_sumi("map", "--urls", "pages.txt", "b.test", "--save-config", "m.toml")
    assert "pages.txt: 1 line without an address" in done.stderr
    found = {entry.domain: entry.seeds for entry in load_map_config(tmp_path / "m.toml").quality}
    assert found == {
        "b.test": ("https://b.test/",),
        "127.0.0.1": (f"{site.url}two.html", site.url),
        "example.org": ("https://example.org/", "https://www.example.org/about"),
    }
    (tmp_path / "pages.txt").write_text(f"{site.url}two.html\n")
    words = ("map", "--urls", "pages.txt", "--max-depth", "0", "--minimum-time-on-page", "100")
    assert run_sumi(*words).returncode == 0
    assert "/two.html" in {answer.path for answer in site.answers}
    assert run_sumi("map").returncode == 2


@pytest.mark.parametrize("job", ["mirror", "crawl", "map"])
def test_init_writes_a_file_that_fits_and_replaces_nothing(
    run_sumi: RunSumi, tmp_path: Path, job: str
) -> None:
    url = "example.org" if job == "map" else "https://example.org/"
    done = run_sumi("init", job, url)
    assert done.returncode == 0, done.stderr
    name = {"mirror": "mirror.toml", "crawl": "crawl.yaml", "map": "map.toml"}[job]
    read_any(tmp_path / name)
    assert COMMENTED.search((tmp_path / name).read_text())
    before = (tmp_path / name).read_bytes()
    assert run_sumi("init", job).returncode == 2
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("job", ["mirror", "crawl", "map"])
def test_every_comment_with_a_default_can_be_uncommented(run_sumi: RunSumi, tmp_path: Path, job: str) -> None:
    """Each key alone, unless its value only names what goes there, in capitals."""
    run_sumi("init", job)
    name = {"mirror": "mirror.toml", "crawl": "crawl.yaml", "map": "map.toml"}[job]
    lines = (tmp_path / name).read_text().splitlines()
    tried = 0
    for number, line in enumerate(lines):
        if not COMMENTED.match(line) or "<" in line:
            continue
        changed = list(lines)
        changed[number] = line.replace("# ", "", 1)
        if job == "crawl" and line.startswith("  "):
            section = next(at for at in range(number, -1, -1) if re.match(r"(# )?[a-z_]+:$", lines[at]))
            changed[section] = lines[section].removeprefix("# ")
        (tmp_path / f"other{Path(name).suffix}").write_text("\n".join(changed) + "\n")
        read_any(tmp_path / f"other{Path(name).suffix}")
        tried += 1
    assert tried >= 5


def read_any(path: Path) -> None:
    text = path.read_text()
    if path.suffix == ".yaml":
        assert yaml.safe_load(text)
        load_crawl_config(path)
    elif "mirror" in tomllib.loads(text):
        load_sites({}, {}, str(path))
    else:
        load_map_config(path)
