"""``sumi explain``: why a page was fetched, skipped or failed; or why the job does not know it."""

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from sumi.console.narration import waiting_words
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.policy import is_database

if TYPE_CHECKING:
    from sumi.inspection.explain import Explanation
    from sumi.model import PageFacts
    from sumi.ports import Attempt

UNKNOWN = 1

_EXAMPLES = """\
examples:
  sumi explain https://docs.example.org/old/setup
  sumi explain docs.example.org/private/ --in library
  sumi explain docs.example.org/old --in postgresql://db.example.org/sumi --job docs
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi explain",
        usage="sumi explain [options] URL",
        description=(
            "Says why a page was fetched, skipped or failed: how it was found, which rule decided, every "
            "attempt. Exit code 1 if the job does not know the URL."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument("url", metavar="URL", help="As typed for sumi mirror, or copied from a page.")
    parser.add_argument(
        "--in",
        dest="folder",
        metavar="DIR",
        default="output",
        help="The job's output folder, a crawl's workspace, or a database. Default: output.",
    )
    parser.add_argument("--job", metavar="NAME", help="In a database, which job. Default: the only one.")
    parser.add_argument("--json", action="store_true", help="One JSON object on stdout.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    explanation = asyncio.run(_explain(options.url, options.folder, options.job))
    out = Sink(sys.stdout)
    if options.json:
        out.line(json.dumps(msgspec.to_builtins(explanation)))
    else:
        out.line("\n".join(_lines(explanation)))
    return 0 if explanation.known else UNKNOWN


async def _explain(url: str, folder: str, name: str | None) -> "Explanation":
    if is_database(folder):
        from sumi.inspection.shared_jobs import explain_shared, only_job_in

        return await explain_shared(url, folder, await only_job_in(folder, name))
    if name is not None:
        raise UsageError(
            "--job names a job in a database: give its address by --in postgresql://HOST/DATABASE"
        )
    from sumi.inspection.explain import explain

    return await explain(url, folder)


def _lines(explanation: "Explanation") -> list[str]:
    lines = _known_lines(explanation) if explanation.known else _unknown_lines(explanation)
    return [printable(explanation.url), *lines]


def _known_lines(explanation: "Explanation") -> list[str]:
    rule = f" ({printable(explanation.rule)})" if explanation.rule else ""
    lines = [f"  {explanation.outcome}{rule}: {explanation.meaning}"]
    if explanation.advice:
        lines.append(f"  {explanation.advice}")
    if explanation.requested:
        lines.append(f"  requested as {printable(explanation.requested)}")
    if explanation.waiting is not None:
        lines.append(f"  {waiting_words(explanation.waiting, explanation.at)}")
    lines += ["", "how it was found"]
    lines += [f"  {step.hop:<10}{printable(step.url)}" for step in explanation.chain]
    if explanation.attempts:
        lines += ["", "attempts"]
        lines += [f"  {_attempt(attempt)}" for attempt in explanation.attempts]
    facts = {name: value for name, value in _facts(explanation.facts).items() if value is not None}
    if facts:
        lines += ["", "what is known", *(f"  {name:<10}{printable(str(v))}" for name, v in facts.items())]
    return lines


def _unknown_lines(explanation: "Explanation") -> list[str]:
    lines = [f"  unknown: the job in {printable(explanation.folder)} does not know this URL"]
    if explanation.outcome is not None:
        lines.append(f"  if found, it would be {explanation.outcome} ({printable(explanation.rule)})")
        lines += [f"  {words}" for words in (explanation.meaning, explanation.advice) if words]
    elif explanation.caveat:
        lines.append(f"  what would happen to it is not known: {printable(explanation.caveat)}")
    else:
        lines.append("  if found, it would be taken: no page or sitemap read so far links to it")
    if explanation.similar:
        lines.append(f"  known is {printable(explanation.similar)}")
    return lines


def _attempt(attempt: "Attempt") -> str:
    from sumi.files.plain_text import iso_utc

    rule = f"  {printable(attempt.rule)}" if attempt.rule else ""
    return f"{iso_utc(attempt.at)}  {attempt.outcome}{rule}"


def _facts(facts: "PageFacts") -> dict[str, object]:
    return {
        "status": facts.status,
        "type": facts.content_type,
        "file": facts.path,
        "size": facts.size,
        "title": facts.title,
        "canonical": facts.canonical,
        "location": facts.location,
        "links": facts.links,
    }
