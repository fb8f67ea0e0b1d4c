"""What the server itself gives on the same URLs: wrk asks, and does nothing with the answers."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from benchmarks.peers.environments import Environment
from benchmarks.peers.kept_pages import CONCURRENCY

SCRIPT = """
local paths = {{ {paths} }}
local at = 0
request = function()
  at = at % #paths + 1
  return wrk.format("GET", paths[at], {{ ["Accept-Encoding"] = "gzip" }})
end
"""


def wrk_rate(wrk: Environment, origin: str, paths: Iterable[str], folder: Path, seconds: int = 5) -> float:
    """Requests a second."""
    script = folder / "paths.lua"
    script.write_text(SCRIPT.format(paths=", ".join(f'"{path}"' for path in sorted(paths))))
    command = [wrk.program, "-t1", f"-c{CONCURRENCY}", f"-d{seconds}s", "-s", str(script), origin]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    rate = re.search(r"Requests/sec:\s*([\d.]+)", told)
    return float(rate[1]) if rate else 0.0
