"""``sumi capture`` and its verbs: list, show, export, delete, pause, resume, cancel."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from sumi.console.next_steps import command_line, larger_limit, same_again, show_next
from sumi.console.options import add_reporting, add_settings, given_flags, lists_from_stdin
from sumi.console.parser import SentenceParser
from sumi.console.reporters import reporting
from sumi.console.summary import exit_code
from sumi.console.terminal import Sink, printable
from sumi.errors import INTERRUPTED, WITH_FAILURES
from sumi.jobs.capture.export import DEFAULT_FORMAT, EXPORT_FORMATS
from sumi.jobs.capture.settings import (
    CAPTURE_SETTINGS,
    RESUME_SETTINGS,
    STORE,
    WHERE,
    CaptureSettings,
    load_capture_settings,
    resumed_settings,
    store_given,
)
from sumi.outcomes import Outcome
from sumi.settings.setting import Setting

if TYPE_CHECKING:
    from sumi.jobs.capture.captures import Captures, ShownJob

_EXAMPLES = """\
examples:
  sumi capture https://docs.example.org/guide           the pages under /guide, into ./captures
  sumi capture docs.example.org/api docs.example.org/sdk --limit 50     at most 50 pages of each
  sumi capture docs.example.org --external-hops 1       and the pages that its pages link to
  sumi capture app.example.org --render balanced --wait-for main
  sumi capture list                                     all jobs and their states
  sumi capture export JOB --format zip -o docs.zip      its pages as files

While a capture runs, from another terminal: sumi capture pause, resume, cancel.
"""


_USUAL = (
    *("url", "--captures", "--limit", "--include", "--exclude", "--external-hops", "--render", "--wait-for"),
    *("--rate-limit", "--contact", "--skip-cache", "--warc", "--config", "--json", "--quiet", "--verbose"),
)
_RESUME_USUAL = (
    "job",
    "--captures",
    "--rate-limit",
    "--auth",
    "--header",
    "--proxy",
    "--json",
    "--quiet",
)


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture",
        usage="sumi capture [options] URL...",
        description=(
            "Captures the pages under one or several base URLs as Markdown, each text once. Does not fetch "
            "again what earlier captures have."
        ),
        epilog=_EXAMPLES,
        usual=_USUAL,
    )
    add_settings(parser, CAPTURE_SETTINGS)
    add_reporting(parser).add_argument(
        "--config", metavar="FILE", help="Settings from the [capture] section of a TOML file."
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    with lists_from_stdin(given_flags(options, CAPTURE_SETTINGS)) as flags:
        return run_reported(
            load_capture_settings(flags, os.environ, options.config), options, typed=arguments
        )


def run_reported(
    settings: CaptureSettings,
    options: argparse.Namespace,
    job_id: str | None = None,
    typed: Sequence[str] | None = None,
) -> int:
    """Run the job to its end with a reporter listening; its status decides the exit code."""
    # Imported here because the engine brings the network and the parser, which --help does not need.
    from sumi.assembly.parts import run_loop
    from sumi.console.logging_in import ensure_logged_in
    from sumi.jobs.capture.run import capture

    ensure_logged_in(settings.login, settings.urls, settings.browser)
    with reporting(options) as reporter:
        captured = run_loop(capture(settings, listeners=[reporter], job_id=job_id))
    steps = _steps(captured.job.id, captured.job.status, settings.store)
    if typed is not None and Outcome.OVER_CAP.value in captured.summary.left_out:
        larger = ("--limit", larger_limit(captured.summary.outcomes))
        steps = [("more", same_again("capture", typed, *larger, without=larger[0])), *steps]
    show_next(options, Sink(sys.stderr), steps)
    code = exit_code(captured.summary)
    # Pages that still wait, for example for a host that does not answer, can be resumed.
    return INTERRUPTED if code == WITH_FAILURES and captured.job.status == "interrupted" else code


def _steps(job: str, status: str, store: str) -> list[tuple[str, str]]:
    where = [] if store == STORE.default else ["--captures", store]
    export = ("export", command_line("sumi", "capture", "export", job, *where))
    if status == "completed":
        return [export]
    return [("retry", command_line("sumi", "capture", "resume", job, *where)), export]


# ── sumi capture list, show, export, delete, pause, resume, cancel ─────────────────────────────────────────


def _parser(
    verb: str,
    description: str,
    examples: str,
    *,
    job: str | None = None,
    settings: Sequence[Setting] = WHERE,
    usual: Sequence[str] = (),
) -> SentenceParser:
    """``job``: the default job; "" if one must be given, None if the verb takes none."""
    named = {None: "", "": " JOB"}.get(job, " [JOB]")
    parser = SentenceParser(
        prog=f"sumi capture {verb}",
        usage=f"sumi capture {verb} [options]{named}",
        description=description,
        epilog=f"examples:\n{examples}",
        usual=usual,
    )
    if job is not None:
        default = f" Default: {job}." if job else ""
        text = f"Job id, or the beginning of one.{default}"
        parser.add_argument("job", metavar="JOB", nargs="?" if job else None, help=text)
    add_settings(parser, settings)
    return parser


def _captures(options: argparse.Namespace) -> "Captures":
    """The folder given by the flag or the environment variable."""
    from sumi.jobs.capture.captures import Captures

    return Captures(store_given(given_flags(options, WHERE), os.environ))


# ── list ───────────────────────────────────────────────────────────────────────────────────────────────────

_LIST_EXAMPLES = """\
  sumi capture list
  sumi capture list --captures docs --json | jq -r .id
