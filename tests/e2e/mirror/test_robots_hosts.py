"""robots.txt is requested once per host, and pages only if the answer permits, whatever it is."""

import pytest

from tests.commands import FinishedSumi, RunSumi
from tests.site import RunningSite

# 429, 503 and Crawl-delay take time, so their tests are with the engine's, where time is free; the other
# statuses are tested with the verdicts.
ALLOWED = ("403", "redirect-loop", "html", "empty", "huge")
DENIED = ("deny", "redirect", "endless", "bom", "gzipped")
UNREACHABLE = ("500", "reset", "redirect-private", "never")


def mirror(site: RunningSite, run_sumi: RunSumi, name: str) -> tuple[FinishedSumi, list[str]]:
    """The run, and the requested paths."""
    host = f"robots-{name}.test"
    run = run_sumi(
        "mirror",
        f"http://{host}:{site.port}/",
        *("--resolve", f"{host}:{site.port}:127.0.0.1"),
        *("--rate-limit", "0", "--max-pages", "1", "--retries", "0", "--timeout", "2", "--json"),
    )
    paths = [request.path for request in site.requests() if request.host.startswith(f"{host}:")]
    return run, paths


@pytest.mark.parametrize("name", ALLOWED)
def test_no_rules_for_us_allow(small_site: RunningSite, run_sumi: RunSumi, name: str) -> None:
    run, paths = mirror(small_site, run_sumi, name)
    assert paths[0] == "/robots.txt"
    assert paths.count("/robots.txt") == 1
    assert run.events[-1]["outcomes"]["captured"] == 1
    assert run.returncode == 0


@pytest.mark.parametrize("name", DENIED)
def test_a_denial_is_obeyed_however_it_arrives(small_site: RunningSite, run_sumi: RunSumi, name: str) -> None:
    run, paths = mirror(small_site, run_sumi, name)
    assert {path.partition("?")[0] for path in paths} == {"/robots.txt"}
    assert set(run.events[-1]["outcomes"]) == {"robots_denied"}


@pytest.mark.parametrize("name", UNREACHABLE)
def test_rules_that_cannot_be_fetched_deny_for_now(
    small_site: RunningSite, run_sumi: RunSumi, name: str
) -> None:
    run, paths = mirror(small_site, run_sumi, name)
    assert paths == ["/robots.txt"]
    assert run.returncode in (1, 5, 6)
    assert "Traceback" not in run.stderr


def test_robots_txt_can_be_ignored_on_request(small_site: RunningSite, run_sumi: RunSumi) -> None:
    host = "robots-500.test"
    run = run_sumi(
        "mirror",
        f"http://{host}:{small_site.port}/",
        *("--resolve", f"{host}:{small_site.port}:127.0.0.1", "--robots-on-error", "allow"),
        *("--rate-limit", "0", "--max-pages", "1", "--retries", "0", "--json"),
    )
    assert run.events[-1]["outcomes"]["captured"] == 1
