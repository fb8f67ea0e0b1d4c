"""A crawl of a GitHub keeps to its policy on the wire: page types, robots.txt and exact caps, over kills."""

import os
import signal
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import msgspec

from tests.commands import FinishedSumi, RunSumi, SpawnSumi
from tests.e2e.mirror.test_control import wait_for_requests
from tests.site import MakeSite, RunningSite
from tests.site.github import GithubWorld

REPOSITORIES = 8
CAPS = {"all": 12, "issues": 4, "pull": 3}
STATE = ("--in", "workspace/state/frontier", "--json")
CONFIG = """\
user_agent: "bot/1.0 (+https://example.org/bot)"
scope: {{allowed_hosts: ["github.com:{port}"]}}
limits: {{req_per_sec: {rate}, per_host_concurrency: 8, global_concurrency: 8}}
caps: {{per_repo_max_pages: 12, per_repo_max_issues: 4, per_repo_max_prs: 3}}
network:
  resolve: ["github.com:{port}:127.0.0.1"]
  ca_file: {ca_file}
"""


def prepare(site: RunningSite, run_sumi: RunSumi, tmp_path: Path, rate: int) -> None:
    text = CONFIG.format(port=site.tls_port, ca_file=site.ca_file, rate=rate)
    (tmp_path / "crawl.yaml").write_text(text)
    assert run_sumi("workspace", "configure", "--config", "crawl.yaml").returncode == 0
    base = f"https://github.com:{site.tls_port}"
    (tmp_path / "workspace/seeds.txt").write_text(f"{base}/topics\n{base}/trending\n")


def asked(site: RunningSite) -> dict[str, Counter[str]]:
    """Of each repository: distinct URLs that the server saw, by the form of their paths, and in all."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for path in {request.path for request in site.requests()}:
        parts = path.split("/")[1:]
        if len(parts) > 1 and parts[0] != "topics":
            counts["/".join(parts[:2])].update([parts[2] if len(parts) > 2 else "root", "all"])
    return counts


def assert_policy_kept(site: RunningSite) -> None:
    world = GithubWorld(REPOSITORIES)
    pages = dict(world.pages())
    for path in {request.path for request in site.requests()} - {"/robots.txt"}:
        assert path in pages or world.redirect(path), f"{path} is none of the policy's pages"
    found = asked(site)
    assert len(found) == REPOSITORIES
    for counts in found.values():
        assert counts["all"] == CAPS["all"]
        assert counts["issues"] <= CAPS["issues"]
        assert counts["pull"] <= CAPS["pull"]


def explained(run: FinishedSumi) -> dict[str, Any]:
    answer: dict[str, Any] = msgspec.json.decode(run.stdout)
    return answer


def test_caps_are_exact_on_the_wire_and_explained(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=REPOSITORIES)
    prepare(site, run_sumi, tmp_path, 10_000)
    done = run_sumi("crawl", "run", "--config", "crawl.yaml", "--json")
    outcomes = done.events[-1]["outcomes"]
    assert outcomes["over_quota"] > 0
    assert_policy_kept(site)
    repositories = map(GithubWorld(REPOSITORIES).repository, range(REPOSITORIES))
    own = next(each for each in repositories if len(each.files) >= CAPS["all"])
    url = f"https://github.com:{site.tls_port}{own.path}"
    refused = explained(run_sumi("explain", f"{url}/blob/main/{own.files[-1]}", *STATE))
    assert (refused["known"], refused["outcome"]) == (True, "over_quota")
    assert refused["rule"] == f"{own.path[1:]} has its 12 pages"
    owner = url.rpartition("/")[0]
    other = explained(run_sumi("explain", owner, *STATE))
    assert other["outcome"] == "excluded"
    assert "none of the pages of the github profile" in other["rule"]


def test_caps_stay_exact_over_kills(
    make_site: MakeSite, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=REPOSITORIES)
    prepare(site, run_sumi, tmp_path, 10_000)
    for kills in (10, 30, 60):
        running = spawn_sumi("crawl", "run", "--config", "crawl.yaml", "--json")
        wait_for_requests(site, running, kills)
        os.killpg(running.process.pid, signal.SIGKILL)
        running.process.wait()
    run_sumi("crawl", "run", "--config", "crawl.yaml", "--json")
    assert_policy_kept(site)
