"""``python -m fuzz.run TARGET SECONDS``: coverage-guided fuzzing of a target, or of all in turn.

What the fuzzer learns is kept in ``build/fuzz/TARGET``, so that the next run goes on from there. An input
that breaks a promise is written to ``build/fuzz/TARGET-crash-…`` and ends the run with an error.
"""

import subprocess
import sys
from pathlib import Path

from fuzz.targets import CORPUS, NAMES, load

WORK = Path("build/fuzz")
MAX_BYTES = 8192
SLOWEST_INPUT = 20  # seconds; a slower one counts as broken
MEMORY_MIB = 2048


def main(arguments: list[str]) -> int:
    wanted, seconds = arguments
    if wanted == "all":
        return max(_in_own_process(name, seconds) for name in NAMES)
    if wanted not in NAMES:
        sys.stderr.write(f"No target {wanted!r}; there are: {', '.join(NAMES)}, all.\n")
        return 2
    _fuzz(wanted, int(seconds))
    return 0


def _in_own_process(name: str, seconds: str) -> int:
    # The fuzzer never returns: it ends its process.
    command = [sys.executable, "-m", "fuzz.run", name, seconds]
    return subprocess.run(command, check=False).returncode  # noqa: S603 - our own name and a number


def _fuzz(name: str, seconds: int) -> None:
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["sumi", "fuzz"]):
        check = load(name)
    learned = WORK / name
    learned.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={MAX_BYTES}",
        f"-timeout={SLOWEST_INPUT}",
        f"-rss_limit_mb={MEMORY_MIB}",
        f"-artifact_prefix={WORK}/{name}-",
        "-print_final_stats=1",
        "-verbosity=1",
        str(learned),
        str(CORPUS / name),
    ]
    atheris.Setup([sys.argv[0], *options], check)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
