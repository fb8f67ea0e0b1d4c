"""One process of a run's browsers killed at a moment of chance: the run ends, and every page is there and was
asked for once."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sumi.fetch.browser.chromium import argument_of, has_argument, tree
from tests.commands import parse_events, sumi_command, sumi_environment
from tests.site import RunningSite, SitemapPreset, running_site
from tests.site.apps import ARTICLES

SECONDS = 180
PAGES = {"/app/routed", *(f"/app/routed/{name}" for name in ARTICLES)}
MODES = ("fast", "balanced", "thorough")


class Victim(NamedTuple):
    name: str
    is_one: Callable[[int], bool]


def _is_of_browser(pid: int, kind: str | None) -> bool:
    return argument_of(pid, "type") == kind and argument_of(pid, "sumi-browser") is not None


def _is_child_of(kind: str) -> Callable[[int], bool]:
    return lambda pid: has_argument(pid, f"--type={kind}")


VICTIMS = (
    Victim("the browser", lambda pid: _is_of_browser(pid, None)),
    Victim("a renderer", _is_child_of("renderer")),
    Victim("a zygote", _is_child_of("zygote")),
    Victim("a helper", _is_child_of("utility")),
    Victim("the driver", lambda pid: has_argument(pid, "run-driver")),
)


def attempt(folder: Path, seed: int) -> list[str]:
    with running_site(pages=1, seed=1, sitemap=SitemapPreset.NONE) as site:
        chance = random.Random(seed)
        return killed(site, folder, chance.choice(VICTIMS), _moment(chance), chance)


def _moment(chance: random.Random) -> float:
    """Seconds after the victim began. Half of them within its first tenth: that is where most differ."""
    return chance.uniform(0, 0.1) if chance.random() < 0.5 else chance.uniform(0, 5)


def killed(
    site: RunningSite, folder: Path, victim: Victim, moment: float, chance: random.Random
) -> list[str]:
    """What was violated by a run in which ``victim`` was killed ``moment`` seconds after its first sight."""
    words = ("mirror", f"{site.url}/app/routed", "--json", "--rate-limit", "0", "--retries", "0")
    options = ("--follow-links", "--render", chance.choice(MODES), "--wait-for", "main h1", "-o", str(folder))
    error = folder.with_suffix(".error")
    with (
        error.open("w") as stderr,
        subprocess.Popen(
            sumi_command((*words, *options)),
            env=sumi_environment(None),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        ) as run,
    ):
        try:
            _strike(run, victim, moment, chance)
            output = run.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            return [f"{victim.name} killed after {moment:.3f} s: no end of the run within {SECONDS} s"]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
    said = error.read_text()
    wrong = _violations(site, run.returncode, output, said)
    return [f"{victim.name} killed after {moment:.3f} s: {one}" for one in wrong]


def _strike(run: "subprocess.Popen[str]", victim: Victim, moment: float, chance: random.Random) -> None:
    deadline = time.monotonic() + SECONDS
    while not (found := alive(run.pid, victim)):
        if run.poll() is not None or time.monotonic() > deadline:
            return
        time.sleep(0.001)  # another process, which no injected clock can hurry
    with suppress(subprocess.TimeoutExpired):
        run.wait(moment)
        return
    found = alive(run.pid, victim) or found
    with suppress(ProcessLookupError):
        os.kill(chance.choice(found), signal.SIGKILL)


def alive(root: int, victim: Victim) -> list[int]:
    return [pid for pid in tree(root) if victim.is_one(pid)]


def _violations(site: RunningSite, code: int, output: str, said: str) -> list[str]:
    wrong = []
    if code != 0:
        wrong.append(f"exit code {code}: {said.strip()[-300:]}")
    if "Traceback" in said or "never retrieved" in said:
        wrong.append(f"noise: {said.strip()[:300] + ' … ' + said.strip()[-400:]}")
    events = parse_events(output)
    captured = {event["url"].removeprefix(site.url) for event in events if event.get("outcome") == "captured"}
    if captured != PAGES:
        wrong.append(
            f"missing {sorted(PAGES - captured)}: {[e for e in events if e['event'] == 'page'][-3:]}"
        )
    asked = Counter(request.path for request in site.requests())
    wrong += [f"{path} was asked for {asked[path]} times" for path in PAGES if asked[path] != 1]
    return wrong
