"""``sumi plan``: options, and the plan as text."""

import os
import sys
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from sumi.console.narration import Verbosity
from sumi.console.options import add_settings, given_flags
from sumi.console.parser import SentenceParser
from sumi.console.reporters import choose_reporter
from sumi.console.terminal import Sink, duration, printable
from sumi.jobs.mirror.settings import LOOKING, NOT_PLANNED, load_settings

if TYPE_CHECKING:
    from sumi.jobs.mirror.plan import Plan

SAMPLE = 12

_EXAMPLES = """\
examples:
  sumi plan https://docs.example.org               takes about 20 seconds at one request per second
  sumi plan docs.example.org --rate-limit 5 --sample 40
  sumi plan docs.example.org/guide --json
"""


_USUAL = (
    *("url", "--sample", "--max-pages", "--include", "--exclude", "--hosts", "--rate-limit", "--contact"),
    *("--user-agent", "--auth", "--render", "--config", "--json", "--quiet"),
)


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi plan",
        usage="sumi plan [options] URL",
        description=(
            "Looks at a site before you mirror it: the pages in its sitemaps, its robots.txt, its generator, "
            "whether pages need JavaScript (from a sample), and the disk space and time of a mirror. Takes "
            "all options of sumi mirror; those that make no difference to the plan are not listed."
        ),
        epilog=_EXAMPLES,
        usual=_USUAL,
    )
    add_settings(parser, LOOKING, NOT_PLANNED)
    report = parser.add_argument_group("reporting")
    report.add_argument("--config", metavar="FILE", help="Settings from the [mirror] section of a TOML file.")
    report.add_argument(
        "--sample", metavar="N", type=int, default=SAMPLE, help=f"Pages to sample. Default: {SAMPLE}."
    )
    report.add_argument("--json", action="store_true", help="One JSON object on stdout.")
    report.add_argument("-q", "--quiet", action="store_true", help="Show no progress, only the plan.")
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_all(arguments)
    if not 1 <= options.sample <= 1000:
        parser.error("--sample takes a number from 1 to 1000")
    settings = load_settings(given_flags(options, LOOKING), os.environ, options.config)
    from sumi.assembly.parts import run_loop
    from sumi.jobs.mirror.plan import plan

    out, err = Sink(sys.stdout), Sink(sys.stderr)
    verbosity = Verbosity.of(verbose=0, quiet=options.quiet)
    reporter = choose_reporter(verbosity, out, err, os.environ, as_json=False)
    try:
        made = run_loop(plan(settings, sample=options.sample, listeners=[reporter]))
    finally:
        reporter.close()
    if options.json:
        out.line(msgspec.json.encode(made).decode())
    else:
        for line in _lines(made):
            out.line(printable(line))
    return 0


def _lines(plan: "Plan") -> Iterator[str]:
    yield f"plan for {plan.site}"
    yield ""
    yield f"  pages       {_pages(plan)}"
    yield from (f"              {sitemap.url}: {sitemap.says}" for sitemap in plan.sitemaps[:5])
    if len(plan.sitemaps) > 5:
        yield f"              and {len(plan.sitemaps) - 5:,} more sitemaps"
    if plan.left_out:
        words = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in plan.left_out.items())
        yield f"  left out    {words}"
    if plan.unlisted:
        are = "linked page is" if plan.unlisted == 1 else "linked pages are"
        yield (
            f"  unlisted    {plan.unlisted:,} {are} not in the sitemap: "
            "--follow-links takes linked pages too (from the sample; there may be more)"
        )
    yield f"  robots.txt  {_robots(plan)}"
    yield f"  made with   {plan.framework or 'unknown'}"
    yield f"  sample      {_sample(plan)}"
    yield f"  JavaScript  {_javascript(plan)}"
    yield f"  disk        {_disk(plan)}"
    yield f"  time        {_time(plan)}"


def _pages(plan: "Plan") -> str:
    if plan.pages is None:
        return "unknown without a sitemap: a mirror follows links"
    if plan.would_fetch is not None and plan.would_fetch < plan.pages:
        return f"{plan.pages:,} listed, of which --max-pages takes {plan.would_fetch:,}"
    return f"{plan.pages:,} listed"


def _robots(plan: "Plan") -> str:
    robots = plan.robots
    parts = [robots.meaning]
    if robots.rules_for:
        parts.append("rules for everyone" if robots.rules_for == "*" else f"rules for {robots.rules_for}")
    if robots.crawl_delay:
        parts.append(f"asks for {robots.crawl_delay:g} s between requests")
    parts += [f"Content-Signal: {signal}" for signal in robots.content_signals]
    return "; ".join(parts)


def _sample(plan: "Plan") -> str:
    failed = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in plan.failed.items())
    scores = [page.fidelity for page in plan.sampled if page.fidelity is not None]
    fidelity = f", median fidelity {median(scores):.2f}" if scores else ""
    return f"{len(plan.sampled)} pages sampled{fidelity}{f'; {failed}' if failed else ''}"


def _javascript(plan: "Plan") -> str:
    if not plan.need_javascript:
        return "not needed by any page of the sample"
    why = next(page.javascript for page in plan.sampled if page.javascript)
    return f"needed by {plan.need_javascript} of {len(plan.sampled)} pages ({why}): use --render auto"


def _disk(plan: "Plan") -> str:
    if plan.disk_bytes is None or plan.inodes is None:
        return "unknown"
    return f"about {plan.disk_bytes / 1024**2:,.0f} MiB in {plan.inodes:,} files and folders"


def _time(plan: "Plan") -> str:
    pause = plan.seconds_between_requests
    pace = f"one request every {pause:g} s" if pause else "no rate limit"
    if plan.least_seconds is None:
        return f"{pace}: {duration(1000 * pause)} for every 1,000 pages" if pause else pace
    return f"at least {duration(plan.least_seconds)} with {pace}"
