"""The summary of a run in words, and as an exit code."""

import shlex
from collections.abc import Iterable
from pathlib import PurePath

from sumi.console.terminal import Palette, duration, printable
from sumi.errors import (
    ABORTED,
    BELOW,
    COMPLETE,
    HOST,
    INTERRUPTED,
    NETWORK,
    WITH_FAILURES,
    WORST_FIRST,
)
from sumi.events import Summary
from sumi.outcomes import KEPT, MEANINGS, NAMELESS, NO_ANSWER, Ending, Outcome

_NAMES = {outcome.value: outcome for outcome in Outcome}
LINKS_DROPPED = "links_dropped"
EVERYTHING = "every page found is here"
# Why pages were left out, and which option takes them; below, for jobs that call it something else.
_LEFT_OUT = {
    "unlisted": "linked, but in no sitemap or list (--follow-links takes linked pages too)",
    "too_deep": "deeper than the limit (--max-depth)",
    "trap": "endless by their form, or like pages that brought nothing new (the --trap limits)",
    "over_cap": "the page limit was reached (--max-pages)",
    "over_budget": "their host's request limit was reached (run again, or raise --max-requests-per-host)",
    "over_quota": "their repository's limit was reached (caps in the configuration)",
    "not_archived": "not in the archive (a run without one fetches them)",
    "links_dropped": "beyond the limit for one page (--max-links)",
    "unrendered": "filled by JavaScript, and empty without it (--render auto shows them)",
    "hash_routes": "with others behind #/, which are no pages of their own to a server",
}
_IN_PART = frozenset({"unrendered", "hash_routes"})
_WITH_FLAGS = frozenset({"mirror", "capture", "map", "plan", "sitemap"})
_LEFT_OUT_BY_JOB = {
    ("over_cap", "capture"): "the page limit was reached (--limit)",
    ("over_cap", "crawl"): "the page limit was reached (caps.max_pages)",
    ("too_deep", "crawl"): "deeper than the limit (scope.max_depth)",
    ("over_budget", "map"): "their domain's request limit was reached (max-domain-requests)",
}
_MORE = {
    "mirror": "--render auto in case its links need JavaScript, or a URL higher up",
    "capture": "--render balanced in case its links need JavaScript, or a URL higher up",
}


def exit_code(summary: Summary) -> int:
    match summary.status:
        case "complete" | "limited":
            return COMPLETE
        case "partial":
            return _code_of_partial(summary)
        case "interrupted":
            return INTERRUPTED
        case _:
            return ABORTED


def _code_of_partial(summary: Summary) -> int:
    """Which kind of trouble: nothing came because nobody was reached, the Markdown is too poor, or pages are
    missing."""
    names = {name for name, count in summary.outcomes.items() if count and name in _NAMES}
    met = {_NAMES[name] for name in names}
    failed = {one for one in met if MEANINGS[one].ending in (Ending.FAILED, Ending.WAITING)}
    if failed and failed <= NO_ANSWER | NAMELESS and not met & (KEPT | {Outcome.DUPLICATE}):
        return HOST if failed <= NAMELESS else NETWORK
    excused = sum(summary.excused.values()) == count_of(summary, Ending.FAILED)
    waiting = bool(summary.outcomes.get(Outcome.PENDING.value)) or summary.unread
    return (
        BELOW if (summary.below_fidelity or summary.above_junk) and excused and not waiting else WITH_FAILURES
    )


def worst_of(codes: Iterable[int]) -> int:
    """The worst exit code of several runs."""
    found = set(codes)
    return next((code for code in WORST_FIRST if code in found), COMPLETE)


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
    """In the order of the table of outcomes; outcomes unknown to this version are ignored."""
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
        return f"{meaning.meaning} Run {_how_to_continue(summary)} to continue."
    words = " ".join(filter(None, (meaning.meaning, meaning.advice)))
    # A finished map stays as it is until --update.
    return words.replace("un again", "un again with --update") if summary.job == "map" else words


