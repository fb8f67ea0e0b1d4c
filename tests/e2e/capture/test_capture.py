"""A capture has the pages under its base URLs, each text once, within exact limits, and never more."""

from pathlib import Path

import pytest

from sumi.errors import DISK
from tests.commands import RunSumi
from tests.e2e.capture.captures import FAST, jobs, linked, page_requests, shown, sites, write_section
from tests.folder_site import folder_site


def test_external_links_are_followed_for_the_given_hops(run_sumi: RunSumi, tmp_path: Path) -> None:
    with sites(tmp_path, 3) as (docs, sdk, other):
        docs.write("api/index.html", f"<p>Start</p>{linked('/api/users.html', sdk.url + 'install.html')}")
        docs.write("api/users.html", "<p>Users</p>")
        docs.write("api/hidden.html", "<p>Only others link here</p>")
        sdk.write("install.html", f"<p>Install</p>{linked('/config.html', other.url + 'sdk.html')}")
        back = f"{docs.url}api/hidden.html"
        sdk.write("config.html", f"<p>Config</p>{linked(other.url + 'foo.html', back)}")
        sdk.write("sitemap.xml", f"<urlset><url><loc>{sdk.url}listed.html</loc></url></urlset>")
        sdk.write("listed.html", "<p>A site that is only linked to is not taken as a whole</p>")
        other.write("sdk.html", "<p>The kit</p>")
        other.write("foo.html", "<p>Too far away</p>")
        base = f"{docs.url}api"

        assert run_sumi("capture", base, *FAST).returncode == 0
        assert {page["url"]: page["depth"] for page in shown(run_sumi, "page")} == {
            base: 0,
            f"{base}/users.html": 0,
        }
        done = run_sumi("capture", base, *FAST, "--external-hops", "2", "--json")
        assert done.returncode == 0, done.stderr
        assert {page["url"]: page["depth"] for page in shown(run_sumi, "page")} == {
            base: 0,
            f"{base}/users.html": 0,
            f"{base}/hidden.html": 0,
            f"{sdk.url}install.html": 1,
            f"{sdk.url}config.html": 2,
            f"{other.url}sdk.html": 2,
        }
        assert done.events[-1]["outcomes"]["too_deep"] == 1
        assert "/foo.html" not in [answer.path for answer in other.answers]


@pytest.mark.parametrize("workers", ["1", "10"])
def test_three_bases_with_a_limit_of_five_have_five_pages_each(
    run_sumi: RunSumi, tmp_path: Path, workers: str
) -> None:
    with folder_site(tmp_path / "site") as site:
        for name in ("guide", "api", "sdk"):
            write_section(site, name, 12)
        bases = [f"{site.url}{name}" for name in ("guide", "api", "sdk")]
        done = run_sumi("capture", *bases, *FAST, "--limit", "5", "--workers", workers, "--json")
        assert done.returncode == 0, done.stderr
        pages = shown(run_sumi, "page")
        assert sorted(page["base"] for page in pages) == [0] * 5 + [1] * 5 + [2] * 5
        for base in bases:
            assert f"{base}: 5/5 pages" in done.events[-1]["notes"]
        assert sum(done.events[-1]["outcomes"].values()) == done.events[-1]["discovered"]
        assert done.events[-1]["outcomes"]["over_cap"] > 0
        assert jobs(run_sumi)[-1]["status"] == "completed"
        fetched = [path for path, status in page_requests(site) if status == 200]
        assert len(fetched) == 15, "a page was fetched that there was no place for"


