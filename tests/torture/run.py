"""``make torture``: a mirror killed and failed at every different moment of its work, for every backend; then
each campaign, a trouble at moments of chance."""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from sumi.console.terminal import duration
from tests.site import running_site
from tests.torture.campaigns import CAMPAIGNS, Campaign
from tests.torture.harness import Bench, state_choices, state_options, why_no_strace
from tests.torture.kills import cap_violations, killed_again_and_again
from tests.torture.plan import ERRORS, KILLS, Injection, Situation, sampled, situations
from tests.torture.record import Record, Tried, Try

QUICK = 40
RANDOM_KILLS = 25
TRIES = 200  # of each campaign
SITE, PAGE_LIMIT = ("whole site", 0), ("page limit", 300)
TOLD_EVERY = 10.0  # seconds


def main() -> int:
    options = _options()
    states = [] if options.campaign and not options.state else options.state or state_choices()
    reason = why_no_strace() if states else ""
    if reason:
        print(f"torture: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="sumi-torture-") as name:
        record = Record(options.resume or Path(name) / "record.jsonl", _choice(options))
        if not record.belongs:
            print(f"torture: {options.resume} is of other options or sources; remove it", file=sys.stderr)
            return 2
        for state in states:
            _torture(state, Path(name) / state, record, options)
        for campaign in CAMPAIGNS:
            if campaign.name in (options.campaign or [campaign.name]):
                _wage(campaign, Path(name) / campaign.name, record, options)
        return _verdict(record)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} tries per situation")
    parser.add_argument("--every", action="store_true", help="at every call, also where many are alike")
    parser.add_argument("--seed", type=int, default=1, help="of the sample and of kills at random")
    parser.add_argument("--state", action="append", choices=state_choices(), help="repeatable")
    names = [campaign.name for campaign in CAMPAIGNS]
    parser.add_argument("--campaign", action="append", choices=names, help="only this one; repeatable")
    parser.add_argument("--tries", type=int, default=TRIES, help=f"of each campaign; {TRIES} unless said")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tries side by side")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="what was tried; goes on from there")
    return parser.parse_args()


def _choice(options: argparse.Namespace) -> str:
    return f"quick={options.quick} every={options.every} seed={options.seed} tries={options.tries}"


def _torture(state: str, folder: Path, record: Record, options: argparse.Namespace) -> None:
    """Every worker has a site and folders of its own: what one asks of the site is not laid to another."""
    with ExitStack() as stack:
        first = stack.enter_context(_ready(state, folder / "0"))
        if state not in record.plans:
            record.plan(state, _plan(state, first, options))
        left: SimpleQueue[Try] = SimpleQueue()
        for one in record.left(state):
            left.put(one)
        progress = _Progress(state, record)
        others = [
            threading.Thread(target=_work_alone, args=(state, folder / str(number), left, progress))
            for number in range(1, options.jobs)
        ]
        for other in others:
            other.start()
        try:
            _work(first, folder / "0", left, progress)
        finally:
            _empty(left)  # after Ctrl-C the others finish what they are at
            for other in others:
                other.join()


def _wage(campaign: Campaign, folder: Path, record: Record, options: argparse.Namespace) -> None:
    if reason := campaign.why_not():
        print(f"torture: {campaign.name} is left out: {reason}", file=sys.stderr)
        return
    folder.mkdir()
    count = min(options.tries, QUICK) if options.quick else options.tries
    if campaign.name not in record.plans:
        seeds = range(options.seed, options.seed + count)
        record.plan(campaign.name, tuple(Try(campaign.name, "campaign", "", "", seed) for seed in seeds))
    progress = _Progress(campaign.name, record)

    def attempt(one: Try) -> None:
        started = time.monotonic()
        wrong = campaign.attempt(folder / str(one.when), one.when)
        progress.note(Tried(one, tuple(wrong), True, time.monotonic() - started))

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(attempt, record.left(campaign.name)))


@contextmanager
def _ready(state: str, folder: Path) -> Iterator[dict[str, Situation]]:
    folder.mkdir(parents=True)
    with situations(folder, state_options(state)) as found:
        yield {situation.name: situation for situation in found}


