"""`sumi mirror` against the hostile site: every page that the site knows of is stored, exactly once."""

from pathlib import Path
from typing import Any

import pytest

from sumi.outcomes import Outcome
from tests.commands import FinishedSumi, RunSumi
from tests.site import MakeSite, RobotsPreset, RunningSite, SitemapPreset
from tests.site.oracle import check_mirror

UNLIMITED = ("--rate-limit", "0", "--json")


def summary_of(run: FinishedSumi) -> dict[str, Any]:
    last: dict[str, Any] = run.events[-1]
    assert last["event"] == "summary"
    assert sum(last["outcomes"].values()) == last["discovered"]
    return last


def page_events(run: FinishedSumi) -> dict[str, dict[str, Any]]:
    return {event["url"]: event for event in run.events if event["event"] == "page"}


@pytest.mark.parametrize("sitemap", [SitemapPreset.INDEX, SitemapPreset.BROKEN, SitemapPreset.NONE])
def test_a_whole_site_with_and_without_a_sitemap(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, sitemap: SitemapPreset
) -> None:
    site = make_site(pages=120, seed=7, sitemap=sitemap)
    run = run_sumi("mirror", site.url, *UNLIMITED)
    expected = dict(site.truth.outcomes)
    if sitemap is SitemapPreset.BROKEN:
        expected["/sitemap.xml"] = "parse_failed"  # it ends in the midst of an entry
    assert check_mirror(tmp_path / "output", site.truth, site.requests(), outcomes=expected) == []
    summary = summary_of(run)
    assert summary["status"] == "partial"  # the site has dead links on purpose
    assert summary["outcomes"].get("sitemap_cut", 0) == (sitemap is SitemapPreset.BROKEN)
    assert run.returncode == 1


