"""``make torture``: every durable call of a mirror killed and failed in turn, for every backend."""

import argparse
import sys
import tempfile
import time
from itertools import groupby
from pathlib import Path

from tests.site import running_site
from tests.torture.harness import Bench, state_choices, state_options, why_no_strace
from tests.torture.kills import cap_violations, killed_again_and_again
from tests.torture.plan import ERRORS, KILLS, Injection, Situation, sampled, situations

QUICK = 40
RANDOM_KILLS = 25


def main() -> int:
    options = _options()
    reason = why_no_strace()
    if reason:
        print(f"torture: {reason}", file=sys.stderr)
        return 2
    started = time.monotonic()
    tries, broken = 0, 0
    for state in options.state or state_choices():
        with (
            tempfile.TemporaryDirectory(prefix="sumi-torture-") as name,
            situations(Path(name), state_options(state)) as found,
        ):
            for situation in found:
                done, wrong = _sweep(state, situation, options)
                tries, broken = tries + done, broken + wrong
            done, wrong = _random_kills(state, Path(name), options.seed)
            tries, broken = tries + done, broken + wrong
    minutes = (time.monotonic() - started) / 60
    print(f"\n{tries} tries in {minutes:.1f} minutes: " + (f"{broken} BROKEN" if broken else "all hold"))
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} tries per situation instead of all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--state", action="append", choices=state_choices(), help="repeatable")
    return parser.parse_args()


def _sweep(state: str, situation: Situation, options: argparse.Namespace) -> tuple[int, int]:
    injections = situation.injections(KILLS | ERRORS)
    if options.quick:
        injections = sampled(injections, QUICK, options.seed)
    injections.sort(key=_family)
    broken = 0
    for (call, fault), family in groupby(injections, key=_family):
        members = list(family)
        faults = [(injection, wrong) for injection in members if (wrong := situation.attempt(injection))]
        verdict = f"{len(faults)} BROKEN" if faults else "hold"
        print(
            f"{state:<8}{situation.name:<12}{call:<10}{fault:<14}{len(members):>5} tries  {verdict}",
            flush=True,
        )
        for injection, wrong in faults:
            print(f"    {injection}: {wrong[0]}", flush=True)
        broken += len(faults)
    return len(injections), broken


def _random_kills(state: str, folder: Path, seed: int) -> tuple[int, int]:
    """Two mirrors killed over and over, one of them under a limit on its pages."""
    total, faults = 0, list[str]()
    with running_site(pages=600, seed=seed) as site:
        for name, cap in (("whole site", 0), ("page limit", 300)):
            limit = ("--max-pages", str(cap)) if cap else ()
            bench = Bench(site, folder / name.replace(" ", "-"), (*state_options(state), *limit))
            bench.folder.mkdir()
            site.clear_log()
            output = bench.output()
            kills = killed_again_and_again(bench, output, RANDOM_KILLS, pages_between=15, seed=seed)
            wrong = (
                cap_violations(bench, output, cap, kills) if cap else bench.violations(output, kills=kills)
            )
            print(f"{state:<8}{name:<12}killed at random {kills:>12} kills  {wrong or 'hold'}", flush=True)
            total, faults = total + kills, faults + wrong
    return total, len(faults)


def _family(injection: Injection) -> tuple[str, str]:
    return injection.call, injection.fault


if __name__ == "__main__":
    sys.exit(main())
