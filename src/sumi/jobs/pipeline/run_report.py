"""What ``sumi run`` shows of its two processes: every line says whose it is, and the last word is of both."""

import json
import threading
from collections.abc import Mapping
from typing import Final

import msgspec

from sumi.console.narration import Narrator, Verbosity, progress_line
from sumi.console.reporters import Reporter, reporter_for_people
from sumi.console.summary import summary_lines
from sumi.console.terminal import Palette, Sink, printable
from sumi.events import Event, PageSettled, Progress, Summary
from sumi.jobs.pipeline.run_verdict import JointVerdict
from sumi.outcomes import Ending

CRAWL: Final = "crawl"
SCRAPE: Final = "scrape"
_PROCESSES: Final = {CRAWL: "crawler", SCRAPE: "scraper"}
# Of one process alone "every page that was found is here" might be false.
_DONE_WORDS: Final = {
    CRAWL: "every page that was found is in the spool",
    SCRAPE: "every page that was in the spool is archived",
}


class JointReport:
    """Heard from two threads: the scraper's own, and the one that reads what the crawler says."""

    def __init__(
        self, verbosity: Verbosity, out: Sink, err: Sink, environ: Mapping[str, str], *, as_json: bool
    ) -> None:
        self._out, self._err = out, err
        self._as_json = as_json
        self._quiet = verbosity is Verbosity.QUIET
        self._palette = Palette.for_sink(err, environ)
        self._voices = _Voices(verbosity, self._palette)
        self._people: Reporter = reporter_for_people(self._voices, verbosity, err, environ)
        self._one_at_a_time = threading.RLock()

    def scraper(self, event: Event) -> None:
        if self._as_json:
            self._program(SCRAPE, msgspec.to_builtins(event))
        else:
            self._person(SCRAPE, event)

    def event(self, line: str, event: Event | None) -> None:
        """Of the crawler. What is no event for people, an error, it has also written to stderr."""
        if self._as_json:
            self._program(CRAWL, json.loads(line))
        elif event is not None:
            self._person(CRAWL, event)

    def remark(self, line: str) -> None:
        with self._one_at_a_time:
            self._people.close()
            self._err.line(f"{CRAWL}: {printable(line)}")

    def verdict(self, verdict: JointVerdict) -> None:
        with self._one_at_a_time:
            self.close()
            if self._as_json:
                self._program("run", msgspec.to_builtins(verdict.summary))
            elif not (self._quiet and verdict.summary.status == "complete"):
                self._err.line(("" if self._quiet else "\n") + verdict.line(self._palette))

    def close(self) -> None:
        self._people.close()

    def _program(self, name: str, event: dict[str, object]) -> None:
        whole = event | {"process": _PROCESSES.get(name, name)}
        with self._one_at_a_time:
            self._out.line(json.dumps(whole, separators=(",", ":")))

    def _person(self, name: str, event: Event) -> None:
        with self._one_at_a_time:
            self._voices.speaking = name
            if isinstance(event, Progress):
                self._voices.latest[name] = event
            self._people(event)


class _Voices(Narrator):
    """A narrator for each process, told apart; which of them is speaking is set before."""

    def __init__(self, verbosity: Verbosity, palette: Palette) -> None:
        super().__init__(verbosity, palette)
        self._is_quiet = verbosity is Verbosity.QUIET
        self._colours = palette
        self._narrators = {name: Narrator(verbosity, palette) for name in _PROCESSES}
        self._pages = dict.fromkeys(_PROCESSES, 0)  # done in this run
        self.latest: dict[str, Progress] = {}
        self.speaking = CRAWL

    def lines(self, event: Event) -> list[str]:
        if isinstance(event, PageSettled) and event.ending == Ending.DONE:
            self._pages[self.speaking] += 1
        said = self._end(event) if isinstance(event, Summary) else self._narrators[self.speaking].lines(event)
        return [f"{self.speaking}: {line}".rstrip() for line in said]

    def progress(self, event: Progress) -> str:
        """Both, whoever moved on."""
        known = [(name, self.latest[name]) for name in _PROCESSES if name in self.latest]
        return "; ".join(f"{name}: {progress_line(progress)}" for name, progress in known)

    def _end(self, event: Summary) -> list[str]:
        """When quiet, the joint verdict says it."""
        if self._is_quiet:
            return []
        lines = summary_lines(event, self._colours, self._pages[self.speaking])
        if event.status == "complete":
            lines[0] = f"{self._colours.good('complete')}: {_DONE_WORDS[self.speaking]}"
        return lines
