"""``python -m benchmarks.instructions``: has a hot function become slower, counted in instructions?

Times depend on what else a machine does; the number of instructions hardly does. Valgrind counts those of a
process that calls a function so many times, and of one that calls it twice as often: the difference is the
function's own, without starting up. ``instructions.json`` holds what was counted when it was last recorded;
``--record`` writes it anew, which belongs into the commit that made the difference.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from benchmarks.hot_functions import FUNCTIONS

RECORDED: Final = Path(__file__).with_suffix(".json")
TIMES: Final = 3
# Builds of Python and of the libraries differ by a tenth; what is worth stopping for is more.
MOST: Final = 1.3
_REFERENCES: Final = re.compile(r"I\s+refs:\s+([\d,]+)")


def platform_name() -> str:
    return f"Python {'.'.join(platform.python_version_tuple()[:2])} on {platform.machine()}"


def why_not(valgrind: str | None, recorded_on: str) -> str:
    """Why nothing can be compared here; "" if it can."""
    if valgrind is None:
        return "valgrind is not installed"
    if recorded_on != platform_name():
        return f"counts were recorded with {recorded_on}, this is {platform_name()}"
    return ""


def slower(counted: Mapping[str, int], recorded: Mapping[str, int]) -> list[str]:
    """A sentence for each function that takes too much more, or that nothing was recorded for."""
    found = []
    for name, count in counted.items():
        if name not in recorded:
            found.append(f"{name} has no recorded count: run `python -m benchmarks.instructions --record`.")
        elif count > MOST * recorded[name]:
            found.append(
                f"{name} takes {count:,} instructions, {count / recorded[name]:.2f} times the recorded "
                f"{recorded[name]:,}; make it cheaper, or record the new count with --record."
            )
    return found


def count_all(valgrind: str) -> dict[str, int]:
    jobs = [(name, times) for name in FUNCTIONS for times in (TIMES, 2 * TIMES)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(jobs, pool.map(lambda job: _count(valgrind, *job), jobs), strict=True))
    return {name: (counts[name, 2 * TIMES] - counts[name, TIMES]) // TIMES for name in FUNCTIONS}


def _count(valgrind: str, name: str, times: int) -> int:
    tool = [valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command = [*tool, sys.executable, "-m", "benchmarks.hot_functions", name, str(times)]
    # The same hashes every time: the order of sets and the collisions of dictionaries are part of the count.
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = _REFERENCES.search(done.stderr)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"{name} could not be counted:\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("--record", action="store_true", help="keep what is counted now for comparisons")
    record = parser.parse_args().record
    stored = json.loads(RECORDED.read_text())
    valgrind = shutil.which("valgrind")
    reason = why_not(valgrind, platform_name() if record else stored["on"])
    if reason or valgrind is None:
        print(f"instructions are not compared: {reason}")
        return 0
    counted = count_all(valgrind)
    if record:
        RECORDED.write_text(json.dumps({"on": platform_name(), "instructions": counted}, indent=2) + "\n")
        return 0
    for name, count in counted.items():
        print(f"{name:20} {count:>12,} {count / stored['instructions'].get(name, count):6.2f} x")
    problems = slower(counted, stored["instructions"])
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
