"""Interrupt a crawl that knows many URLs, start it again: how long until it asks for the next page?"""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.hub_site import HubSite, hub_site
from benchmarks.measuring import MemoryWatch, end_group
from benchmarks.outputs import Outputs
from benchmarks.peers.contenders import OURS, SUMI, Contender, Task, script
from benchmarks.peers.environments import Environment, Missing, environment

STOP_SECONDS: Final = 60.0  # to put everything in order after SIGINT; then it is killed
LOOK_SECONDS: Final = 0.02


class Resumed(NamedTuple):
    name: str
    done: int  # pages before the interruption
    prepared_s: float  # how long those took
    stopped_s: float  # from the signal to the end of the process
    killed: bool
    first_page_s: float  # from starting again to the next page that the server is asked for; 0: not seen
    peak_mb: float  # until then, all processes
    status_s: float = 0.0  # of `sumi status` on what is there
    trouble: str = ""


def sumi_hubs(env: Environment, task: Task, *more: str) -> list[str]:
    words = [env.program, "-m", "sumi", "mirror", f"{task.origin}/index.html", "--rate-limit", "0", "--quiet"]
    words += ["--no-respect-robots", "--max-pages", "0", "--trap-pages", "0", "--min-free", "0"]
    return [*words, "--output", str(task.output), *more]


def sumi_hubs_in_files(env: Environment, task: Task) -> list[str]:
    """As text, which its documentation advises against for that many."""
    return sumi_hubs(env, task, "--state", "files")


def _nothing(_: Path) -> set[str]:
    return set()


CONTENDERS: Final = (
    Contender(SUMI, "", sumi_hubs, _nothing),
    Contender("Scrapy, JOBDIR", "scrapy", script("scrapy_hubs"), _nothing),
    Contender("Crawlee (Python), files", "crawlee", script("crawlee_hubs"), _nothing),
)


# Sumi alone, with a million known URLs.
OF_A_MILLION: Final = (
    Contender(SUMI, "", sumi_hubs, _nothing),
    Contender("Sumi, `--state files`", "", sumi_hubs_in_files, _nothing),
)


class Interruption(NamedTuple):
    urls: int  # that the site has
    done: int  # pages after which it happens, unless the time is up before
    limit_seconds: float


def resume_all(place: Path, outputs: Outputs, interruption: Interruption) -> list[Resumed]:
    return [resume(contender, place, outputs, interruption) for contender in CONTENDERS]


def resume(contender: Contender, place: Path, outputs: Outputs, interruption: Interruption) -> Resumed:
    print(f"resume of {interruption.urls:,} URLs: {contender.name}", file=sys.stderr, flush=True)
    env = environment(contender.needs, place) if contender.needs else OURS
    if isinstance(env, Missing):
        return Resumed(contender.name, 0, 0.0, 0.0, False, 0.0, 0.0, trouble=env.reason)
    folder = outputs.fresh()
    with hub_site(folder, interruption.urls) as site:
        command = contender.command(env, Task(site.origin, folder / "output", interruption.urls))
        return _resume(contender, command, env, folder, site, interruption)


def _resume(
    contender: Contender,
    command: list[str],
    env: Environment,
    folder: Path,
    site: HubSite,
    interruption: Interruption,
) -> Resumed:
    _, done, limit_seconds = interruption
    with _started(command, env, folder) as process:
        prepared = _wait(lambda: site.asked() >= done or process.poll() is not None, limit_seconds)
        stopped, killed = _stop(process)
    before = site.asked()
    if before == 0:
        # A peer may be slow or fail; all that was measured before must not be lost for that.
        trouble = f"asked for no page within {limit_seconds:.0f} s"
        return Resumed(contender.name, 0, prepared, stopped, killed, 0.0, 0.0, trouble=trouble)
    status = _status_seconds(folder / "output") if contender.name.startswith(SUMI) else 0.0
    with _started(command, env, folder) as process:
        watch = MemoryWatch(process.pid)
        first = _wait(lambda: site.asked() > before or process.poll() is not None, limit_seconds)
        watch.stop()
    trouble = "" if site.asked() > before else f"no page within {limit_seconds:.0f} s"
    return Resumed(contender.name, before, prepared, stopped, killed, first, watch.tree_mb, status, trouble)


@contextmanager
def _started(command: list[str], env: Environment, folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, cwd=env.folder, start_new_session=True
        )
        try:
            yield process
        finally:
            end_group(process.pid)
            process.wait()


def _wait(done: Callable[[], bool], limit_seconds: float) -> float:
    started = time.perf_counter()
    while not done() and time.perf_counter() - started < limit_seconds:
        time.sleep(LOOK_SECONDS)
    return time.perf_counter() - started


def _stop(process: "subprocess.Popen[bytes]") -> tuple[float, bool]:
    started = time.perf_counter()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        return time.perf_counter() - started, True
    return time.perf_counter() - started, False


def _status_seconds(output: Path) -> float:
    job = next(output.glob("127.0.0.1*"), output)
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "sumi", "status", str(job)], check=False, capture_output=True)
    return time.perf_counter() - started
