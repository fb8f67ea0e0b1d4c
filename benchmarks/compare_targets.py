"""What Sumi wants to reach beside its peers, and whether a run did."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.competition import Standing, sumi_of

PYTHON_PEERS: Final = ("Scrapy", "Crawlee (Python)", "Crawl4AI")
Standings = Mapping[str, Sequence[Standing]]


class Target(NamedTuple):
    job: str
    peers: str  # the beginning of their names
    factor: float  # at least so many times as fast

    def reached(self, standings: Standings) -> tuple[float, bool] | None:
        """The worst ratio, and whether it is enough; None if there was no such peer."""
        ratios = [
            each.ratio
            for each in standings.get(self.job, ())
            if each.name.startswith(self.peers) and each.runs
        ]
        return (min(ratios), min(ratios) >= self.factor) if ratios else None


TARGETS: Final = (
    Target("mirror", "Scrapy + markdownify", 25.0),
    Target("mirror", "Scrapy + turbohtml", 4.0),
    Target("mirror", "Crawlee", 4.0),
    Target("mirror", "Crawl4AI", 4.0),
    Target("mirror", "bare loop, 2", 0.6),
    Target("archive", "Scrapy", 5.0),
    Target("archive", "Crawlee", 10.0),
    Target("archive", "wget2", 0.5),
    Target("archive", "bare loop, 2", 0.6),
)


def target_lines(standings: Standings) -> list[str]:
    lines = ["| job | beside | wanted | measured | |", "| --- | --- | ---: | ---: | --- |"]
    for target in TARGETS:
        if (reached := target.reached(standings)) is not None:
            ratio, enough = reached
            verdict = "reached" if enough else "**missed**"
            lines.append(
                f"| {target.job} | {target.peers} | {target.factor:g} x | {ratio:.2f} x | {verdict} |"
            )
    return [*lines, *_memory_lines(standings)]


def _memory_lines(standings: Standings) -> list[str]:
    lines = []
    for job in (job for job in ("mirror", "archive") if job in standings):
        ours = sumi_of(standings[job]).peak_mb
        peers = [each for each in standings[job] if each.name.startswith(PYTHON_PEERS) and each.runs]
        if peers:
            least = min(each.peak_mb for each in peers)
            verdict = "reached" if ours < least else "**missed**"
            lines.append(
                f"| {job} | memory of every Python peer | below {least:.0f} MB | {ours:.0f} MB | {verdict} |"
            )
    return lines


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