def _plan(state: str, found: dict[str, Situation], options: argparse.Namespace) -> tuple[Try, ...]:
    tries = []
    for name, situation in found.items():
        injections = situation.injections(KILLS | ERRORS, every=options.every)
        if options.quick:
            injections = sampled(injections, QUICK, options.seed)
        tries += [Try(state, name, one.call, one.fault, one.when) for one in injections]
    at_random = [
        Try(state, name, "", f"{RANDOM_KILLS} kills", options.seed) for name, _ in (SITE, PAGE_LIMIT)
    ]
    return (*tries, *at_random)


class _Progress:
    """Keeps the record, and says now and then how far it is."""

    def __init__(self, state: str, record: Record) -> None:
        self._state = state
        self._record = record
        self._lock = threading.Lock()
        self._started = self._told = time.monotonic()
        self._done = 0

    def note(self, tried: Tried) -> None:
        with self._lock:
            self._record.note(tried)
            self._done += 1
            for wrong in tried.wrong:
                print(f"BROKEN {tried.what}: {wrong}", flush=True)
            if time.monotonic() - self._told > TOLD_EVERY:
                self._told = time.monotonic()
                self._tell()

    def _tell(self) -> None:
        total, left = len(self._record.plans[self._state]), len(self._record.left(self._state))
        seconds = (time.monotonic() - self._started) / self._done * left
        print(f"{self._state}: {total - left} of {total} tries, {duration(seconds)} left", flush=True)


def _work_alone(state: str, folder: Path, left: SimpleQueue[Try], progress: _Progress) -> None:
    with _ready(state, folder) as found:
        _work(found, folder, left, progress)


def _work(found: dict[str, Situation], folder: Path, left: SimpleQueue[Try], progress: _Progress) -> None:
    while True:
        try:
            one = left.get_nowait()
        except Empty:
            return
        started = time.monotonic()
        if one.situation in found:
            wrong, struck = found[one.situation].attempt(Injection(one.call, one.fault, one.when))
        else:
            wrong, struck = _killed_at_random(one, folder), True
        progress.note(Tried(one, tuple(wrong), struck, time.monotonic() - started))


def _empty(left: SimpleQueue[Try]) -> None:
    with suppress(Empty):
        while True:
            left.get_nowait()


def _killed_at_random(one: Try, folder: Path) -> list[str]:
    """A larger mirror killed over and over, perhaps under a limit on its pages."""
    cap = dict((SITE, PAGE_LIMIT))[one.situation]
    limit = ("--max-pages", str(cap)) if cap else ()
    with running_site(pages=600, seed=one.when) as site:
        bench = Bench(site, folder / one.situation.replace(" ", "-"), (*state_options(one.state), *limit))
        bench.folder.mkdir()
        output = bench.output()
        kills = killed_again_and_again(bench, output, RANDOM_KILLS, pages_between=15, seed=one.when)
        return cap_violations(bench, output, cap, kills) if cap else bench.violations(output, kills=kills)


def _verdict(record: Record) -> int:
    families: dict[tuple[str, str, str, str], list[Tried]] = {}
    for tried in record.tried.values():
        what = tried.what
        families.setdefault((what.state, what.situation, what.call, what.fault), []).append(tried)
    for (state, situation, call, fault), members in families.items():
        told = f"{len(members):>5} tries, {sum(tried.struck for tried in members):>4} struck"
        print(f"{state:<16}{situation:<12}{call:<10}{fault:<14}{told}  {_in_a_word(members, 'hold')}")
    everything = list(record.tried.values())
    minutes = sum(tried.seconds for tried in everything) / 60
    print(f"\n{len(everything)} tries, {minutes:.1f} minutes of trying: {_in_a_word(everything, 'all hold')}")
    left = sum(len(record.left(state)) for state in record.plans)
    if left:
        print(f"{left} are left to be tried")
    return 1 if left or any(tried.wrong for tried in everything) else 0


def _in_a_word(tries: list[Tried], if_all_hold: str) -> str:
    broken = sum(bool(tried.wrong) for tried in tries)
    return f"{broken} BROKEN" if broken else if_all_hold


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("torture: interrupted; with --resume the same command goes on")
