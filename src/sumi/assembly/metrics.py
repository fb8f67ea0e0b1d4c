"""``--metrics-file``: the figures of a run as Prometheus reads them, for its textfile collector.

Counters begin at zero with each run, as those of a restarted process do: Prometheus knows that. The file is
replaced as a whole, so nobody reads half of it.
"""

import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from sumi import __version__
from sumi.errors import NotWritable
from sumi.events import (
    Event,
    HostWaits,
    Listener,
    PageDeferred,
    PageSettled,
    Progress,
    RunStarted,
    Summary,
    Warned,
)

EVERY_SECONDS: Final = 5.0
LATENCIES: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds, of the histogram's buckets
_STATM = Path("/proc/self/statm")


class MetricsFile:
    """A listener. A file that can no longer be written costs a warning, not the run."""

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        self._path = Path(path)
        self._clock = clock
        self._failure: OSError | None = None
        self._next_at = 0.0
        self._started = clock()
        self._figures = Figures(self._started)
        self._write()
        if self._failure is not None:
            raise NotWritable(f"the metrics file {path} cannot be written: {self._failure.strerror}")

    def __call__(self, event: Event) -> None:
        self._figures.take(event)
        now = self._clock()
        if now >= self._next_at or isinstance(event, Summary):
            self._next_at = now + EVERY_SECONDS
            self._write()

    def close(self, tell: Listener) -> None:
        self._figures.ended_at = self._clock()
        self._write()
        if self._failure is not None:
            tell(Warned(f"the metrics file {self._path} is out of date: {self._failure.strerror}"))

    def _write(self) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            temporary.write_text(self._figures.text(self._clock()))
            os.replace(temporary, self._path)
            self._failure = None
        except OSError as error:
            self._failure = error


class Figures:
    """What a run told so far, as numbers."""

    def __init__(self, started_at: float) -> None:
        self._started_at = started_at
        self.ended_at = 0.0
        self._labels: dict[str, str] = {}
        self._pages: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._latencies: Counter[float] = Counter()  # by the smallest bucket
        self._latency_sum = 0.0
        self._answers = 0
        self._retries = 0
        self._holds = 0
        self._held_until: dict[str, float] = {}
        self._queued = 0
        self._rate = 0.0
        self._status = ""

    def take(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._labels = {"job": event.job, "target": event.target}
                self._queued = event.pending
            case PageSettled():
                self._settled(event)
            case PageDeferred():
                self._retries += 1
            case HostWaits():
                self._holds += 1
                self._held_until[event.host] = event.until
            case Progress():
                self._queued, self._rate = event.pending, event.pages_per_second
            case Summary():
                self._status = event.status
            case _:
                pass

    def _settled(self, event: PageSettled) -> None:
        self._pages[event.outcome] += 1
        self._bytes[event.outcome] += event.body_bytes or 0
        if event.latency_ms is None:
            return
        seconds = event.latency_ms / 1000
        self._answers += 1
        self._latency_sum += seconds
        self._latencies[next((most for most in LATENCIES if seconds <= most), float("inf"))] += 1

    def text(self, now: float) -> str:
        self._held_until = {host: until for host, until in self._held_until.items() if until > now}
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        of_outcomes = {f'outcome="{name}"': float(number) for name, number in sorted(self._pages.items())}
        sizes = {f'outcome="{name}"': float(number) for name, number in sorted(self._bytes.items())}
        yield from self._metric("pages_total", "counter", "URLs that ended, by outcome.", of_outcomes)
        yield from self._metric("body_bytes_total", "counter", "Bytes of bodies, by outcome.", sizes)
        yield from self._histogram()
        yield from self._metric("retries_total", "counter", "Attempts that are repeated.", self._retries)
        yield from self._metric("host_holds_total", "counter", "Waits of more than 10 s.", self._holds)
        yield from self._metric("held_hosts", "gauge", "Hosts that wait now.", len(self._held_until))
        yield from self._metric("queued_pages", "gauge", "URLs that this run has still to do.", self._queued)
        yield from self._metric("pages_per_second", "gauge", "Pages a second, of late.", self._rate)
        yield from self._metric("run_start_time_seconds", "gauge", "When the run began.", self._started_at)
        if self.ended_at:
            yield from self._metric("run_end_time_seconds", "gauge", "When the run ended.", self.ended_at)
        if self._status:
            status = {f'status="{self._status}"': 1.0}
            yield from self._metric("run_status", "gauge", "How the run ended.", status)
        yield from self._metric(
            "build_info", "gauge", "The version of Sumi.", {f'version="{__version__}"': 1.0}
        )
        used = resource.getrusage(resource.RUSAGE_SELF)
        cpu = used.ru_utime + used.ru_stime
        yield from self._metric("crawler_cpu_seconds_total", "counter", "Of the crawler's own process.", cpu)
        yield from self._metric("crawler_memory_bytes", "gauge", "Of the crawler's own process.", _memory())

    def _metric(self, name: str, kind: str, about: str, values: float | dict[str, float]) -> Iterator[str]:
        yield f"# HELP sumi_{name} {about}"
        yield f"# TYPE sumi_{name} {kind}"
        for label, value in (values if isinstance(values, dict) else {"": float(values)}).items():
            yield f"sumi_{name}{self._labelled(label)} {_number(value)}"

    def _histogram(self) -> Iterator[str]:
        name, below = "sumi_response_latency_seconds", 0
        yield f"# HELP {name} From a request to the start of its response."
        yield f"# TYPE {name} histogram"
        for most in (*LATENCIES, float("inf")):
            below += self._latencies[most]
            label = 'le="+Inf"' if most == float("inf") else f'le="{_number(most)}"'
            yield f"{name}_bucket{self._labelled(label)} {below}"
        yield f"{name}_sum{self._labelled('')} {_number(self._latency_sum)}"
        yield f"{name}_count{self._labelled('')} {self._answers}"

    def _labelled(self, label: str) -> str:
        usual = [f'{name}="{_escaped(value)}"' for name, value in self._labels.items()]
        inside = ",".join([*usual, *([label] if label else [])])
        return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.6f}".rstrip("0")


def _memory() -> float:
    try:
        return float(_STATM.read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):  # not Linux
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
