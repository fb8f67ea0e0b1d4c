"""What Sumi wants to reach beside its peers, and whether a run did."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.competition import Standing, sumi_of
from benchmarks.peers.contenders import CRAWLEE_TUNED, FEW_PAGES

PYTHON_PEERS: Final = ("Scrapy", "Crawlee (Python)", "Crawl4AI")
Standings = Mapping[str, Sequence[Standing]]


class Target(NamedTuple):
    job: str
    peer: str
    factor: float  # at least so many times as fast

    def standing(self, standings: Standings) -> Standing | None:
        """None if the peer did not run."""
        return next(
            (each for each in standings.get(self.job, ()) if each.name == self.peer and each.runs), None
        )


TARGETS: Final = (
    Target("mirror", "Scrapy, tuned, + markdownify", 25.0),
    Target("mirror", "Scrapy, tuned, + turbohtml", 4.0),
    Target("mirror", "Crawlee (Python) + turbohtml", 4.0),
    Target("mirror", f"{CRAWLEE_TUNED}, + turbohtml", 4.0),
    Target("mirror", "bare loop, 2 processes", 0.6),
    Target(f"mirror{FEW_PAGES}", "Scrapy, tuned, + markdownify", 25.0),
    Target(f"mirror{FEW_PAGES}", "Crawl4AI, HTTP strategy", 4.0),
    Target("archive", "Scrapy, tuned", 5.0),
    Target("archive", "Scrapy", 10.0),
    Target("archive", "Crawlee (Python)", 10.0),
    Target("archive", "Crawlee (JavaScript)", 10.0),
    Target("archive", "wget2 -r", 0.5),
    Target("archive", "bare loop, 2 processes", 0.6),
)


def target_lines(standings: Standings) -> list[str]:
    lines = ["| job | beside | wanted | measured | |", "| --- | --- | ---: | ---: | --- |"]
    for target in TARGETS:
        standing = target.standing(standings)
        if standing is not None:
            verdict = _verdict(standing.ratio >= target.factor)
            wanted, measured = f"{target.factor:g} x", f"{standing.ratio:.2f} x"
            lines.append(f"| {target.job} | {target.peer} | {wanted} | {measured} | {verdict} |")
    return [*lines, *_memory_lines(standings)]


def _memory_lines(standings: Standings) -> list[str]:
    lines = []
    for job in (job for job in standings if job != "links"):
        ours = sumi_of(standings[job]).peak_mb
        peers = [each for each in standings[job] if each.name.startswith(PYTHON_PEERS) and each.runs]
        if peers:
            least = min(each.peak_mb for each in peers)
            wanted, verdict = f"below {least:.0f} MB", _verdict(ours < least)
            lines.append(f"| {job} | memory of every Python peer | {wanted} | {ours:.0f} MB | {verdict} |")
    return lines


def _verdict(reached: bool) -> str:
    return "reached" if reached else "**missed**"


def wins(standings: Standings) -> list[str]:
    """Where others are better than Sumi by more than the noise."""
    ahead: tuple[tuple[str, Callable[[Standing], float], str], ...] = (
        ("is faster", lambda each: each.rate, "{:.0f} pages/s, Sumi {:.0f}"),
        ("takes less processor time", lambda each: -each.cpu_ms, "{:.2f} ms a page, Sumi {:.2f}"),
        ("takes less memory", lambda each: -each.peak_mb, "{:.0f} MB, Sumi {:.0f}"),
    )
    lines = []
    for job, each in ((job, each) for job, all_of in standings.items() for each in all_of if each.runs):
        ours = sumi_of(standings[job])
        if each is ours or each.name.startswith("bare loop"):
            continue
        for words, figure, form in ahead:
            if figure(each) > figure(ours) * (1.1 if figure(each) > 0 else 1 / 1.1):
                lines.append(
                    f"- {job}: **{each.name}** {words}: {form.format(abs(figure(each)), abs(figure(ours)))}"
                )
    return lines
