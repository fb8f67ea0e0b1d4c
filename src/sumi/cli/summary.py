"""The end of a run in words, and as an exit code."""

import shlex
from collections.abc import Iterable
from pathlib import PurePath

from sumi.cli.terminal import Palette, duration, printable
from sumi.events import Summary
from sumi.outcomes import MEANINGS, Ending, Outcome

COMPLETE, WITH_FAILURES, BAD_USAGE, INTERRUPTED, ABORTED = 0, 1, 2, 3, 4

EXIT_CODES: dict[int, str] = {
    COMPLETE: "complete, or stopped by the page limit",
    WITH_FAILURES: "finished, but some pages failed, are below --min-fidelity or unreadable in a spool",
    BAD_USAGE: "bad usage or configuration; nothing was done",
    INTERRUPTED: "interrupted; the same command goes on",
    ABORTED: "aborted: something broke; the message says what",
}

_NAMES = {outcome.value: outcome for outcome in Outcome}


def exit_code(summary: Summary) -> int:
    match summary.status:
        case "complete":
            return COMPLETE
        case "partial":
            failed = count_of(summary, Ending.FAILED) or summary.below_fidelity or summary.unread
            return WITH_FAILURES if failed else COMPLETE
        case "interrupted":
            return INTERRUPTED
        case _:
            return ABORTED


def worst_of(codes: Iterable[int]) -> int:
    """Of several runs: what went wrong in any of them is told."""
    found = set(codes)
    order = (ABORTED, BAD_USAGE, INTERRUPTED, WITH_FAILURES)
    return next((code for code in order if code in found), COMPLETE)


def count_of(summary: Summary, ending: Ending) -> int:
    return sum(count for _, count in _by_ending(summary, ending))


def status_line(summary: Summary, palette: Palette) -> str:
    words, paint = _status_words(summary), palette.caution
    if summary.status == "complete":
        paint = palette.good
    elif exit_code(summary) not in (COMPLETE, INTERRUPTED):
        paint = palette.bad
    return f"{paint(printable(summary.status))}: {words}"


def summary_lines(summary: Summary, palette: Palette, done_now: int) -> list[str]:
    """Status, the counts by ending with their outcomes beneath, where the output is, and how long it took.

    The counts are of the whole job; ``done_now`` is of this run alone, as the time is.
    """
    lines = [status_line(summary, palette), ""]
    for ending in Ending:
        lines += ending_lines(summary, ending, palette)
    lines += [
        "",
        f"  discovered  {summary.discovered:,}",
        f"  output      {printable(summary.output)}",
        f"  time        {duration(summary.seconds)}, {done_now / max(summary.seconds, 0.001):.1f} pages/s",
    ]
    return lines + [f"  note        {printable(note)}" for note in summary.notes]


def _by_ending(summary: Summary, ending: Ending) -> list[tuple[Outcome, int]]:
    """In the order of the table of outcomes; one that this version does not know counts nowhere."""
    counts = {_NAMES[name]: count for name, count in summary.outcomes.items() if name in _NAMES and count}
    return [
        (one, counts[one]) for one, meaning in MEANINGS.items() if meaning.ending is ending and one in counts
    ]


def ending_lines(summary: Summary, ending: Ending, palette: Palette) -> list[str]:
    rows = _by_ending(summary, ending)
    if not rows:
        return []
    head = f"  {ending.value:<20}{sum(count for _, count in rows):>9,}"
    lines = [palette.bad(head) if ending is Ending.FAILED else head]
    for outcome, count in rows:
        hint = _hint(outcome, summary) if ending in (Ending.FAILED, Ending.WAITING) else ""
        lines.append(f"    {outcome.value:<18}{count:>9,}  {palette.faint(hint)}".rstrip())
    return lines


def _hint(outcome: Outcome, summary: Summary) -> str:
    meaning = MEANINGS[outcome]
    if outcome is Outcome.PENDING:
        return f"{meaning[1]} Run {_how_to_go_on(summary)} to go on."
    words = " ".join(part for part in meaning[1:] if part)
    # A map that is finished stays as it is until another run is asked for.
    return words.replace("un again", "un again with --update") if summary.job == "map" else words


def _status_words(summary: Summary) -> str:
    match summary.status:
        case "complete" if summary.outcomes.get(Outcome.OVER_CAP.value):
            return "as many pages as were asked for are here"
        case "complete":
            return "every page that was found is here"
        case "partial":
            return _why_partial(summary)
        case "interrupted":
            return f"run {_how_to_go_on(summary)} to go on"
        case _:
            return f"stopped at once; what was written is whole, run {_how_to_go_on(summary)} to go on"


def _how_to_go_on(summary: Summary) -> str:
    """Of a capture the same command would begin another one; its output is ``STORE/jobs/JOB``."""
    if summary.job != "capture":
        return "the same command again"
    home = PurePath(summary.output)
    store = str(home.parent.parent)
    where = "" if store == "captures" else f" --store {shlex.quote(printable(store))}"
    return f"sumi capture resume {home.name}{where}"


def _why_partial(summary: Summary) -> str:
    failed = count_of(summary, Ending.FAILED)
    if failed:
        return "one page failed" if failed == 1 else f"{failed:,} pages failed"
    if summary.unread:
        what = "one line or file" if summary.unread == 1 else f"{summary.unread:,} lines or files"
        return f"{what} of the spool could not be read"
    below = summary.below_fidelity
    if below:
        return f"the Markdown of {'one page' if below == 1 else f'{below:,} pages'} is below --min-fidelity"
    if summary.outcomes.get(Outcome.OVER_CAP.value):
        return "the page limit was reached first"
    return "some pages are still to come"