def test_duplicates_do_not_count_and_their_links_are_followed(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        for base in ("docs", "api"):
            copies = [f"/{base}/copy{number}.html" for number in range(4)]
            site.write(f"{base}/index.html", f"<p>Start of {base}</p>{linked(*copies)}")
            for copy in copies:
                text = f"<p>The same text of {base}</p>{linked(f'/{base}/last.html')}"
                site.write(copy[1:], text, title=f"Same of {base}")
            site.write(f"{base}/last.html", f"<p>Only duplicates lead here, in {base}</p>")
        bases = [f"{site.url}docs", f"{site.url}api"]
        done = run_sumi("capture", *bases, *FAST, "--limit", "3", "--workers", "3")
        assert done.returncode == 0, done.stderr
        pages = {page["url"]: page["alternate_urls"] for page in shown(run_sumi, "page")}
        assert len(pages) == 6
        for base in bases:
            assert pages[base] == [base]
            assert pages[f"{base}/last.html"] == [f"{base}/last.html"]
            same = [urls for url, urls in pages.items() if url.startswith(f"{base}/copy")]
            assert len(same) == 1
            assert same[0][0] in pages
            assert set(same[0]) <= {f"{base}/copy{number}.html" for number in range(4)}
            assert len(same[0]) >= 2


def test_the_same_text_under_another_title_is_the_same(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/a.html', '/b.html')}")
        for name in ("a", "b"):
            (site.folder / f"{name}.html").write_text(f"<title>{name}</title><main><p>One text</p></main>")
        assert run_sumi("capture", site.url, *FAST, "--workers", "1").returncode == 0
        pages = {page["url"]: page["alternate_urls"] for page in shown(run_sumi, "page")}
        assert pages[f"{site.url}a.html"] == [f"{site.url}a.html", f"{site.url}b.html"]
        assert len(pages) == 2


def test_of_urls_with_one_text_the_canonical_one_is_the_page(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/a.html', '/b.html', '/c.html')}")
        for name in ("a", "b", "c"):
            head = f"<title>Text</title><link rel=canonical href={site.url}c.html>"
            (site.folder / f"{name}.html").write_text(f"{head}<main><p>One text</p></main>")
        assert run_sumi("capture", site.url, *FAST, "--workers", "1").returncode == 0
        pages = {page["url"]: page for page in shown(run_sumi, "page")}
        assert pages.keys() == {site.url, f"{site.url}c.html"}
        assert pages[f"{site.url}c.html"]["title"] == "Text"
        names = pages[f"{site.url}c.html"]["alternate_urls"]
        assert names == [f"{site.url}{name}.html" for name in ("c", "a", "b")]
        assert run_sumi("capture", "resume").returncode == 0
        assert {page["url"] for page in shown(run_sumi, "page")} == pages.keys()


def test_external_pages_count_for_the_base_that_led_to_them(run_sumi: RunSumi, tmp_path: Path) -> None:
    with sites(tmp_path, 3) as (docs, sdk, other):
        docs.write("index.html", "<p>Leads nowhere</p>")
        sdk.write("index.html", f"<p>The kit</p>{linked(other.url + 'a.html')}")
        other.write("a.html", f"<p>Further</p>{linked('/b.html')}")
        other.write("b.html", "<p>Furthest</p>")
        done = run_sumi("capture", docs.url, sdk.url, *FAST, "--external-hops", "2", "--limit", "2", "--json")
        assert {page["url"]: page["base"] for page in shown(run_sumi, "page")} == {
            docs.url: 0,
            sdk.url: 1,
            f"{other.url}a.html": 1,
        }
        assert done.events[-1]["outcomes"]["over_cap"] == 1


def test_pages_behind_a_sign_in_are_told(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/a.html', '/b.html')}")
        site.write("login.html", "<p>Your name and password, please</p>")
        site.moved = {f"/{name}.html": f"/login.html?next=/{name}.html" for name in ("a", "b")}
        for command in ("capture", "mirror"):
            done = run_sumi(command, site.url, "--rate-limit", "0", "--json")
            led = f"2 pages led to the sign-in page {site.url}login.html: --login takes what is behind it"
            assert led in done.events[-1]["notes"]


def test_a_path_takes_what_lies_below_it_and_loosely_what_begins_like_it(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("docs/index.html", f"<p>Start</p>{linked('/docs/a.html', '/docs-old/b.html', '/c.html')}")
        site.write("docs/a.html", "<p>Below</p>")
        site.write("docs-old/b.html", "<p>Begins like it</p>")
        site.write("c.html", "<p>Elsewhere</p>")
        site.write("docs/listed.html", "<p>Only a sitemap knows this</p>")
        listed = "".join(f"<url><loc>{site.url}{p}</loc></url>" for p in ("docs/listed.html", "c.html"))
        site.write("sitemap.xml", f"<urlset>{listed}</urlset>")
        base = f"{site.url}docs"
        below = {base, f"{base}/a.html", f"{base}/listed.html"}
        assert run_sumi("capture", base, *FAST).returncode == 0
        assert {page["url"] for page in shown(run_sumi, "page")} == below
        assert run_sumi("capture", base, *FAST, "--loose-paths").returncode == 0
        loose = below | {f"{site.url}docs-old/b.html"}
        assert {page["url"] for page in shown(run_sumi, "page")} == loose


def test_a_capture_at_its_limit_says_how_many_pages_it_left_out(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 9)
        done = run_sumi("capture", f"{site.url}docs", *FAST, "--limit", "3")
        assert done.returncode == 0, done.stderr
        assert "limited: 7 pages left out: the page limit was reached (--limit)" in done.stderr
        assert jobs(run_sumi)[-1]["status"] == "completed"


def test_options_may_stand_between_urls(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        for base in ("docs", "api"):
            write_section(site, base, 4)
        done = run_sumi("capture", f"{site.url}docs", "--limit", "2", f"{site.url}api", *FAST)
        assert done.returncode == 0, done.stderr
        assert sorted(page["base"] for page in shown(run_sumi, "page")) == [0, 0, 1, 1]


def test_near_duplicates_are_kept_and_reported(run_sumi: RunSumi, tmp_path: Path) -> None:
    text = " ".join(f"{word}{end}" for word in ("ink", "brush", "paper", "stone") for end in "abcdefghijklmn")
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/a.html', '/b.html', '/c.html')}")
        site.write("a.html", f"<p>{text}</p>", title="Same")
        site.write("b.html", f"<p>{text} anew</p>", title="Same")
        site.write("c.html", "<p>Something else altogether, told in words of its own.</p>")
        done = run_sumi("capture", site.url, *FAST, "--json")
        assert "near-duplicates: 2 pages in 1 group; all were kept" in done.events[-1]["notes"]
        twins = {f"{site.url}a.html", f"{site.url}b.html"}
        assert [set(row["urls"]) for row in shown(run_sumi, "near_duplicates")] == [twins]
        assert twins < {page["url"] for page in shown(run_sumi, "page")}
        told = run_sumi("capture", "show").stdout.partition("nearly the same text:\n")[2].splitlines()
        assert {line.strip() for line in told} == twins


def test_failed_pages_are_retried_when_the_job_is_resumed(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/busy.html', '/gone.html')}")
        site.write("busy.html", f"<p>Busy at first</p>{linked('/behind.html')}")
        site.write("behind.html", "<p>Only the busy one leads here</p>")
        site.broken.add("/busy.html")
        assert run_sumi("capture", site.url, *FAST).returncode == 1
        assert {failure["url"] for failure in shown(run_sumi, "failure")} == {
            f"{site.url}busy.html",
            f"{site.url}gone.html",
        }
        site.broken.clear()
        asked = len(site.answers)
        assert run_sumi("capture", "resume", *FAST).returncode == 1
        assert [failure["url"] for failure in shown(run_sumi, "failure")] == [f"{site.url}gone.html"]
        assert {page["url"] for page in shown(run_sumi, "page")} == {
            site.url,
            f"{site.url}busy.html",
            f"{site.url}behind.html",
        }
        job = jobs(run_sumi)[-1]
        assert (job["status"], job["pages_processed"], job["pages_failed"]) == ("completed_with_errors", 3, 1)
        assert ("/gone.html", 404) not in page_requests(site, asked), "what is gone does not come back"


def test_failures_are_listed(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/gone.html')}")
        assert run_sumi("capture", site.url, *FAST).returncode == 1
        job = jobs(run_sumi)[-1]
        assert (job["status"], job["pages_processed"], job["pages_failed"]) == ("completed_with_errors", 1, 1)
        failures = shown(run_sumi, "failure")
        assert [failure["url"] for failure in failures] == [f"{site.url}gone.html"]
        assert "not_found" in failures[0]["error"]


def test_nothing_secret_is_stored(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", "<p>Start</p>")
        address = site.url.replace("http://", "http://me:pa55word@")
        done = run_sumi("capture", address, *FAST, "--header", "X-Key: pa55word2")
        assert done.returncode == 0, done.stderr
        assert shown(run_sumi, "page")[0]["url"] == site.url
        stored = b"".join(path.read_bytes() for path in (tmp_path / "captures").rglob("*") if path.is_file())
        assert b"pa55word" not in stored
        assert "pa55word" not in done.stdout + done.stderr


def test_bad_usage_is_a_sentence(run_sumi: RunSumi, tmp_path: Path) -> None:
    for words, sentence in (
        ((), "no URL given"),
        (("ftp://example.org",), "URL is 'ftp://example.org'"),
        (("list",), "captures holds no captures"),
        (("delete", "x"), "captures holds no captures"),
        (("pause",), "captures holds no captures"),
    ):
        done = run_sumi("capture", *words)
        assert done.returncode == 2, words
        assert sentence in done.stderr
    assert not (tmp_path / "captures").exists()


def test_a_refused_command_leaves_no_job_behind(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Start</p>{linked('/gone.html')}")
        impossible = ("--render", "fast", "--browser", "/nope")
        done = run_sumi("capture", site.url, *FAST, *impossible)
        assert done.returncode == 2
        assert "--browser '/nope' is not a program" in done.stderr
        assert not (tmp_path / "captures").exists()
        assert run_sumi("capture", site.url, *FAST).returncode == 1
        before = jobs(run_sumi)
        assert run_sumi("capture", site.url, *FAST, *impossible).returncode == 2
        assert jobs(run_sumi) == before
        assert [path.name for path in (tmp_path / "captures" / "jobs").iterdir()] == [before[0]["id"]]
        done = run_sumi("capture", "export", "--format", "jsonl", "-o", "pages.jsonl")
        assert "1 page is in pages.jsonl" in done.stderr


def test_a_store_that_is_a_file_is_refused_naming_the_option(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_sumi("capture", "http://127.0.0.1:9/", "--store", "file")
    assert done.returncode == DISK
    assert "choose another one with --captures" in done.stderr


def test_commands_for_mirrors_refuse_a_capture_and_say_what_to_use(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", "<p>Start</p>")
        assert run_sumi("capture", site.url, *FAST).returncode == 0
        job = jobs(run_sumi)[-1]["id"]
        home = tmp_path / "captures" / "jobs" / job
        before = sorted(path.name for path in home.rglob("*"))
        for command in (("rebuild",), ("status",), ("state", "check")):
            for place in (home, home.parent, home / ".sumi"):
                done = run_sumi(*command, str(place))
                assert done.returncode == 2, command
                assert f"sumi capture show {job} --captures {tmp_path / 'captures'}" in done.stderr
        assert sorted(path.name for path in home.rglob("*")) == before