def test_following_links_besides_the_sitemap(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site = make_site(pages=80, seed=3)
    run_sumi("mirror", site.url, *UNLIMITED, "--follow-links")
    expected = site.truth.outcomes_by_both
    assert check_mirror(tmp_path / "output", site.truth, site.requests(), outcomes=expected) == []


def test_robots_rules_are_obeyed(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site = make_site(pages=60, seed=5, robots=RobotsPreset.SECTION)
    run = run_sumi("mirror", site.url, *UNLIMITED)
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []
    assert summary_of(run)["outcomes"]["robots_denied"] > 0
    asked = {request.path for request in site.requests()}
    assert not asked & set(site.truth.disallowed)


def test_the_page_limit_is_exact_and_a_larger_one_continues(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=60, seed=2)
    run = run_sumi("mirror", site.url, *UNLIMITED, "--max-pages", "17")
    summary = summary_of(run)
    assert (run.returncode, summary["status"]) == (0, "limited")
    assert summary["outcomes"]["captured"] == 17
    assert summary["outcomes"]["over_cap"] > 0
    again = summary_of(run_sumi("mirror", site.url, *UNLIMITED))
    assert again["outcomes"]["captured"] == len(site.truth.captured_by_sitemap)
    counts = [len(site.requests_to(path)) for path in site.truth.captured_by_sitemap]
    assert counts == [1] * len(counts)


def test_depth_counts_links_from_the_seed(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=60, seed=2, sitemap=SitemapPreset.NONE)
    summary = summary_of(run_sumi("mirror", site.url, *UNLIMITED, "--max-depth", "1"))
    assert summary["outcomes"]["too_deep"] > 0
    assert 1 < summary["outcomes"]["captured"] < len(site.truth.captured_by_links)


def test_only_pages_below_the_given_path(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site = make_site(pages=60, seed=2)
    section = next(p.rpartition("/")[0] for p in sorted(site.truth.captured_by_sitemap) if p.count("/") > 1)
    run = run_sumi("mirror", f"{site.url}{section}/", *UNLIMITED)
    captured = [url for url, event in page_events(run).items() if event["outcome"] == "captured"]
    assert captured
    assert all(url.removeprefix(site.url).startswith(section) for url in captured)


def test_over_tls_with_a_private_certificate_authority(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=8, seed=1)
    trusted = run_sumi("mirror", site.tls_url, *UNLIMITED, "--ca-file", str(site.ca_file))
    assert summary_of(trusted)["outcomes"]["captured"] > 3
    distrusted = run_sumi("mirror", site.tls_url, *UNLIMITED, "-o", "other")
    assert distrusted.returncode == 5
    assert "certificate" in distrusted.stderr


# One page per misbehaviour: what it must end as. The seed is the page itself.
ENDINGS = [
    ("status-404", Outcome.NOT_FOUND),
    ("status-410", Outcome.NOT_FOUND),
    ("status-403", Outcome.FORBIDDEN),
    ("status-401", Outcome.FORBIDDEN),
    ("long-content-length", Outcome.CONNECTION_LOST),
    ("missing-last-chunk", Outcome.CONNECTION_LOST),
    ("endless-headers", Outcome.BAD_HTTP),
    ("endless-body", Outcome.TOO_LARGE),
    ("gzip-ok", Outcome.CAPTURED),
    ("br-ok", Outcome.CAPTURED),
    ("zstd-ok", Outcome.CAPTURED),
    ("gzip-bomb", Outcome.BAD_ENCODING),
    ("br-bomb", Outcome.BAD_ENCODING),
    ("gzip-truncated", Outcome.BAD_ENCODING),
    ("unknown-encoding", Outcome.BAD_ENCODING),
    ("redirect-self", Outcome.REDIRECT_LOOP),
    ("redirect-no-location", Outcome.BAD_HTTP),
    ("redirect-file-scheme", Outcome.BAD_HTTP),
    ("redirect-offsite", Outcome.REDIRECTED),
    ("redirect-private", Outcome.REDIRECTED),
    ("html-as-pdf", Outcome.NOT_HTML),
    ("image", Outcome.NOT_HTML),
    ("wrong-charset", Outcome.CAPTURED),
    ("deep-nesting", Outcome.CAPTURED),
    ("flaky-500-then-ok", Outcome.CAPTURED),
]


@pytest.mark.parametrize(("name", "outcome"), ENDINGS)
def test_every_misbehaviour_has_its_outcome(
    small_site: RunningSite, run_sumi: RunSumi, name: str, outcome: Outcome
) -> None:
    url = f"{small_site.url}/bad/{name}"
    run = run_sumi("mirror", url, *UNLIMITED, "--retries", "1", "--timeout", "20", "--max-pages", "5")
    assert page_events(run)[url]["outcome"] == outcome
    assert summary_of(run)["status"] in {"complete", "limited", "partial"}


def test_a_redirect_loop_is_named(small_site: RunningSite, run_sumi: RunSumi) -> None:
    run = run_sumi("mirror", f"{small_site.url}/bad/redirect-loop-a", *UNLIMITED)
    outcomes = {event["outcome"] for event in page_events(run).values() if "redirect-loop" in event["url"]}
    assert outcomes == {"redirected", "redirect_loop"}


def test_a_chain_of_redirects_is_followed_ten_hops_and_no_further(
    small_site: RunningSite, run_sumi: RunSumi
) -> None:
    short = run_sumi("mirror", f"{small_site.url}/bad/redirect-chain-10", *UNLIMITED, "-o", "short")
    assert "captured" in {e["outcome"] for e in page_events(short).values() if "redirect-chain" in e["url"]}
    long = run_sumi("mirror", f"{small_site.url}/bad/redirect-chain-12", *UNLIMITED, "-o", "long")
    ends = [e["outcome"] for e in page_events(long).values() if "redirect-chain" in e["url"]]
    assert ends.count("too_many_redirects") == 1
    assert "captured" not in ends


def test_a_link_to_a_forbidden_address_is_never_dialled(small_site: RunningSite, run_sumi: RunSumi) -> None:
    run = run_sumi(
        "mirror",
        f"{small_site.url}/bad/redirect-private",
        *UNLIMITED,
        "--hosts",
        "169.254.169.254",
        "--retries",
        "0",
    )
    refused = [event for event in page_events(run).values() if "169.254" in event["url"]]
    assert [event["outcome"] for event in refused] == ["address_refused"]
    assert "169.254.169.254" in refused[0]["rule"] or "address" in refused[0]["rule"]


# Bad input: one sentence, exit code 2, nothing left behind.
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://127.0.0.1:9/"], "cannot reach http://127.0.0.1:9/robots.txt"),
        (["http://no-such-host.invalid/"], "cannot reach http://no-such-host.invalid/robots.txt"),
        (["http:///"], "must be an http or https address"),
        (["ftp://example.org/"], "must be an http or https address"),
    ],
)
def test_an_address_that_cannot_be_mirrored(
    run_sumi: RunSumi, tmp_path: Path, arguments: list[str], said: str
) -> None:
    run = run_sumi("mirror", *arguments)
    assert run.returncode == (6 if "cannot reach" in said else 2)
    assert said in run.stderr
    assert len([line for line in run.stderr.splitlines() if line.startswith("sumi")]) == 1
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "output").exists()


def test_a_name_that_resolves_to_this_machine_is_refused_with_advice(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    port = small_site.port
    pinned = ("--resolve", f"site.test:{port}:127.0.0.1")
    assert run_sumi("mirror", f"http://site.test:{port}/", *UNLIMITED, *pinned).returncode in (0, 1)
    refused = run_sumi("mirror", f"http://localhost.localdomain:{port}/", "-o", "other")
    assert refused.returncode == 6
    assert not (tmp_path / "other").exists()


def test_a_folder_that_cannot_be_used(small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    run = run_sumi("mirror", small_site.url, "-o", "file/below")
    assert run.returncode == 8
    assert "cannot make the folder" in run.stderr
    assert (tmp_path / "file").read_text() == "in the way"


def test_fresh_removes_only_what_sumi_made(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site = make_site(pages=10, seed=1)
    home = tmp_path / "output" / f"127.0.0.1_{site.port}"
    home.mkdir(parents=True)
    (home / "precious.txt").write_text("mine")
    run = run_sumi("mirror", site.url, *UNLIMITED, "--fresh")
    assert run.returncode == 2
    assert (home / "precious.txt").read_text() == "mine"
    (home / "precious.txt").unlink()
    home.rmdir()
    run_sumi("mirror", site.url, *UNLIMITED)
    site.clear_log()
    again = run_sumi("mirror", site.url, *UNLIMITED, "--fresh")
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []
    assert summary_of(again)["outcomes"]["captured"] > 0
