"""``sumi capture export``: a captured job as files for others."""

import sys
from collections.abc import Sequence
from pathlib import Path

from sumi.console.parser import SentenceParser
from sumi.console.terminal import printable
from sumi.jobs.capture.export_formats import ExportForm
from sumi.jobs.capture.named_job import add_job, add_store, capture_folder, chosen_job

SUFFIXES = {
    ExportForm.FOLDER: "",
    ExportForm.MARKDOWN: ".md",
    ExportForm.JSONL: ".jsonl",
    ExportForm.ZIP: ".zip",
}

_EXAMPLES = """\
examples:
  sumi capture export                                    the last job, as a folder of Markdown files
  sumi capture export JOB --format markdown -o docs.md   one file with a table of contents
  sumi capture export JOB --format jsonl -o docs.jsonl
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture export",
        usage="sumi capture export [options] [JOB]",
        description="Writes the pages of a job as Markdown files, one Markdown file, JSON lines or a ZIP.",
        epilog=_EXAMPLES,
    )
    add_job(parser, otherwise="the last one")
    add_store(parser)
    parser.add_argument(
        "--format", choices=[form.value for form in ExportForm], default="folder", metavar="FORM",
        help="folder, markdown, jsonl or zip. Default: folder.",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="PATH", help="Where to. Default: named after the job.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    # Imported here: what --help does not need.
    from sumi.jobs.capture.export_formats import export
    from sumi.jobs.capture.export_pages import exported_pages
    from sumi.state.recognize import refuse_to_replace

    form = ExportForm(options.format)
    folder = capture_folder(options)
    # Of one moment: a job that goes on meanwhile would otherwise have more pages than its contents tell of.
    with folder.looking() as database, database.snapshot():
        job = chosen_job(folder, database, options.job)
        target = Path(options.output or f"{job.id}{SUFFIXES[form]}")
        refuse_to_replace(target)
        pages = export(form, target, lambda: exported_pages(database, job))
    are = "page is" if pages == 1 else "pages are"
    print(f"{pages:,} {are} in {printable(str(target))}", file=sys.stderr)
    return 0