"""


def list_parser() -> SentenceParser:
    words = "Lists the captures in a folder and their states, oldest first."
    parser = _parser("list", words, _LIST_EXAMPLES)
    parser.add_argument("--json", action="store_true", help="One JSON object per job on stdout.")
    return parser


def run_list(arguments: Sequence[str]) -> int:
    options = list_parser().parse_all(arguments)
    out = Sink(sys.stdout)
    for job in _captures(options).jobs():
        if options.json:
            out.line(msgspec.json.encode(job).decode())
            continue
        counts = f"{job.pages_processed:>7,} pages {job.pages_failed:>5,} failed"
        bases = ", ".join(map(printable, job.base_urls))
        out.line(f"{job.id}  {job.status:<21} {_moment(job.created)} {counts}  {bases}")
    return 0


def _moment(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


# ── show ───────────────────────────────────────────────────────────────────────────────────────────────────

_SHOW_EXAMPLES = """\
  sumi capture show                       the last job
  sumi capture show 20260301-1200 --json  the job, then a line per page and per failure
"""


def show_parser() -> SentenceParser:
    words = "Shows the state of a job, its pages with all their URLs, near-duplicates, and failures."
    parser = _parser("show", words, _SHOW_EXAMPLES, job="the last one")
    parser.add_argument(
        "--json",
        action="store_true",
        help="JSON lines on stdout: the job, its pages, groups and failures.",
    )
    return parser


def run_show(arguments: Sequence[str]) -> int:
    options = show_parser().parse_all(arguments)
    out = Sink(sys.stdout)
    with _captures(options).show(options.job) as shown:
        for line in _as_json(shown) if options.json else _as_text(shown):
            out.line(line)
    return 0


def _as_json(shown: "ShownJob") -> Iterator[str]:
    yield msgspec.json.encode({"kind": "job", **msgspec.structs.asdict(shown.job)}).decode()
    for page, urls in shown.pages():
        row = {"kind": "page", **msgspec.to_builtins(page), "alternate_urls": urls}
        del row["asked_with"]  # for the cache alone, and may be derived from a password
        yield msgspec.json.encode(row).decode()
    for group in shown.near_duplicates():
        yield msgspec.json.encode({"kind": "near_duplicates", "urls": group}).decode()
    for failure in shown.failures():
        yield msgspec.json.encode({"kind": "failure", **msgspec.structs.asdict(failure)}).decode()


def _as_text(shown: "ShownJob") -> Iterator[str]:
    job, levels = shown.job, shown.count_by_cache_level()
    yield f"job       {job.id}"
    yield f"status    {job.status}"
    yield f"begun     {_moment(job.started)}, ended {_moment(job.ended)}"
    waiting = f"{job.queue_size:,} waiting"
    yield f"pages     {job.pages_processed:,} captured, {job.pages_failed:,} failed, {waiting}"
    yield f"cache     {', '.join(f'{count:,} {level}' for level, count in levels.items()) or '-'}"
    for base, count in shown.count_by_base().items():
        yield f"base      {printable(base)}: {count:,} pages"
    yield ""
    for page, urls in shown.pages():
        yield f"{printable(page.url)}  {printable(page.title or '')}".rstrip()
        yield from (f"  also at {printable(url)}" for url in urls[1:])
    for group in shown.near_duplicates():
        yield "nearly the same text:"
        yield from (f"  {printable(url)}" for url in group)
    for failure in shown.failures():
        yield f"failed: {printable(failure.url)}: {printable(failure.error)}"


# ── export ─────────────────────────────────────────────────────────────────────────────────────────────────

_EXPORT_EXAMPLES = """\
  sumi capture export                                    the last job, as a folder of Markdown files
  sumi capture export JOB --format markdown -o docs.md   one file with a table of contents
  sumi capture export JOB --format jsonl -o docs.jsonl
