"""What people try first: options by other names, several sites at once, headers in a crawl."""

import tomllib
from pathlib import Path

import pytest

from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.jobs.pipeline.recipe import scrape_job
from tests.commands import RunSumi
from tests.folder_site import folder_site

FAST = ("--rate-limit", "0", "--allow-private")


@pytest.mark.parametrize(
    ("option", "meant"),
    [("--render-mode", "--render"), ("--depth", "--max-depth"), ("--convert-links", "--rewrite-links")],
)
def test_an_option_by_another_programs_name_is_understood(run_sumi: RunSumi, option: str, meant: str) -> None:
    done = run_sumi("mirror", "docs.example.org", option, "x")
    assert (done.returncode, done.stderr) == (
        2,
        f"sumi mirror: unknown option {option}; here it is {meant}\n",
    )


def test_rebuild_takes_a_folder_of_several_sites(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "one") as one, folder_site(tmp_path / "two") as two:
        for site in (one, two):
            site.write("index.html", "<p>A page with some words of its own.</p>")
        run_sumi("mirror", one.url, two.url, *FAST)
    done = run_sumi("rebuild", "--json")
    assert done.returncode == 0, done.stderr
    assert len({event["url"] for event in done.events if "url" in event}) == 2


def test_a_crawl_sends_the_headers_of_its_file_to_its_own_sites_only(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "seeds.txt").write_text("https://a.example.org/x\n")
    (tmp_path / "crawl.yaml").write_text(
        'user_agent: "bot/1.0 (+https://example.org/bot)"\nprofile: generic\nnetwork:\n'
        '  headers: ["X-Key: abc"]\n  accept_language: "de, en;q=0.5"\n  cookies: true\n'
        "  trust_proxy_dns: true\n"
    )
    network = scrape_job(load_crawl_config(tmp_path / "crawl.yaml"), "scraper").network
    assert [(one.origin[1], one.name) for one in network.credentials] == [
        ("a.example.org", "X-Key"),
        ("a.example.org", "Accept-Language"),
    ]
    assert (network.cookies, network.trust_proxy_dns) == (True, True)


def test_the_wheel_has_the_examples() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"examples": "sumi/examples"}