def _status_words(summary: Summary) -> str:
    match summary.status:
        case "complete":
            return _why_complete(summary)
        case "limited":
            return why_limited(summary)
        case "partial":
            return _why_partial(summary)
        case "interrupted":
            return f"run {_how_to_continue(summary)} to continue"
        case _:
            return f"stopped at once; all files are intact, run {_how_to_continue(summary)} to continue"


def _how_to_continue(summary: Summary) -> str:
    """For a capture, the same command would start another one; its output is ``STORE/jobs/JOB``."""
    if summary.job != "capture":
        return "the same command again"
    home = PurePath(summary.output)
    store = str(home.parent.parent)
    where = "" if store == "captures" else f" --captures {shlex.quote(printable(store))}"
    return f"sumi capture resume {home.name}{where}"


def _why_complete(summary: Summary) -> str:
    denied = summary.outcomes.get(Outcome.ROBOTS_DENIED.value, 0)
    if not denied:
        return EVERYTHING
    return f"{EVERYTHING}, except {_counted(denied)} that robots.txt disallows"


def is_as_wanted(summary: Summary) -> bool:
    """Complete, or with no other failures than those that the user allowed or that never count."""
    only_excused = summary.excused and not (summary.left_out or summary.alone or summary.amiss)
    return summary.status == "complete" or (summary.status == "limited" and bool(only_excused))


def why_limited(summary: Summary) -> str:
    if summary.alone:
        what = "a domain of one page" if summary.job == "map" else "one page"
        return f"{what}, without a link to another; if there should be more, try {_more(summary)}"
    parts = [left_out_words(name, count, summary.job) for name, count in summary.left_out.items()]
    parts += [excused_words(name, count) for name, count in summary.excused.items()]
    parts += [f"requested, but skipped: {printable(each)}" for each in summary.amiss[:3]]
    return "; ".join(parts) or "some of the pages found were left out"


def left_out_words(name: str, count: int, job: str) -> str:
    kind = job if job in _WITH_FLAGS else "crawl"  # a crawl's name is its profile's, or its mode's
    why = _LEFT_OUT_BY_JOB.get((name, kind)) or _LEFT_OUT.get(name, name)
    if name in _IN_PART:
        return f"{_counted(count)} here in part: {why}"
    what = f"{count:,} links" if name == LINKS_DROPPED else _counted(count)
    return f"{what} left out: {why}"


_EXCUSED = {
    "allowed": "{pages} failed, which is allowed (--allow-failed, --max-failed)",
    "foreign": "{pages} of other sites failed",
    "assets": "{files} failed",
}


def excused_words(name: str, count: int) -> str:
    files = "one image or file" if count == 1 else f"{count:,} images or files"
    return _EXCUSED.get(name, "{pages} failed").format(pages=_counted(count), files=files)


def _counted(pages: int) -> str:
    return "one page" if pages == 1 else f"{pages:,} pages"


def _more(summary: Summary) -> str:
    return _MORE.get(summary.job, "render.mode in the configuration in case its links need JavaScript")


def _why_partial(summary: Summary) -> str:
    failed = count_of(summary, Ending.FAILED) - sum(summary.excused.values())
    if failed > 0:
        return "one page failed" if failed == 1 else f"{failed:,} pages failed"
    if summary.unread:
        what = "one line or file" if summary.unread == 1 else f"{summary.unread:,} lines or files"
        return f"{what} of the spool could not be read"
    below = summary.below_fidelity
    if below:
        return f"the Markdown of {'one page' if below == 1 else f'{below:,} pages'} is below --min-fidelity"
    if summary.above_junk:
        return f"the Markdown of {_counted(summary.above_junk)} has more junk than --max-junk"
    if summary.amiss:
        return f"the requested URL is not here: {printable(summary.amiss[0])}"
    if not summary.outcomes.get(Outcome.PENDING.value):
        return "no page was captured"
    return "some pages are pending"