"""


def export_parser() -> SentenceParser:
    parser = _parser("export", "Writes the pages of a job to files.", _EXPORT_EXAMPLES, job="the last one")
    formats = "; ".join(f"{name}: {form.summary}" for name, form in EXPORT_FORMATS.items())
    parser.add_argument(
        "--format",
        choices=list(EXPORT_FORMATS),
        default=DEFAULT_FORMAT,
        metavar="FORMAT",
        help=f"{formats}. Default: {DEFAULT_FORMAT}.",
    )
    parser.add_argument("-o", "--output", metavar="PATH", help="Output path. Default: named after the job.")
    return parser


def run_export(arguments: Sequence[str]) -> int:
    options = export_parser().parse_all(arguments)
    target, pages = _captures(options).export(options.job, options.format, options.output)
    are = "page is" if pages == 1 else "pages are"
    print(f"{pages:,} {are} in {printable(str(target))}", file=sys.stderr)
    return 0


# ── delete ─────────────────────────────────────────────────────────────────────────────────────────────────


def delete_parser() -> SentenceParser:
    words = "Deletes a job, its pages, and the contents that no other job uses."
    return _parser("delete", words, "  sumi capture delete 20260301-120000-3f1a\n", job="")


def run_delete(arguments: Sequence[str]) -> int:
    options = delete_parser().parse_all(arguments)
    job = _captures(options).delete(options.job)
    print(f"{job.id} is deleted", file=sys.stderr)
    return 0


# ── pause, resume, cancel ──────────────────────────────────────────────────────────────────────────────────

_PAUSE_EXAMPLES = """\
  sumi capture pause            finishes the pages in flight
  sumi capture resume           continues
"""
_CANCEL_EXAMPLES = """\
  sumi capture cancel           finishes the pages in flight, then stops
"""
_RESUME_EXAMPLES = """\
  sumi capture resume                     the last job: end its pause, or continue it here
  sumi capture resume JOB --rate-limit 1  continue at another rate
"""


def pause_parser() -> SentenceParser:
    words = "Pauses a capture that runs in another process."
    return _parser("pause", words, _PAUSE_EXAMPLES, job="the one that is running")


def run_pause(arguments: Sequence[str]) -> int:
    options = pause_parser().parse_all(arguments)
    job = _captures(options).pause(options.job)
    print(f"{job.id} will pause within a second", file=sys.stderr)
    return 0


def cancel_parser() -> SentenceParser:
    words = "Ends a capture that runs in another process; its pages are kept."
    return _parser("cancel", words, _CANCEL_EXAMPLES, job="the one that is running")


def run_cancel(arguments: Sequence[str]) -> int:
    options = cancel_parser().parse_all(arguments)
    job = _captures(options).cancel(options.job)
    print(f"{job.id} will end as soon as its pages in flight are done", file=sys.stderr)
    return 0


def resume_parser() -> SentenceParser:
    words = (
        "Resumes a capture that was paused, interrupted or had failures. Passwords, "
        "headers and proxies are not stored: give them again."
    )
    parser = _parser(
        "resume", words, _RESUME_EXAMPLES, job="the last one", settings=RESUME_SETTINGS, usual=_RESUME_USUAL
    )
    add_reporting(parser)
    return parser


def run_resume(arguments: Sequence[str]) -> int:
    options = resume_parser().parse_all(arguments)
    flags = given_flags(options, RESUME_SETTINGS)
    captures = _captures(options)
    job = captures.job(options.job)
    if captures.unpause(job):
        print(f"{job.id} continues within a second", file=sys.stderr)
        return 0
    return run_reported(resumed_settings(job.settings, flags, os.environ), options, job.id)
